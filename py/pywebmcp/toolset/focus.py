"""Pointing a person at a cell."""

from __future__ import annotations

from typing import Annotated

from pywebmcp import cells
from pywebmcp.edits import normalise_newlines
from pywebmcp.errors import Code, ToolError
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import CellId, NotebookPath, live_notebook, require_selection
from pywebmcp.types import Arg, Payload, Position, Selection


@tool("Focus cell", "U")
async def jupyter_focus_cell(
    call: Call,
    *,
    cell_id: CellId,
    cursor: Annotated[Position, Arg("0-based line and column, in characters")] | None = None,
    selection: Annotated[Selection, Arg("Range to select; end is exclusive")] | None = None,
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """Show a cell to the person and make it active; with cursor or selection, place that. Changes
    only the view."""
    if cursor is not None and selection is not None:
        raise ToolError(Code.INVALID_ARGUMENT, 'Give "cursor" or "selection", not both.')
    notebook = await live_notebook(call, notebook_path)
    index = cells.locate(notebook, cell_id)
    source = normalise_newlines(notebook.cells(index, index + 1)[0]["source"])
    if cursor is not None:
        selection = {"start": cursor, "end": cursor}
    if selection is not None:
        require_selection(source, selection)
    await notebook.focus_cell(index, selection)
    return {}
