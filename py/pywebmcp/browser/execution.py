"""Running one cell as the notebook itself does, and telling how that ended."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp.browser import editing, ffi, kernel
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.messages import KernelMessages
from pywebmcp.browser.panel import Panel
from pywebmcp.browser.requests import Lost, Reply, error_of, until_ended
from pywebmcp.frontend import CellRun, RunEvents, RunStatus

_CELL = Spec({"outputs": "getOutputs()", "count": "execution_count"})

SETTLING = 1.0
"""Seconds that JupyterLab gets to finish its own bookkeeping of a run that has ended."""


async def run_cell(executor: Js, panel: Panel, index: int, events: RunEvents) -> CellRun:
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
    return await _Run(panel, cell, connection, future, finished).ended(events)


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
    error = error_of(outputs, {}) if failed else None
    status: RunStatus = "error" if failed else "ok" if finished.result() else "lost"
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

    async def ended(self, events: RunEvents) -> CellRun:
        """Wait for the reply, or for what makes one impossible."""
        end = await until_ended(self._kernel, self._messages, self._future, events)
        if isinstance(end, Reply):
            return await self._replied(end.content)
        if end is Lost.DROPPED:
            await asyncio.wait([self._finished], timeout=SETTLING)
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
            return CellRun("error", count, outputs, error_of(outputs, reply["error"]))
        return CellRun("cancelled", count, outputs)

    def _why_gone(self) -> RunStatus:
        self._panel.require_open()
        if self._messages.restarts > self._restarts:
            return "restarted"
        if self._kernel.isDisposed or self._kernel.status in ("dead", "terminating"):
            return "died"
        # Its output area is gone, and with it the way back for what the kernel still answers.
        found = _find(self._panel, self._cell, self._id)
        return "deleted" if found is None else "lost"

    def _without_reply(self, status: RunStatus) -> CellRun:
        outputs, _ = _outputs(self._panel, self._cell, self._id)
        return CellRun(status, None, outputs)


def _find(panel: Panel, cell: Js, cell_id: str) -> Js | None:
    """The shared cell as it is now: JupyterLab makes cells anew when they are moved or reverted."""
    found = [panel.shared_cell(index) for index, each in enumerate(panel.ids()) if each == cell_id]
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
