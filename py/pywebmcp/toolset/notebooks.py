"""Opening, creating and saving notebooks."""

from __future__ import annotations

from typing import Annotated, Any

from pywebmcp import access, cells, paths
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Notebook
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import NotebookPath, folders_to_make, live_notebook, missing
from pywebmcp.types import Arg, Payload


@tool("Open notebook", "U")
async def jupyter_open_notebook(
    call: Call,
    *,
    path: Annotated[str, Arg("Path in the workspace, ending with .ipynb")],
    create: Annotated[bool, Arg("Make a new notebook; the path must not exist")] = False,
    kernel: Annotated[str, Arg("Kernel name; default: the notebook's own")] | None = None,
    cell_id: Annotated[str, Arg("Cell to show")] | None = None,
    activate: Annotated[bool, Arg("Bring it to the front (default true)")] = True,
) -> Payload:
    """Open a notebook in the page, or create one. One that is open keeps its unsaved state."""
    paths.notebook(path)
    if create and cell_id is not None:
        raise ToolError(
            Code.INVALID_ARGUMENT, 'A new notebook has no cell to show: give "cellId" or "create".'
        )
    if kernel is not None:
        _require_kernel(call, kernel)
    if create:
        notebook = await _create(call, path, kernel, activate)
    else:
        notebook = await _open(call, path, kernel, cell_id, activate)
    if cell_id is not None:
        await notebook.focus_cell(cells.locate(notebook, cell_id), None)
    state = notebook.state()
    answer: Payload = {"cellCount": state["cellCount"]}
    if state["dirty"]:
        answer["dirty"] = True
    used = notebook.kernel()
    if used is not None:
        answer["kernel"] = used.state()
    return answer


def _require_kernel(call: Call, kernel: str) -> None:
    names = call.frontend.kernel_names()
    if kernel not in names:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'There is no kernel "{kernel}". Kernels: {", ".join(names) or "none"}.',
        )


async def _open(
    call: Call, path: str, kernel: str | None, cell_id: str | None, activate: bool
) -> Notebook:
    if call.frontend.notebook(path) is None:
        entry = await call.frontend.entry(path)
        if entry is None:
            raise missing(path)
        if entry["type"] != "notebook":
            raise ToolError(Code.INVALID_PATH, f'"{path}" is a {entry["type"]}, not a notebook.')
        # JupyterLab shows an older format as one empty cell and destroys it when saving.
        content = await call.frontend.read_notebook(path)
        cells.check_format(content)
        _require_cell(content, cell_id)
    return await call.frontend.open_notebook(path, kernel=kernel, activate=activate)


def _require_cell(content: dict[str, Any], cell_id: str | None) -> None:
    """Refuse before a tab opens; where cells have no ids in the file, opening gives them some."""
    found = cells.from_file(content)
    if cell_id is not None and all("id" in cell or access.hidden(cell) for cell in found):
        cells.position_in_file(found, cell_id)


async def _create(call: Call, path: str, kernel: str | None, activate: bool) -> Notebook:
    if await call.frontend.entry(path) is not None:
        raise ToolError(
            Code.PATH_EXISTS,
            f'"{path}" exists: open it without create, or choose another name.',
        )
    missing_folders = await folders_to_make(call.frontend, path)
    name = kernel or next(iter(call.frontend.kernel_names()), None)
    await call.frontend.create_notebook(path, _empty(name, call.new_id()))
    try:
        return await call.frontend.open_notebook(path, kernel=name, activate=activate)
    except BaseException:
        for made in (path, *reversed(missing_folders)):
            await call.frontend.delete(made)
        raise


def _empty(kernel: str | None, cell_id: str) -> dict[str, Any]:
    """A new notebook with one empty code cell, as JupyterLab's own (nbformat 4.5)."""
    metadata: dict[str, Any] = {}
    if kernel:
        metadata["kernelspec"] = {"name": kernel, "display_name": kernel}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata,
        "cells": [
            {
                "id": cell_id,
                "cell_type": "code",
                "source": "",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
            }
        ],
    }


@tool("Save notebook")
async def jupyter_save_notebook(
    call: Call, *, notebook_path: NotebookPath | None = None
) -> Payload:
    """Save a notebook to its file."""
    notebook = await live_notebook(call, notebook_path)
    await notebook.save()
    state = notebook.state()
    return {"path": state["path"], "dirty": state["dirty"]}
