"""What every front end must do, as test cases: in memory (CPython, Pyodide) and in a real Chromium.

Only the standard library and the package are imported and nothing is fixed to pytest, so that the
page's own Python can run the same cases. Write them against the Protocols alone; they must hold
for a kernel that an earlier case has left behind, variables and all, because JupyterLab keeps a
notebook's kernel when its tab closes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend, Kernel, Notebook
from pywebmcp.testing.notebooks import code, joined, markdown, notebook, raw, result, stream
from pywebmcp.types import CellData, Position, Selection

Files = dict[str, Any]
Provide = Callable[[Files], Awaitable[Frontend]]
"""Gives a front end with exactly these files (nbformat dict or text), no document open."""

PATIENCE = 120.0
"""Seconds for what a real kernel does; only a hanging case takes that long."""


class Skipped(Exception):  # noqa: N818
    """This front end, or its person, cannot take part in a case."""


class Person(Protocol):
    """What a case needs a person for; an adapter may leave out methods, their cases are skipped."""

    async def click(self, path: str, index: int, cursor: int) -> None:
        """Click into a cell's editor: edit mode, the caret at this offset."""

    async def type(self, text: str) -> None:
        """Press these keys, wherever the keyboard focus is."""

    async def undo(self) -> None:
        """Undo once in the editor with the keyboard focus."""

    async def edit_file(self, path: str, content: Any) -> None:
        """Change a file behind the document that is open on it."""

    async def rename(self, old: str, new: str) -> None:
        """Rename a file in the file browser."""

    async def close(self, path: str) -> None:
        """Close a document's tab without saving."""

    async def answer(self, path: str, text: str) -> None:
        """Answer the prompt of a notebook's kernel."""

    async def start_run(self, path: str, index: int) -> None:
        """Start a cell by hand and do not wait for it."""


def files() -> Files:
    """The files that every case starts with."""
    return {
        "main.ipynb": notebook(
            markdown("# Title", "title"),
            code("x = 1\ny = 2", "set", metadata={"tags": ["keep"]}),
            code("print('hi')", "shown", outputs=[stream("hi\n")], execution_count=3),
            raw("raw text", "plain"),
            code("z = 3", "last"),
            metadata={"kernelspec": {"name": "python", "display_name": "Python"}, "own": {"a": 1}},
        ),
        "odd.ipynb": notebook(
            code("a = 1\r\nb = 2\rc = 3\r\n", "crlf"),
            code("s = '\U0001f600e\u0301'  # \U0001d53c", "astral"),
            code("t = '\ud83d'\nu = '\ude00'", "lone"),
            {**code("", "lines"), "source": ["first\n", "second"]},
        ),
        "old.ipynb": notebook("a = 1", markdown("text"), "b = 2", minor=4),
        "twins.ipynb": notebook(code("1", "twin"), code("2", "other"), code("3", "twin")),
        "long.ipynb": notebook(*(code(f"cell_{n} = {n}", f"cell-{n}") for n in range(300))),
        "run.ipynb": notebook(
            code("import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7", "ok"),
            code("def fail():\n    return 1 / 0\nprint('before')\nfail()", "fails"),
            markdown("*text*", "text"),
            raw("raw", "raw"),
            code("", "empty"),
            code("import asyncio\nprint('begun')\nawait asyncio.sleep(3600)", "endless"),
            code("import asyncio\nprint('begun')\nawait asyncio.sleep(1)\nprint('end')", "slow"),
            code("value = 20\r\nvalue + 1", "crlf"),
            code("kept = 1", "sets"),
            code("'kept' in globals()", "asks"),
            code("given = input('Name? ')\ngiven", "input"),
        ),
        "broken.ipynb": "{this is not JSON",
        "notes.txt": "Grüße, \U0001f600\n",
        "data/table.csv": "a,b\n1,2\n",
    }


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its method's name, and the methods of the person that it needs."""

    name: str
    needs: tuple[str, ...]


def cases() -> list[Case]:
    """Every case, in the order of the class."""
    return [
        Case(name, getattr(method, "needs", ()))
        for name, method in vars(FrontendContract).items()
        if name.startswith("test_")
    ]


async def run_case(case: Case, provide: Provide, person: Any = None) -> None:
    """Run one case on a fresh front end; raises ``Skipped``, or what the case raises."""
    missing = [need for need in case.needs if not hasattr(person, need)]
    if missing:
        raise Skipped("nobody there to " + ", ".join(missing))
    given = files()
    contract = FrontendContract(await provide(files()), given, person)
    await getattr(contract, case.name)()


def needs(*methods: str) -> Callable[[Any], Any]:
    """Mark a case that only works with a person."""

    def mark(method: Any) -> Any:
        method.needs = methods
        return method

    return mark


def equal(actual: Any, expected: Any) -> None:
    """Assert equality and say what was different, without an assertion rewriter."""
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


@contextmanager
def fails(*expected: Code) -> Iterator[None]:
    """Assert that a ``ToolError`` with one of these codes is raised."""
    try:
        yield
    except ToolError as error:
        if error.code not in expected:
            raise AssertionError(f"{error.code} is not among {expected}") from error
    else:
        raise AssertionError(f"nothing raised; expected {expected}")


async def until(condition: Callable[[], Any]) -> None:
    """Wait for what another party does."""
    clock = asyncio.get_running_loop()
    end = clock.time() + PATIENCE
    while not condition():
        if clock.time() > end:
            raise AssertionError("what was waited for did not come")
        await asyncio.sleep(0.02)


def sources(model: Notebook) -> list[str]:
    """The source of every cell."""
    return [cell["source"] for cell in model.cells(0, model.state()["cellCount"])]


def one(model: Notebook, index: int) -> CellData:
    """One cell with its outputs."""
    return model.cells(index, index + 1, outputs=True)[0]


def place(line: int, column: int) -> Position:
    """A position."""
    return Position(line=line, column=column)


def text_of(outputs: list[dict[str, Any]], name: str = "stdout") -> str:
    """All the text of one stream."""
    return "".join(joined(out["text"]) for out in outputs if out.get("name") == name)


class FrontendContract:
    """The cases; each gets a front end with ``files()`` and nothing open."""

    def __init__(self, frontend: Frontend, given: Files, person: Any = None) -> None:
        self.frontend = frontend
        self.files = given
        self.person = person

    async def open(self, path: str = "main.ipynb") -> Notebook:
        """Open a notebook."""
        return await self.frontend.open_notebook(path)

    async def kernel(self) -> tuple[Notebook, Kernel]:
        """The notebook to run and its kernel, ready."""
        model = await self.open("run.ipynb")
        return model, await model.ready_kernel()

    def index(self, model: Notebook, cell_id: str) -> int:
        """Where the one cell with this id is."""
        (index,) = model.find(cell_id)
        return index

    # The application

    async def test_nothing_is_open_at_first(self) -> None:
        workspace = self.frontend.workspace()
        equal(workspace["documents"], [])
        equal(workspace["focus"], None)
        assert isinstance(workspace["directory"], str)
        equal(self.frontend.notebook(), None)
        equal(self.frontend.notebook("main.ipynb"), None)

    async def test_the_workspace_lists_documents_and_whether_they_are_dirty(self) -> None:
        await self.open("odd.ipynb")
        model = await self.open()
        model.replace_text(0, 0, 0, "x")
        documents = {doc["path"]: doc for doc in self.frontend.workspace()["documents"]}
        equal(sorted(documents), ["main.ipynb", "odd.ipynb"])
        equal(documents["main.ipynb"], {"path": "main.ipynb", "type": "notebook", "dirty": True})
        equal(documents["odd.ipynb"]["dirty"], False)

    async def test_the_current_notebook_is_the_one_opened_last(self) -> None:
        await self.open("odd.ipynb")
        await self.open()
        current = self.frontend.notebook()
        assert current is not None
        equal(current.state()["path"], "main.ipynb")
        other = self.frontend.notebook("odd.ipynb")
        assert other is not None
        equal(other.state()["path"], "odd.ipynb")

    async def test_opening_without_activation_leaves_the_current_notebook(self) -> None:
        await self.open()
        await self.frontend.open_notebook("odd.ipynb", activate=False)
        current = self.frontend.notebook()
        assert current is not None
        equal(current.state()["path"], "main.ipynb")
        assert self.frontend.notebook("odd.ipynb") is not None

    async def test_an_unknown_kernel_is_none(self) -> None:
        equal(self.frontend.kernel("no-such-kernel"), None)

    async def test_there_is_a_kernel_to_start(self) -> None:
        names = self.frontend.kernel_names()
        assert names
        assert all(isinstance(name, str) and name for name in names)

    # Files

    async def test_an_entry_says_what_is_at_a_path_without_its_body(self) -> None:
        for path, name, kind in (
            ("main.ipynb", "main.ipynb", "notebook"),
            ("notes.txt", "notes.txt", "file"),
            ("data/table.csv", "table.csv", "file"),
            ("data", "data", "directory"),
        ):
            entry = await self.frontend.entry(path)
            assert entry is not None, path
            equal((entry["path"], entry["name"], entry["type"]), (path, name, kind))
            assert "content" not in entry

    async def test_an_entry_of_nothing_is_none(self) -> None:
        for path in ("absent.txt", "data/absent.csv", "absent/table.csv", "notes.txt/x"):
            equal(await self.frontend.entry(path), None)

    async def test_a_notebook_that_is_not_open_is_read_from_its_file(self) -> None:
        read = await self.frontend.read_notebook("main.ipynb")
        equal((read["nbformat"], read["nbformat_minor"]), (4, 5))
        equal([cell["id"] for cell in read["cells"]], ["title", "set", "shown", "plain", "last"])
        equal(joined(read["cells"][1]["source"]), "x = 1\ny = 2")
        equal(joined(read["cells"][2]["outputs"][0]["text"]), "hi\n")

    async def test_reading_leaves_no_document_and_no_kernel(self) -> None:
        await self.frontend.read_notebook("main.ipynb")
        equal(self.frontend.workspace()["documents"], [])
        equal(self.frontend.notebook("main.ipynb"), None)

    async def test_reading_gives_the_file_not_the_live_model(self) -> None:
        model = await self.open()
        model.replace_text(4, 0, 0, "changed = ")
        read = await self.frontend.read_notebook("main.ipynb")
        equal(joined(read["cells"][4]["source"]), "z = 3")

    async def test_odd_characters_are_read_from_a_file_as_they_are(self) -> None:
        read = await self.frontend.read_notebook("odd.ipynb")
        found = [joined(cell["source"]) for cell in read["cells"]]
        equal(
            found[1:3], [joined(cell["source"]) for cell in self.files["odd.ipynb"]["cells"][1:3]]
        )

    async def test_a_notebook_below_4_5_is_read_without_ids(self) -> None:
        read = await self.frontend.read_notebook("old.ipynb")
        assert all("id" not in cell for cell in read["cells"])

    async def test_reading_what_is_not_there_says_so(self) -> None:
        with fails(Code.FILE_NOT_FOUND):
            await self.frontend.read_notebook("absent.ipynb")

    async def test_reading_what_is_no_notebook_says_so(self) -> None:
        with fails(Code.NOTEBOOK_READ_FAILED):
            await self.frontend.read_notebook("broken.ipynb")

    async def test_a_notebook_is_created_in_a_missing_folder(self) -> None:
        path = "new/deep/made.ipynb"
        await self.frontend.create_notebook(path, notebook(code("made = 1", "made")))
        folder = await self.frontend.entry("new/deep")
        assert folder is not None
        equal(folder["type"], "directory")
        equal(self.frontend.workspace()["documents"], [])
        model = await self.open(path)
        equal((model.ids(), sources(model)), (["made"], ["made = 1"]))

    async def test_creating_over_a_file_leaves_it_alone(self) -> None:
        with fails(Code.PATH_EXISTS):
            await self.frontend.create_notebook("main.ipynb", notebook("gone"))
        read = await self.frontend.read_notebook("main.ipynb")
        equal(len(read["cells"]), 5)

    async def test_creating_below_a_file_leaves_nothing(self) -> None:
        with fails(Code.INVALID_PATH, Code.PATH_EXISTS):
            await self.frontend.create_notebook("notes.txt/made.ipynb", notebook("a"))
        entry = await self.frontend.entry("notes.txt")
        assert entry is not None
        equal(entry["type"], "file")

    async def test_a_deleted_file_is_gone(self) -> None:
        await self.frontend.create_notebook("made.ipynb", notebook("a"))
        await self.frontend.delete("made.ipynb")
        equal(await self.frontend.entry("made.ipynb"), None)

    # Opening

    async def test_an_opened_notebook_has_the_cells_of_its_file(self) -> None:
        model = await self.open()
        equal(model.ids(), ["title", "set", "shown", "plain", "last"])
        equal(
            [cell["cell_type"] for cell in model.cells(0, 5)],
            ["markdown", "code", "code", "raw", "code"],
        )
        state = model.state()
        equal((state["path"], state["dirty"], state["cellCount"]), ("main.ipynb", False, 5))
        equal(model.metadata()["own"], {"a": 1})

    async def test_opening_an_open_notebook_keeps_its_unsaved_state(self) -> None:
        model = await self.open()
        model.replace_text(4, 4, 5, "30")
        again = await self.open()
        equal(sources(again)[4], "z = 30")
        equal(again.state()["dirty"], True)
        equal(len(self.frontend.workspace()["documents"]), 1)

    async def test_opening_what_is_not_there_opens_nothing(self) -> None:
        with fails(Code.FILE_NOT_FOUND):
            await self.open("absent.ipynb")
        equal(self.frontend.workspace()["documents"], [])
        equal(await self.frontend.entry("absent.ipynb"), None)

    async def test_missing_ids_are_made_up_and_unique(self) -> None:
        model = await self.open("old.ipynb")
        equal(len(set(model.ids())), 3)
        assert all(model.ids())
        equal(model.state()["dirty"], False)
        for index, cell_id in enumerate(model.ids()):
            equal(model.find(cell_id), [index])

    async def test_double_ids_are_all_found(self) -> None:
        model = await self.open("twins.ipynb")
        equal(model.ids(), ["twin", "other", "twin"])
        equal(model.find("twin"), [0, 2])
        equal(model.find("other"), [1])
        equal(model.find("absent"), [])

    async def test_an_edit_of_one_of_two_cells_with_the_same_id_leaves_the_other(self) -> None:
        model = await self.open("twins.ipynb")
        model.replace_text(2, 0, 1, "three")
        equal(sources(model), ["1", "2", "three"])
        model.delete_cell(0)
        equal(sources(model), ["2", "three"])
        equal(model.find("twin"), [1])

    # Reading cells

    async def test_cells_are_the_window_that_was_asked_for(self) -> None:
        model = await self.open()
        equal([cell["id"] for cell in model.cells(1, 3)], ["set", "shown"])
        equal(model.cells(2, 2), [])
        equal(model.cells(5, 9), [])
        equal([cell["id"] for cell in model.cells(4, 100)], ["last"])

    async def test_beginnings_are_those_of_all_cells_as_they_are_now(self) -> None:
        model = await self.open()
        equal(model.beginnings()[0], {"cell_type": "markdown", "beginning": "# Title"})
        equal(
            [each["cell_type"] for each in model.beginnings()],
            ["markdown", *["code"] * 2, "raw", "code"],
        )
        model.replace_text(1, 0, 0, "\n  \t\n" + "y" * 300)
        equal(model.beginnings()[1]["beginning"], "y" * 200)
        model.delete_cell(0)
        equal(len(model.beginnings()), 4)
        odd = await self.open("odd.ipynb")
        equal([each["beginning"][:5] for each in odd.beginnings()[2:]], ["t = '", "first"])

    async def test_outputs_come_only_when_asked_for(self) -> None:
        model = await self.open()
        bare, full = model.cells(2, 3)[0], one(model, 2)
        assert "outputs" not in bare
        equal(bare["execution_count"], 3)
        equal(text_of(full["outputs"]), "hi\n")
        assert "outputs" not in one(model, 0)
        equal(one(model, 1)["outputs"], [])

    async def test_cells_carry_their_metadata(self) -> None:
        model = await self.open()
        equal(model.cells(1, 2)[0]["metadata"]["tags"], ["keep"])

    async def test_what_was_read_is_a_copy(self) -> None:
        model = await self.open()
        cell = one(model, 2)
        cell["metadata"]["x"] = 1
        cell["outputs"].clear()
        model.metadata()["x"] = 1
        assert "x" not in one(model, 2)["metadata"]
        equal(len(one(model, 2)["outputs"]), 1)
        assert "x" not in model.metadata()

    async def test_a_source_of_several_lines_is_one_string(self) -> None:
        model = await self.open("odd.ipynb")
        equal(sources(model)[3], "first\nsecond")

    async def test_carriage_returns_are_read_as_line_feeds(self) -> None:
        model = await self.open("odd.ipynb")
        equal(sources(model)[0], "a = 1\nb = 2\nc = 3\n")
        equal(model.state()["dirty"], False)

    async def test_odd_characters_are_read_as_they_are(self) -> None:
        model = await self.open("odd.ipynb")
        equal(sources(model)[1], "s = '\U0001f600e\u0301'  # \U0001d53c")
        equal(sources(model)[2], "t = '\ud83d'\nu = '\ude00'")

    # Editing text

    async def test_a_part_of_a_source_is_replaced(self) -> None:
        model = await self.open()
        for start, end, text, expected in (
            (4, 5, "10", "x = 10\ny = 2"),
            (0, 0, "# a\n", "# a\nx = 10\ny = 2"),
            (16, 16, "\nend", "# a\nx = 10\ny = 2\nend"),
            (0, 4, "", "x = 10\ny = 2\nend"),
            (0, 16, "", ""),
            (0, 0, "all new", "all new"),
        ):
            model.replace_text(1, start, end, text)
            equal(sources(model)[1], expected)
        equal(model.ids(), ["title", "set", "shown", "plain", "last"])
        equal(sources(model)[2], "print('hi')")

    async def test_every_type_of_cell_is_edited(self) -> None:
        model = await self.open()
        model.replace_text(0, 2, 7, "Heading")
        model.replace_text(3, 0, 3, "plain")
        equal([sources(model)[0], sources(model)[3]], ["# Heading", "plain text"])

    async def test_an_edit_leaves_outputs_alone(self) -> None:
        model = await self.open()
        model.replace_text(2, 0, 0, "# ")
        equal(text_of(one(model, 2)["outputs"]), "hi\n")
        equal(one(model, 2)["execution_count"], 3)

    async def test_an_edit_of_a_cell_that_was_run_is_known(self) -> None:
        model = await self.open()
        equal([model.source_changed(index) for index in range(5)], [False] * 5)
        model.replace_text(2, 0, 0, "# ")
        model.replace_text(1, 0, 0, "# ")
        model.replace_text(0, 0, 0, "# ")
        # The second was never run, the first is no code.
        equal(
            [model.source_changed(index) for index in range(5)], [False, False, True, False, False]
        )

    async def test_offsets_count_characters_beyond_the_basic_plane_as_one(self) -> None:
        model = await self.open("odd.ipynb")
        model.replace_text(1, 5, 6, "\U0001f680")
        equal(sources(model)[1], "s = '\U0001f680e\u0301'  # \U0001d53c")
        model.replace_text(1, 6, 8, "")
        equal(sources(model)[1], "s = '\U0001f680'  # \U0001d53c")
        model.replace_text(1, 12, 12, "!")
        equal(sources(model)[1], "s = '\U0001f680'  # \U0001d53c!")
        model.replace_text(1, 6, 6, "\U0001d53c\U0001d53c")
        equal(sources(model)[1], "s = '\U0001f680\U0001d53c\U0001d53c'  # \U0001d53c!")

    async def test_a_lone_surrogate_is_one_character(self) -> None:
        model = await self.open("odd.ipynb")
        model.replace_text(2, 15, 15, " # end")
        equal(sources(model)[2], "t = '\ud83d'\nu = '\ude00' # end")
        model.replace_text(2, 5, 6, "x")
        equal(sources(model)[2], "t = 'x'\nu = '\ude00' # end")
        model.replace_text(2, 5, 6, "\udc00")
        equal(sources(model)[2], "t = '\udc00'\nu = '\ude00' # end")

    async def test_an_edit_makes_line_feeds_of_all_line_ends(self) -> None:
        model = await self.open("odd.ipynb")
        model.replace_text(0, 6, 11, "b = 20")
        equal(sources(model)[0], "a = 1\nb = 20\nc = 3\n")
        model.replace_text(0, 0, 0, "x\r\ny\rz\n")
        equal(sources(model)[0], "x\ny\nz\na = 1\nb = 20\nc = 3\n")
        await model.save()
        read = await self.frontend.read_notebook("odd.ipynb")
        equal(joined(read["cells"][0]["source"]), "x\ny\nz\na = 1\nb = 20\nc = 3\n")

    async def test_one_key_of_the_metadata_is_set_and_the_others_stay(self) -> None:
        model = await self.open()
        before = model.metadata()
        value = {
            "version": 1,
            "text": "\ud83d \U0001f600",
            "list": [1, None, {"deep": 2.5}],
            "0": {},
        }
        model.set_metadata("ours", value)
        equal(model.metadata(), {**before, "ours": value})
        equal(list(model.metadata()), [*before, "ours"])
        model.set_metadata("own", {"b": 1, "a": 2})
        equal(list(model.metadata()), [*before, "ours"])
        equal(list(model.metadata()["own"]), ["b", "a"])
        model.set_metadata("ours", None)
        equal(model.metadata(), {**before, "own": {"b": 1, "a": 2}})
        model.set_metadata("absent", None)
        equal(list(model.metadata()), list(before))

    async def test_one_key_of_the_metadata_of_a_cell_is_set(self) -> None:
        model = await self.open()
        for index in (0, 1, 3):
            before = model.cells(index, index + 1)[0]["metadata"]
            model.set_cell_metadata(index, "ours", {"level": "read"})
            after = model.cells(index, index + 1)[0]["metadata"]
            equal(after, {**before, "ours": {"level": "read"}})
            model.set_cell_metadata(index, "ours", None)
            equal(model.cells(index, index + 1)[0]["metadata"], before)

    async def test_metadata_makes_a_notebook_dirty_when_it_differs(self) -> None:
        model = await self.open()
        model.set_metadata("own", {"a": 1})
        model.set_metadata("absent", None)
        model.set_cell_metadata(1, "tags", ["keep"])
        model.set_cell_metadata(1, "absent", None)
        equal(model.state()["dirty"], False)
        for change in (
            lambda: model.set_metadata("own", {"a": 2}),
            lambda: model.set_metadata("own", None),
            lambda: model.set_cell_metadata(1, "tags", ["other"]),
            lambda: model.set_cell_metadata(1, "tags", None),
        ):
            await model.save()
            before = model.state()["revision"]
            change()
            equal(model.state()["dirty"], True)
            assert model.state()["revision"] > before

    async def test_saving_writes_metadata(self) -> None:
        model = await self.open()
        model.set_metadata("pywebmcp", {"z": 1, "a": [2]})
        model.set_cell_metadata(1, "pywebmcp", {"b": 1})
        await model.save()
        read = await self.frontend.read_notebook("main.ipynb")
        equal(read["metadata"], model.metadata())
        equal(list(read["metadata"]["pywebmcp"]), ["z", "a"])
        equal(read["cells"][1]["metadata"]["pywebmcp"], {"b": 1})

    async def test_the_workspace_has_our_own_metadata_of_the_current_notebook(self) -> None:
        equal(self.frontend.workspace().get("own"), None)
        model = await self.open()
        equal(self.frontend.workspace().get("own"), None)
        model.set_metadata("pywebmcp", {"a": 1})
        equal(self.frontend.workspace().get("own"), {"a": 1})
        await self.open("odd.ipynb")
        equal(self.frontend.workspace().get("own"), None)

    async def test_access_marks_are_told_by_index_as_they_are_now(self) -> None:
        model = await self.open()
        equal(model.access_marks(), {"notebook": None, "cells": {}})
        model.set_cell_metadata(1, "pywebmcp", {"access": {"version": 1, "level": "none"}})
        model.set_metadata("pywebmcp", {"access": {"version": 1, "level": "read"}})
        equal(model.access_marks(), {"notebook": "read", "cells": {1: "none"}})
        model.move_cell(1, 3)
        equal(model.access_marks()["cells"], {3: "none"})
        model.change_type(3, "raw")
        model.delete_cell(0)
        equal(model.access_marks()["cells"], {2: "none"})
        model.set_cell_metadata(2, "pywebmcp", None)
        model.set_metadata("pywebmcp", "anything")
        equal(model.access_marks(), {"notebook": None, "cells": {}})

    @needs("close")
    async def test_closing_a_notebook_is_told_when_it_is_no_longer_found(self) -> None:
        await self.open()
        found: list[Notebook | None] = []
        self.frontend.watch_closed(lambda: found.append(self.frontend.notebook("main.ipynb")))
        await self.person.close("main.ipynb")
        await until(lambda: found)
        equal(found[0], None)

    @needs("click", "type", "undo")
    async def test_undo_does_not_bring_metadata_back(self) -> None:
        model = await self.open()
        await self.person.click("main.ipynb", 4, 5)
        await self.person.type("1")
        model.set_metadata("own", {"a": 2})
        model.set_cell_metadata(4, "ours", 1)
        await self.person.undo()
        await until(lambda: sources(model)[4] == "z = 3")
        equal(model.metadata()["own"], {"a": 2})
        equal(model.cells(4, 5)[0]["metadata"]["ours"], 1)

    async def test_a_notebook_that_is_opened_again_has_no_revision_of_before(self) -> None:
        model = await self.open()
        model.replace_text(1, 0, 0, "# ")
        before = model.state()["revision"]
        await self.person.close("main.ipynb")
        again = await self.open()
        assert again.state()["revision"] > before

    async def test_the_revision_grows_with_every_change(self) -> None:
        model = await self.open()
        fresh = CellData(cell_type="code", source="n = 1", metadata={}, id="fresh")
        changes: list[Callable[[], None]] = [
            lambda: model.replace_text(1, 0, 1, "w"),
            lambda: model.insert_cell(2, fresh),
            lambda: model.move_cell(2, 4),
            lambda: model.change_type(4, "markdown"),
            lambda: model.delete_cell(4),
        ]
        for change in changes:
            before = model.state()["revision"]
            change()
            assert model.state()["revision"] > before
            equal(model.state()["dirty"], True)
        before = model.state()["revision"]
        model.cells(0, 5, outputs=True)
        equal(model.state()["revision"], before)

    # Editing cells

    async def test_cells_are_inserted_at_both_ends_and_between(self) -> None:
        model = await self.open()
        for index, cell_id in ((0, "new-first"), (3, "new-middle"), (7, "new-last")):
            model.insert_cell(
                index,
                CellData(cell_type="code", source=cell_id, metadata={"n": index}, id=cell_id),
            )
        equal(
            model.ids(),
            ["new-first", "title", "set", "new-middle", "shown", "plain", "last", "new-last"],
        )
        cell = one(model, 7)
        equal((cell["source"], cell["metadata"]["n"], cell["outputs"]), ("new-last", 7, []))
        equal(cell["execution_count"], None)

    async def test_every_type_of_cell_is_inserted(self) -> None:
        model = await self.open()
        for cell_type in ("markdown", "raw", "code"):
            model.insert_cell(0, CellData(cell_type=cell_type, source="s", metadata={}))
            equal(model.cells(0, 1)[0]["cell_type"], cell_type)
        assert all(model.ids())
        equal(len(set(model.ids())), 8)

    async def test_an_inserted_source_keeps_its_characters_but_for_line_ends(self) -> None:
        model = await self.open()
        source = "a\r\n\U0001f600\rb \ud800 \u2028 end"
        model.insert_cell(1, CellData(cell_type="code", source=source, metadata={}))
        equal(sources(model)[1], "a\n\U0001f600\nb \ud800 \u2028 end")

    async def test_a_cell_is_inserted_far_down_in_a_long_notebook(self) -> None:
        model = await self.open("long.ipynb")
        model.insert_cell(300, CellData(cell_type="code", source="end", metadata={}, id="end"))
        model.insert_cell(150, CellData(cell_type="code", source="mid", metadata={}, id="mid"))
        equal(model.state()["cellCount"], 302)
        equal((model.find("end"), model.find("mid")), ([301], [150]))

    async def test_inserting_leaves_the_active_cell(self) -> None:
        model = await self.open()
        model.activate_cell(2)
        model.insert_cell(0, CellData(cell_type="code", source="", metadata={}))
        equal(self.focus()["activeCellId"], "shown")

    async def test_a_cell_is_deleted(self) -> None:
        model = await self.open()
        model.delete_cell(1)
        equal(model.ids(), ["title", "shown", "plain", "last"])
        model.delete_cell(3)
        equal(model.ids(), ["title", "shown", "plain"])
        equal(model.find("set"), [])

    async def test_deleting_the_last_cell_leaves_a_blank_one(self) -> None:
        model = await self.open()
        old = model.ids()
        for _ in range(5):
            model.delete_cell(0)
        equal((model.state()["cellCount"], sources(model)), (1, [""]))
        equal(model.cells(0, 1)[0]["cell_type"], "code")
        assert model.ids()[0] not in old

    async def test_cells_are_moved_both_ways(self) -> None:
        model = await self.open()
        for start, to, expected in (
            (0, 2, ["set", "shown", "title", "plain", "last"]),
            (2, 0, ["title", "set", "shown", "plain", "last"]),
            (1, 4, ["title", "shown", "plain", "last", "set"]),
            (4, 1, ["title", "set", "shown", "plain", "last"]),
            (2, 3, ["title", "set", "plain", "shown", "last"]),
            (3, 3, ["title", "set", "plain", "shown", "last"]),
        ):
            model.move_cell(start, to)
            equal(model.ids(), expected)
        cell = one(model, 3)
        equal((cell["source"], text_of(cell["outputs"])), ("print('hi')", "hi\n"))
        equal(model.cells(1, 2)[0]["metadata"]["tags"], ["keep"])

    async def test_a_change_of_type_keeps_id_source_metadata_and_place(self) -> None:
        model = await self.open()
        for cell_type in ("markdown", "raw", "code"):
            model.change_type(1, cell_type)
            cell = model.cells(1, 2)[0]
            equal((cell["cell_type"], cell.get("id")), (cell_type, "set"))
            equal((cell["source"], cell["metadata"]["tags"]), ("x = 1\ny = 2", ["keep"]))
        equal(one(model, 1)["outputs"], [])
        equal(model.ids(), ["title", "set", "shown", "plain", "last"])

    async def test_a_change_to_the_type_it_has_keeps_the_outputs(self) -> None:
        model = await self.open()
        model.change_type(2, "code")
        equal(text_of(one(model, 2)["outputs"]), "hi\n")

    async def test_a_cell_that_is_no_code_has_no_outputs(self) -> None:
        model = await self.open()
        model.change_type(2, "markdown")
        assert "outputs" not in one(model, 2)
        model.change_type(2, "code")
        cell = one(model, 2)
        equal((cell["outputs"], cell["execution_count"]), ([], None))

    # Focus

    def focus(self) -> Any:
        """Where the person is."""
        focus = self.frontend.workspace()["focus"]
        assert focus is not None
        return focus

    async def test_a_cell_is_activated(self) -> None:
        model = await self.open()
        model.activate_cell(3)
        focus = self.focus()
        equal((focus["activeCellId"], focus["selectedCellIds"]), ("plain", ["plain"]))
        equal(focus["mode"], "command")

    async def test_a_cell_is_focused_with_a_cursor(self) -> None:
        model = await self.open()
        await model.focus_cell(1, Selection(start=place(1, 5), end=place(1, 5)))
        focus = self.focus()
        equal((focus["activeCellId"], focus["mode"]), ("set", "edit"))
        equal(focus["cursor"], {"line": 1, "column": 5})
        assert "selectedText" not in focus

    async def test_a_cell_is_focused_with_a_selection_of_characters(self) -> None:
        model = await self.open("odd.ipynb")
        await model.focus_cell(1, Selection(start=place(0, 5), end=place(0, 8)))
        focus = self.focus()
        equal(focus["selectedText"], "\U0001f600e\u0301")
        equal(focus["cursor"], {"line": 0, "column": 8})

    async def test_a_cell_is_focused_without_a_selection(self) -> None:
        model = await self.open()
        await model.focus_cell(4, None)
        equal(self.focus()["activeCellId"], "last")
        equal(model.state()["dirty"], False)

    async def test_a_far_cell_is_focused(self) -> None:
        model = await self.open("long.ipynb")
        await model.focus_cell(290, Selection(start=place(0, 4), end=place(0, 8)))
        focus = self.focus()
        equal((focus["activeCellId"], focus["selectedText"]), ("cell-290", "_290"))

    # Saving

    async def test_what_was_saved_is_in_the_file(self) -> None:
        model = await self.open()
        model.replace_text(1, 4, 5, "\U0001f600\ud800")
        model.insert_cell(5, CellData(cell_type="raw", source="new", metadata={}, id="new"))
        await model.save()
        equal(model.state()["dirty"], False)
        read = await self.frontend.read_notebook("main.ipynb")
        equal([cell["id"] for cell in read["cells"]], [*self.ids_of("main.ipynb"), "new"])
        equal(joined(read["cells"][1]["source"]), "x = \U0001f600\ud800\ny = 2")
        equal(read["cells"][1]["metadata"]["tags"], ["keep"])
        equal(joined(read["cells"][2]["outputs"][0]["text"]), "hi\n")
        equal(read["metadata"]["own"], {"a": 1})

    async def test_saving_twice_and_editing_between_works(self) -> None:
        model = await self.open()
        for text in ("1", "2"):
            model.replace_text(4, 0, 0, text)
            await model.save()
        read = await self.frontend.read_notebook("main.ipynb")
        equal(joined(read["cells"][4]["source"]), "21z = 3")

    async def test_ids_are_not_saved_in_a_format_without_them(self) -> None:
        model = await self.open("old.ipynb")
        model.replace_text(0, 4, 5, "10")
        await model.save()
        read = await self.frontend.read_notebook("old.ipynb")
        equal((read["nbformat"], read["nbformat_minor"]), (4, 4))
        assert all("id" not in cell for cell in read["cells"])
        equal(joined(read["cells"][0]["source"]), "a = 10")

    def ids_of(self, path: str) -> list[str]:
        """The ids in one of the files that the case began with."""
        return [cell["id"] for cell in self.files[path]["cells"]]

    @needs("edit_file")
    async def test_a_file_that_changed_behind_the_notebook_is_not_overwritten(self) -> None:
        model = await self.open()
        model.replace_text(4, 0, 0, "mine = ")
        await self.person.edit_file("main.ipynb", notebook(code("theirs = 1", "theirs")))
        with fails(Code.STALE_FILE):
            await model.save()
        read = await self.frontend.read_notebook("main.ipynb")
        equal(joined(read["cells"][0]["source"]), "theirs = 1")
        equal(model.state()["dirty"], True)
        equal(sources(model)[4], "mine = z = 3")

    @needs("close")
    async def test_a_saved_notebook_opens_again_as_it_was(self) -> None:
        model = await self.open()
        model.replace_text(4, 4, 5, "4")
        model.move_cell(4, 0)
        await model.save()
        await self.person.close("main.ipynb")
        equal(self.frontend.notebook("main.ipynb"), None)
        again = await self.open()
        equal(again.ids(), ["last", "title", "set", "shown", "plain"])
        equal(sources(again)[0], "z = 4")

    @needs("rename")
    async def test_an_open_notebook_is_found_under_its_new_name(self) -> None:
        model = await self.open()
        model.replace_text(4, 4, 5, "4")
        await self.person.rename("main.ipynb", "renamed.ipynb")
        await until(lambda: self.frontend.notebook("renamed.ipynb") is not None)
        equal(self.frontend.notebook("main.ipynb"), None)
        equal(model.state()["path"], "renamed.ipynb")
        await model.save()
        read = await self.frontend.read_notebook("renamed.ipynb")
        equal(joined(read["cells"][4]["source"]), "z = 4")

    # Beside a person who types

    @needs("click", "type")
    async def test_typing_goes_on_where_it_was_while_other_cells_change(self) -> None:
        model = await self.open()
        await self.person.click("main.ipynb", 1, 5)
        await self.person.type("1")
        model.insert_cell(0, CellData(cell_type="code", source="above", metadata={}))
        await self.person.type("2")
        model.replace_text(3, 0, 0, "# ")
        await self.person.type("3")
        model.delete_cell(3)
        await self.person.type("4")
        model.move_cell(1, 4)
        await self.person.type("5")
        model.change_type(3, "markdown")
        await self.person.type("6")
        equal(sources(model)[self.index(model, "set")], "x = 1123456\ny = 2")
        others = [source for source in sources(model) if not source.startswith("x")]
        equal(others, ["above", "raw text", "z = 3", "# Title"])

    @needs("click", "type", "undo")
    async def test_an_edit_of_the_cell_being_typed_in_keeps_caret_and_undo(self) -> None:
        model = await self.open()
        await self.person.click("main.ipynb", 1, 5)
        await self.person.type("0")
        model.replace_text(1, 0, 1, "longer")
        await self.person.type("7")
        equal(sources(model)[1], "longer = 107\ny = 2")
        model.replace_text(1, 13, 14, "other")
        await self.person.type("8")
        equal(sources(model)[1], "longer = 1078\nother = 2")
        for expected in (
            "longer = 107\nother = 2",
            "longer = 107\ny = 2",
            "longer = 10\ny = 2",
            "x = 10\ny = 2",
            "x = 1\ny = 2",
        ):
            await self.person.undo()
            equal(sources(model)[1], expected)

    @needs("click", "type")
    async def test_moving_the_cell_being_typed_in_takes_the_typing_along(self) -> None:
        model = await self.open()
        await self.person.click("main.ipynb", 1, 5)
        model.move_cell(1, 3)
        await self.person.type("9")
        equal(model.ids(), ["title", "shown", "plain", "set", "last"])
        equal(sources(model), ["# Title", "print('hi')", "raw text", "x = 19\ny = 2", "z = 3"])

    @needs("click", "type")
    async def test_keys_for_a_deleted_cell_reach_no_other(self) -> None:
        model = await self.open()
        await self.person.click("main.ipynb", 1, 5)
        model.delete_cell(1)
        await self.person.type("9")
        equal(sources(model), ["# Title", "print('hi')", "raw text", "z = 3"])

    # Kernels

    async def test_a_ready_kernel_can_be_found_by_its_id(self) -> None:
        model, kernel = await self.kernel()
        state = kernel.state()
        assert state["id"]
        assert state["name"] in self.frontend.kernel_names()
        equal(state["status"], "idle")
        assert "input" not in state
        found, own = self.frontend.kernel(state["id"]), model.kernel()
        assert found is not None
        assert own is not None
        equal((found.state()["id"], own.state()["id"]), (state["id"], state["id"]))

    async def test_a_run_gives_outputs_and_count(self) -> None:
        model, _ = await self.kernel()
        run = await model.run_cell(0)
        equal((run.status, run.error), ("ok", None))
        equal(text_of(run.outputs), "out\n")
        equal(text_of(run.outputs, "stderr"), "err\n")
        (value,) = (out for out in run.outputs if out["output_type"] == "execute_result")
        equal(value["data"]["text/plain"], result({"text/plain": "42"})["data"]["text/plain"])
        assert run.execution_count is not None
        cell = one(model, 0)
        equal((cell["outputs"], cell["execution_count"]), (run.outputs, run.execution_count))
        again = await model.run_cell(0)
        equal(again.execution_count, run.execution_count + 1)
        equal(len(again.outputs), len(run.outputs))

    async def test_a_run_changes_the_model(self) -> None:
        model, _ = await self.kernel()
        await model.save()
        before = model.state()["revision"]
        await model.run_cell(0)
        assert model.state()["revision"] > before
        equal(model.state()["dirty"], True)

    async def test_a_failing_run_gives_the_error_and_what_came_before(self) -> None:
        model, _ = await self.kernel()
        run = await model.run_cell(1)
        equal(run.status, "error")
        assert run.error is not None
        equal((run.error["ename"], run.error["evalue"]), ("ZeroDivisionError", "division by zero"))
        assert "fail" in "\n".join(run.error["traceback"])
        equal(text_of(run.outputs), "before\n")
        equal(run.outputs[-1]["output_type"], "error")
        # As the model holds it: Pyodide sends the repr of the class in the place of its name.
        equal("ZeroDivisionError" in run.outputs[-1]["ename"], True)
        assert run.execution_count is not None
        equal((await model.run_cell(0)).status, "ok")

    async def test_what_is_no_code_runs_without_outputs(self) -> None:
        model, _ = await self.kernel()
        for cell_id in ("text", "raw", "empty"):
            run = await model.run_cell(self.index(model, cell_id))
            equal((run.status, run.outputs, run.error), ("ok", [], None))
            equal(run.execution_count, None)

    async def test_a_run_leaves_the_active_cell_and_the_mode(self) -> None:
        model, _ = await self.kernel()
        await model.focus_cell(2, Selection(start=place(0, 1), end=place(0, 3)))
        before = self.focus()
        await model.run_cell(0)
        equal(self.focus(), before)

    async def test_a_notebook_in_the_background_runs(self) -> None:
        model, _ = await self.kernel()
        await self.open()
        run = await model.run_cell(0)
        equal(text_of(run.outputs), "out\n")
        current = self.frontend.notebook()
        assert current is not None
        equal(current.state()["path"], "main.ipynb")

    async def test_a_source_with_carriage_returns_runs(self) -> None:
        model, _ = await self.kernel()
        index = self.index(model, "crlf")
        run = await model.run_cell(index)
        equal((run.status, run.outputs[0]["data"]["text/plain"]), ("ok", "21"))
        equal(sources(model)[index], "value = 20\nvalue + 1")

    async def test_outputs_are_there_while_a_cell_runs(self) -> None:
        model, kernel = await self.kernel()
        index = self.index(model, "slow")
        running = asyncio.ensure_future(model.run_cell(index))
        await until(lambda: text_of(one(model, index)["outputs"]) == "begun\n")
        equal(kernel.state()["status"], "busy")
        equal(one(model, index)["execution_count"], None)
        run = await running
        equal((run.status, text_of(run.outputs)), ("ok", "begun\nend\n"))
        await until(lambda: kernel.state()["status"] == "idle")

    async def test_a_run_goes_on_when_nobody_waits_for_it(self) -> None:
        model, _ = await self.kernel()
        index = self.index(model, "slow")
        running = asyncio.ensure_future(model.run_cell(index))
        await until(lambda: text_of(one(model, index)["outputs"]) == "begun\n")
        running.cancel()
        await until(lambda: one(model, index)["execution_count"] is not None)
        equal(text_of(one(model, index)["outputs"]), "begun\nend\n")

    async def test_a_cell_edited_while_it_runs_keeps_its_edit_and_its_outputs(self) -> None:
        model, _ = await self.kernel()
        index = self.index(model, "slow")
        running = asyncio.ensure_future(model.run_cell(index))
        await until(lambda: text_of(one(model, index)["outputs"]) == "begun\n")
        model.replace_text(index, 0, 0, "# edited\n")
        model.insert_cell(0, CellData(cell_type="code", source="", metadata={}))
        run = await running
        equal((run.status, text_of(run.outputs)), ("ok", "begun\nend\n"))
        index = self.index(model, "slow")
        assert sources(model)[index].startswith("# edited\nimport asyncio")
        equal(text_of(one(model, index)["outputs"]), "begun\nend\n")

    async def test_a_cell_deleted_while_it_runs_ends_as_deleted(self) -> None:
        model, _ = await self.kernel()
        index = self.index(model, "slow")
        running = asyncio.ensure_future(model.run_cell(index))
        await until(lambda: text_of(one(model, index)["outputs"]) == "begun\n")
        model.delete_cell(index)
        equal((await running).status, "deleted")

    async def test_a_restart_ends_the_running_cell_and_clears_the_variables(self) -> None:
        model, kernel = await self.kernel()
        await model.run_cell(self.index(model, "sets"))
        asks = self.index(model, "asks")
        run = await model.run_cell(asks)
        equal(run.outputs[0]["data"]["text/plain"], "True")
        endless = self.index(model, "endless")
        running = asyncio.ensure_future(model.run_cell(endless))
        await until(lambda: text_of(one(model, endless)["outputs"]) == "begun\n")
        before = kernel.state()["id"]
        await kernel.restart()
        ended = await running
        equal((ended.status, text_of(ended.outputs)), ("restarted", "begun\n"))
        equal(kernel.state()["id"], before)
        run = await model.run_cell(asks)
        equal((run.status, run.outputs[0]["data"]["text/plain"]), ("ok", "False"))
        equal(run.execution_count, 1)

    async def test_an_interrupt_ends_the_running_cell_where_that_is_possible(self) -> None:
        model, kernel = await self.kernel()
        if not kernel.state()["canInterrupt"]:
            raise Skipped("this kernel cannot be interrupted")
        endless = self.index(model, "endless")
        running = asyncio.ensure_future(model.run_cell(endless))
        await until(lambda: text_of(one(model, endless)["outputs"]) == "begun\n")
        await kernel.interrupt()
        run = await running
        assert run.error is not None
        equal((run.status, run.error["ename"]), ("error", "KeyboardInterrupt"))
        equal((await model.run_cell(0)).status, "ok")

    @needs("answer")
    async def test_a_prompt_is_told_until_it_is_answered(self) -> None:
        model, kernel = await self.kernel()
        running = asyncio.ensure_future(model.run_cell(self.index(model, "input")))
        await until(lambda: "input" in kernel.state())
        equal(kernel.state().get("input"), {"prompt": "Name? ", "password": False})
        await self.person.answer("run.ipynb", "Ada")
        run = await running
        equal((run.status, run.outputs[-1]["data"]["text/plain"]), ("ok", "'Ada'"))
        assert "input" not in kernel.state()

    @needs("answer")
    async def test_a_restart_takes_the_prompt_away(self) -> None:
        model, kernel = await self.kernel()
        running = asyncio.ensure_future(model.run_cell(self.index(model, "input")))
        await until(lambda: "input" in kernel.state())
        await kernel.restart()
        equal((await running).status, "restarted")
        assert "input" not in kernel.state()

    @needs("start_run")
    async def test_a_run_waits_its_turn_behind_a_persons(self) -> None:
        model, kernel = await self.kernel()
        slow = self.index(model, "slow")
        await self.person.start_run("run.ipynb", slow)
        await until(lambda: kernel.state()["status"] == "busy")
        run = await model.run_cell(0)
        equal((run.status, text_of(run.outputs)), ("ok", "out\n"))
        equal(text_of(one(model, slow)["outputs"]), "begun\nend\n")
