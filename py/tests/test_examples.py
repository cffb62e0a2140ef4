"""The examples in the package's docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys
from types import ModuleType

import pytest
import pywebmcp


def with_examples() -> list[ModuleType]:
    """The modules that have examples, of those that can be imported here.

    Those of the browser need a page; those of the shell and of the site's build need packages that
    the page's Python lacks.
    """
    left = [".browser"]
    if sys.platform == "emscripten":
        left += [".addon", ".bridge", ".cli", ".__main__"]
    names = [
        module.name
        for module in pkgutil.walk_packages(pywebmcp.__path__, "pywebmcp.")
        if not module.name.startswith(tuple(f"pywebmcp{name}" for name in left))
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
