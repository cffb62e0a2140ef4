"""Opening, creating, saving; the context; focus."""

from __future__ import annotations

import pytest
from desk import Desk
from pywebmcp.errors import Code, ToolError
from pywebmcp.testing import notebook


async def test_open_answers_what_is_there() -> None:
    desk = Desk("a", "b")
    answer = await desk.ok("jupyter_open_notebook", path="a.ipynb")
    assert answer["cellCount"] == 2
    assert answer["kernel"]["name"] == "python"
    assert "dirty" not in answer


async def test_an_open_notebook_keeps_its_unsaved_state() -> None:
    desk = Desk("a")
    await desk.open()
    desk.person.click(0, 1)
    desk.person.type("!")
    answer = await desk.ok("jupyter_open_notebook", path="a.ipynb")
    assert answer["dirty"] is True
    assert desk.sources() == ["a!"]


async def test_open_in_the_background_leaves_the_person_where_they_are() -> None:
    desk = Desk("a", files={"b.ipynb": notebook("b")})
    await desk.open()
    await desk.ok("jupyter_open_notebook", path="b.ipynb", activate=False)
    context = await desk.ok("jupyter_get_context")
    assert context["notebook"]["path"] == "a.ipynb"
    assert {document["path"] for document in context["documents"]} == {"a.ipynb", "b.ipynb"}
    await desk.ok("jupyter_open_notebook", path="b.ipynb")
    assert (await desk.ok("jupyter_get_context"))["notebook"]["path"] == "b.ipynb"


async def test_open_at_a_cell() -> None:
    desk = Desk("a", "b")
    await desk.ok("jupyter_open_notebook", path="a.ipynb", cellId="cell-1")
    assert (await desk.ok("jupyter_get_context"))["focus"]["activeCellId"] == "cell-1"
    await desk.fail("CELL_NOT_FOUND", "jupyter_open_notebook", path="a.ipynb", cellId="gone")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "missing.ipynb"}, "FILE_NOT_FOUND"),
        ({"path": "data.csv"}, "INVALID_PATH"),
        ({"path": "/a.ipynb"}, "INVALID_PATH"),
        ({"path": "folder.ipynb"}, "INVALID_PATH"),
        ({"path": "old.ipynb"}, "NOTEBOOK_READ_FAILED"),
        ({"path": "a.ipynb", "kernel": "julia"}, "INVALID_ARGUMENT"),
        ({}, "INVALID_ARGUMENT"),
    ],
)
async def test_open_refused_opens_nothing(arguments: dict[str, str], code: str) -> None:
    desk = Desk(
        "a",
        files={"data.csv": "a", "old.ipynb": {"nbformat": 3, "worksheets": []}},
        folders=["folder.ipynb"],
    )
    await desk.fail(code, "jupyter_open_notebook", **arguments)
    assert (await desk.ok("jupyter_get_context"))["documents"] == []


async def test_create_makes_and_opens_a_notebook() -> None:
    desk = Desk()
    answer = await desk.ok("jupyter_open_notebook", path="new/deep/n.ipynb", create=True)
    assert answer["cellCount"] == 1
    assert answer["kernel"]["name"] == "python"
    context = await desk.ok("jupyter_get_context")
    assert context["notebook"]["path"] == "new/deep/n.ipynb"
    await desk.ok("jupyter_insert_cell", source="print(6 * 7)")
    ran = await desk.ok("jupyter_run_cells", startIndex=0)
    assert ran["cells"][1]["outputs"][0]["text"] == "42\n"


async def test_create_in_the_background() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_open_notebook", path="b.ipynb", create=True, activate=False)
    assert (await desk.ok("jupyter_get_context"))["notebook"]["path"] == "a.ipynb"


async def test_create_takes_a_kernel() -> None:
    desk = Desk(kernels=("python", "other"))
    answer = await desk.ok("jupyter_open_notebook", path="b.ipynb", create=True, kernel="other")
    assert answer["kernel"]["name"] == "other"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "a.ipynb"}, "PATH_EXISTS"),
        ({"path": "data.csv/b.ipynb"}, "INVALID_PATH"),
        ({"path": "b.txt"}, "INVALID_PATH"),
        ({"path": "../b.ipynb"}, "INVALID_PATH"),
        ({"path": "b.ipynb", "kernel": "julia"}, "INVALID_ARGUMENT"),
    ],
)
async def test_create_refused_leaves_no_file(arguments: dict[str, str], code: str) -> None:
    desk = Desk("a", files={"data.csv": "x"})
    await desk.fail(code, "jupyter_open_notebook", create=True, **arguments)
    assert await desk.frontend.entry("b.ipynb") is None
    assert (await desk.ok("jupyter_get_context"))["documents"] == []


async def test_a_create_that_cannot_open_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()

    async def fails(*_: object, **__: object) -> None:
        raise ToolError(Code.INVALID_PATH, "This page shows one notebook.")

    monkeypatch.setattr(desk.frontend, "open_notebook", fails)
    await desk.fail("INVALID_PATH", "jupyter_open_notebook", path="b.ipynb", create=True)
    assert await desk.frontend.entry("b.ipynb") is None


async def test_a_new_notebook_has_no_cell_to_show() -> None:
    desk = Desk()
    await desk.fail(
        "INVALID_ARGUMENT", "jupyter_open_notebook", path="s/b.ipynb", create=True, cellId="x"
    )
    assert await desk.frontend.entry("s") is None


async def test_a_create_that_cannot_open_leaves_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(folders=["kept"])

    async def fails(*_: object, **__: object) -> None:
        raise ToolError(Code.INVALID_PATH, "This page shows one notebook.")

    monkeypatch.setattr(desk.frontend, "open_notebook", fails)
    await desk.fail("INVALID_PATH", "jupyter_open_notebook", path="kept/s/t/b.ipynb", create=True)
    assert await desk.frontend.entry("kept/s") is None
    assert await desk.frontend.entry("kept") is not None


async def test_a_cell_that_is_not_in_the_file_opens_no_tab() -> None:
    desk = Desk("a")
    await desk.fail("CELL_NOT_FOUND", "jupyter_open_notebook", path="a.ipynb", cellId="gone")
    assert (await desk.ok("jupyter_get_context"))["documents"] == []


async def test_a_context_of_which_a_part_fails_has_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk("a")
    await desk.open()

    def fails() -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(desk.server.calls, "dialog_list", fails)
    context = await desk.ok("jupyter_get_context")
    assert context["dialogs"] is None
    assert context["notebook"]["path"] == "a.ipynb"
    monkeypatch.setattr(desk.frontend, "workspace", fails)
    context = await desk.ok("jupyter_get_context")
    assert context["notebook"] is None
    assert context["documents"] is None


async def test_save() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="b")
    answer = await desk.ok("jupyter_save_notebook")
    assert answer == {"success": True, "path": "a.ipynb", "dirty": False}
    saved = await desk.frontend.read_notebook("a.ipynb")
    assert [cell["source"] for cell in saved["cells"]] == ["a", "b"]


async def test_save_does_not_overwrite_a_file_that_changed_meanwhile() -> None:
    desk = Desk("a")
    await desk.open()
    await desk.ok("jupyter_insert_cell", source="b")
    desk.person.edit_file("a.ipynb", notebook("elsewhere"))
    await desk.fail("STALE_FILE", "jupyter_save_notebook")
    saved = await desk.frontend.read_notebook("a.ipynb")
    assert [cell["source"] for cell in saved["cells"]] == ["elsewhere"]


async def test_the_context_of_an_empty_workspace_has_null_fields() -> None:
    assert await Desk().ok("jupyter_get_context") == {
        "success": True,
        "directory": "",
        "documents": [],
        "notebook": None,
        "review": None,
        "focus": None,
        "pending": [],
        "dialogs": [],
    }


async def test_the_context_of_a_notebook() -> None:
    desk = Desk("a", "b")
    await desk.open()
    desk.person.select(1, 0, 1)
    context = await desk.ok("jupyter_get_context")
    assert context["documents"] == [{"path": "a.ipynb", "type": "notebook", "dirty": False}]
    shown = context["notebook"]
    assert (shown["path"], shown["dirty"], shown["cellCount"]) == ("a.ipynb", False, 2)
    assert shown["kernel"]["status"] == "idle"
    assert shown["kernel"]["canInterrupt"] is False
    assert context["focus"]["activeCellId"] == "cell-1"
    assert context["focus"]["selectedText"] == "b"


async def test_the_revision_grows_with_every_change() -> None:
    desk = Desk("a")
    await desk.open()
    before = (await desk.ok("jupyter_get_context"))["notebook"]["revision"]
    desk.person.click(0, 0)
    desk.person.type("x")
    assert (await desk.ok("jupyter_get_context"))["notebook"]["revision"] > before


async def test_the_context_without_a_kernel() -> None:
    desk = Desk("a", kernel_start="none")
    await desk.open()
    assert (await desk.ok("jupyter_get_context"))["notebook"]["kernel"] is None


async def test_focus_places_the_cursor_or_a_selection() -> None:
    desk = Desk("a", "one\ntwo 😀 three")
    await desk.open()
    await desk.ok("jupyter_focus_cell", cellId="cell-1", cursor={"line": 1, "column": 5})
    focus = (await desk.ok("jupyter_get_context"))["focus"]
    assert focus["activeCellId"] == "cell-1"
    assert focus["cursor"] == {"line": 1, "column": 5}
    await desk.ok(
        "jupyter_focus_cell",
        cellId="cell-1",
        selection={"start": {"line": 0, "column": 0}, "end": {"line": 1, "column": 5}},
    )
    focus = (await desk.ok("jupyter_get_context"))["focus"]
    assert focus["selectedText"] == "one\ntwo 😀"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cursor": {"line": 99, "column": 0}}, "has 2 lines"),
        ({"cursor": {"line": 0, "column": 4}}, "has 3 characters"),
        ({"cursor": {"line": -1, "column": 0}}, "at least 0"),
        ({"cursor": {"line": 0}}, "missing"),
        (
            {"selection": {"start": {"line": 1, "column": 0}, "end": {"line": 0, "column": 0}}},
            "ends before",
        ),
        (
            {
                "cursor": {"line": 0, "column": 0},
                "selection": {"start": {"line": 0, "column": 0}, "end": {"line": 0, "column": 0}},
            },
            "not both",
        ),
    ],
)
async def test_a_place_that_is_not_there(arguments: dict[str, object], words: str) -> None:
    desk = Desk("a", "one\ntwo")
    await desk.open()
    desk.person.click(0)
    failed = await desk.fail("INVALID_ARGUMENT", "jupyter_focus_cell", cellId="cell-1", **arguments)
    assert words in failed["error"]
    assert (await desk.ok("jupyter_get_context"))["focus"]["activeCellId"] == "cell-0"
