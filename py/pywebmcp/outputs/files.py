"""Cells of notebook files: one cell of a file of any size, or the outline of all, without a parse of
what nobody asked for, and without a write.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, shown, unreadable
from pywebmcp.outputs.json_reader import JsonReader, NotJsonError
from pywebmcp.outputs.nbformat3 import upgraded_cell

WHOLE_FILE = 4 * 1024 * 1024
"""Bytes up to which a file is parsed as a whole, which finds every mistake in it."""

# Fields that a directory shows or that tell the type; all else of an output is payload.
_SHOWN = frozenset(
    {"output_type", "name", "stream", "ename", "evalue"}
    | {"metadata", "execution_count", "prompt_number"}
)

Visit = Callable[[JsonReader, int], Any]


class Outline(NamedTuple):
    """What a cell can be recognised by."""

    cell_type: str
    source: str | None
    cell_id: str | None


class SavedCell(NamedTuple):
    """A cell as it is in a file, in the words of nbformat 4."""

    cell_id: str | None
    execution_count: int | None
    outputs: Any


class NotebookFile:
    """An open notebook file; every method reads it from the front, so that all see one state."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file = file
        self._path = path

    def directory(self, index: int) -> SavedCell:
        """A cell; its outputs have no payload, but all of their keys."""
        return self._cell(index, _directory)

    def with_output(self, index: int, output_index: Any) -> SavedCell:
        """A cell; its outputs are as many as they are, but only one of them is read."""

        def one(reader: JsonReader) -> Any:
            if reader.peek() != "[":
                return reader.value()
            return [
                reader.value() if each == output_index else _passed(reader)
                for each in reader.items()
            ]

        return self._cell(index, one)

    def outlines(self) -> list[Outline]:
        """Type, source and id of every cell."""
        return [_outline(cell) for cell in self._cells(lambda reader, _: _fields(reader, None))]

    def _cell(self, index: int, outputs: Callable[[JsonReader], Any]) -> SavedCell:
        def visit(reader: JsonReader, each: int) -> Any:
            return _fields(reader, outputs) if each == index else _passed(reader)

        cells = self._cells(visit)
        if index >= len(cells):
            raise OutputProtocolError(
                Code.CELL_NOT_FOUND,
                f"There is no cell {shown(index)}; {self._path} has {len(cells)}",
            )
        cell = cells[index]
        if not isinstance(cell, dict):
            raise unreadable(self._path, f"cell {index} is no object")
        number = cell.get("execution_count")
        return SavedCell(
            _text_or_none(cell.get("id")),
            number if type(number) is int else None,
            cell.get("outputs", []),
        )

    def _cells(self, visit: Visit) -> list[Any]:
        """All cells, of each what the visit gives; of a small file each as it is."""
        self._file.seek(0)
        try:
            reader = JsonReader(self._file.read)
            if os.fstat(self._file.fileno()).st_size <= WHOLE_FILE:
                notebook = reader.value()
            else:
                notebook = _visited(reader, visit)
            reader.end()
        except (NotJsonError, OSError) as error:
            raise unreadable(self._path, error) from None
        except MemoryError:
            raise unreadable(self._path, "it does not fit into the memory") from None
        return _cells_of(notebook, self._path)


@contextlib.contextmanager
def open_notebook(path: str) -> Iterator[NotebookFile]:
    """A notebook file, open for reading. What is no regular file is not waited for.

    Raises:
        OutputProtocolError: FILE_NOT_FOUND, NOTEBOOK_READ_FAILED.
    """
    with open_file(path) as file:
        yield NotebookFile(file, path)


def open_file(path: str) -> BinaryIO:
    """A regular file, open for reading; a FIFO, a device or a directory counts as not found.

    Raises:
        OutputProtocolError: FILE_NOT_FOUND, NOTEBOOK_READ_FAILED.
    """
    missing = OutputProtocolError(Code.FILE_NOT_FOUND, f"There is no file {path}")
    try:
        # Opening a FIFO would wait for its writer.
        descriptor = os.open(
            path,
            os.O_RDONLY
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_CLOEXEC", 0)
            | getattr(os, "O_BINARY", 0),
        )
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        raise missing from None
    except OSError as error:
        raise unreadable(path, error.strerror) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise missing
    return os.fdopen(descriptor, "rb", buffering=0)


def _visited(reader: JsonReader, visit: Visit) -> Any:
    """The notebook, with what the visit gives in the place of each cell."""
    if reader.peek() != "{":
        return reader.value()
    notebook: dict[str, Any] = {}
    for key in reader.members():
        if key == "cells":
            notebook[key] = _visited_cells(reader, visit, 0)
        elif key == "worksheets" and reader.peek() == "[":
            sheets: list[Any] = []
            count = 0
            for _ in reader.items():
                sheet = _visited_sheet(reader, visit, count)
                sheets.append(sheet)
                if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
                    count += len(sheet["cells"])
            notebook[key] = sheets
        elif key == "nbformat":
            notebook[key] = reader.value()
        else:
            reader.skip()
    return notebook


def _visited_sheet(reader: JsonReader, visit: Visit, first: int) -> Any:
    if reader.peek() != "{":
        return reader.value()
    sheet: dict[str, Any] = {}
    for key in reader.members():
        if key == "cells":
            sheet[key] = _visited_cells(reader, visit, first)
        else:
            reader.skip()
    return sheet


def _visited_cells(reader: JsonReader, visit: Visit, first: int) -> Any:
    if reader.peek() != "[":
        return reader.value()
    return [visit(reader, first + index) for index in reader.items()]


def _fields(reader: JsonReader, outputs: Callable[[JsonReader], Any] | None) -> Any:
    """A cell without what is never asked for; its outputs as the function gives them."""
    if reader.peek() != "{":
        return reader.value()
    cell: dict[str, Any] = {}
    for key in reader.members():
        if key == "outputs" and outputs is not None:
            cell[key] = outputs(reader)
        elif key in ("outputs", "metadata", "attachments"):
            reader.skip()
        else:
            cell[key] = reader.value()
    return cell


def _directory(reader: JsonReader) -> Any:
    if reader.peek() != "[":
        return reader.value()
    return [_entry(reader) for _ in reader.items()]


def _entry(reader: JsonReader) -> Any:
    """An output without its payload: the keys of that are there, with None as their values."""
    if reader.peek() != "{":
        return reader.value()
    output: dict[str, Any] = {}
    for key in reader.members():
        if key in _SHOWN:
            output[key] = reader.value()
        elif key == "data":
            output[key] = _keys(reader) if reader.peek() == "{" else reader.value()
        else:
            output[key] = _passed(reader)
    return output


def _passed(reader: JsonReader) -> Any:
    """Nothing, in the place of a value that is not read."""
    reader.skip()
    return None


def _keys(reader: JsonReader) -> dict[str, Any]:
    return {key: _passed(reader) for key in reader.members()}


def _cells_of(notebook: Any, path: str) -> list[Any]:
    """The cells of a notebook of any nbformat, in the words of nbformat 4."""
    if not isinstance(notebook, dict):
        raise unreadable(path, "it is no JSON object")
    cells = notebook.get("cells")
    version = notebook.get("nbformat", 4 if "cells" in notebook else 3)
    if type(version) is not int or not 1 <= version <= 4:
        raise unreadable(path, f"nbformat {shown(version)} is not known")
    sheets = notebook.get("worksheets")
    if cells is None and isinstance(sheets, list):
        parts: list[Any] = [
            sheet.get("cells", []) if isinstance(sheet, dict) else None for sheet in sheets
        ]
        if not all(isinstance(part, list) for part in parts):
            raise unreadable(path, "a worksheet has no list of cells")
        cells = [cell for part in parts for cell in part]
    if not isinstance(cells, list):
        raise unreadable(path, "it has no list of cells")
    if version < 4:
        return [upgraded_cell(cell) if isinstance(cell, dict) else cell for cell in cells]
    return cells


def _outline(cell: Any) -> Outline:
    if not isinstance(cell, dict):
        return Outline("", None, None)
    kind, source = cell.get("cell_type"), cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return Outline(
        kind if isinstance(kind, str) else "", _text_or_none(source), _text_or_none(cell.get("id"))
    )


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
