"""The tab in which a person says what an agent may do."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from pywebmcp import access
from pywebmcp.browser.ui.access_tab import AccessTab, first_line, keys_of
from pywebmcp.testing import MemoryNotebook, code
from shown import Sheet, act, called, drawn, fill, text, walk


class Setting:
    """A person at the tab."""

    def __init__(self, *cells: Any) -> None:
        self.desk = Desk(*cells)
        self.tab = AccessTab(self.desk.frontend, Sheet())

    def levels(self) -> tuple[str, dict[int, str]]:
        notebook = self.desk.frontend.notebook("a.ipynb")
        assert notebook is not None
        found = access.levels(notebook)
        return found.notebook, dict(found.cells)


async def test_without_a_notebook_it_says_so() -> None:
    assert text(Setting("x").tab.nodes()) == "No notebook is open."


async def test_cells_are_listed_by_their_first_line_the_current_one_first() -> None:
    setting = Setting("# one\nmore", "two", "")
    await setting.desk.open()
    labels = [text(children) for tag, _, children in walk(drawn(setting.tab)) if tag == "label"]
    assert labels == ["a.ipynb", "# one", "# one", "two", "empty code cell"]


async def test_a_level_holds_at_once() -> None:
    setting = Setting("one", "two")
    await setting.desk.open()
    fill(setting.tab, "select", "two", "none")
    assert setting.levels() == ("write", {1: "none"})
    assert called(drawn(setting.tab), "select", "two")["value"] == "none"
    answer = await setting.desk.ok("jupyter_get_cells")
    assert "two" not in str(answer)
    fill(setting.tab, "select", "a.ipynb", "read")
    assert setting.levels() == ("read", {1: "none"})
    assert "changes and runs no cell" in text(drawn(setting.tab))
    fill(setting.tab, "select", "two", "write")
    assert setting.levels() == ("read", {})


async def test_cells_with_the_same_id_are_told_apart() -> None:
    setting = Setting(code("one", "same"), code("two", "same"))
    await setting.desk.open()
    fill(setting.tab, "select", "two", "read")
    assert setting.levels() == ("write", {1: "read"})


def listed(nodes: list[Any]) -> list[Any]:
    """The rows of the list of cells, kept ones as they are sent."""
    [rows] = [children for tag, _, children in walk(nodes) if tag == "ol"]
    return rows


async def test_only_rows_that_changed_are_made_anew() -> None:
    setting = Setting("one", "two", "three")
    await setting.desk.open()
    drawn(setting.tab)
    act(setting.tab, called(drawn(setting.tab), "select", "two")["on"]["change"], "read")
    rows = listed(setting.tab.nodes())
    assert [isinstance(row, dict) for row in rows] == [True, False, True]


async def test_a_cell_that_is_gone_sets_nothing() -> None:
    setting = Setting("one")
    await setting.desk.open()
    act(setting.tab, ["set_cell_access", "gone"], "none")
    assert setting.levels() == ("write", {})


def test_first_lines() -> None:
    assert first_line("\n  \r\n  # Title  \nmore") == "# Title"
    assert len(first_line("x" * 10_000)) == 81
    assert first_line(" \n") == ""


def test_keys_are_unique() -> None:
    assert keys_of(["a", "b", "a", "a"]) == ["a", "b", "a 2", "a 3"]


def test_keys_are_unique_whatever_the_ids_are() -> None:
    for ids in (["a", "a", "a 2"], ["a 2", "a", "a", "a 2", "a"], ["", "", " 2"]):
        keys = keys_of(ids)
        assert len(set(keys)) == len(ids)
        assert set(ids) <= set(keys)


async def test_no_cell_is_read_whole_for_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("\n\n  one\nmore", "two" * 1000)
    await setting.desk.open()
    read: list[Any] = []
    monkeypatch.setattr(MemoryNotebook, "cells", lambda *_, **__: read.append(1))
    labels = [text(children) for tag, _, children in walk(drawn(setting.tab)) if tag == "label"]
    assert labels[2:] == ["one", ("two" * 1000)[:80] + "…"]
    setting.desk.person.select(1, 0, 0)
    setting.desk.person.type("new ")
    labels = [text(children) for tag, _, children in walk(drawn(setting.tab)) if tag == "label"]
    assert labels[-1].startswith("new two")
    assert read == []
