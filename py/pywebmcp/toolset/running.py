"""Running cells on the kernel that the person uses too."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Annotated, Any

from pywebmcp import access, cells, text
from pywebmcp.edits import source_hash
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CellRun, Notebook, RunEvents
from pywebmcp.records import Record
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import EndIndex, NotebookPath, StartIndex, live_notebook, span
from pywebmcp.toolset.execution import Lane, failure, lane, line, lost, outputs_and_error
from pywebmcp.toolset.kernels import running_kernel
from pywebmcp.types import Arg, CellData, Payload


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
    targets, hidden = _targets(call, notebook, cell_ids, start_index, end_index)
    if not any(target.code for target in targets):
        return {**await _run(call, notebook, targets, stop_on_error, None), **hidden}
    access.require_notebook(notebook.state())
    async with lane(call, await notebook.ready_kernel()) as kernel:
        return {**await _run(call, notebook, targets, stop_on_error, kernel), **hidden}


@tool("Run code", "CU")
async def jupyter_run_code(
    call: Call,
    *,
    code: Annotated[str, Arg(min_length=1)],
    notebook_path: NotebookPath | None = None,
    kernel_id: Annotated[str, Arg("Instead of a notebook")] | None = None,
    stop_on_error: Annotated[bool, Arg("An error drops what is queued (default false)")] = False,
) -> Payload:
    """Run code on a kernel, outside any cell and without a trace in the notebook."""
    kernel = await running_kernel(call, notebook_path, kernel_id)
    record = call.record
    assert record is not None

    def outputs(read: Callable[[], list[dict[str, Any]]]) -> None:
        def progress() -> Payload:
            readable = text.clean_outputs(read())
            return {"outputs": readable} if readable else {}

        record.progress = progress

    async def start(events: RunEvents) -> CellRun:
        return await kernel.execute(code, stop_on_error=stop_on_error, events=events)

    async with lane(call, kernel) as held:
        run = await held.run(start, RunEvents(asked=record.ask, outputs=outputs))
    shown, error = outputs_and_error(run)
    kept: Payload = {"outputs": shown} if shown else {}
    gone = lost(run)
    if gone is not None:
        gone.details.update(kept)
        raise gone
    if error is not None:
        return failure(error, "The code failed.", **kept)
    return {"status": "ok", **kept}


class _Target:
    """A cell to run: its address, and what finds it again after every wait."""

    def __init__(self, notebook: Notebook, index: int, address: str, cell: CellData) -> None:
        access.require_run(cell, address)
        self.address = address
        self.code = cell["cell_type"] == "code"
        self._id = cell.get("id", "")
        self._hash = source_hash(cell["source"])
        self._index = index
        self._count = notebook.state()["cellCount"]
        self._unique = len(notebook.find(self._id)) == 1

    def find(self, notebook: Notebook) -> int | None:
        """Where the cell is now; None when it was deleted.

        Raises ``ToolError`` STALE_CELL when copies share its id and none of them alone has the
        source it had: then nobody can tell which one was meant.
        """
        found = notebook.find(self._id)
        if not found or (self._unique and len(found) == 1):
            return found[0] if found else None
        same = [
            index
            for index in found
            if source_hash(notebook.cells(index, index + 1)[0]["source"]) == self._hash
        ]
        unmoved = self._index in same and notebook.state()["cellCount"] == self._count
        if not unmoved and len(same) != 1:
            raise ToolError(
                Code.STALE_CELL,
                f'Which cell "{self.address}" is can no longer be told: several have its id. Read '
                "the cells again.",
            )
        return self._index if unmoved else same[0]


def _targets(
    call: Call, notebook: Notebook, names: list[str] | None, start: int | None, stop: int | None
) -> tuple[list[_Target], Payload]:
    """The cells to run, and for the answer how many of a range are hidden and so left out."""
    if names is not None:
        return [_named(notebook, cells.locate(notebook, name), name) for name in names], {}
    addresses = cells.addresses(tuple(notebook.ids()))
    if start is None and stop is None:
        return [_named(notebook, _active(call, notebook), _active_id(call))], {}
    indexes = span(start, stop, len(addresses))
    found = zip(indexes, notebook.cells(indexes.start, indexes.stop), strict=True)
    targets = [
        _Target(notebook, index, addresses[index], cell)
        for index, cell in found
        if not access.hidden(cell)
    ]
    hidden = len(indexes) - len(targets)
    return targets, {"hidden": hidden} if hidden else {}


def _named(notebook: Notebook, index: int, address: str) -> _Target:
    return _Target(notebook, index, address, notebook.cells(index, index + 1)[0])


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


class _Progress:
    """The cells done so far and what the running one has put out, for a pending answer."""

    def __init__(self, notebook: Notebook, record: Record) -> None:
        self._notebook = notebook
        self._record = record
        self.done: list[dict[str, Any]] = []
        self.running: _Target | None = None

    def __call__(self) -> Payload:
        if self.running is None:
            return {"cells": list(self.done)} if self.done else {}
        status = "queued" if self._record.queue() else "running"
        entry: dict[str, Any] = {"id": self.running.address, "status": status}
        # It may be hidden by now, or one of several with its id: then nothing of it is shown.
        with contextlib.suppress(ToolError):
            index = self.running.find(self._notebook)
            if index is not None:
                [cell] = self._notebook.cells(index, index + 1, outputs=True)
                outputs = text.clean_outputs(cell.get("outputs") or [])
                if outputs:
                    entry["outputs"] = outputs
        return {"cells": [*self.done, entry]}


async def _run(
    call: Call,
    notebook: Notebook,
    targets: list[_Target],
    stop_on_error: bool,
    kernel: Lane | None,
) -> Payload:
    assert call.record is not None
    progress = _Progress(notebook, call.record)
    call.record.progress = progress
    events = RunEvents(asked=call.record.ask)
    failed: dict[str, Any] | None = None
    for position, target in enumerate(targets):
        progress.running = target
        try:
            run = await _run_target(call, notebook, target, kernel, events)
        except ToolError as refused:
            refused.details.update(
                cells=progress.done, notRun=[later.address for later in targets[position:]]
            )
            raise
        rest = [later.address for later in targets[position + 1 :]]
        progress.running = None
        entry, error = _entry(target, run)
        progress.done.append(entry)
        gone = lost(run)
        if gone is not None:
            gone.details.update(cells=progress.done, notRun=rest)
            raise gone
        if error is not None:
            failed = failed or error
            if stop_on_error:
                return _failure(failed, progress.done, rest)
    return _failure(failed, progress.done, []) if failed else {"cells": progress.done}


async def _run_target(
    call: Call, notebook: Notebook, target: _Target, kernel: Lane | None, events: RunEvents
) -> CellRun:
    """Run a cell, found again at the moment when its turn comes."""

    async def start(events: RunEvents) -> CellRun:
        path = notebook.state()["path"]
        if call.frontend.notebook(path) is None:
            raise ToolError(
                Code.NOTEBOOK_NOT_FOUND,
                f'"{path}" was closed meanwhile: no further cell was run.',
            )
        index = target.find(notebook)
        if index is None:
            return CellRun("deleted")
        return await notebook.run_cell(index, events=events)

    if kernel is None or not target.code:
        if call.signal.aborted:
            raise ToolError(Code.ABORTED, "The call was aborted: no further cell was run.")
        return await start(events)
    kernel.require(notebook.kernel())
    return await kernel.run(start, events)


def _entry(target: _Target, run: CellRun) -> tuple[dict[str, Any], dict[str, Any] | None]:
    entry: dict[str, Any] = {"id": target.address, "status": run.status}
    if run.execution_count is not None:
        entry["executionCount"] = run.execution_count
    outputs, error = outputs_and_error(run)
    if error is not None:
        entry["error"] = line(error)
        error = {**error, "cell": target.address}
    if outputs:
        entry["outputs"] = outputs
    return entry, error


def _failure(error: dict[str, Any], done: list[dict[str, Any]], rest: list[str]) -> Payload:
    payload = failure(error, f'Cell "{error["cell"]}" failed.', cells=done)
    return {**payload, "notRun": rest} if rest else payload
