"""Running one cell as the notebook itself does, and telling how that ended."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp.browser import editing, ffi, kernel
from pywebmcp.browser.ffi import Connections, Js, Spec
from pywebmcp.browser.messages import KernelMessages
from pywebmcp.browser.panel import Panel
from pywebmcp.frontend import CellRun, RunStatus

_REPLY = Spec(
    {
        "status": "content.status",
        "count": "content.execution_count",
        "error": {
            "ename": "content.ename",
            "evalue": "content.evalue",
            "traceback": "content.traceback",
        },
    }
)
_CELL = Spec({"outputs": "getOutputs()", "count": "execution_count"})
_IDS = Spec({"$of": "cells", "$each": "getId()"})

SETTLING = 1.0
"""Seconds that JupyterLab gets to finish its own bookkeeping of a run that has ended."""


async def run_cell(executor: Js, panel: Panel, index: int) -> CellRun:
    """Run a cell through ``INotebookCellExecutor``, alone, and wait for its end.

    The executor neither scrolls nor moves focus, active cell or mode. Who gives up waiting does
    not stop the run. Raises ``ToolError`` KERNEL_UNAVAILABLE, or NOTEBOOK_NOT_FOUND when the
    notebook is closed meanwhile.
    """
    widget = panel.cell_widget(index)
    if widget.model.type != "code":
        # Rendering markdown would close the editor that somebody types in.
        if not panel.has_focus(widget):
            await ffi.watch_quietly(_start(executor, panel, widget))
        return CellRun("ok")
    connection = _connection(panel)
    editing.normalise(panel, index)
    before = ffi.given(widget.outputArea.future)
    cell = panel.shared_cell(index)
    finished = ffi.watch_quietly(_start(executor, panel, widget))
    future = ffi.given(widget.outputArea.future)
    if future is None or (before is not None and future == before):
        # Nothing was sent: an empty cell, or an executor that runs cells in another way.
        return await _without_messages(panel, cell, finished)
    return await _Run(panel, cell, connection, future, finished).ended()


def _connection(panel: Panel) -> Js:
    connection = panel.connection()
    if connection is None:
        raise kernel.unavailable("The notebook has no kernel: name one in jupyter_open_notebook.")
    prompt = panel.messages(connection).prompt
    if prompt is not None or connection.hasPendingInput:
        shown = f' "{prompt["prompt"]}"' if prompt and prompt["prompt"] else ""
        raise kernel.unavailable(
            f"The kernel waits for the person to answer its input prompt{shown}: ask them to, or "
            "restart the kernel with jupyter_kernel_action."
        )
    return connection


def _start(executor: Js, panel: Panel, widget: Js) -> Js:
    nothing = ffi.bridge().nothing
    return executor.runCell(
        ffi.struct(
            cell=widget,
            notebook=panel.notebook.model,
            notebookConfig=panel.notebook.notebookConfig,
            sessionContext=panel.session,
            sessionDialogs=ffi.null,
            onCellExecutionScheduled=nothing,
            onCellExecuted=nothing,
        )
    )


async def _without_messages(panel: Panel, cell: Js, finished: asyncio.Future[Any]) -> CellRun:
    await asyncio.wait([finished])
    outputs, count = _outputs(panel, cell)
    failed = finished.exception() is not None
    error = _error(outputs, {}) if failed else None
    status: RunStatus = "error" if failed else "ok" if finished.result() else "cancelled"
    return CellRun(status, count, outputs, error)


class _Run:
    """One run in the kernel's queue, from its request to its end."""

    def __init__(
        self, panel: Panel, cell: Js, connection: Js, future: Js, finished: asyncio.Future[Any]
    ) -> None:
        self._panel = panel
        self._cell = cell
        self._id: str = cell.getId()
        self._kernel = connection
        self._future = future
        self._finished = finished
        self._messages: KernelMessages = panel.messages(connection)
        self._restarts = self._messages.restarts

    async def ended(self) -> CellRun:
        """Wait for the reply, or for what makes one impossible."""
        loop = asyncio.get_running_loop()
        dropped, gone = loop.create_future(), loop.create_future()
        run_id: str = self._future.msg.header.msg_id
        done = ffi.watch_quietly(self._future.done)

        def check() -> None:
            # The futures of a connection that is gone never settle.
            if not gone.done() and (self._kernel.isDisposed or self._kernel.status == "dead"):
                gone.set_result(None)

        def drop() -> None:
            if not dropped.done():
                dropped.set_result(None)

        self._messages.queue(run_id, drop)
        connections = Connections()
        connections.connect(self._kernel.disposed, check)
        connections.connect(self._kernel.statusChanged, check)
        try:
            await asyncio.wait([done, dropped, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            connections.close()
            self._messages.forget(run_id)
        if done.done() and done.exception() is None:
            return await self._replied(_REPLY.read(done.result()))
        if dropped.done():
            self._future.dispose()
            return self._without_reply("cancelled")
        return self._without_reply(self._why_gone())

    async def _replied(self, reply: dict[str, Any]) -> CellRun:
        await asyncio.wait([self._finished], timeout=SETTLING)
        if self._panel.disposed or _find(self._panel, self._cell, self._id) is None:
            return CellRun("deleted", reply["count"])
        outputs, count = _outputs(self._panel, self._cell, self._id)
        count = reply["count"] if reply["count"] is not None else count
        if reply["status"] == "ok":
            return CellRun("ok", count, outputs)
        if reply["status"] == "error":
            return CellRun("error", count, outputs, _error(outputs, reply["error"]))
        return CellRun("cancelled", count, outputs)

    def _why_gone(self) -> RunStatus:
        self._panel.require_open()
        if self._messages.restarts > self._restarts:
            return "restarted"
        if self._kernel.isDisposed or self._kernel.status in ("dead", "terminating"):
            return "died"
        # Its output area is gone, and with it the way back for what the kernel still answers.
        found = _find(self._panel, self._cell, self._id)
        return "deleted" if found is None else "cancelled"

    def _without_reply(self, status: RunStatus) -> CellRun:
        outputs, _ = _outputs(self._panel, self._cell, self._id)
        return CellRun(status, None, outputs)


def _find(panel: Panel, cell: Js, cell_id: str) -> Js | None:
    """The shared cell as it is now: JupyterLab makes cells anew when they are moved or reverted."""
    ids: list[str] = _IDS.read(panel.shared)
    found = [panel.shared_cell(index) for index, each in enumerate(ids) if each == cell_id]
    return next((each for each in found if each == cell), found[0] if found else None)


def _outputs(
    panel: Panel, cell: Js, cell_id: str | None = None
) -> tuple[list[dict[str, Any]], int | None]:
    """Outputs and execution count of a cell as far as they are there."""
    found = _find(panel, cell, cell_id or cell.getId())
    if found is None:
        return [], None
    now = _CELL.read(found)
    return now["outputs"] or [], now["count"]


def _error(outputs: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    """The error of a run; Pyodide's reply has "<class '…'>" where its output has the name."""
    for output in reversed(outputs):
        if output.get("output_type") == "error":
            return {key: output.get(key) for key in ("ename", "evalue", "traceback")}
    return {key: value for key, value in reply.items() if value is not None}
