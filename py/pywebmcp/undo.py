"""Edits that were made, and taking them back as long as nothing else was changed there."""

from __future__ import annotations

from dataclasses import dataclass

from pywebmcp import diffs
from pywebmcp.changes import Action, Place, Plan
from pywebmcp.edits import digest, normalise_newlines, smallest_edits, source_hash
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend, Notebook
from pywebmcp.types import CellData


@dataclass(slots=True, eq=False)
class Edit:
    """A change that was made; ``added`` and ``removed`` count lines.

    ``path`` and ``cell_id`` (None for a file), ``before`` and ``after``, ``old`` and ``new`` as in
    `changes.Plan`.
    """

    action: Action
    path: str
    cell_id: str | None
    before: str | None
    after: str | None
    old: Place | None
    new: Place | None
    added: int
    removed: int
    undone: bool = False
    notebook: Notebook | None = None
    """The open notebook that was changed, which can be renamed."""
    kept: bool = True
    """Whether it is still known what was there: not of old ones, where there is too much of it."""

    @property
    def size(self) -> int:
        """Characters that it keeps."""
        return len(self.before or "") + len(self.after or "")

    def forget(self) -> None:
        """Keep only what it counts."""
        self.kept = False
        self.before = self.after = self.old = self.new = self.notebook = None

    def follow(self, frontend: Frontend) -> None:
        """Go along where the notebook was renamed; let go of one that was closed."""
        if self.notebook is not None:
            path = self.notebook.state()["path"]
            if path and frontend.notebook(path) is not None:
                self.path = path
            else:
                self.notebook = None

    @classmethod
    def of(cls, plan: Plan) -> Edit:
        """The edit that a plan was."""
        added, removed = diffs.counts(plan.before, plan.after)
        return cls(
            plan.action,
            plan.path,
            plan.cell_id,
            plan.before,
            plan.after,
            plan.old,
            plan.new,
            added,
            removed,
        )

    def reversed(self) -> Edit:
        """The edit that takes this one back."""
        swapped: dict[Action, Action] = {"insert": "delete", "delete": "insert"}
        return Edit(
            swapped.get(self.action, self.action),
            self.path,
            self.cell_id,
            self.after,
            self.before,
            self.new,
            self.old,
            self.removed,
            self.added,
        )


def possible(frontend: Frontend, edit: Edit) -> bool:
    """Whether an edit can be taken back now; of a file that shows only when it is tried."""
    if edit.undone or not edit.kept:
        return False
    if edit.cell_id is None:
        return True
    try:
        _find(frontend, edit, edit.cell_id)
    except ToolError:
        return False
    return True


async def undo(frontend: Frontend, edit: Edit) -> Edit:
    """Take an edit back and answer the edit that this was; a notebook's without waiting.

    The outputs of a cell are not brought back. Raises ``ToolError`` STALE_CELL, STALE_FILE,
    CELL_NOT_FOUND or NOTEBOOK_NOT_FOUND when something else was done there since.
    """
    if edit.undone:
        raise ToolError(Code.STALE_CELL, "The edit was taken back already.")
    if not edit.kept:
        raise ToolError(Code.STALE_CELL, "What was there before is no longer kept.")
    if edit.cell_id is None:
        await _restore_file(frontend, edit)
    else:
        _restore_cell(frontend, edit, edit.cell_id)
    edit.undone = True
    return edit.reversed()


def _find(frontend: Frontend, edit: Edit, cell_id: str) -> tuple[Notebook, int | None]:
    """The notebook and where the cell is, as the edit left it; None for one that it deleted."""
    edit.follow(frontend)
    notebook = frontend.notebook(edit.path)
    if notebook is None:
        raise ToolError(Code.NOTEBOOK_NOT_FOUND, f'"{edit.path}" is no longer open.')
    found = notebook.find(cell_id)
    if edit.after is None:
        if found:
            raise ToolError(Code.STALE_CELL, f'There is a cell "{cell_id}" again.')
        return notebook, None
    if len(found) != 1:
        raise ToolError(Code.CELL_NOT_FOUND, f'There is no cell "{cell_id}" any more.')
    cell = notebook.cells(found[0], found[0] + 1)[0]
    kind = edit.new.cell_type if edit.new is not None else cell["cell_type"]
    if source_hash(cell["source"]) != source_hash(edit.after) or cell["cell_type"] != kind:
        raise ToolError(Code.STALE_CELL, f'Cell "{cell_id}" was changed since.')
    return notebook, found[0]


def _restore_cell(frontend: Frontend, edit: Edit, cell_id: str) -> None:
    notebook, index = _find(frontend, edit, cell_id)
    count = notebook.state()["cellCount"]
    old = edit.old
    if index is None:
        assert old is not None
        cell = CellData(
            id=cell_id,
            cell_type=old.cell_type,
            source=edit.before or "",
            metadata=old.metadata,
        )
        notebook.insert_cell(min(old.index, count), cell)
        return
    if edit.before is None or old is None:
        notebook.delete_cell(index)
        return
    present = normalise_newlines(notebook.cells(index, index + 1)[0]["source"])
    changes = smallest_edits(present, edit.before)
    if changes:
        notebook.replace_texts(index, changes)
    assert edit.new is not None
    if old.cell_type != edit.new.cell_type:
        notebook.change_type(index, old.cell_type)
    if old.index != edit.new.index and index == edit.new.index:
        # Where somebody has moved it since, it stays.
        notebook.move_cell(index, min(old.index, count - 1))


async def _restore_file(frontend: Frontend, edit: Edit) -> None:
    document = frontend.document(edit.path)
    present = None
    if await frontend.entry(edit.path) is not None:
        present = await frontend.read_text(edit.path)
    dirty = document is not None and document["dirty"]
    if dirty or present is None or digest(present) != digest(edit.after or ""):
        raise ToolError(Code.STALE_FILE, f'"{edit.path}" was changed since.')
    if edit.before is None:
        await frontend.delete(edit.path)
    else:
        await frontend.write_text(edit.path, edit.before)
