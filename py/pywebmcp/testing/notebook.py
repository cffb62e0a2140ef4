"""An open notebook in memory: the live model with ids, revision, focus and the kernel behind it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pywebmcp.access import mark_of
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    QUIET,
    AccessMarks,
    CellBeginning,
    CellRun,
    FocusState,
    Notebook,
    NotebookState,
    RunEvents,
    no_kernel,
)
from pywebmcp.testing.cells import MemoryCell
from pywebmcp.testing.files import MemoryFiles
from pywebmcp.testing.kernel import MemoryKernel, Reply
from pywebmcp.testing.notebooks import crossed, set_key
from pywebmcp.types import CellData, Selection

KernelOf = Callable[[str], MemoryKernel | None]
"""The kernel of the session at a path."""

# No two notebooks ever have the same revision: see the page's counter of changes.
_revisions = itertools.count(1)


class MemoryNotebook(Notebook):
    """The live model of one file, and how the person sees it.

    The person's view of it: ``active`` is the active cell, ``mode`` is ``command`` or ``edit``,
    ``selected`` are the ids of further selected cells, ``selected_output`` is text selected in an
    output.
    """

    def __init__(
        self, path: str, files: MemoryFiles, kernel_of: KernelOf, new_id: Callable[[], str]
    ) -> None:
        self.path = path
        self.revision = next(_revisions)
        self.dirty = False
        self.mode = "command"
        self.selected: list[str] = []
        self.selected_output = ""
        self.content: list[MemoryCell] = []
        self._files = files
        self._kernel_of = kernel_of
        self._new_id = new_id
        self._metadata: dict[str, Any] = {}
        self._minor = 5
        self.reload()
        self.active = self.content[0]

    def reload(self) -> None:
        """Take the file's content and forget what was not saved, as Revert does."""
        file = self._files.notebook(self.path)
        self._version = self._files.version(self.path)
        # JupyterLab reads what is older than nbformat 4 as a notebook without cells.
        modern = file.get("nbformat", 0) >= 4
        self._metadata = file.get("metadata", {}) if modern else {}
        self._minor = file.get("nbformat_minor", 0) if modern else 5
        cells = file.get("cells", []) if modern else []
        self.content = [MemoryCell.read(cell, cell.get("id") or self._new_id()) for cell in cells]
        self._never_empty()
        self.active = self.content[0]
        self.mode, self.selected = "command", []
        self.changed()
        self.dirty = False

    def state(self) -> NotebookState:
        """Path, dirty, revision and number of cells."""
        return NotebookState(
            path=self.path,
            dirty=self.dirty,
            revision=self.revision,
            cellCount=len(self.content),
        )

    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        return crossed(self._metadata)  # type: ignore[no-any-return]

    def set_metadata(self, key: str, value: Any) -> None:
        """Set one key of the notebook's metadata, or with None take it away."""
        if set_key(self._metadata, key, value):
            self.changed()

    def set_cell_metadata(self, index: int, key: str, value: Any) -> None:
        """Set one key of a cell's metadata, or with None take it away."""
        if set_key(self.content[index].metadata, key, value):
            self.changed()

    def access_marks(self) -> AccessMarks:
        """What the metadata says of access."""
        found = {index: mark_of(cell.metadata) for index, cell in enumerate(self.content)}
        return AccessMarks(
            notebook=crossed(mark_of(self._metadata)),
            cells={index: crossed(mark) for index, mark in found.items() if mark is not None},
        )

    def find(self, cell_id: str) -> list[int]:
        """The indexes of all cells with this id."""
        return [index for index, cell in enumerate(self.content) if cell.id == cell_id]

    def ids(self) -> list[str]:
        """The id of every cell, in order."""
        return [cell.id for cell in self.content]

    def beginnings(self) -> list[CellBeginning]:
        """What every cell begins with, in order."""
        return [
            CellBeginning(cell_type=cell.cell_type, beginning=cell.source.lstrip()[:200])
            for cell in self.content
        ]

    def cells(self, start: int, stop: int, *, outputs: bool = False) -> list[CellData]:
        """The cells ``start <= index < stop``; outputs only when asked for."""
        return [cell.data(outputs=outputs) for cell in self.content[max(start, 0) : max(stop, 0)]]

    def source_changed(self, index: int) -> bool:
        """Whether a cell's source was changed since it was run."""
        return self.content[index].changed

    def replace_text(self, index: int, start: int, end: int, text: str) -> None:
        """Replace a part of a cell's source as one undo step; cursor and selection stay."""
        self.replace_texts(index, [(start, end, text)])

    def replace_texts(self, index: int, edits: Sequence[tuple[int, int, str]]) -> None:
        """Replace several parts of a cell's source as one undo step together."""
        cell = self.content[index]
        steps = len(cell.undo)
        for start, end, text in reversed(edits):
            cell.replace(start, end, text)
        del cell.undo[steps + 1 :]
        self.changed()

    def insert_cell(self, index: int, cell: CellData) -> None:
        """Insert a checked cell."""
        made = MemoryCell.read(crossed(cell), cell.get("id") or self._new_id())
        self.content.insert(index, made)
        self.changed()

    def delete_cell(self, index: int) -> None:
        """Delete a cell; where it was the active one, its neighbour is, in command mode."""
        gone = self.content.pop(index)
        self._never_empty()
        if self.active is gone:
            self.active = self.content[min(index, len(self.content) - 1)]
            self.mode = "command"
        self.changed()

    def move_cell(self, index: int, to: int) -> None:
        """Move a cell so that it is at index ``to`` afterwards."""
        if index != to:
            self.content.insert(to, self.content.pop(index))
            self.changed()

    def change_type(self, index: int, cell_type: str) -> None:
        """Make it a cell of another type with the same id, source and metadata."""
        cell = self.content[index]
        if cell.cell_type == cell_type:
            return
        cell.cell_type = cell_type
        cell.outputs, cell.execution_count, cell.ran = [], None, None
        if cell_type == "code":
            cell.extra = {}
        # JupyterLab makes a new cell of it: its undo history is gone.
        cell.undo.clear()
        cell.redo.clear()
        self.changed()

    async def focus_cell(self, index: int, selection: Selection | None) -> None:
        """Show and activate a cell; with a selection, in edit mode with that selection."""
        self.activate_cell(index)
        self.selected = []
        if selection is not None:
            self.active.select(selection)
            self.mode = "edit"

    def activate_cell(self, index: int) -> None:
        """Make a cell the active one; a person who typed in another is not in this one's editor."""
        if self.active is not self.content[index]:
            self.active = self.content[index]
            self.mode = "command"

    def focus(self) -> FocusState:
        """Where the person is."""
        chosen = {self.active.id, *self.selected}
        focus = FocusState(
            activeCellId=self.active.id,
            selectedCellIds=[cell_id for cell_id in self.ids() if cell_id in chosen],
            mode=self.mode,
        )
        if self.mode == "edit":
            head = self.active.selection()
            focus["cursor"] = head["end" if self.active.head >= self.active.anchor else "start"]
            if self.active.selected_text():
                focus["selectedText"] = self.active.selected_text()
        if self.selected_output:
            focus["selectedOutputText"] = self.selected_output
        return focus

    async def save(self) -> None:
        """Save to the file. Raises ``ToolError`` STALE_FILE when the file changed on disk."""
        version = self._files.version(self.path)
        if version is not None and version != self._version:
            raise ToolError(
                Code.STALE_FILE, f"{self.path} changed on disk since it was opened or saved."
            )
        # The format knows ids from 4.5 on.
        cells = [cell.saved(with_id=self._minor >= 5) for cell in self.content]
        self._files.write(
            self.path,
            {
                "nbformat": 4,
                "nbformat_minor": self._minor,
                "metadata": self._metadata,
                "cells": cells,
            },
        )
        self._version = self._files.version(self.path)
        self.dirty = False

    def kernel(self) -> MemoryKernel | None:
        """The kernel of this notebook, or None."""
        return self._kernel_of(self.path)

    async def ready_kernel(self) -> MemoryKernel:
        """The kernel once it can run code. Raises ``ToolError`` KERNEL_UNAVAILABLE."""
        kernel = self.kernel()
        if kernel is None:
            raise no_kernel(self.path)
        await kernel.ready()
        return kernel

    async def run_cell(self, index: int, *, events: RunEvents = QUIET) -> CellRun:
        """Run one cell as the notebook itself does."""
        cell = self.content[index]
        if cell.cell_type != "code":
            return CellRun("ok")
        if not cell.text.strip():
            cell.outputs, cell.execution_count, cell.ran = [], None, None
            self.changed()
            return CellRun("ok")
        kernel = await self.ready_kernel()
        if not self._holds(cell):
            return CellRun("deleted")
        reply = await self._run(cell, kernel, events)
        if not self._holds(cell) and reply.status in ("ok", "error"):
            return CellRun("deleted", reply.execution_count, crossed(cell.outputs))
        return CellRun(
            reply.status, reply.execution_count, crossed(cell.outputs), crossed(reply.error)
        )

    def changed(self) -> None:
        """Note a change of the model."""
        self.revision = next(_revisions)
        self.dirty = True

    async def _run(self, cell: MemoryCell, kernel: MemoryKernel, events: RunEvents) -> Reply:
        cell.source = cell.ran = cell.text
        cell.outputs, cell.execution_count = [], None
        cell.running, cell.clearing = True, False
        self.changed()

        def emit(output: dict[str, Any]) -> None:
            # What a deleted cell prints is lost, as in JupyterLab.
            if self._holds(cell):
                cell.add_output(output)
                self.changed()

        def replied(reply: Reply) -> None:
            cell.running = False
            if self._holds(cell):
                cell.execution_count = reply.execution_count
                self.changed()

        # Who waits for the run may give up; the run goes on.
        return await asyncio.shield(
            kernel.submit(cell.source, emit, replied=replied, events=events).done
        )

    def _holds(self, cell: MemoryCell) -> bool:
        return any(mine is cell for mine in self.content)

    def _never_empty(self) -> None:
        """A notebook shows at least one cell: JupyterLab puts a blank one in its place."""
        if not self.content:
            self.content.append(MemoryCell(self._new_id(), "code", ""))
