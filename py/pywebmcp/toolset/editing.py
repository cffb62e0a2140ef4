"""Inserting, updating and deleting cells."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from pywebmcp import cells
from pywebmcp.changes import Change, DeleteCell, InsertCell, UpdateCell
from pywebmcp.edits import normalise_newlines
from pywebmcp.errors import Code, ToolError
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import CellId, NotebookPath, live_notebook
from pywebmcp.types import Arg, CellData, CellType


class Replacement(TypedDict):
    """One exact replacement in a cell's source."""

    oldText: Annotated[str, Arg("Must occur exactly once", min_length=1)]
    newText: str


@tool("Insert cell", "U")
async def jupyter_insert_cell(
    call: Call,
    *,
    source: str = "",
    cell_type: CellType = "code",
    reference_cell_id: Annotated[str, Arg("Insert next to this cell; default: at the end")]
    | None = None,
    position: Annotated[Literal["above", "below"], Arg("Side of that cell; default below")]
    | None = None,
    activate: Annotated[bool, Arg("Make it the active cell (default false)")] = False,
    notebook_path: NotebookPath | None = None,
) -> Change:
    """Insert a cell without running it. Answers its id, index and sourceHash."""
    notebook = await live_notebook(call, notebook_path)
    cell: CellData = {
        "id": call.new_id(),
        "cell_type": cell_type,
        "source": normalise_newlines(source),
        "metadata": {},
    }
    return InsertCell(
        notebook.state()["path"], cell, reference_cell_id, position == "above", activate
    )


@tool("Update cell", "U")
async def jupyter_update_cell(
    call: Call,
    *,
    cell_id: CellId,
    edits: Annotated[list[Replacement], Arg("Exact replacements; need no hash", min_items=1)]
    | None = None,
    source: Annotated[str, Arg("Whole new source; needs expectedSourceHash")] | None = None,
    expected_source_hash: Annotated[str, Arg("The sourceHash you read")] | None = None,
    cell_type: CellType | None = None,
    index: Annotated[int, Arg("Move it to this index", ge=0)] | None = None,
    notebook_path: NotebookPath | None = None,
) -> Change:
    """Change a cell: its source, its type, its place. Refused with STALE_CELL and the present
    source when the cell changed since you read it. Answers the new sourceHash."""
    if source is not None and edits is not None:
        raise ToolError(Code.INVALID_ARGUMENT, 'Give "source" or "edits", not both.')
    if source is None and edits is None and cell_type is None and index is None:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            'Nothing to change: give "edits", "source", "cellType" or "index".',
        )
    if source is not None and expected_source_hash is None:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            '"source" replaces the whole cell and needs the "expectedSourceHash" you read; '
            'or use "edits".',
        )
    if cells.is_position(cell_id) and expected_source_hash is None and edits is None:
        # Positions shift when somebody inserts a cell: the text has to prove which cell it is.
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'"{cell_id}" is a position: give "expectedSourceHash" with it.',
        )
    notebook = await live_notebook(call, notebook_path)
    return UpdateCell(
        notebook.state()["path"],
        cell_id,
        expected_source_hash,
        source,
        tuple((edit["oldText"], edit["newText"]) for edit in edits or ()),
        cell_type,
        index,
    )


@tool("Delete cell", "CU")
async def jupyter_delete_cell(
    call: Call,
    *,
    cell_id: CellId,
    expected_source_hash: Annotated[str, Arg("The sourceHash you read")],
    notebook_path: NotebookPath | None = None,
) -> Change:
    """Delete a cell; refused with STALE_CELL when it changed since you read it."""
    notebook = await live_notebook(call, notebook_path)
    return DeleteCell(notebook.state()["path"], cell_id, expected_source_hash)
