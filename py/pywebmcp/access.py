"""Who may do what with a cell: the levels write, read and none, and the one place that judges.

A person sets levels; what Jupyter itself marks as not editable counts as read here, since the
shared model does not enforce it.
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
