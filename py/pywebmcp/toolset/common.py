"""What several handlers share: the optional notebook argument and how it is resolved."""

from __future__ import annotations

from typing import Annotated, Any

from pywebmcp import paths
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend, Notebook
from pywebmcp.tools import Call
from pywebmcp.types import Arg, Selection

NotebookPath = Annotated[str, Arg("Notebook; default: the current one")]
CellId = Annotated[str, Arg("Cell id, or @index as shown where ids are not unique")]
StartIndex = Annotated[int, Arg("First index (0-based)", ge=0)]
EndIndex = Annotated[int, Arg("Index after the last", ge=0)]


async def live_notebook(call: Call, path: str | None) -> Notebook:
    """The open notebook that a call means.

    Raises ``ToolError`` NO_ACTIVE_NOTEBOOK, NOTEBOOK_NOT_FOUND or INVALID_PATH, each saying
    whether the file exists and can be opened.
    """
    if path is None:
        return current(call)
    paths.checked(path, "notebookPath")
    notebook = call.frontend.notebook(path)
    if notebook is not None:
        return notebook
    entry = await call.frontend.entry(path)
    if entry is None:
        raise missing(path)
    if entry["type"] != "notebook":
        raise ToolError(Code.NOTEBOOK_NOT_FOUND, f'"{path}" is a {entry["type"]}, not a notebook.')
    raise ToolError(
        Code.NOTEBOOK_NOT_FOUND,
        f'"{path}" is not open: open it with jupyter_open_notebook first.',
    )


async def notebook_or_file(call: Call, path: str | None) -> Notebook | dict[str, Any]:
    """The open notebook that a call means, or the JSON (nbformat) of a file that is not open.

    Raises ``ToolError`` NO_ACTIVE_NOTEBOOK, FILE_NOT_FOUND, NOTEBOOK_NOT_FOUND, INVALID_PATH or
    NOTEBOOK_READ_FAILED.
    """
    if path is None:
        return current(call)
    paths.checked(path, "notebookPath")
    notebook = call.frontend.notebook(path)
    if notebook is not None:
        return notebook
    entry = await call.frontend.entry(path)
    if entry is None:
        raise missing(path)
    if entry["type"] != "notebook":
        raise ToolError(Code.NOTEBOOK_NOT_FOUND, f'"{path}" is a {entry["type"]}, not a notebook.')
    return await call.frontend.read_notebook(path)


def current(call: Call) -> Notebook:
    """The current notebook, or ``ToolError`` NO_ACTIVE_NOTEBOOK."""
    notebook = call.frontend.notebook()
    if notebook is None:
        raise ToolError(
            Code.NO_ACTIVE_NOTEBOOK,
            "No notebook is open: open one with jupyter_open_notebook, or give notebookPath.",
        )
    return notebook


def missing(path: str) -> ToolError:
    """The failure for a path where nothing is."""
    return ToolError(
        Code.FILE_NOT_FOUND, f'There is no file "{path}": check the path (jupyter_get_context).'
    )


async def folders_to_make(frontend: Frontend, path: str) -> list[str]:
    """The folders above a path that do not exist yet, outermost first.

    Raises ``ToolError`` INVALID_PATH when one of them is a file.
    """
    made: list[str] = []
    for folder in paths.parents(path):
        entry = await frontend.entry(folder)
        if entry is None:
            made.append(folder)
        elif entry["type"] != "directory":
            raise ToolError(Code.INVALID_PATH, f'"{folder}" is a file, not a folder.')
    return made


def span(start: int | None, stop: int | None, count: int) -> range:
    """The indexes of a start/end argument pair, checked against the number of cells."""
    first = 0 if start is None else start
    last = count if stop is None else min(stop, count)
    if first > count or (first == count and count):
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'"startIndex" {first} is out of range: the notebook has {count} cells.',
        )
    if stop is not None and stop < first:
        raise ToolError(Code.INVALID_ARGUMENT, f'"endIndex" {stop} is before "startIndex" {first}.')
    return range(first, last)


def require_selection(source: str, selection: Selection) -> None:
    """Raise ``ToolError`` INVALID_ARGUMENT for a selection that is not inside a source."""
    lines = source.split("\n")
    start, end = selection["start"], selection["end"]
    for place in (start, end):
        if place["line"] >= len(lines):
            raise ToolError(
                Code.INVALID_ARGUMENT,
                f"Line {place['line']} is out of range: the cell has {len(lines)} "
                f"line{'s' if len(lines) > 1 else ''}, the last one is {len(lines) - 1}.",
            )
        width = len(lines[place["line"]])
        if place["column"] > width:
            raise ToolError(
                Code.INVALID_ARGUMENT,
                f"Column {place['column']} is out of range: line {place['line']} has "
                f"{width} characters.",
            )
    if (end["line"], end["column"]) < (start["line"], start["column"]):
        raise ToolError(Code.INVALID_ARGUMENT, "The selection ends before it starts.")
