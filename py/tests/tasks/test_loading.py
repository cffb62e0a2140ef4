"""A store that a site names is used, or nothing starts: never another one in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pywebmcp.tasks import VARIABLE, MemoryTaskStore, StoreError, build_store, store_from

MODULE = """
from pywebmcp.tasks import MemoryTaskStore

class Good(MemoryTaskStore):
    class Inner(MemoryTaskStore):
        pass

class Raises(MemoryTaskStore):
    def __init__(self):
        raise OSError("no route to the server")

class Wants(MemoryTaskStore):
    def __init__(self, url):
        pass

class Synchronous(MemoryTaskStore):
    def get(self, task_id):
        return None

function = MemoryTaskStore.get
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "stores_of_a_site.py").write_text(MODULE)
    (tmp_path / "stores_that_break.py").write_text("import a_module_that_is_not_there")
    (tmp_path / "stores_misspelt.py").write_text("def (")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "stores_of_a_site"


@pytest.mark.parametrize("spec", [None, "", "  "])
def test_by_default_tasks_live_in_memory(spec: Any) -> None:
    assert type(build_store(spec)) is MemoryTaskStore


@pytest.mark.parametrize("name", ["Good", "Good.Inner"])
def test_a_named_store_is_made(module: str, name: str) -> None:
    assert type(build_store(f" {module}:{name} ")).__qualname__ == name


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("just_a_module", "module:Class"),
        (":Store", "module:Class"),
        ("module:", "module:Class"),
        ("a_module_that_is_not_there:Store", "ModuleNotFoundError"),
        ("stores_that_break:Store", "a_module_that_is_not_there"),
        ("stores_misspelt:Store", "SyntaxError"),
        ("json:NoSuchStore", "NoSuchStore"),
        ("collections:OrderedDict", "create"),
        ("stores_of_a_site:Synchronous", "get"),
        ("stores_of_a_site:function", "not a class"),
        ("stores_of_a_site:Raises", "no route to the server"),
        ("stores_of_a_site:Wants", "url"),
        ("..:x", "cannot be loaded"),
    ],
)
def test_one_that_cannot_be_used_is_refused_by_name(module: str, spec: str, why: str) -> None:
    with pytest.raises(StoreError) as caught:
        build_store(spec)
    message = str(caught.value)
    assert spec in message
    assert why in message
    assert VARIABLE in message


def test_the_message_names_the_setting_that_was_wrong() -> None:
    with pytest.raises(StoreError, match="taskStoreClass"):
        build_store("nothing", setting="taskStoreClass")


def test_the_environment_names_the_store(module: str) -> None:
    assert VARIABLE == "JUPYTER_MCP_TASK_STORE_CLASS"
    assert type(store_from({VARIABLE: f"{module}:Good"})).__name__ == "Good"
    assert type(store_from({})) is MemoryTaskStore
    with pytest.raises(StoreError):
        store_from({VARIABLE: "nothing"})
