"""The examples in the package's docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest
import pywebmcp


def with_examples() -> list[ModuleType]:
    """The modules that have examples; those of the browser cannot be imported without a page."""
    names = [
        module.name
        for module in pkgutil.walk_packages(pywebmcp.__path__, "pywebmcp.")
        if not module.name.startswith("pywebmcp.browser")
    ]
    modules = [importlib.import_module(name) for name in names]
    finder = doctest.DocTestFinder()
    return [module for module in modules if any(test.examples for test in finder.find(module))]


MODULES = with_examples()


def test_there_are_examples() -> None:
    assert "pywebmcp.tools" in {module.__name__ for module in MODULES}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_of_a_module_hold(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed
