"""Notebook files as they are in the world: read without being opened, edited and saved unharmed."""

from __future__ import annotations

from typing import Any

import pytest
from files import close_all, dialogs, kernels, listing, put, put_and_open, saved, sketch, tabs
from lab import Lab
from pywebmcp.edits import source_hash
from pywebmcp.testing import code, error, markdown, notebook, stream

LONE = "t = '\ud83d'"


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> None:
    close_all(lab)


def cells(lab: Lab, path: str, **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lab.must("jupyter_get_cells", notebookPath=path, **arguments)[
        "cells"
    ]
    return found


def test_an_unopened_notebook_is_read_and_nothing_opens(lab: Lab) -> None:
    failed = error("ValueError", "no", "\x1b[31mValueError\x1b[0m: no")
    put(
        lab,
        "closed.ipynb",
        notebook(
            markdown("# Title", "title"),
            code("x", "fails", outputs=[stream("1\n"), stream("2\n"), failed], execution_count=7),
        ),
    )
    before = kernels(lab)
    assert cells(lab, "closed.ipynb", includeOutputs=True) == [
        {
            "id": "title",
            "index": 0,
            "type": "markdown",
            "sourceHash": source_hash("# Title"),
            "source": "# Title",
        },
        {
            "id": "fails",
            "index": 1,
            "type": "code",
            "sourceHash": source_hash("x"),
            "executionCount": 7,
            "source": "x",
            "outputs": [
                stream("1\n2\n"),
                {
                    "output_type": "error",
                    "ename": "ValueError",
                    "evalue": "no",
                    "traceback": ["ValueError: no"],
                },
            ],
        },
    ]
    [found] = cells(lab, "closed.ipynb", only="error", includeSource=False)
    assert (found["id"], found["error"]) == ("fails", "ValueError: no")
    assert tabs(lab) == []
    assert kernels(lab) == before
    assert lab.must("jupyter_get_context")["notebook"] is None
    failed = lab.call("jupyter_get_cells")
    assert failed["code"] == "NO_ACTIVE_NOTEBOOK"


@pytest.mark.parametrize("path", ["analysis.ipynb", "long.ipynb"])
def test_a_notebook_of_the_site_itself_is_read_unopened(lab: Lab, path: str) -> None:
    assert cells(lab, path, endIndex=1)[0]["source"].startswith("# ")
    assert tabs(lab) == []


def test_all_of_a_long_notebook_is_read_page_by_page(lab: Lab) -> None:
    found: list[str] = []
    start: int | None = 0
    while start is not None:
        page = lab.must("jupyter_get_cells", notebookPath="long.ipynb", startIndex=start)
        found += [cell["id"] for cell in page["cells"]]
        start = page.get("nextIndex")
        assert start is None or start == len(found)
    assert len(set(found)) == 1000


def test_cells_without_ids_can_be_read_edited_and_saved(lab: Lab) -> None:
    put(lab, "old.ipynb", sketch("a = 1", markdown("text"), "b = 2", minor=4))
    assert [cell["id"] for cell in cells(lab, "old.ipynb")] == ["@0", "@1", "@2"]
    assert [cell["id"] for cell in cells(lab, "old.ipynb", cellIds=["@2"])] == ["@2"]
    lab.must("jupyter_open_notebook", path="old.ipynb")
    first, _, last = cells(lab, "old.ipynb")
    lab.must(
        "jupyter_update_cell",
        cellId=last["id"],
        source="b = 3",
        expectedSourceHash=last["sourceHash"],
    )
    lab.must("jupyter_update_cell", cellId="@0", edits=[{"oldText": "a", "newText": "c"}])
    lab.must("jupyter_insert_cell", referenceCellId=first["id"], source="new")
    lab.must("jupyter_save_notebook")
    found = saved(lab, "old.ipynb")
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 4)
    assert [cell["source"] for cell in found["cells"]] == ["c = 1", "new", "text", "b = 3"]
    assert all("id" not in cell for cell in found["cells"])


def test_cells_that_share_an_id_are_told_apart(lab: Lab) -> None:
    put(lab, "twins.ipynb", sketch(code("1", "twin"), code("2", "other"), code("3", "twin")))
    for _ in range(2):  # from the file, then live
        found = cells(lab, "twins.ipynb")
        assert [(cell["id"], cell.get("duplicateId")) for cell in found] == [
            ("@0", "twin"),
            ("other", None),
            ("@2", "twin"),
        ]
        lab.must("jupyter_open_notebook", path="twins.ipynb")
    new = {"source": "4", "expectedSourceHash": source_hash("3")}
    failed = lab.call("jupyter_update_cell", {"cellId": "twin", **new})
    assert failed["code"] == "INVALID_ARGUMENT"
    assert [each["id"] for each in failed["candidates"]] == ["@0", "@2"]
    assert lab.call("jupyter_update_cell", {"cellId": "@0", **new})["code"] == "STALE_CELL"
    lab.must("jupyter_update_cell", cellId="@2", **new)
    lab.must("jupyter_delete_cell", cellId="@0", expectedSourceHash=source_hash("1"))
    assert lab.sources() == ["2", "4"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
        ("a = 1\rb = 2", "a = 1\nb = 2"),
        ("s = '\U0001f600'\nb = 2  # \U0001d53c", None),
        ("e\u0301 = 1\x0cc\u2028\x1cd\nb = 2", None),
        (f"{LONE}\nb = 2", None),
    ],
    ids=["CRLF", "CR", "astral", "separators", "lone surrogate"],
)
def test_odd_text_survives_reading_editing_and_saving(
    lab: Lab, source: str, shown: str | None
) -> None:
    shown = source if shown is None else shown
    put(lab, "odd.ipynb", sketch(code(source, "odd")))
    [unopened] = cells(lab, "odd.ipynb")
    lab.must("jupyter_open_notebook", path="odd.ipynb")
    [live] = cells(lab, "odd.ipynb")
    for cell in (unopened, live):
        assert cell["source"] == shown
        assert cell["sourceHash"] == source_hash(shown)
    lab.must("jupyter_update_cell", cellId="odd", edits=[{"oldText": "b = 2", "newText": "b = 3"}])
    lab.must("jupyter_insert_cell", source=f"{shown} again")
    lab.must("jupyter_save_notebook")
    changed = shown.replace("b = 2", "b = 3")
    expected = [changed, f"{shown} again"]
    assert [cell["source"] for cell in cells(lab, "odd.ipynb")] == expected
    assert [cell["source"] for cell in saved(lab, "odd.ipynb")["cells"]] == expected
    found = lab.must("jupyter_get_cells", search="b = 3")["cells"]
    assert len(found) == 1
    assert lab.must(
        "jupyter_update_cell",
        cellId="odd",
        source=LONE,
        expectedSourceHash=source_hash(changed),
    )["sourceHash"] == source_hash(LONE)
    assert cells(lab, "odd.ipynb")[0]["source"] == LONE


@pytest.mark.parametrize(
    "content",
    [
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]},
        {"nbformat": 5, "nbformat_minor": 0, "metadata": {}, "cells": []},
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}},
        {"some": "JSON"},
        "{this is not JSON",
        "",
        "[1, 2]",
    ],
    ids=["nbformat 3", "nbformat 5", "no cells", "no notebook", "no JSON", "empty", "list"],
)
def test_what_is_no_notebook_of_nbformat_4_is_neither_read_nor_opened(
    lab: Lab, content: Any
) -> None:
    put(lab, "bad.ipynb", content)
    files = listing(lab)
    for name, argument in (
        ("jupyter_get_cells", "notebookPath"),
        ("jupyter_open_notebook", "path"),
    ):
        failed = lab.call(name, {argument: "bad.ipynb"})
        assert failed["code"] == "NOTEBOOK_READ_FAILED", failed
    assert tabs(lab) == []
    assert listing(lab) == files
    assert dialogs(lab) == []
    assert saved(lab, "bad.ipynb") == content


def test_damaged_cells_are_read_as_far_as_they_go(lab: Lab) -> None:
    content = sketch("fine")
    content["cells"] += [
        {"cell_type": "code"},
        {"cell_type": "mystery", "source": ["a\n", "b"], "metadata": None},
        "no cell",
        {"cell_type": "code", "source": "o", "metadata": {}, "outputs": [7, {"output_type": "?"}]},
    ]
    put(lab, "damaged.ipynb", content)
    found = cells(lab, "damaged.ipynb", includeOutputs=True)
    assert [cell["source"] for cell in found] == ["fine", "", "a\nb", "o"]


def test_a_folder_and_a_text_file_are_no_notebooks(lab: Lab) -> None:
    put(lab, "folder.of/note.txt", "text")
    for path, code_ in (
        ("folder.of", "INVALID_PATH"),
        ("folder.of/note.txt", "INVALID_PATH"),
    ):
        assert lab.call("jupyter_open_notebook", {"path": path})["code"] == code_
        failed = lab.call("jupyter_get_cells", {"notebookPath": path})
        assert failed["code"] == "NOTEBOOK_NOT_FOUND"
    assert tabs(lab) == []


def test_output_with_half_a_surrogate_pair_reaches_the_agent(lab: Lab) -> None:
    put_and_open(lab, "half.ipynb", sketch(code("x", "x", outputs=[stream("a\ud83d\n")])))
    [cell] = cells(lab, "half.ipynb", includeOutputs=True)
    assert cell["outputs"] == [stream("a\ud83d\n")]
