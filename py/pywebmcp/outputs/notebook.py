"""The protocol on notebook files: a path and a cell's place in that file, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, shown
from pywebmcp.outputs.files import NotebookFile, SavedCell, open_notebook
from pywebmcp.outputs.pairing import Match, match_cell
from pywebmcp.outputs.reading import list_outputs, read_output
from pywebmcp.outputs.transport import MAX_TRANSPORT_BYTES
from pywebmcp.outputs.windows import DEFAULT_TEXT_LIMIT

PathLike = str | os.PathLike[str]


def resolve_notebook_cell(file_path: PathLike, cell_index: int) -> dict[str, Any]:
    """Which cell of which notebook a cell of a ``.ipynb`` or ``.py`` file is: an answer's source.

    Args:
        file_path: the file, absolute or from the working directory on.
        cell_index: the cell's place in that file, from 0.

    Returns:
        ``kind`` ("notebook"), ``path`` and ``cell_index`` of the notebook, ``requested_path`` and
        ``requested_cell_index``, ``mapping`` ("direct", "id" or "content"), and where there is
        one ``cell_id``, ``execution_count``, ``source_start_line``, ``source_end_line`` (of the
        ``.py``, from 1).

    Raises:
        OutputProtocolError: CELL_NOT_FOUND, FILE_NOT_FOUND, FILE_TYPE_UNSUPPORTED,
            NOTEBOOK_READ_FAILED, NOTEBOOK_PAIR_NOT_FOUND, CELL_MAPPING_UNRELIABLE.
    """
    return _saved(file_path, cell_index, NotebookFile.directory)[0]


def list_notebook_outputs(
    file_path: PathLike, cell_index: int, *, max_transport_bytes: int = MAX_TRANSPORT_BYTES
) -> dict[str, Any]:
    """The directory of a saved cell's outputs; see `resolve_notebook_cell` and `list_outputs`."""
    source, cell = _saved(file_path, cell_index, NotebookFile.directory)
    return list_outputs(cell.outputs, source=source, max_transport_bytes=max_transport_bytes)


def read_notebook_output(
    file_path: PathLike,
    cell_index: int,
    output_index: int,
    *,
    mime_type: str | None = None,
    supported_mime_types: Iterable[str] | None = None,
    offset: int = 0,
    limit: int | None = DEFAULT_TEXT_LIMIT,
    max_transport_bytes: int = MAX_TRANSPORT_BYTES,
) -> dict[str, Any]:
    """One output of a saved cell; see `resolve_notebook_cell` and `read_output`."""

    def find(file: NotebookFile, index: int) -> SavedCell:
        return file.with_output(index, output_index)

    source, cell = _saved(file_path, cell_index, find)
    return read_output(
        cell.outputs,
        output_index,
        source=source,
        mime_type=mime_type,
        supported_mime_types=supported_mime_types,
        offset=offset,
        limit=limit,
        max_transport_bytes=max_transport_bytes,
    )


def _saved(
    file_path: Any, cell_index: Any, find: Callable[[NotebookFile, int], SavedCell]
) -> tuple[dict[str, Any], SavedCell]:
    if type(cell_index) is not int or cell_index < 0:
        raise OutputProtocolError(
            Code.CELL_NOT_FOUND, f"A cell's index is 0 or more, not {shown(cell_index)}"
        )
    path = _absolute(file_path)
    # The name that was asked for says what it is: stores of large files link to nameless ones.
    suffixes = [os.path.splitext(each)[1] for each in (os.fsdecode(os.fspath(file_path)), path)]
    suffix = next((each for each in suffixes if each in (".ipynb", ".py")), None)
    if suffix is None:
        if not os.path.isfile(path):
            raise OutputProtocolError(Code.FILE_NOT_FOUND, f"There is no file {path}")
        raise OutputProtocolError(
            Code.FILE_TYPE_UNSUPPORTED, f"{path} is neither an .ipynb nor a .py file"
        )
    with _mapped(path, suffix, cell_index) as (file, notebook_path, match):
        cell = find(file, match.place)
    source: dict[str, Any] = {
        "kind": "notebook",
        "path": notebook_path,
        "cell_index": match.place,
        "requested_path": path,
        "requested_cell_index": cell_index,
        "mapping": match.mapping,
    }
    if cell.cell_id is not None:
        source["cell_id"] = cell.cell_id
    if match.lines is not None:
        source["source_start_line"], source["source_end_line"] = match.lines
    if cell.execution_count is not None:
        source["execution_count"] = cell.execution_count
    return source, cell


@contextmanager
def _mapped(path: str, suffix: str, index: int) -> Iterator[tuple[NotebookFile, str, Match]]:
    if suffix == ".ipynb":
        with open_notebook(path) as file:
            yield file, path, Match(index, "direct", None)
    else:
        with match_cell(path, index) as found:
            yield found


def _absolute(file_path: Any) -> str:
    """The file's path without links; what cannot be a path is not found."""
    try:
        return os.path.realpath(os.fsdecode(os.fspath(file_path)))
    except (TypeError, ValueError, OSError):
        raise OutputProtocolError(
            Code.FILE_NOT_FOUND, f"{shown(file_path)} is no path of a file"
        ) from None
