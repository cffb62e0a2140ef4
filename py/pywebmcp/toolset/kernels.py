"""Interrupting and restarting kernels."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Literal

from pywebmcp import constants
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Kernel, no_kernel
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import NotebookPath, live_notebook
from pywebmcp.types import Arg, Payload


@tool("Interrupt or restart a kernel", "C")
async def jupyter_kernel_action(
    call: Call,
    *,
    action: Literal["interrupt", "restart"],
    notebook_path: NotebookPath | None = None,
    kernel_id: Annotated[str, Arg("Instead of a notebook")] | None = None,
) -> Payload:
    """Interrupt running code, or restart the kernel without a dialog: its variables are lost. A
    Pyodide kernel cannot be interrupted: restart it."""
    kernel = await _kernel(call, notebook_path, kernel_id)
    if action == "interrupt":
        if not kernel.state()["canInterrupt"]:
            raise ToolError(
                Code.INTERRUPT_UNSUPPORTED,
                "This kernel runs in the page and cannot be interrupted: to stop the code use "
                "the action restart, which loses the variables.",
            )
        await kernel.interrupt()
        return {"message": "The kernel was interrupted."}
    await kernel.restart()
    # What ran there has failed with the restart: its callers get that now, not a moment later.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(constants.SETTLE_GRACE):
            await call.calls.lanes.left(kernel.state()["id"])
    return {"message": "The kernel was restarted and is ready; its variables are gone."}


async def running_kernel(call: Call, path: str | None, kernel_id: str | None) -> Kernel:
    """The kernel a call means, once it can run code."""
    if kernel_id is None:
        return await (await live_notebook(call, path)).ready_kernel()
    return await _kernel(call, path, kernel_id)


async def _kernel(call: Call, path: str | None, kernel_id: str | None) -> Kernel:
    if path is not None and kernel_id is not None:
        raise ToolError(Code.INVALID_ARGUMENT, 'Give "notebookPath" or "kernelId", not both.')
    if kernel_id is not None:
        kernel = call.frontend.kernel(kernel_id)
        if kernel is None:
            raise ToolError(
                Code.KERNEL_UNAVAILABLE,
                f'No kernel "{kernel_id}" is running: jupyter_get_context names the notebook\'s.',
            )
        return kernel
    notebook = await live_notebook(call, path)
    kernel = notebook.kernel()
    if kernel is None:
        raise no_kernel(notebook.state()["path"])
    return kernel
