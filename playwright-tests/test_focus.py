"""Pointing the person at a place: where cursor and selection land, told by the context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from files import put_and_open, sketch
from lab import Lab
from pywebmcp.testing import code, markdown

LONG = Path(__file__).resolve().parent.parent / "lite" / "content" / "long.ipynb"
SOURCE = "first = '\U0001f600'  # a\nsecond = 'e\u0301\U0001d53c'\n\nlast"


@pytest.fixture(scope="module", autouse=True)
def focus_notebook(lab: Lab) -> None:
    put_and_open(
        lab,
        "focus.ipynb",
        sketch(
            code("top", "top"),
            code(SOURCE, "odd"),
            markdown("# Title\n\ntext", "text"),
            code("a = 1\r\nb = 2\r\n", "crlf"),
        ),
    )


def at(line: int, column: int) -> dict[str, int]:
    return {"line": line, "column": column}


def focus(lab: Lab) -> Any:
    return lab.must("jupyter_get_context")["focus"]


@pytest.mark.parametrize(
    ("cell", "cursor"),
    [
        ("odd", at(0, 0)),
        ("odd", at(0, 10)),  # right behind an astral character
        ("odd", at(1, 13)),  # behind a combining mark and another astral one
        ("odd", at(2, 0)),
        ("odd", at(3, 4)),
        ("crlf", at(1, 5)),
        ("crlf", at(2, 0)),
        ("text", at(2, 4)),
    ],
)
def test_the_cursor_lands(lab: Lab, cell: str, cursor: dict[str, int]) -> None:
    lab.must("jupyter_focus_cell", cellId="top")
    lab.must("jupyter_focus_cell", cellId=cell, cursor=cursor)
    found = focus(lab)
    assert (found["activeCellId"], found["mode"], found["cursor"]) == (cell, "edit", cursor)
    assert "selectedText" not in found


def test_what_is_typed_next_goes_there(lab: Lab) -> None:
    lab.must("jupyter_focus_cell", cellId="odd", cursor=at(0, 10))
    lab.type("!")
    [cell] = lab.must("jupyter_get_cells", cellIds=["odd"])["cells"]
    assert cell["source"] == SOURCE.replace("\U0001f600", "\U0001f600!")
    lab.page.keyboard.press("Backspace")
    [cell] = lab.must("jupyter_get_cells", cellIds=["odd"])["cells"]
    assert cell["source"] == SOURCE


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (at(0, 9), at(0, 10), "\U0001f600"),
        (at(0, 9), at(1, 6), "\U0001f600'  # a\nsecond"),
        (at(0, 0), at(3, 4), SOURCE),
    ],
)
def test_the_selection_lands(
    lab: Lab, start: dict[str, int], end: dict[str, int], text: str
) -> None:
    lab.must("jupyter_focus_cell", cellId="odd", selection={"start": start, "end": end})
    found = focus(lab)
    assert (found["selectedText"], found["cursor"]) == (text, end)


def test_without_a_place_the_cell_is_active_and_nobody_types_in_it(lab: Lab) -> None:
    lab.must("jupyter_focus_cell", cellId="odd", cursor=at(0, 0))
    lab.must("jupyter_focus_cell", cellId="top")
    found = focus(lab)
    assert (found["activeCellId"], found["mode"]) == ("top", "command")
    assert "cursor" not in found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cursor": at(99, 0)}, "Line 99"),
        ({"cursor": at(4, 0)}, "4 lines"),
        ({"cursor": at(0, 17)}, "16 characters"),
        ({"selection": {"start": at(0, 0), "end": at(1, 99)}}, "Column 99"),
        ({"selection": {"start": at(1, 0), "end": at(0, 0)}}, "ends before it starts"),
        ({"cursor": at(-1, 0)}, "at least 0"),
        ({"cursor": at(0, 0), "selection": {"start": at(0, 0), "end": at(0, 0)}}, "not both"),
    ],
)
def test_a_place_that_is_not_there_is_refused_and_moves_nobody(
    lab: Lab, arguments: dict[str, Any], words: str
) -> None:
    lab.must("jupyter_focus_cell", cellId="top", cursor=at(0, 1))
    failed = lab.call("jupyter_focus_cell", {"cellId": "odd", **arguments})
    assert failed["code"] == "INVALID_ARGUMENT"
    assert words in failed["error"]
    found = focus(lab)
    assert (found["activeCellId"], found["cursor"]) == ("top", at(0, 1))


def test_the_context_knows_several_selected_cells_and_selected_output(lab: Lab) -> None:
    lab.cell(0).locator(".jp-InputPrompt").click()
    lab.page.keyboard.press("Shift+ArrowDown")
    assert focus(lab)["selectedCellIds"] == ["top", "odd"]
    lab.must("jupyter_focus_cell", cellId="top")
    assert "selectedCellIds" not in focus(lab)
    lab.js(
        "nb.model.sharedModel.getCell(0).setOutputs("
        "[{ output_type: 'stream', name: 'stdout', text: 'put out' }])"
    )
    output = ".jp-OutputArea-output pre"
    lab.page.locator(output).wait_for()
    lab.page.evaluate(
        "(place) => getSelection().selectAllChildren(document.querySelector(place))", output
    )
    assert focus(lab)["selectedOutputText"] == "put out"
    lab.page.evaluate("getSelection().removeAllRanges()")


def test_a_far_cell_of_1000_comes_into_view(lab: Lab) -> None:
    content = json.loads(LONG.read_text("utf-8"))
    content["metadata"] = sketch()["metadata"]
    put_and_open(lab, "thousand.ipynb", content)
    for index in (995, 500, 5):
        far = content["cells"][index]
        lab.must("jupyter_focus_cell", cellId=far["id"], cursor=at(0, 3))
        found = focus(lab)
        assert (found["activeCellId"], found["cursor"]) == (far["id"], at(0, 3))
        lab.until(
            """(() => {
                const nb = pywebmcp.tokens.tracker.currentWidget.content;
                const cell = nb.activeCell.node.getBoundingClientRect();
                const view = nb.outerNode.getBoundingClientRect();
                return cell.height > 0 && cell.bottom > view.top && cell.top < view.bottom;
            })()"""
        )
        lab.type("~")
        [cell] = lab.must("jupyter_get_cells", cellIds=[far["id"]])["cells"]
        source = "".join(far["source"])
        assert cell["source"] == source[:3] + "~" + source[3:]


def test_a_cell_of_a_notebook_in_the_background_brings_it_to_the_front(lab: Lab) -> None:
    lab.must("jupyter_focus_cell", notebookPath="focus.ipynb", cellId="odd", cursor=at(3, 4))
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["path"] == "focus.ipynb"
    assert context["focus"]["cursor"] == at(3, 4)


def test_opening_at_a_cell_shows_it(lab: Lab) -> None:
    lab.must("jupyter_open_notebook", path="focus.ipynb", cellId="crlf")
    assert focus(lab)["activeCellId"] == "crlf"
    failed = lab.call("jupyter_open_notebook", {"path": "focus.ipynb", "cellId": "gone"})
    assert failed["code"] == "CELL_NOT_FOUND"
