"""An open notebook as an agent may see and change it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pywebmcp.frontend
from pywebmcp import access
from pywebmcp.access import Levels
from pywebmcp.comments import store
from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    QUIET,
    AccessMarks,
    CellBeginning,
    CellRun,
    Notebook,
    NotebookState,
    RunEvents,
)
from pywebmcp.guard import views
from pywebmcp.guard.kernel import GuardedKernel
from pywebmcp.guard.observer import Observer
from pywebmcp.types import CellData, Selection


class GuardedNotebook(pywebmcp.frontend.Notebook):
    """Asks for the levels at every step, so that a change of them holds for calls that run.

    Hidden cells keep their index, and what is there has neither an id nor anything else of them.
    Raises ``ToolError``: CELL_NOT_FOUND for hidden cells, CELL_ACCESS_DENIED and
    NOTEBOOK_ACCESS_DENIED for what may only be read, NOTEBOOK_NOT_FOUND once all of it is hidden.
    """

    def __init__(
        self, notebook: Notebook, hides: Callable[[str], bool], observer: Observer
    ) -> None:
        self._inner = notebook
        self._hides = hides
        self._observer = observer

    def state(self) -> NotebookState:
        """Path, dirty, revision, number of cells; ``access`` where it may only be read."""
        state = self._inner.state()
        level = access.levels(self._inner).notebook
        return state if level == "write" else NotebookState(**{**state, "access": level})

    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata without the comments on hidden cells."""
        hidden = self._levels().hidden
        metadata = self._inner.metadata()
        if hidden and METADATA_KEY in metadata:
            own = metadata[METADATA_KEY]
            metadata[METADATA_KEY] = views.discreet(own, self._all(own), hidden)
        return metadata

    def set_metadata(self, key: str, value: Any) -> None:
        """Set one key; of ours only the comments, and those on hidden cells stay."""
        levels = self._levels()
        if key != METADATA_KEY:
            self._require()
            self._inner.set_metadata(key, value)
            return
        own = self._inner.metadata().get(METADATA_KEY)
        _, shown = views.split(own, self._all(own), levels.hidden)
        merged = views.merged(own, shown, value)
        entries = views.entries_of(merged)
        if not all(shown) and len(entries) > len(shown):
            # Whoever counted only what an agent sees may have added one too many.
            store.require_room(entries)
        self._inner.set_metadata(key, merged)

    def set_cell_metadata(self, index: int, key: str, value: Any) -> None:
        """Set one key of a cell's metadata; never ours: levels are people's to set."""
        self._require_edit(index)
        if key == METADATA_KEY:
            raise access.cell_denied(self._inner.ids()[index])
        self._inner.set_cell_metadata(index, key, value)

    def access_marks(self) -> AccessMarks:
        """The marks as they are: they tell no more than what is hidden."""
        return self._inner.access_marks()

    def find(self, cell_id: str) -> list[int]:
        """The indexes of all cells with this id that are not hidden."""
        hidden = self._levels().hidden
        return [index for index in self._inner.find(cell_id) if index not in hidden]

    def ids(self) -> list[str]:
        """The id of every cell, in order; an empty one for those that are hidden."""
        hidden = self._levels().hidden
        ids = self._inner.ids()
        if not hidden:
            return ids
        return ["" if index in hidden else cell_id for index, cell_id in enumerate(ids)]

    def beginnings(self) -> list[CellBeginning]:
        """What every cell begins with; nothing of those that are hidden."""
        hidden = self._levels().hidden
        nothing = CellBeginning(cell_type="raw", beginning="")
        return [
            nothing if index in hidden else found
            for index, found in enumerate(self._inner.beginnings())
        ]

    def cells(self, start: int, stop: int, *, outputs: bool = False) -> list[CellData]:
        """The cells ``start <= index < stop``, a stand-in for each that is hidden."""
        levels = self._levels()
        found = self._inner.cells(start, stop, outputs=outputs)
        if not levels.open:
            first = max(start, 0)
            found = [views.cell(cell, first + at, levels) for at, cell in enumerate(found)]
        self._touched([cell["id"] for cell in found if "id" in cell], "read")
        return found

    def source_changed(self, index: int) -> bool:
        """Whether a cell's source was changed since it was run."""
        self._require_visible(index)
        return self._inner.source_changed(index)

    def replace_text(self, index: int, start: int, end: int, text: str) -> None:
        """Replace a part of a cell's source."""
        self._editing(index)
        self._inner.replace_text(index, start, end, text)

    def replace_texts(self, index: int, edits: Sequence[tuple[int, int, str]]) -> None:
        """Replace several parts of a cell's source."""
        self._editing(index)
        self._inner.replace_texts(index, edits)

    def insert_cell(self, index: int, cell: CellData) -> None:
        """Insert a cell, without marks of ours."""
        self._levels()
        self._require()
        metadata = {key: kept for key, kept in cell["metadata"].items() if key != METADATA_KEY}
        self._inner.insert_cell(index, CellData(**{**cell, "metadata": metadata}))
        self._touched([self._inner.ids()[index]], "edit")

    def delete_cell(self, index: int) -> None:
        """Delete a cell."""
        self._editing(index)
        self._inner.delete_cell(index)

    def move_cell(self, index: int, to: int) -> None:
        """Move a cell."""
        self._editing(index)
        self._inner.move_cell(index, to)

    def change_type(self, index: int, cell_type: str) -> None:
        """Make it a cell of another type."""
        self._editing(index)
        self._inner.change_type(index, cell_type)

    async def focus_cell(self, index: int, selection: Selection | None) -> None:
        """Show and activate a cell."""
        self._require_visible(index)
        self._touched([self._inner.ids()[index]], "read")
        await self._inner.focus_cell(index, selection)

    def activate_cell(self, index: int) -> None:
        """Make a cell the active one."""
        self._require_visible(index)
        self._inner.activate_cell(index)

    async def save(self) -> None:
        """Save to the file."""
        self._levels()
        self._require()
        await self._inner.save()

    def kernel(self) -> GuardedKernel | None:
        """The kernel of this notebook, or None."""
        kernel = self._inner.kernel()
        return None if kernel is None else self._guarded(kernel)

    async def ready_kernel(self) -> GuardedKernel:
        """The kernel once it can run code."""
        self._levels()
        return self._guarded(await self._inner.ready_kernel())

    async def run_cell(self, index: int, *, events: RunEvents = QUIET) -> CellRun:
        """Run a cell; one that was hidden while it ran has left no result, as if deleted."""
        levels = self._require_visible(index)
        if not levels.open and self._inner.cells(index, index + 1)[0]["cell_type"] == "code":
            self._require_edit(index)
        cell_id, path = self._inner.ids()[index], self._inner.state()["path"]
        kernel = self._inner.kernel()
        if kernel is not None:
            self._observer.used(kernel.state()["id"])
        self._observer.touched(path, [cell_id], "run")
        try:
            run = await self._inner.run_cell(index, events=events)
        finally:
            self._observer.left(path, cell_id)
        levels = access.levels(self._inner)
        hidden = levels.notebook == "none" or levels.hidden.intersection(self._inner.find(cell_id))
        return CellRun("deleted") if hidden else run

    def _levels(self) -> Levels:
        """The levels now, of a notebook that is not hidden itself."""
        levels = access.levels(self._inner)
        if levels.notebook == "none":
            path = self._inner.state()["path"]
            raise ToolError(
                Code.NOTEBOOK_NOT_FOUND,
                f'"{path}" is no longer open: open it with jupyter_open_notebook and try again.',
            )
        return levels

    def _require(self) -> None:
        """Raise when the notebook may not be changed."""
        if access.levels(self._inner).notebook != "write":
            raise access.notebook_denied(self._inner.state()["path"])

    def _require_visible(self, index: int) -> Levels:
        levels = self._levels()
        if levels.cell(index) == "none":
            raise ToolError(
                Code.CELL_NOT_FOUND, f'No cell "@{index}" in this notebook: read the cells again.'
            )
        return levels

    def _require_edit(self, index: int) -> None:
        """Raise when the cell may not be changed."""
        levels = self._require_visible(index)
        self._require()
        if levels.cell(index) != "write":
            raise access.cell_denied(self._inner.ids()[index])

    def _editing(self, index: int) -> None:
        self._require_edit(index)
        self._touched([self._inner.ids()[index]], "edit")

    def _all(self, own: Any) -> list[CellData]:
        """Every real cell, where there are threads to be tied to them."""
        count = self._inner.state()["cellCount"] if views.entries_of(own) else 0
        return self._inner.cells(0, count) if count else []

    def _touched(self, cell_ids: Sequence[str], kind: Any) -> None:
        if cell_ids:
            self._observer.touched(self._inner.state()["path"], cell_ids, kind)

    def _guarded(self, kernel: pywebmcp.frontend.Kernel) -> GuardedKernel:
        return GuardedKernel(kernel, self._may_run, self._hides, self._observer)

    def _may_run(self) -> None:
        self._levels()
        self._require()
