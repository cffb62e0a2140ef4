"""Changes to a notebook as values: planned against the live model, shown as a diff, then applied.

A handler answers a change instead of making it, so that one middleware decides whether it is
applied at once or waits as a proposal, and the handler never knows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pywebmcp import access, cells
from pywebmcp.edits import (
    EditError,
    apply_replacements,
    normalise_newlines,
    smallest_edits,
    source_hash,
)
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend, Notebook
from pywebmcp.types import CellData, Payload

Action = Literal["insert", "update", "delete", "write"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell is (0-based) and what it is beside its source."""

    index: int
    cell_type: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked change, ready to be applied in the same turn of the event loop.

    ``before`` and ``after`` are the sources a person compares (None: the cell does not exist
    then); ``base`` is the hash that the cell must still have when a proposal is accepted. ``old``
    and ``new`` say the same of a cell's place and type; a file, which has no ``cell_id``, has none.
    """

    path: str
    cell_id: str | None
    before: str | None
    after: str | None
    base: str | None
    apply: Callable[[], Payload | Awaitable[Payload]]
    old: Place | None = None
    new: Place | None = None

    @property
    def action(self) -> Action:
        """What is done to a cell, or that a file is written."""
        if self.cell_id is None:
            return "write"
        if self.before is None:
            return "insert"
        return "delete" if self.after is None else "update"


class Change(Protocol):
    """A change that a tool wants to make.

    Changes of a notebook plan and apply without waiting; only files, which another tab can change
    at any time anyway, are read and written with an ``await``.
    """

    def plan(self, frontend: Frontend) -> Plan | Awaitable[Plan]:
        """Check it against the live model now; raises ``ToolError`` when it cannot be made."""
        ...


def open_notebook(frontend: Frontend, path: str) -> Notebook:
    """The notebook a change was made for.

    Raises ``ToolError``: it may have been closed since, or be one that may only be read.
    """
    notebook = frontend.notebook(path)
    if notebook is None:
        raise ToolError(
            Code.NOTEBOOK_NOT_FOUND,
            f'"{path}" is no longer open: open it with jupyter_open_notebook and try again.',
        )
    access.require_notebook(notebook.state())
    return notebook


@dataclass(frozen=True, slots=True)
class InsertCell:
    """Insert a new cell at the end, or above or below another one."""

    path: str
    cell: CellData
    reference: str | None = None
    above: bool = False
    activate: bool = False

    def plan(self, frontend: Frontend) -> Plan:
        """Find the place; the cell's id is the caller's fresh one."""
        notebook = open_notebook(frontend, self.path)
        if self.reference is None:
            index = 0 if self.above else notebook.state()["cellCount"]
        else:
            index = cells.locate(notebook, self.reference) + (not self.above)
        cell_id = self.cell["id"]
        source = self.cell["source"]

        def apply() -> Payload:
            notebook.insert_cell(index, self.cell)
            if self.activate:
                notebook.activate_cell(index)
            return {"id": cell_id, "index": index, "sourceHash": source_hash(source)}

        place = Place(index, self.cell["cell_type"])
        return Plan(self.path, cell_id, None, source, None, apply, None, place)


@dataclass(frozen=True, slots=True)
class UpdateCell:
    """Change a cell's source (whole, or exact replacements), its type or its place."""

    path: str
    cell_id: str
    expected_hash: str | None = None
    source: str | None = None
    replacements: tuple[tuple[str, str], ...] = ()
    cell_type: str | None = None
    index: int | None = None

    def plan(self, frontend: Frontend) -> Plan:
        """Check the guard and compute the new source from the present one."""
        notebook = open_notebook(frontend, self.path)
        index = cells.locate(notebook, self.cell_id)
        cell = notebook.cells(index, index + 1)[0]
        access.require_edit(cell, self.cell_id)
        before = normalise_newlines(cell["source"])
        require_hash(before, self.expected_hash, self.cell_id)
        after = self._after(before)
        self._check_index(notebook)

        def apply() -> Payload:
            return self._apply(notebook, index, cell, after)

        old = _place(index, cell)
        new = Place(
            index if self.index is None else self.index,
            self.cell_type or old.cell_type,
            old.metadata,
        )
        base = source_hash(before)
        return Plan(self.path, cell.get("id") or "", before, after, base, apply, old, new)

    def _after(self, before: str) -> str:
        if self.source is not None:
            return normalise_newlines(self.source)
        if not self.replacements:
            return before
        try:
            return apply_replacements(before, self.replacements)
        except EditError as error:
            # The text the caller saw is not there (or not once): to the caller that is a stale
            # view of the cell, and the present source is what helps.
            raise ToolError(
                Code.STALE_CELL if error.count == 0 else Code.INVALID_ARGUMENT,
                error.message,
                sourceHash=source_hash(before),
                source=before,
            ) from None

    def _check_index(self, notebook: Notebook) -> None:
        count = notebook.state()["cellCount"]
        if self.index is not None and self.index >= count:
            raise ToolError(
                Code.INVALID_ARGUMENT,
                f'"index" {self.index} is out of range: the notebook has {count} cells, '
                f"so the last index is {count - 1}.",
            )

    def _apply(self, notebook: Notebook, index: int, cell: CellData, after: str) -> Payload:
        answer: Payload = {"sourceHash": source_hash(after)}
        # The offsets count in the LF-normalised source, as `cells` gives it.
        edits = smallest_edits(normalise_newlines(cell["source"]), after)
        if edits:
            notebook.replace_texts(index, edits)
        if self.cell_type is not None and self.cell_type != cell["cell_type"]:
            notebook.change_type(index, self.cell_type)
        if self.index is not None and self.index != index:
            notebook.move_cell(index, self.index)
            answer["index"] = self.index
        return answer


@dataclass(frozen=True, slots=True)
class DeleteCell:
    """Delete a cell whose source is known to the caller."""

    path: str
    cell_id: str
    expected_hash: str

    def plan(self, frontend: Frontend) -> Plan:
        """Check the guard."""
        notebook = open_notebook(frontend, self.path)
        index = cells.locate(notebook, self.cell_id)
        cell = notebook.cells(index, index + 1)[0]
        access.require_delete(cell, self.cell_id)
        before = normalise_newlines(cell["source"])
        require_hash(before, self.expected_hash, self.cell_id)

        def apply() -> Payload:
            notebook.delete_cell(index)
            return {"cellCount": notebook.state()["cellCount"]}

        old, base = _place(index, cell), source_hash(before)
        return Plan(self.path, cell.get("id") or "", before, None, base, apply, old)


def _place(index: int, cell: CellData) -> Place:
    return Place(index, cell["cell_type"], cell["metadata"])


def require_hash(present: str, expected: str | None, cell_id: str) -> None:
    """Raise ``ToolError`` STALE_CELL with the present source when the caller's is older."""
    current = source_hash(present)
    if expected is not None and expected != current:
        raise ToolError(
            Code.STALE_CELL,
            f'Cell "{cell_id}" changed since you read it: work from its present source and '
            "give the present sourceHash.",
            sourceHash=current,
            source=present,
        )
