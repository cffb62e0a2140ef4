"""Levels in the metadata: set by people, read as untrusted input, the stricter one holds."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from pywebmcp import access
from pywebmcp.access import Levels, set_level
from pywebmcp.constants import METADATA_KEY
from pywebmcp.testing import code, markdown, notebook


async def opened(*cells: Any) -> Any:
    desk = Desk(*cells)
    await desk.open()
    live = desk.frontend.notebook()
    assert live is not None
    return live


async def test_a_level_is_kept_under_our_key_beside_what_else_is_there() -> None:
    live = await opened(code("1", metadata={"tags": ["a"], METADATA_KEY: {"own": 1}}))
    live.set_metadata(METADATA_KEY, {"comments": {"version": 1, "threads": []}})
    set_level(live, 0, "read")
    set_level(live, None, "none")
    entry = {"version": 1, "level": "read"}
    assert live.content[0].metadata == {
        "tags": ["a"],
        METADATA_KEY: {"own": 1, "access": entry},
    }
    own = live.metadata()[METADATA_KEY]
    assert own["comments"] == {"version": 1, "threads": []}
    assert own["access"] == {"version": 1, "level": "none"}


async def test_write_leaves_nothing_behind() -> None:
    live = await opened("1")
    before = live.metadata(), live.cells(0, 1)[0]["metadata"]
    for index in (0, None):
        set_level(live, index, "none")
        set_level(live, index, "write")
    assert (live.metadata(), live.cells(0, 1)[0]["metadata"]) == before
    assert access.levels(live).open


@pytest.mark.parametrize("own", ["text", 3, [], [1], {"access": 3}, {"access": {"level": 3}}, {}])
async def test_foreign_metadata_sets_no_level_and_stays(own: Any) -> None:
    live = await opened(code("1", metadata={METADATA_KEY: own}))
    assert access.levels(live).open
    kept = live.cells(0, 1)[0]["metadata"]
    if not isinstance(own, dict) or "access" not in own:
        set_level(live, 0, "write")
        assert live.cells(0, 1)[0]["metadata"] == (kept if own != {} else {})


@pytest.mark.parametrize("level", ["comment", "", "WRITE"])
def test_a_level_that_is_not_known_gives_nothing_away(level: str) -> None:
    assert access.parse(level) == "none"


@pytest.mark.parametrize(
    ("whole", "one", "effective"),
    [
        ("write", "write", "write"),
        ("write", "none", "none"),
        ("read", "write", "read"),
        ("read", "none", "none"),
        ("none", "write", "none"),
        ("write", "read", "read"),
    ],
)
def test_the_stricter_level_holds(whole: Any, one: Any, effective: str) -> None:
    assert Levels(whole, {0: one}).cell(0) == effective


@pytest.mark.parametrize("content", [None, 3, {}, {"cells": 3}, {"cells": [3, None]}, []])
def test_the_levels_of_any_file_can_be_read(content: Any) -> None:
    assert Levels.of_file(content).open


def test_the_levels_of_a_file_are_those_of_the_notebook() -> None:
    made = notebook("1", markdown("2"), "3")
    made["metadata"] = access.marked({}, "read")
    made["cells"][1]["metadata"] = access.marked({}, "none")
    levels = Levels.of_file(made)
    assert levels.notebook == "read"
    assert levels.hidden == {1}


async def test_levels_survive_saving_reopening_moving_and_a_change_of_type() -> None:
    desk = Desk("1", "2", "3")
    await desk.open()
    live = desk.frontend.notebook()
    assert live is not None
    set_level(live, 0, "none")
    live.move_cell(0, 2)
    live.change_type(2, "markdown")
    await live.save()
    desk.person.close("a.ipynb")
    again = desk.person.open("a.ipynb")
    assert again is not None
    assert access.levels(again).hidden == {2}


async def test_editable_and_deletable_marks_are_honoured() -> None:
    desk = Desk(code("1", metadata={"editable": False}), code("2", metadata={"deletable": False}))
    await desk.open()
    shown = (await desk.ok("jupyter_get_cells"))["cells"]
    assert shown[0]["access"] == "read"
    for index, cell in enumerate(shown):
        await desk.fail(
            "CELL_ACCESS_DENIED",
            "jupyter_delete_cell",
            cellId=cell["id"],
            expectedSourceHash=cell["sourceHash"],
        )
        assert desk.sources()[index] == cell["source"]
    # Running such a cell is what JupyterLab lets everyone do.
    await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
