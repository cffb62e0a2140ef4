"""What an agent may do with a notebook and with each cell: write, read, or nothing at all (none).

People set the levels. They are kept in the metadata of the notebook and of its cells, beside the
comments, as ``{METADATA_KEY: {"access": {"version": 1, "level": "read"}}}``, and are read as
untrusted input. The stricter one of notebook and cell holds. nbformat's marks ``editable`` and
``deletable`` are honoured beside them: the shared model does not enforce those. Who enforces the
levels is `pywebmcp.guard`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import AccessMarks, Notebook, NotebookState
from pywebmcp.types import CellData

Level = Literal["write", "read", "none"]

VERSION = 1
"""The version of the format; it grows when an older reader would misread a newer notebook."""

_FIELD = "access"
_ORDER: tuple[Level, ...] = ("none", "read", "write")


def stricter(one: Level, other: Level) -> Level:
    """The one of two levels that allows less."""
    return min(one, other, key=_ORDER.index)


def parse(mark: Any) -> Level:
    """The level that a mark sets; what is no text sets none, and that is write.

    A level that we do not know comes from a newer version and is something less than write:
    none, so that nothing is given away.
    """
    if not isinstance(mark, str):
        return "write"
    return mark if mark in _ORDER else "none"


def mark_of(metadata: Any) -> Any:
    """What a notebook's or a cell's metadata has in the place of a level; else None."""
    own = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    entry = own.get(_FIELD) if isinstance(own, dict) else None
    return entry.get("level") if isinstance(entry, dict) else None


def marked(metadata: Any, level: Level) -> dict[str, Any]:
    """The metadata with this level; write is the absence of an entry. What is no object is none."""
    metadata = metadata if isinstance(metadata, dict) else {}
    own = metadata.get(METADATA_KEY)
    value = own_with(own, level)
    rest = {key: kept for key, kept in metadata.items() if key != METADATA_KEY}
    return rest if value is None else {**metadata, METADATA_KEY: value}


def own_with(own: Any, level: Level) -> Any:
    """The value of our metadata key with this level; None when nothing is left of it."""
    if not isinstance(own, dict):
        # What somebody else keeps under our name stays where no level has to be kept there.
        return own if level == "write" else {_FIELD: {"version": VERSION, "level": level}}
    kept = {key: value for key, value in own.items() if key != _FIELD}
    if level == "write":
        return kept or None
    return {**kept, _FIELD: {"version": VERSION, "level": level}}


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a notebook: its own, and those of the cells that have one, by index."""

    notebook: Level = "write"
    cells: Mapping[int, Level] = field(default_factory=dict)

    @classmethod
    def read(cls, marks: AccessMarks) -> Levels:
        """The levels that a notebook's marks set."""
        cells = {index: parse(mark) for index, mark in marks["cells"].items()}
        return cls(
            parse(marks["notebook"]),
            {index: level for index, level in cells.items() if level != "write"},
        )

    @classmethod
    def of_file(cls, content: Any) -> Levels:
        """The levels in a notebook file (nbformat 4), whatever else is in it."""
        found = content.get("cells") if isinstance(content, dict) else None
        cells = (
            [cell for cell in found if isinstance(cell, dict)] if isinstance(found, list) else []
        )
        metadata = content.get("metadata") if isinstance(content, dict) else None
        marks = {index: mark_of(cell.get("metadata")) for index, cell in enumerate(cells)}
        return cls.read(AccessMarks(notebook=mark_of(metadata), cells=marks))

    def cell(self, index: int) -> Level:
        """The effective level of a cell."""
        return stricter(self.notebook, self.cells.get(index, "write"))

    @property
    def hidden(self) -> frozenset[int]:
        """The indexes of the cells whose own level is none."""
        return frozenset(index for index, level in self.cells.items() if level == "none")

    @property
    def open(self) -> bool:
        """Whether nothing is restricted."""
        return self.notebook == "write" and not self.cells


# --- what people do


def levels(notebook: Notebook) -> Levels:
    """The levels of an open notebook, as they are now."""
    return Levels.read(notebook.access_marks())


def set_level(notebook: Notebook, index: int | None, level: Level) -> None:
    """Set the level of a cell, or with None that of the notebook: a person's word, never a tool's.

    On the real notebook, not on a guarded one. Takes effect at once, also for calls that run.
    """
    if index is None:
        own = notebook.metadata().get(METADATA_KEY)
        notebook.set_metadata(METADATA_KEY, own_with(own, level))
        return
    own = notebook.cells(index, index + 1)[0]["metadata"].get(METADATA_KEY)
    notebook.set_cell_metadata(index, METADATA_KEY, own_with(own, level))


# --- what tools ask


def hidden(cell: CellData) -> bool:
    """Whether a cell is one that an agent must not know of; what there is of it is a stand-in."""
    return parse(mark_of(cell["metadata"])) == "none"


def level(cell: CellData) -> str:
    """The access level of a cell as tools see it: ``write``, ``read`` or ``none``."""
    if not cell["metadata"]:
        return "write"
    set_by_people = parse(mark_of(cell["metadata"]))
    fixed = cell["metadata"].get("editable") is False
    return stricter(set_by_people, "read") if fixed else set_by_people


def require_edit(cell: CellData, address: str) -> None:
    """Raise ``ToolError`` CELL_ACCESS_DENIED when the cell may not be changed."""
    if level(cell) != "write":
        raise cell_denied(address)


def require_delete(cell: CellData, address: str) -> None:
    """Raise ``ToolError`` CELL_ACCESS_DENIED when the cell may not be deleted.

    nbformat's ``deletable: false`` is honoured as JupyterLab's own interface does.
    """
    require_edit(cell, address)
    if cell["metadata"].get("deletable") is False:
        raise ToolError(
            Code.CELL_ACCESS_DENIED,
            f'Cell "{address}" is marked as not deletable: ask the person to delete it.',
        )


def require_run(cell: CellData, address: str) -> None:
    """Raise ``ToolError`` CELL_ACCESS_DENIED when running would change a cell that is only read.

    JupyterLab runs cells that nbformat marks as not editable, and so may an agent; text cells
    are only rendered.
    """
    if cell["cell_type"] == "code" and parse(mark_of(cell["metadata"])) != "write":
        raise cell_denied(address)


def require_notebook(state: NotebookState) -> None:
    """Raise ``ToolError`` NOTEBOOK_ACCESS_DENIED when the notebook may only be read."""
    if state.get("access", "write") != "write":
        raise notebook_denied(state["path"])


def cell_denied(address: str) -> ToolError:
    """The refusal for a cell that may only be read."""
    return ToolError(
        Code.CELL_ACCESS_DENIED,
        f'Cell "{address}" is read-only for you: ask the person to change it or to allow it.',
    )


def notebook_denied(path: str) -> ToolError:
    """The refusal for a notebook that may only be read."""
    return ToolError(
        Code.NOTEBOOK_ACCESS_DENIED,
        f'"{path}" is read-only for you: ask the person to do it or to allow it.',
    )
