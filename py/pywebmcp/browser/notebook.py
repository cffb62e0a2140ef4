"""An open notebook of JupyterLab as the tools know it (`pywebmcp.frontend.Notebook`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pywebmcp.frontend
from pywebmcp.browser import editing, execution, ffi, focus, kernel
from pywebmcp.browser.contents import Contents
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.kernel import BrowserKernel
from pywebmcp.browser.panel import Panel
from pywebmcp.edits import normalise_newlines
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    QUIET,
    AccessMarks,
    CellBeginning,
    CellRun,
    NotebookState,
    RunEvents,
)
from pywebmcp.types import CellData, Selection

_CELL = {
    "id": "getId()",
    "cell_type": "cell_type",
    "source": "getSource()",
    "metadata": "getMetadata()",
    "execution_count": "execution_count",
}
_CELLS = Spec({"$of": "cells", "$each": _CELL})
_CELLS_WITH_OUTPUTS = Spec({"$of": "cells", "$each": {**_CELL, "outputs": "getOutputs()"}})
_BEGINNING = {"cell_type": "cell_type", "beginning": "getSource().trimStart().slice(0,200)"}
_BEGINNINGS = Spec({"$of": "cells", "$each": _BEGINNING})
_METADATA = Spec("getMetadata()")
_FILE = Spec(
    {
        "path": "path",
        "modified": "contentsModel.last_modified",
        "writable": "contentsModel.writable",
        "dirty": "model.dirty",
    }
)


class BrowserNotebook(pywebmcp.frontend.Notebook):
    """The shared model of a notebook panel, and its kernel."""

    def __init__(self, panel: Panel, app: Js, executor: Js, contents: Contents) -> None:
        self._panel = panel
        self._rendermime: Js = panel.notebook.rendermime
        self._app = app
        self._executor = executor
        self._contents = contents

    def state(self) -> NotebookState:
        """Path, dirty, revision and number of cells."""
        now = self._panel.state()
        return NotebookState(
            path=now["path"],
            dirty=now["dirty"],
            revision=self._panel.revision,
            cellCount=now["cells"] or 0,
        )

    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        return _METADATA.read(self._panel.shared) or {}

    def set_metadata(self, key: str, value: Any) -> None:
        """Set one key of the notebook's metadata, or with None take it away."""
        editing.set_metadata(self._panel.shared, key, value)

    def set_cell_metadata(self, index: int, key: str, value: Any) -> None:
        """Set one key of a cell's metadata, or with None take it away."""
        editing.set_metadata(self._panel.shared_cell(index), key, value)

    def access_marks(self) -> AccessMarks:
        """What the metadata says of access; read anew only when the model changed."""
        return self._panel.access_marks()

    def find(self, cell_id: str) -> list[int]:
        """The indexes of all cells with this id."""
        return [index for index, each in enumerate(self.ids()) if each == cell_id]

    def ids(self) -> list[str]:
        """The id of every cell, in order."""
        return self._panel.ids()

    def beginnings(self) -> list[CellBeginning]:
        """What every cell begins with, in order."""
        found: list[CellBeginning] = _BEGINNINGS.read(self._panel.shared) or []
        return found

    def cells(self, start: int, stop: int, *, outputs: bool = False) -> list[CellData]:
        """The cells ``start <= index < stop``, with ``\\n`` for every line end."""
        spec = _CELLS_WITH_OUTPUTS if outputs else _CELLS
        found: list[CellData] = spec.read_items(self._panel.shared, max(start, 0), max(stop, 0))
        for cell in found:
            cell["source"] = normalise_newlines(cell["source"])
            cell["metadata"] = cell["metadata"] or {}
            if outputs:
                cell["outputs"] = cell["outputs"] or []
            if cell["cell_type"] != "code":
                cell.pop("execution_count", None)
                cell.pop("outputs", None)
        return found

    def source_changed(self, index: int) -> bool:
        """Whether a cell's source was changed since it was run: JupyterLab keeps note of that."""
        # Only code cells' models have it.
        return getattr(self._panel.cell_widget(index).model, "isDirty", False) is True

    def replace_text(self, index: int, start: int, end: int, text: str) -> None:
        """Replace a part of a cell's source as one undo step; cursor and selection stay."""
        editing.replace_texts(self._panel, index, [(start, end, text)])

    def replace_texts(self, index: int, edits: Sequence[tuple[int, int, str]]) -> None:
        """Replace several parts of a cell's source as one undo step together."""
        editing.replace_texts(self._panel, index, edits)

    def insert_cell(self, index: int, cell: CellData) -> None:
        """Insert a checked cell; what a person does elsewhere is not disturbed."""
        editing.insert(self._panel, index, cell)

    def delete_cell(self, index: int) -> None:
        """Delete a cell; a person's keystrokes never end up in its neighbour."""
        editing.delete(self._panel, index)

    def move_cell(self, index: int, to: int) -> None:
        """Move a cell so that it is at index ``to`` afterwards."""
        editing.move(self._panel, index, to)

    def change_type(self, index: int, cell_type: str) -> None:
        """Make it a code, markdown or raw cell with the same id, source and metadata."""
        editing.change_type(self._panel, index, cell_type)

    async def focus_cell(self, index: int, selection: Selection | None) -> None:
        """Show and activate a cell; with a selection, edit mode with that selection."""
        await focus.focus_cell(self._app, self._panel, index, selection)

    def activate_cell(self, index: int) -> None:
        """Make a cell the active one without scrolling or taking the keyboard focus."""
        focus.activate_cell(self._panel, index)

    async def save(self) -> None:
        """Save to the file.

        JupyterLab would ask in a dialog when the file changed, and overwrite it unasked when that
        was less than half a second ago; here every difference is ``ToolError`` STALE_FILE.
        """
        file = _FILE.read(self._panel.context)
        path = file["path"]
        if file["writable"] is False:
            raise ToolError(Code.INVALID_PATH, f'"{path}" is read-only: it cannot be saved.')
        entry = await self._contents.entry(path)
        if entry is not None and entry.get("modified") != file["modified"]:
            raise ToolError(
                Code.STALE_FILE,
                f'"{path}" changed on disk since it was opened or saved here: ask the person '
                "whether to overwrite it or to reload it (File > Reload Notebook from Disk).",
            )
        self._panel.require_open()
        try:
            await self._panel.context.save()
        except ffi.JsException as error:
            raise ToolError(
                Code.INVALID_PATH, f'"{path}" could not be saved: {ffi.reason(error)}.'
            ) from None

    def kernel(self) -> BrowserKernel | None:
        """The kernel of this notebook, or None."""
        connection = self._panel.connection()
        return (
            None
            if connection is None
            else BrowserKernel(connection, self._panel.session, self._rendermime)
        )

    async def ready_kernel(self) -> BrowserKernel:
        """The kernel once it can run code; waits while it starts."""
        connection = await kernel.ready(self._panel.session, self._panel.starting)
        return BrowserKernel(connection, self._panel.session, self._rendermime)

    async def run_cell(self, index: int, *, events: RunEvents = QUIET) -> CellRun:
        """Run one cell as the notebook itself does; the person's view and focus stay."""
        return await execution.run_cell(self._executor, self._panel, index, events)
