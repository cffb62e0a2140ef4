"""Inserting, updating and deleting: guarded, smallest edits, nothing of a person's lost."""

from __future__ import annotations

import pytest
from desk import Desk
from pywebmcp.edits import source_hash
from pywebmcp.testing import code, markdown


async def test_insert_without_an_anchor_goes_to_the_end_in_order() -> None:
    desk = Desk("a", "b")
    await desk.open()
    first = await desk.ok("jupyter_insert_cell", source="# step 1")
    await desk.ok("jupyter_insert_cell", source="# step 2")
    assert desk.sources() == ["a", "b", "# step 1", "# step 2"]
    assert first == {
        "success": True,
        "id": "new-1",
        "index": 2,
        "sourceHash": source_hash("# step 1"),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"referenceCellId": "cell-0"}, ["a", "new", "b"]),
        ({"referenceCellId": "cell-0", "position": "below"}, ["a", "new", "b"]),
        ({"referenceCellId": "cell-0", "position": "above"}, ["new", "a", "b"]),
        ({"referenceCellId": "cell-1"}, ["a", "b", "new"]),
        ({"referenceCellId": "@1", "position": "above"}, ["a", "new", "b"]),
        ({"position": "above"}, ["new", "a", "b"]),
        ({"position": "below"}, ["a", "b", "new"]),
    ],
)
async def test_insert_beside_a_cell(arguments: dict[str, str], expected: list[str]) -> None:
    desk = Desk("a", "b")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="new", **arguments)
    assert desk.sources() == expected


async def test_insert_does_not_run_nor_take_the_person_along() -> None:
    desk = Desk("a", "b")
    await desk.open()
    desk.person.click(0, 1)
    answer = await desk.ok("jupyter_insert_cell", source="print(1)")
    desk.person.type("!")
    assert desk.sources() == ["a!", "b", "print(1)"]
    live = desk.frontend.notebook()
    assert live is not None
    [cell] = live.cells(answer["index"], answer["index"] + 1, outputs=True)
    assert cell.get("execution_count") is None
    assert not cell.get("outputs")


async def test_insert_can_activate_the_new_cell() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="b", activate=True)
    focus = (await desk.ok("jupyter_get_context"))["focus"]
    assert focus["activeCellId"] == "new-1"


@pytest.mark.parametrize("kind", ["code", "markdown", "raw"])
async def test_insert_every_type(kind: str) -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="x", cellType=kind)
    cells = (await desk.ok("jupyter_get_cells"))["cells"]
    assert cells[-1]["type"] == kind


async def test_insert_normalises_line_ends() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="x\r\ny\rz")
    assert desk.sources()[-1] == "x\ny\nz"


@pytest.mark.parametrize(
    ("arguments", "code_"),
    [
        ({"referenceCellId": "gone"}, "CELL_NOT_FOUND"),
        ({"cellType": "heading"}, "INVALID_ARGUMENT"),
        ({"source": 3}, "INVALID_ARGUMENT"),
        ({"notebookPath": "b.ipynb"}, "FILE_NOT_FOUND"),
    ],
)
async def test_insert_refused(arguments: dict[str, object], code_: str) -> None:
    desk = Desk("a")
    await desk.open()
    await desk.fail(code_, "jupyter_insert_cell", **arguments)
    assert desk.sources() == ["a"]


async def test_editing_a_notebook_that_is_not_open_says_how_to_open_it() -> None:
    desk = Desk("a")
    failed = await desk.fail("NOTEBOOK_NOT_FOUND", "jupyter_insert_cell", notebookPath="a.ipynb")
    assert "jupyter_open_notebook" in failed["error"]


async def test_update_the_whole_source_with_its_hash() -> None:
    desk = Desk("x = 1", "b")
    await desk.open()
    answer = await desk.ok(
        "jupyter_update_cell",
        cellId="cell-0",
        source="x = 2",
        expectedSourceHash=source_hash("x = 1"),
    )
    assert desk.sources() == ["x = 2", "b"]
    assert answer == {"success": True, "sourceHash": source_hash("x = 2")}


async def test_update_of_a_changed_cell_is_refused_with_the_present_source() -> None:
    desk = Desk("x = 1")
    await desk.open()
    desk.person.click(0, 5)
    desk.person.type("0")
    failed = await desk.fail(
        "STALE_CELL",
        "jupyter_update_cell",
        cellId="cell-0",
        source="x = 2",
        expectedSourceHash=source_hash("x = 1"),
    )
    assert failed["source"] == "x = 10"
    assert failed["sourceHash"] == source_hash("x = 10")
    assert desk.sources() == ["x = 10"]


async def test_a_long_present_source_is_cut_and_marked() -> None:
    desk = Desk("y" * 100_000)
    await desk.open()
    failed = await desk.fail(
        "STALE_CELL", "jupyter_update_cell", cellId="cell-0", source="x", expectedSourceHash="old"
    )
    assert failed["truncated"] is True
    assert "characters omitted" in failed["source"]


async def test_exact_replacements_need_no_hash_and_leave_the_rest() -> None:
    desk = Desk("a = 1\nb = 2\n")
    await desk.open()
    desk.person.click(0, 0)
    desk.person.type("# mine\n")
    await desk.ok(
        "jupyter_update_cell",
        cellId="cell-0",
        edits=[{"oldText": "b = 2", "newText": "b = 3"}, {"oldText": "a = 1", "newText": "a = 0"}],
    )
    assert desk.sources() == ["# mine\na = 0\nb = 3\n"]


async def test_a_replacement_that_is_not_there_is_stale_and_changes_nothing() -> None:
    desk = Desk("a = 1")
    await desk.open()
    failed = await desk.fail(
        "STALE_CELL",
        "jupyter_update_cell",
        cellId="cell-0",
        edits=[{"oldText": "a = 1", "newText": "a = 2"}, {"oldText": "b", "newText": "c"}],
    )
    assert failed["source"] == "a = 1"
    assert desk.sources() == ["a = 1"]


async def test_a_replacement_found_twice_is_refused() -> None:
    desk = Desk("a a")
    await desk.open()
    await desk.fail(
        "INVALID_ARGUMENT",
        "jupyter_update_cell",
        cellId="cell-0",
        edits=[{"oldText": "a", "newText": "b"}],
    )
    assert desk.sources() == ["a a"]


async def test_an_lf_pattern_matches_a_crlf_cell() -> None:
    desk = Desk("%time x = 1\r\ny = 2")
    await desk.open()
    await desk.ok(
        "jupyter_update_cell",
        cellId="cell-0",
        edits=[{"oldText": "%time x = 1\ny = 2", "newText": "%time x = 1\ny = 5"}],
    )
    assert desk.sources() == ["%time x = 1\ny = 5"]


async def test_an_edit_leaves_odd_characters_as_they_are() -> None:
    source = "label = '\ud83d'\x0c\u2028\x1c 😀"
    desk = Desk(source)
    await desk.open()
    await desk.ok(
        "jupyter_update_cell", cellId="cell-0", edits=[{"oldText": "label", "newText": "name"}]
    )
    assert desk.sources() == [source.replace("label", "name")]


async def test_updating_the_cell_a_person_types_in_keeps_cursor_and_undo() -> None:
    desk = Desk("first\nlast")
    await desk.open()
    desk.person.click(0, len("first\nlast"))
    desk.person.type("!")
    await desk.ok(
        "jupyter_update_cell", cellId="cell-0", edits=[{"oldText": "first", "newText": "the first"}]
    )
    desk.person.type("?")
    assert desk.sources() == ["the first\nlast!?"]
    desk.person.undo()
    assert desk.sources() == ["the first\nlast!"]


async def test_a_cursor_between_two_replacements_stays_there() -> None:
    desk = Desk("one\nmiddle\nthree")
    await desk.open()
    desk.person.click(0, len("one\nmiddle"))
    await desk.ok(
        "jupyter_update_cell",
        cellId="cell-0",
        edits=[{"oldText": "one", "newText": "ONE"}, {"oldText": "three", "newText": "THREE"}],
    )
    desk.person.type("!")
    assert desk.sources() == ["ONE\nmiddle!\nTHREE"]
    desk.person.undo()
    desk.person.undo()
    assert desk.sources() == ["one\nmiddle\nthree"]


async def test_a_cursor_in_a_line_that_stays_does_not_move_with_a_whole_source() -> None:
    before, after = "a = 1\nb = 2\nkeep\nc = 3\nd", "a = 10\nkeep\nnew\nc = 4\nd"
    desk = Desk(before)
    await desk.open()
    desk.person.click(0, before.index("keep") + 4)
    await desk.ok(
        "jupyter_update_cell", cellId="cell-0", source=after, expectedSourceHash=source_hash(before)
    )
    desk.person.type("!")
    assert desk.sources() == [after.replace("keep", "keep!")]


async def test_change_of_type_keeps_id_and_source() -> None:
    desk = Desk("# T", "b")
    await desk.open()
    await desk.ok("jupyter_update_cell", cellId="cell-0", cellType="markdown")
    first = (await desk.ok("jupyter_get_cells"))["cells"][0]
    assert (first["id"], first["type"], first["source"]) == ("cell-0", "markdown", "# T")


@pytest.mark.parametrize(("cell", "to", "expected"), [("cell-0", 2, "bca"), ("cell-2", 0, "cab")])
async def test_move(cell: str, to: int, expected: str) -> None:
    desk = Desk(*"abc")
    await desk.open()
    answer = await desk.ok("jupyter_update_cell", cellId=cell, index=to)
    assert "".join(desk.sources()) == expected
    assert answer["index"] == to


async def test_all_at_once() -> None:
    desk = Desk(*"abc")
    await desk.open()
    await desk.ok(
        "jupyter_update_cell",
        cellId="cell-0",
        source="# A",
        expectedSourceHash=source_hash("a"),
        cellType="markdown",
        index=1,
    )
    cells = (await desk.ok("jupyter_get_cells"))["cells"]
    assert [(cell["source"], cell["type"]) for cell in cells] == [
        ("b", "code"),
        ("# A", "markdown"),
        ("c", "code"),
    ]


@pytest.mark.parametrize(
    ("arguments", "code_"),
    [
        ({"cellId": "cell-0"}, "INVALID_ARGUMENT"),
        ({"cellId": "cell-0", "source": "x"}, "INVALID_ARGUMENT"),
        (
            {"cellId": "cell-0", "source": "x", "edits": [{"oldText": "a", "newText": "b"}]},
            "INVALID_ARGUMENT",
        ),
        ({"cellId": "cell-0", "edits": []}, "INVALID_ARGUMENT"),
        ({"cellId": "cell-0", "edits": [{"oldText": "", "newText": "b"}]}, "INVALID_ARGUMENT"),
        ({"cellId": "cell-0", "edits": [{"oldText": "a"}]}, "INVALID_ARGUMENT"),
        ({"cellId": "cell-0", "index": 3}, "INVALID_ARGUMENT"),
        ({"cellId": "cell-0", "index": -1}, "INVALID_ARGUMENT"),
        ({"cellId": "@0", "index": 1}, "INVALID_ARGUMENT"),
        ({"cellId": "gone", "index": 1}, "CELL_NOT_FOUND"),
        ({"cellId": "cell-0", "index": 1, "expectedSourceHash": "0"}, "STALE_CELL"),
    ],
)
async def test_update_refused_changes_nothing(arguments: dict[str, object], code_: str) -> None:
    desk = Desk(*"abc")
    await desk.open()
    await desk.fail(code_, "jupyter_update_cell", **arguments)
    assert desk.sources() == list("abc")


async def test_an_update_that_changes_nothing_leaves_the_notebook_clean() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok(
        "jupyter_update_cell", cellId="cell-0", source="a", expectedSourceHash=source_hash("a")
    )
    context = await desk.ok("jupyter_get_context")
    assert context["notebook"]["dirty"] is False


async def test_a_shared_id_is_refused_and_a_position_needs_proof() -> None:
    desk = Desk(code("p", "a1"), code("q", "b2"), code("p", "a1"), code("r", "a1"))
    await desk.open()
    failed = await desk.fail(
        "INVALID_ARGUMENT",
        "jupyter_update_cell",
        cellId="a1",
        source="price = 11",
        expectedSourceHash=source_hash("p"),
    )
    assert len(failed["candidates"]) == 3
    await desk.ok(
        "jupyter_update_cell", cellId="b2", source="qty", expectedSourceHash=source_hash("q")
    )
    await desk.ok(
        "jupyter_update_cell", cellId="@3", source="R", expectedSourceHash=source_hash("r")
    )
    assert desk.sources() == ["p", "qty", "p", "R"]
    assert desk.ids() == ["a1", "b2", "a1", "a1"]


async def test_delete_with_its_hash() -> None:
    desk = Desk("a", "b")
    await desk.open()
    answer = await desk.ok(
        "jupyter_delete_cell", cellId="cell-0", expectedSourceHash=source_hash("a")
    )
    assert desk.sources() == ["b"]
    assert answer == {"success": True, "cellCount": 1}


async def test_delete_of_a_changed_cell_is_refused() -> None:
    desk = Desk("a", "b")
    await desk.open()
    failed = await desk.fail(
        "STALE_CELL", "jupyter_delete_cell", cellId="cell-0", expectedSourceHash=source_hash("b")
    )
    assert failed["source"] == "a"
    assert desk.sources() == ["a", "b"]


async def test_deleting_the_last_cell_leaves_a_blank_one() -> None:
    desk = Desk("a")
    await desk.open()
    answer = await desk.ok(
        "jupyter_delete_cell", cellId="cell-0", expectedSourceHash=source_hash("a")
    )
    assert answer["cellCount"] == 1
    assert desk.sources() == [""]


@pytest.mark.parametrize("tool", ["jupyter_update_cell", "jupyter_delete_cell"])
async def test_a_cell_that_is_not_editable_is_left_alone(tool: str) -> None:
    desk = Desk(code("a", "a", metadata={"editable": False}), markdown("m"))
    await desk.open()
    arguments = {"source": "b"} if tool == "jupyter_update_cell" else {}
    await desk.fail(
        "CELL_ACCESS_DENIED", tool, cellId="a", expectedSourceHash=source_hash("a"), **arguments
    )
    assert desk.sources() == ["a", "m"]


async def test_a_cell_that_is_not_deletable_can_be_edited_only() -> None:
    desk = Desk(code("a", "a", metadata={"deletable": False}), "b")
    await desk.open()
    await desk.fail(
        "CELL_ACCESS_DENIED", "jupyter_delete_cell", cellId="a", expectedSourceHash=source_hash("a")
    )
    await desk.ok(
        "jupyter_update_cell", cellId="a", source="c", expectedSourceHash=source_hash("a")
    )
    assert desk.sources() == ["c", "b"]
