"""Which cell of a notebook a cell of the script beside it is. Only what is certain counts: an id
that both have once, or a text that both have once; never the position and never a likeness.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, shown, unreadable
from pywebmcp.outputs.files import NotebookFile, Outline, open_file, open_notebook
from pywebmcp.outputs.percent import AmbiguousMarkerError, ScriptCell, script_cells


class Match(NamedTuple):
    """A cell's place in a notebook, how it was found, and its lines in the script."""

    place: int
    mapping: Literal["direct", "id", "content"]
    lines: tuple[int, int] | None


@contextmanager
def match_cell(path: str, index: int) -> Iterator[tuple[NotebookFile, str, Match]]:
    """The notebook beside a script, open, its path, and where in it the script's cell is.

    Raises:
        OutputProtocolError: FILE_NOT_FOUND, NOTEBOOK_READ_FAILED, CELL_NOT_FOUND,
            NOTEBOOK_PAIR_NOT_FOUND, CELL_MAPPING_UNRELIABLE.
    """
    cells = _read_script(path)
    if index >= len(cells):
        raise OutputProtocolError(
            Code.CELL_NOT_FOUND, f"There is no cell {shown(index)}; {path} has {len(cells)}"
        )
    beside = os.path.splitext(path)[0] + ".ipynb"
    if not os.path.isfile(beside):
        raise OutputProtocolError(
            Code.NOTEBOOK_PAIR_NOT_FOUND,
            f"{path} has no outputs of its own, and there is no notebook {beside}",
        )
    notebook_path = os.path.realpath(beside)
    with open_notebook(notebook_path) as notebook:
        yield notebook, notebook_path, find_match(cells, notebook.outlines(), index)


def find_match(cells: Sequence[ScriptCell], outlines: Sequence[Outline], index: int) -> Match:
    """Where a script's cell is in a notebook.

    Raises:
        OutputProtocolError: CELL_MAPPING_UNRELIABLE when that is not certain.
    """
    cell = cells[index]
    named = [place for place, each in enumerate(outlines) if each.cell_id == cell.cell_id]
    if cell.cell_id is not None:
        if sum(each.cell_id == cell.cell_id for each in cells) > 1:
            raise _unreliable(index, f"the script has the id {cell.cell_id} more than once")
        if len(named) == 1:
            return Match(named[0], "id", cell.lines)
    alike = [place for place, outline in enumerate(outlines) if _alike(cell, outline)]
    if len(alike) != 1:
        reason = "no cell of the notebook has" if not alike else "several cells of it have"
        raise _unreliable(index, f"{reason} the same type and source")
    place = alike[0]
    found = outlines[place]
    if sum(_alike(each, found) for each in cells) > 1:
        raise _unreliable(index, "the script has several cells with the same type and source")
    if found.cell_id is not None:
        if cell.cell_id not in (None, found.cell_id):
            raise _unreliable(index, "the cell with the same source has another id")
        if any(each.cell_id == found.cell_id for each in cells if each is not cell):
            raise _unreliable(index, "the cell with the same source has the id of another one")
    return Match(place, "content", cell.lines)


def _alike(cell: ScriptCell, outline: Outline) -> bool:
    return (
        outline.source is not None
        and cell.cell_type == outline.cell_type
        and cell.has_source(outline.source)
    )


def _unreliable(index: int, reason: str) -> OutputProtocolError:
    return OutputProtocolError(
        Code.CELL_MAPPING_UNRELIABLE,
        f"Which cell of the notebook cell {index} of the script is, is not certain: {reason}",
    )


def _read_script(path: str) -> list[ScriptCell]:
    try:
        with open_file(path) as file:
            return script_cells(file.read().decode("utf-8"))
    except (UnicodeDecodeError, AmbiguousMarkerError, OSError) as error:
        raise unreadable(path, error) from None
