"""Runs ``async def`` tests on the virtual clock, and gives every test a front end in memory."""

from __future__ import annotations

import inspect
import os
import sys
from types import ModuleType

import hypothesis
import pytest
from pywebmcp.testing import MemoryFrontend, run

# Few examples, the same in every run; PYWEBMCP_EXAMPLES=5000 looks further, and at random.
EXAMPLES = os.environ.get("PYWEBMCP_EXAMPLES")
hypothesis.settings.register_profile(
    "pywebmcp",
    max_examples=int(EXAMPLES or 25),
    derandomize=EXAMPLES is None,
    deadline=None,
    database=None,
)
hypothesis.settings.load_profile("pywebmcp")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test on a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def frontend() -> MemoryFrontend:
    """A front end without files."""
    return MemoryFrontend()


@pytest.fixture(scope="session")
def nbformat() -> ModuleType:
    """The reference implementation of the file format; not to be had inside Pyodide."""
    with pytest.MonkeyPatch.context() as patch:
        # jsonschema imports every checker of string formats that it finds, and this one builds 38
        # grammars when imported, which takes longer than all tests together.
        patch.setitem(sys.modules, "rfc3987_syntax", None)
        module: ModuleType = pytest.importorskip("nbformat")
    return module
