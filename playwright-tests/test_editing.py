"""Edits through the tools land where they should, and only when nobody was faster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from files import close_all, put, put_and_open, saved, sketch
from lab import Lab
from pywebmcp.edits import source_hash
from pywebmcp.testing import code, markdown

LONG = Path(__file__).resolve().parent.parent / "lite" / "content" / "long.ipynb"
NO_KERNEL = {"name": "none", "display_name": "none", "language": "none"}

# An insertion, and in the same turn of the page's event loop in which it answers: where the cell is
# in the model, whether JupyterLab has put it into the document, and where the person is.
_INSERT = """async (input) => {
    const nb = pywebmcp.tokens.tracker.currentWidget.content;
    const [tool] = (await document.modelContext.getTools()).filter(
        (tool) => tool.name === "jupyter_insert_cell"
    );
    const text = typeof tool.inputSchema === "string";
    const raw = await document.modelContext.executeTool(tool, text ? JSON.stringify(input) : input);
    const answer = JSON.parse(raw).structuredContent;
    const cell = nb.widgets[answer.index];
    return {
        answer,
        source: nb.model.sharedModel.getCell(answer.index).getSource(),
        id: cell.model.id,
        rendered: cell.node.isConnected,
        active: nb.activeCellIndex,
        scrolled: nb.outerNode.scrollTop,
    };
}"""


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> None:
    close_all(lab)


def open_long(lab: Lab) -> list[str]:
    """Open the long notebook without a kernel; the ids of its cells."""
    content = json.loads(LONG.read_text("utf-8"))
    content["metadata"] = {"kernelspec": NO_KERNEL}
    put_and_open(lab, "thousand.ipynb", content)
    return [cell["id"] for cell in content["cells"]]


def ids(lab: Lab) -> list[str]:
    found: list[str] = lab.js("nb.model.sharedModel.cells.map((cell) => cell.getId())")
    return found


def test_a_stale_hash_is_refused_with_what_is_there_now(lab: Lab) -> None:
    put_and_open(lab, "stale.ipynb", sketch("x = 1", "y = 1"))
    read, _ = lab.must("jupyter_get_cells")["cells"]
    lab.js("nb.model.sharedModel.getCell(0).setSource('x = 10')")
    guard = {"cellId": read["id"], "expectedSourceHash": read["sourceHash"]}
    for name, arguments in (
        ("jupyter_update_cell", {**guard, "source": "x = 2"}),
        ("jupyter_update_cell", {**guard, "index": 1}),
        ("jupyter_update_cell", {**guard, "cellType": "markdown"}),
        ("jupyter_delete_cell", guard),
    ):
        failed = lab.call(name, arguments)
        assert failed["code"] == "STALE_CELL"
        assert failed["source"] == "x = 10"
        assert failed["sourceHash"] == source_hash("x = 10")
    assert lab.sources() == ["x = 10", "y = 1"]
    lab.must(
        "jupyter_update_cell",
        cellId=read["id"],
        source="x = 2",
        expectedSourceHash=failed["sourceHash"],
    )
    assert lab.sources() == ["x = 2", "y = 1"]


def test_a_replacement_needs_no_hash_and_spares_what_the_person_changed(lab: Lab) -> None:
    put_and_open(lab, "edits.ipynb", sketch("a = 1\nb = 2"))
    lab.js("nb.model.sharedModel.getCell(0).updateSource(0, 0, '# mine\\n')")
    lab.must(
        "jupyter_update_cell", cellId="cell-0", edits=[{"oldText": "b = 2", "newText": "b = 3"}]
    )
    assert lab.sources() == ["# mine\na = 1\nb = 3"]
    failed = lab.call(
        "jupyter_update_cell",
        {"cellId": "cell-0", "edits": [{"oldText": "b = 2", "newText": ""}]},
    )
    assert (failed["code"], failed["source"]) == ("STALE_CELL", "# mine\na = 1\nb = 3")
    failed = lab.call(
        "jupyter_update_cell",
        {"cellId": "cell-0", "edits": [{"oldText": " = ", "newText": ""}]},
    )
    assert failed["code"] == "INVALID_ARGUMENT"


def test_insertions_land_in_their_places(lab: Lab) -> None:
    put_and_open(lab, "places.ipynb", sketch("a", "b"))
    for place, source in (
        ({}, "end"),
        ({}, "after that"),
        ({"referenceCellId": "cell-0"}, "below a"),
        ({"referenceCellId": "cell-0", "position": "above"}, "above a"),
        ({"position": "above"}, "top"),
    ):
        answer = lab.must("jupyter_insert_cell", source=source, **place)
        assert lab.sources()[answer["index"]] == source
        assert ids(lab)[answer["index"]] == answer["id"]
    assert lab.sources() == ["top", "above a", "a", "below a", "b", "end", "after that"]


@pytest.mark.parametrize("kind", ["code", "markdown", "raw"])
def test_every_type_of_cell_is_inserted_and_saved(lab: Lab, kind: str) -> None:
    put_and_open(lab, "types.ipynb", sketch("a"))
    added = lab.must("jupyter_insert_cell", cellType=kind, source="x\r\ny")
    lab.must("jupyter_save_notebook")
    last = saved(lab, "types.ipynb")["cells"][-1]
    assert (last["id"], last["cell_type"], last["source"]) == (added["id"], kind, "x\ny")


def test_type_and_place_change_with_the_source(lab: Lab) -> None:
    put_and_open(
        lab,
        "moved.ipynb",
        sketch(code("# A", "a", metadata={"tags": ["kept"]}), "b", markdown("c")),
    )
    lab.must(
        "jupyter_update_cell",
        cellId="a",
        source="# B",
        expectedSourceHash=source_hash("# A"),
        cellType="markdown",
        index=2,
    )
    lab.must("jupyter_save_notebook")
    cells = saved(lab, "moved.ipynb")["cells"]
    assert [(cell["source"], cell["cell_type"]) for cell in cells] == [
        ("b", "code"),
        ("c", "markdown"),
        ("# B", "markdown"),
    ]
    assert (cells[2]["id"], cells[2]["metadata"]["tags"]) == ("a", ["kept"])


def test_deleting_every_cell_leaves_a_blank_one(lab: Lab) -> None:
    put_and_open(lab, "last.ipynb", sketch("a"))
    answer = lab.must("jupyter_delete_cell", cellId="cell-0", expectedSourceHash=source_hash("a"))
    assert answer["cellCount"] == 1
    assert lab.sources() == [""]


@pytest.mark.parametrize("place", [500, 999, 0])
def test_an_insertion_into_1000_cells_lands_and_waits_for_no_rendering(
    lab: Lab, place: int
) -> None:
    before = open_long(lab)
    scrolled = lab.js("nb.outerNode.scrollTop")
    input_: dict[str, Any] = {"source": "# here", "referenceCellId": before[place]}
    if place == 999:
        del input_["referenceCellId"]
    found = lab.page.evaluate(_INSERT, input_)
    assert found["answer"]["index"] == place + 1
    assert (found["source"], found["id"]) == ("# here", found["answer"]["id"])
    assert ids(lab) == [*before[: place + 1], found["id"], *before[place + 1 :]]
    # The first cell is in view, so it may be in the document by now.
    assert place == 0 or found["rendered"] is False
    assert (found["active"], found["scrolled"]) == (0, scrolled)


def test_a_notebook_in_the_background_is_edited_there(lab: Lab) -> None:
    put_and_open(lab, "behind.ipynb", sketch("a"))
    put_and_open(lab, "front.ipynb", sketch("b"))
    lab.must("jupyter_insert_cell", notebookPath="behind.ipynb", source="new")
    assert lab.sources() == ["b"]
    cells = lab.must("jupyter_get_cells", notebookPath="behind.ipynb")["cells"]
    assert [cell["source"] for cell in cells] == ["a", "new"]
    assert lab.must("jupyter_get_context")["notebook"]["path"] == "front.ipynb"


def test_a_notebook_that_is_not_open_is_not_edited(lab: Lab) -> None:
    put(lab, "closed.ipynb", sketch("a"))
    failed = lab.call("jupyter_insert_cell", {"notebookPath": "closed.ipynb"})
    assert failed["code"] == "NOTEBOOK_NOT_FOUND"
    assert "jupyter_open_notebook" in failed["error"]
    assert len(saved(lab, "closed.ipynb")["cells"]) == 1
