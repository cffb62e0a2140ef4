"""Which cells an agent may change, judged in one place.

A cell that Jupyter marks as not editable has the level read, every other one write: the shared
model does not enforce the mark.
"""

from __future__ import annotations

from pywebmcp.errors import Code, ToolError
from pywebmcp.types import CellData


def level(cell: CellData) -> str:
    """The access level of a cell for an agent: ``write`` or ``read``."""
    return "read" if cell["metadata"].get("editable") is False else "write"


def require_edit(cell: CellData, address: str) -> None:
    """Raise ``ToolError`` CELL_ACCESS_DENIED when the cell may not be changed."""
    if level(cell) != "write":
        raise ToolError(
            Code.CELL_ACCESS_DENIED,
            f'Cell "{address}" is read-only for you: ask the person to change it or to allow it.',
        )


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
