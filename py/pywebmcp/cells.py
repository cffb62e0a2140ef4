"""Finding cells by what an agent calls them, and showing them to it.

A cell's id is its name. Where an id is missing from the file or not unique, the cell is shown
with a position address such as ``@3`` instead, and every tool takes that address as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from pywebmcp import text
from pywebmcp.access import hidden, level
from pywebmcp.edits import normalise_newlines, source_hash
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Notebook
from pywebmcp.types import CellData

_POSITION = re.compile(r"@(\d{1,9})\Z")


def is_position(cell_id: str) -> bool:
    """Whether this is a position address; nbformat ids never hold an ``@``."""
    return _POSITION.match(cell_id) is not None


@lru_cache(maxsize=16)
def addresses(ids: tuple[str | None, ...]) -> tuple[str, ...]:
    """What an agent calls each cell: its id where that is unique, else ``@index``.

    Cached, since a notebook of 1,000 cells is read in pages and its ids seldom change.
    """
    counts = Counter(ids)
    return tuple(
        cell_id if cell_id and counts[cell_id] == 1 and not is_position(cell_id) else f"@{index}"
        for index, cell_id in enumerate(ids)
    )


def locate(notebook: Notebook, cell_id: str) -> int:
    """The index of the cell an agent named in an open notebook; see `position`."""
    return position(
        cell_id,
        notebook.find,
        lambda: notebook.state()["cellCount"],
        lambda index: notebook.cells(index, index + 1)[0],
    )


def position(
    cell_id: str,
    find: Callable[[str], Sequence[int]],
    count: Callable[[], int],
    get: Callable[[int], CellData],
) -> int:
    """The index of the cell an agent named, by its id or its position address.

    Raises ``ToolError`` CELL_NOT_FOUND, also for the place of a hidden cell, or INVALID_ARGUMENT
    with the candidates when several cells have this id (copies made by other tools; nbformat wants
    ids unique).
    """
    address = _POSITION.match(cell_id)
    if address:
        index = int(address[1])
        if index < count() and not hidden(get(index)):
            return index
        raise _not_found(cell_id)
    found = find(cell_id)
    if not found:
        raise _not_found(cell_id)
    if len(found) > 1:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'{len(found)} cells have the id "{cell_id}": name the one you mean by its '
            "position address, and give its expectedSourceHash when you change it.",
            candidates=[summary(get(index), index, f"@{index}") for index in found],
        )
    return found[0]


def position_in_file(found: Sequence[CellData], cell_id: str) -> int:
    """The same among the cells of a file; see `position`."""
    return position(
        cell_id,
        lambda wanted: [index for index, cell in enumerate(found) if cell.get("id") == wanted],
        lambda: len(found),
        found.__getitem__,
    )


def _not_found(cell_id: str) -> ToolError:
    return ToolError(
        Code.CELL_NOT_FOUND,
        f'No cell "{cell_id}" in this notebook: it may have been deleted; read the cells again.',
    )


def summary(cell: CellData, index: int, address: str) -> dict[str, Any]:
    """A cell in one line: address, index, hash, first line of its source."""
    first = normalise_newlines(cell["source"]).split("\n", 1)[0]
    return {
        "id": address,
        "index": index,
        "sourceHash": source_hash(cell["source"]),
        "firstLine": first[:80],
    }


def view(
    cell: CellData, index: int, address: str, *, source: bool = True, outputs: bool = False
) -> dict[str, Any]:
    """A cell as the tools answer it: what is null or the default is left out."""
    shown: dict[str, Any] = {
        "id": address,
        "index": index,
        "type": cell["cell_type"],
        "sourceHash": source_hash(cell["source"]),
    }
    if address.startswith("@") and cell.get("id"):
        shown["duplicateId"] = cell.get("id")
    count = cell.get("execution_count")
    if count is not None:
        shown["executionCount"] = count
    if cell["metadata"]:
        access = level(cell)
        if access != "write":
            shown["access"] = access
        if source_hidden(cell):
            shown["sourceHidden"] = True
    if source:
        shown["source"] = normalise_newlines(cell["source"])
    if outputs and cell.get("outputs"):
        shown["outputs"] = text.clean_outputs(cell["outputs"])
    return shown


def source_hidden(cell: CellData) -> bool:
    """Whether the page folds the source away (nbformat metadata ``jupyter.source_hidden``)."""
    jupyter = cell["metadata"].get("jupyter")
    return isinstance(jupyter, dict) and jupyter.get("source_hidden") is True


def error_output(cell: CellData) -> dict[str, Any] | None:
    """The error output of a cell whose last run failed (nbformat ``output_type: error``)."""
    for output in reversed(cell.get("outputs") or []):
        if isinstance(output, dict) and output.get("output_type") == "error":
            return output
    return None


def from_file(content: dict[str, Any]) -> list[CellData]:
    """The cells of a notebook file (nbformat 4), read as untrusted input.

    Raises ``ToolError`` NOTEBOOK_READ_FAILED for what is no nbformat 4 notebook.
    """
    check_format(content)
    return [_cell(raw) for raw in content["cells"] if isinstance(raw, dict)]


def check_format(content: Any) -> None:
    """Refuse what JupyterLab would show as an empty notebook and destroy when saving.

    Raises ``ToolError`` NOTEBOOK_READ_FAILED.
    """
    if not isinstance(content, dict) or "nbformat" not in content:
        raise ToolError(
            Code.NOTEBOOK_READ_FAILED,
            "The file is not a notebook: it has no nbformat. Check that the path is right.",
        )
    version = content["nbformat"]
    if version != 4:
        raise ToolError(
            Code.NOTEBOOK_READ_FAILED,
            f"The notebook has nbformat {version}, and only nbformat 4 can be read: "
            "upgrade it first, for example with jupyter nbconvert --to notebook.",
        )
    if not isinstance(content.get("cells"), list):
        raise ToolError(
            Code.NOTEBOOK_READ_FAILED,
            "The notebook has no list of cells: the file is damaged.",
        )


def _cell(raw: dict[str, Any]) -> CellData:
    cell_type = raw.get("cell_type")
    metadata = raw.get("metadata")
    cell: CellData = {
        "cell_type": cell_type if isinstance(cell_type, str) else "raw",
        "source": text.multiline(raw.get("source", "")),
        "metadata": metadata if isinstance(metadata, dict) else {},
    }
    cell_id = raw.get("id")
    if isinstance(cell_id, str):
        cell["id"] = cell_id
    if cell["cell_type"] == "code":
        count = raw.get("execution_count")
        cell["execution_count"] = count if isinstance(count, int) else None
        outputs = raw.get("outputs")
        cell["outputs"] = (
            [part for part in outputs if isinstance(part, dict)]
            if isinstance(outputs, list)
            else []
        )
    return cell


def matching_lines(source: str, needle: str, limit: int) -> Iterable[tuple[int, str]]:
    """The 0-based numbers and texts of the lines that hold ``needle``, whatever its case.

    A line longer than ``limit`` characters is cut around its first match.
    """
    wanted = re.compile(re.escape(needle), re.IGNORECASE)
    for number, line in enumerate(normalise_newlines(source).split("\n")):
        found = wanted.search(line)
        if found is None:
            continue
        at = found.start()
        if len(line) > limit:
            start = max(0, min(at - limit // 4, len(line) - limit))
            end = start + limit
            line = ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
        yield number, line
