"""Running cells on the kernel that the person uses too."""

from __future__ import annotations

from typing import Annotated, Any

from pywebmcp import cells, text
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CellRun, Notebook
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import EndIndex, NotebookPath, StartIndex, live_notebook, span
from pywebmcp.types import Arg, Payload

_GONE = {
    "restarted": (
        Code.KERNEL_RESTARTED,
        "The kernel was restarted while the cell ran: its variables are gone; run what you need "
        "again.",
    ),
    "died": (
        Code.KERNEL_DIED,
        "The kernel died while the cell ran: restart it with jupyter_kernel_action.",
    ),
}


@tool("Run cells", "CU")
async def jupyter_run_cells(
    call: Call,
    *,
    cell_ids: Annotated[list[str], Arg("In this order; default: the active cell", min_items=1)]
    | None = None,
    start_index: StartIndex | None = None,
    end_index: EndIndex | None = None,
    stop_on_error: Annotated[bool, Arg("Default true")] = True,
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """Run existing cells, one after the other, on the notebook's kernel. Answers each cell's
    status, execution count, outputs."""
    if cell_ids is not None and (start_index is not None or end_index is not None):
        raise ToolError(
            Code.INVALID_ARGUMENT, 'Give "cellIds" or "startIndex"/"endIndex", not both.'
        )
    notebook = await live_notebook(call, notebook_path)
    targets = _targets(call, notebook, cell_ids, start_index, end_index)
    if any(target.code for target in targets):
        await notebook.ready_kernel()
    return await _run(call, notebook, targets, stop_on_error)


class _Target:
    """A cell to run: its address, and its id to find it again after every wait."""

    def __init__(self, notebook: Notebook, index: int, address: str) -> None:
        cell = notebook.cells(index, index + 1)[0]
        self.address = address
        self.code = cell["cell_type"] == "code"
        self._id = cell.get("id", "")
        self._index = index
        self._unique = not cells.is_position(address)

    def find(self, notebook: Notebook) -> int | None:
        """Where the cell is now; None when it was deleted."""
        found = notebook.find(self._id)
        if self._unique:
            return found[0] if found else None
        return self._index if self._index in found else None


def _targets(
    call: Call, notebook: Notebook, names: list[str] | None, start: int | None, stop: int | None
) -> list[_Target]:
    if names is not None:
        return [_Target(notebook, cells.locate(notebook, name), name) for name in names]
    addresses = cells.addresses(notebook.ids())
    if start is None and stop is None:
        return [_Target(notebook, _active(call, notebook), _active_id(call))]
    return [
        _Target(notebook, index, addresses[index]) for index in span(start, stop, len(addresses))
    ]


def _active_id(call: Call) -> str:
    focus = call.frontend.workspace()["focus"] or {}
    cell_id = focus.get("activeCellId")
    if not cell_id:
        raise ToolError(
            Code.CELL_NOT_FOUND, 'No cell is active: name the cells to run in "cellIds".'
        )
    return cell_id


def _active(call: Call, notebook: Notebook) -> int:
    shown = call.frontend.notebook()
    if shown is None or shown.state()["path"] != notebook.state()["path"]:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            "The notebook is not the current one and has no active cell to run by default: "
            'name the cells in "cellIds".',
        )
    return cells.locate(notebook, _active_id(call))


async def _run(
    call: Call, notebook: Notebook, targets: list[_Target], stop_on_error: bool
) -> Payload:
    done: list[dict[str, Any]] = []
    failed: dict[str, Any] | None = None
    for position, target in enumerate(targets):
        rest = [later.address for later in targets[position:]]
        if call.signal.aborted:
            raise ToolError(
                Code.ABORTED,
                "The call was aborted: no further cell was run.",
                cells=done,
                notRun=rest,
            )
        index = target.find(notebook)
        if index is None:
            done.append({"id": target.address, "status": "deleted"})
            continue
        run = await notebook.run_cell(index)
        entry, error = _entry(target, run)
        done.append(entry)
        if run.status in _GONE:
            code, message = _GONE[run.status]
            raise ToolError(code, message, status="error", cells=done, notRun=rest[1:])
        if error is not None and failed is None:
            failed = error
        if error is not None and stop_on_error:
            return _failure(failed, done, rest[1:])
    if failed is not None:
        return _failure(failed, done, [])
    return {"cells": done}


def _entry(target: _Target, run: CellRun) -> tuple[dict[str, Any], dict[str, Any] | None]:
    entry: dict[str, Any] = {"id": target.address, "status": run.status}
    if run.execution_count is not None:
        entry["executionCount"] = run.execution_count
    outputs = text.clean_outputs(run.outputs)
    error = None
    if run.status == "error":
        error = run.error or {}
        errors = [output for output in outputs if output.get("output_type") == "error"]
        if errors:
            error = errors[-1]
            # The traceback stands once, at the top of the answer.
            outputs = [output for output in outputs if output is not error]
        entry["error"] = _line(error)
        error = {**error, "cell": target.address}
    if outputs:
        entry["outputs"] = outputs
    return entry, error


def _line(error: dict[str, Any]) -> str:
    name, value = str(error.get("ename", "Error")), str(error.get("evalue", ""))
    return f"{name}: {value}" if value else name


def _failure(error: dict[str, Any] | None, done: list[dict[str, Any]], rest: list[str]) -> Payload:
    """A failed execution (see docs/results.md): the first error, and all outputs kept."""
    error = error or {}
    payload: Payload = {
        "success": False,
        "isError": True,
        "status": "error",
        "code": str(Code.EXECUTION_ERROR),
        "message": f'Cell "{error.get("cell")}" failed.',
        "error": _line(error),
        "errorName": str(error.get("ename", "Error")),
        "errorValue": str(error.get("evalue", "")),
        "traceback": error.get("traceback") or [],
        "cells": done,
    }
    if rest:
        payload["notRun"] = rest
    return payload
