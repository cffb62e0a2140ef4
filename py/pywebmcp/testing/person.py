"""Whoever sits in front of the in-memory front end: what they open, type, select, answer, run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pywebmcp.frontend import CellRun
from pywebmcp.testing.files import Content

if TYPE_CHECKING:
    from pywebmcp.testing.frontend import MemoryFrontend
    from pywebmcp.testing.notebook import MemoryNotebook


class Person:
    """The person's actions, on the notebook that is in front unless a path is given.

    Positions are offsets in Unicode characters of a cell's source.
    """

    def __init__(self, frontend: MemoryFrontend) -> None:
        self._frontend = frontend

    def open(self, path: str) -> MemoryNotebook | None:
        """Open a document, or bring its tab to the front; answers a notebook's model."""
        if not path.endswith(".ipynb"):
            self._frontend.files.read(path)
            if path not in self._frontend.texts:
                self._frontend.texts[path] = False
                self._frontend.order.append(path)
            self._frontend.current = path
            return None
        steps = self._frontend.open_notebook(path)
        try:
            steps.send(None)
        except StopIteration as stop:
            opened: MemoryNotebook = stop.value
            return opened
        raise AssertionError("opening waits")

    def close(self, path: str) -> None:
        """Close a tab and lose what is not saved; a kernel goes on."""
        self._frontend.notebooks.pop(path, None)
        self._frontend.texts.pop(path, None)
        self._frontend.order.remove(path)
        if self._frontend.current == path:
            self._frontend.current = self._frontend.order[-1] if self._frontend.order else None
        for closed in self._frontend.on_close:
            closed()

    def rename(self, old: str, new: str) -> None:
        """Rename a file, its open tab and its session along with it."""
        frontend = self._frontend
        frontend.files.rename(old, new)
        frontend.order[:] = [new if path == old else path for path in frontend.order]
        if frontend.current == old:
            frontend.current = new
        if old in frontend.notebooks:
            frontend.notebooks[new] = frontend.notebooks.pop(old)
            frontend.notebooks[new].path = new
        if old in frontend.texts:
            frontend.texts[new] = frontend.texts.pop(old)
        if old in frontend.sessions:
            frontend.sessions[new] = frontend.sessions.pop(old)

    def edit_file(self, path: str, content: Content) -> None:
        """Change a file on disk, behind the document that may be open on it."""
        self._frontend.files.write(path, content)

    def click(self, index: int, cursor: int | None = None, *, path: str | None = None) -> None:
        """Click into a cell's editor: edit mode, the cursor there (default: at the end)."""
        place = len(self._model(path).content[index].text) if cursor is None else cursor
        self.select(index, place, place, path=path)

    def select(self, index: int, anchor: int, head: int, *, path: str | None = None) -> None:
        """Select text in a cell's editor."""
        model = self._model(path)
        model.activate_cell(index)
        model.mode, model.selected = "edit", []
        if not 0 <= min(anchor, head) <= max(anchor, head) <= len(model.active.text):
            raise ValueError("the selection is outside the cell")
        model.active.anchor, model.active.head = anchor, head

    def select_cells(self, indexes: Sequence[int], *, path: str | None = None) -> None:
        """Select whole cells; the last one is the active one."""
        model = self._model(path)
        model.activate_cell(indexes[-1])
        model.mode = "command"
        model.selected = [model.content[index].id for index in indexes]

    def select_output(self, text: str, *, path: str | None = None) -> None:
        """Select text in an output."""
        self._model(path).selected_output = text

    def escape(self, *, path: str | None = None) -> None:
        """Leave the editor for command mode."""
        self._model(path).mode = "command"

    def type(self, text: str, *, path: str | None = None) -> None:
        """Type in the editor that has the cursor, replacing what is selected there."""
        model = self._model(path)
        if model.mode != "edit":
            raise AssertionError("no editor has the keyboard focus")
        cell = model.active
        try:
            now = asyncio.get_running_loop().time()
        except RuntimeError:
            now = 0.0
        start, end = sorted((cell.anchor, cell.head))
        cell.replace(start, end, text, since=now)
        cell.anchor = cell.head = start + len(text)
        model.changed()

    def undo(self, *, path: str | None = None) -> bool:
        """Undo one step of the active cell; answers whether there was one."""
        model = self._model(path)
        done = model.active.step_back()
        if done:
            model.changed()
        return done

    def redo(self, *, path: str | None = None) -> bool:
        """Redo one step of the active cell; answers whether there was one."""
        model = self._model(path)
        done = model.active.step_forward()
        if done:
            model.changed()
        return done

    def start_run(self, index: int, *, path: str | None = None) -> asyncio.Task[CellRun]:
        """Start a cell by hand; the task ends with its run."""
        run = self._model(path).run_cell(index)
        return asyncio.get_running_loop().create_task(run, name="person's run")

    def answer(self, text: str, *, path: str | None = None) -> None:
        """Answer the prompt of the notebook's kernel."""
        kernel = self._model(path).kernel()
        if kernel is None:
            raise AssertionError("there is no kernel")
        kernel.answer(text)

    def choose_kernel(self, name: str, *, path: str | None = None) -> None:
        """Choose a kernel in the dialog that asks for one."""
        self._frontend.start_kernel(self._model(path).path, name)

    def shut_down_kernel(self, *, path: str | None = None) -> None:
        """Shut the notebook's kernel down: it has none then."""
        self._frontend.sessions.pop(self._model(path).path).die()

    def _model(self, path: str | None) -> MemoryNotebook:
        model = self._frontend.notebook(path)
        if model is None:
            raise AssertionError("no such notebook is open")
        return model
