"""What running cells and running code share: outcomes, failures, and the kernel's one lane."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from pywebmcp import text
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CellRun, Kernel, Prompt, RunEvents
from pywebmcp.tasks import register_interrupt
from pywebmcp.tools import Call
from pywebmcp.types import Payload

log = logging.getLogger("pywebmcp")

_RESTARTED = (
    "The kernel cannot interrupt its code and was restarted instead: its variables are gone."
)

_GONE = {
    "restarted": (
        Code.KERNEL_RESTARTED,
        "The kernel was restarted while the code ran: its variables are gone; run what you need "
        "again.",
    ),
    "died": (
        Code.KERNEL_DIED,
        "The kernel died while the code ran, and its variables with it: start one with "
        'jupyter_open_notebook and its "kernel".',
    ),
}


class Lane:
    """One call's hold on a kernel, and its runs there.

    Our runs never queue in the kernel: an error in a cell drops everything that waits behind it.
    So calls wait here for one another, and each run waits until the kernel is free.
    """

    def __init__(self, call: Call, kernel: Kernel) -> None:
        self._call = call
        self._kernel = kernel
        self._id = kernel.state()["id"]
        self._generation = kernel.generation()
        self._mine = False
        self._stopped = False
        """Whether the task that this is the work of was cancelled."""
        self._over = asyncio.Event()

    async def run(
        self, start: Callable[[RunEvents], Awaitable[CellRun]], events: RunEvents
    ) -> CellRun:
        """Run something on the kernel when nothing else does; again when it was dropped unrun."""

        record = self._call.record
        assert record is not None

        def started() -> None:
            self._mine = True
            record.others = lambda: False
            events.started()
            if self._stopped:
                self._call.calls.in_background(self._end())
            elif self._call.signal.aborted:
                self.interrupt()

        def others() -> Prompt | bool:
            state = self._kernel.state()
            return state.get("input") or state["status"] == "busy"

        while True:
            record.others = others
            await self._kernel.idle()
            self._check()
            self._over.clear()
            try:
                run = await start(replace(events, started=started))
            finally:
                self._mine = False
                self._over.set()
                record.others = lambda: False
            if run.status != "cancelled":
                return run

    def require(self, kernel: Kernel | None) -> None:
        """Raise ``ToolError`` KERNEL_RESTARTED when the notebook has another kernel by now."""
        if kernel is None or kernel.state()["id"] != self._id:
            raise ToolError(
                Code.KERNEL_RESTARTED,
                "The notebook was given another kernel meanwhile, which has none of the variables: "
                "no further cell was run.",
                status="error",
            )

    def _check(self) -> None:
        if self._kernel.generation() != self._generation:
            raise ToolError(
                Code.KERNEL_RESTARTED,
                "The kernel was restarted before the code's turn came: it was not run, and the "
                "variables are gone.",
                status="error",
            )
        if self._stopped or self._call.signal.aborted:
            raise ToolError(Code.ABORTED, "The call was aborted: no further code was run.")

    def interrupt(self) -> None:
        """The caller gave up: stop what this call runs, where that needs no restart."""
        if self._mine and self._kernel.state()["canInterrupt"]:
            self._call.calls.in_background(self._interrupt())

    async def _interrupt(self) -> None:
        # The person may have forbidden that meanwhile.
        with contextlib.suppress(ToolError):
            await self._kernel.interrupt()

    async def stop(self) -> str | None:
        """The task was cancelled: end what this call runs, and let it begin nothing more.

        Where the kernel cannot interrupt, it is restarted, if what runs there is this call's own
        and nobody else's. Returns when the code has stopped; answers what to tell of it.
        """
        self._stopped = True
        if not self._mine:
            return None
        restarts = not self._kernel.state()["canInterrupt"]
        # The restart goes on after the code has stopped, and that is not waited for.
        self._call.calls.in_background(self._end())
        await self._over.wait()
        return _RESTARTED if restarts else None

    async def _end(self) -> None:
        if self._kernel.state()["canInterrupt"]:
            await self._interrupt()
            return
        try:
            await self._kernel.restart()
        except ToolError:
            log.exception("the kernel was stopped and did not come back")


@contextlib.asynccontextmanager
async def lane(call: Call, kernel: Kernel) -> AsyncIterator[Lane]:
    """Hold the kernel for this call.

    Raises ``ToolError`` KERNEL_RESTARTED or ABORTED when that happens while the call waits.
    """
    assert call.record is not None, "only registered calls run code"
    record = call.record
    mine = Lane(call, kernel)
    state = kernel.state()
    record.stop_hint = (
        "To stop the code, interrupt the kernel with jupyter_kernel_action."
        if state["canInterrupt"]
        else "Only a restart of the kernel (jupyter_kernel_action) stops the code; it loses the "
        "variables."
    )
    async with call.calls.lanes.hold(state["id"], record):
        undo = call.signal.on_abort(mine.interrupt)
        await register_interrupt(mine.stop)
        try:
            yield mine
        finally:
            undo()


def lost(run: CellRun) -> ToolError | None:
    """The failure for a run that ended with its kernel, to be given details; else None."""
    if run.status not in _GONE:
        return None
    code, message = _GONE[run.status]
    return ToolError(code, message, status="error")


def outputs_and_error(run: CellRun) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The readable outputs of a run, and its error taken out of them.

    The traceback stands once in an answer, at its top.
    """
    outputs = text.clean_outputs(run.outputs)
    if run.status != "error":
        return outputs, None
    errors = [output for output in outputs if output.get("output_type") == "error"]
    if not errors:
        return outputs, text.clean_outputs([{"output_type": "error", **(run.error or {})}])[0]
    return [output for output in outputs if output is not errors[-1]], errors[-1]


def line(error: dict[str, Any]) -> str:
    """An error in one line, as Python prints it last."""
    name, value = str(error.get("ename") or "Error"), str(error.get("evalue") or "")
    return f"{name}: {value}" if value else name


def failure(error: dict[str, Any], message: str, **outputs: Any) -> Payload:
    """A failed execution (see docs/results.md), its outputs kept."""
    return {
        "success": False,
        "isError": True,
        "status": "error",
        "code": str(Code.EXECUTION_ERROR),
        "message": message,
        "error": line(error),
        "errorName": str(error.get("ename") or "Error"),
        "errorValue": str(error.get("evalue") or ""),
        "traceback": error.get("traceback") or [],
        **outputs,
    }
