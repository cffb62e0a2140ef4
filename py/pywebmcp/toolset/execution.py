"""What running cells and running code share: outcomes, failures, and the kernel's one lane."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from pywebmcp import text
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CellRun, Kernel
from pywebmcp.tools import Call
from pywebmcp.types import Payload

_GONE = {
    "restarted": (
        Code.KERNEL_RESTARTED,
        "The kernel was restarted while the code ran: its variables are gone; run what you need "
        "again.",
    ),
    "died": (
        Code.KERNEL_DIED,
        "The kernel died while the code ran: restart it with jupyter_kernel_action.",
    ),
}


@contextlib.asynccontextmanager
async def lane(call: Call, kernel: Kernel) -> AsyncIterator[None]:
    """Hold the kernel for this call: cells never queue in it, where an error would drop them.

    Raises ``ToolError`` KERNEL_RESTARTED when the kernel was restarted while the call waited:
    what it relied on is gone.
    """
    record = call.record
    if record is None:
        yield
        return
    state = kernel.state()
    generation = kernel.generation()
    record.stop_hint = (
        "To stop the code, interrupt the kernel with jupyter_kernel_action."
        if state["canInterrupt"]
        else "Only a restart of the kernel (jupyter_kernel_action) stops the code; it loses the "
        "variables."
    )
    async with call.calls.lane(state["id"], record):
        if kernel.generation() != generation:
            raise ToolError(
                Code.KERNEL_RESTARTED,
                "The kernel was restarted before the call's turn came: nothing was run, and the "
                "variables are gone.",
            )
        if call.signal.aborted:
            raise ToolError(Code.ABORTED, "The call was aborted before its turn came.")
        undo = call.signal.on_abort(lambda: _interrupt(call, kernel))
        try:
            yield
        finally:
            undo()


def _interrupt(call: Call, kernel: Kernel) -> None:
    """The caller gave up: stop what this call runs, where that is possible without a restart."""
    if kernel.state()["canInterrupt"]:
        call.calls.in_background(kernel.interrupt())


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
