"""Kernels as the tools see them: state, interrupt, restart, and waiting until one can run code."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pywebmcp.frontend
from pywebmcp.browser import ffi, outputs
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.messages import KernelMessages
from pywebmcp.browser.requests import Lost, Reply, error_of, until_ended
from pywebmcp.constants import KERNEL_TIMEOUT
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import QUIET, CellRun, KernelState, RunEvents

STATE = {
    "id": "id",
    "name": "name",
    "status": "status",
    "connection": "connectionStatus",
    "disposed": "isDisposed",
}
"""The parts of a `Spec` on a kernel connection that `state_of` is made of."""

_STATE = Spec(STATE)
_SESSION = Spec(
    {
        "status": "kernelDisplayStatus",
        "ready": "isReady",
        "kernel": "session.kernel.id",
        "disposed": "session.kernel.isDisposed",
    }
)
_STARTING = ("initializing", "unknown", "starting", "connecting", "restarting", "autorestarting")

POLL = 1.0
"""Seconds after which a kernel that starts is looked at without a signal."""

_messages: dict[str, KernelMessages] = {}
"""By the id of the connection (``clientId``)."""


def messages_of(connection: Js) -> KernelMessages:
    """What this connection's messages told so far; listens from the first time on."""
    client: str = connection.clientId
    found = _messages.get(client)
    if found is None:
        found = _messages[client] = KernelMessages(connection)
        for old in [key for key, value in _messages.items() if value.ended]:
            del _messages[old]
    return found


def state_of(connection: Js, now: dict[str, Any]) -> KernelState:
    """A kernel's state from what `STATE` read of its connection, and from its messages."""
    messages = messages_of(connection)
    status = now["status"] if now["connection"] == "connected" else now["connection"]
    state = KernelState(
        id=now["id"],
        name=now["name"],
        status="dead" if now["disposed"] or now["status"] == "dead" else status,
        canInterrupt=messages.can_interrupt,
    )
    if messages.prompt is not None:
        state["input"] = messages.prompt
    return state


class BrowserKernel(pywebmcp.frontend.Kernel):
    """A kernel connection, and the session context that owns it where a document has one."""

    def __init__(
        self, connection: Js, session: Js | None = None, rendermime: Js | None = None
    ) -> None:
        self._kernel = connection
        self._session = session
        self._rendermime = rendermime

    def state(self) -> KernelState:
        """Id, name, status, whether it can be interrupted, the prompt it waits for."""
        return state_of(self._kernel, _STATE.read(self._kernel))

    def generation(self) -> int:
        """Grows with every restart."""
        return messages_of(self._kernel).restarts

    async def idle(self) -> None:
        """Return when nothing runs in the kernel and nothing waits in its queue."""
        await messages_of(self._kernel).idle()

    async def execute(
        self, code: str, *, stop_on_error: bool = True, events: RunEvents = QUIET
    ) -> CellRun:
        """Run code outside any cell, not in the history.

        Outputs are merged as the notebook merges them (``clear_output``, carriage returns, updates
        of a display), in an output area that is not on the page; input is asked for in a dialog.
        """
        if self._kernel.isDisposed or self._kernel.status == "dead":
            raise unavailable("The kernel is gone: start one with jupyter_open_notebook.")
        messages = messages_of(self._kernel)
        before = messages.restarts
        request = ffi.parsed(
            {"code": code, "store_history": False, "stop_on_error": stop_on_error, "silent": False}
        )
        future = self._kernel.requestExecute(request, True)
        area = outputs.Area(future, self._rendermime)
        events.outputs(area.read)
        try:
            end = await until_ended(self._kernel, messages, future, events)
            shown = area.read()
        finally:
            area.close()
        if isinstance(end, Reply):
            if end.content["status"] == "error":
                return CellRun("error", None, shown, error_of(shown, end.content["error"]))
            return CellRun("ok" if end.content["status"] == "ok" else "cancelled", None, shown)
        if end is Lost.DROPPED:
            return CellRun("cancelled", None, shown)
        return CellRun("restarted" if messages.restarts > before else "died", None, shown)

    async def interrupt(self) -> None:
        """Interrupt what runs. Raises ``ToolError`` KERNEL_UNAVAILABLE when that fails."""
        try:
            await self._kernel.interrupt()
        except ffi.JsException as error:
            raise unavailable(
                f"The kernel could not be interrupted ({ffi.reason(error)}): restart it."
            ) from None

    async def restart(self) -> None:
        """Restart without a dialog; returns when the kernel answers again.

        Raises ``ToolError`` KERNEL_UNAVAILABLE when it does not come back.
        """
        before = messages_of(self._kernel).restarts
        owner, method = (
            (self._session, "restartKernel") if self._session else (self._kernel, "restart")
        )
        try:
            async with asyncio.timeout(KERNEL_TIMEOUT):
                await getattr(owner, method)()
                # A session context keeps errors to itself, and "done" is before "usable".
                if messages_of(self._kernel).restarts == before or self._kernel.isDisposed:
                    raise unavailable(
                        "The kernel is gone and cannot be restarted: start one with "
                        "jupyter_open_notebook and its kernel."
                    )
                await self._kernel.requestKernelInfo()
        except TimeoutError:
            raise unavailable(
                f"The kernel was restarted but did not answer within {KERNEL_TIMEOUT:.0f} s: "
                "reload the page if that stays so."
            ) from None
        except ffi.JsException as error:
            raise unavailable(f"The kernel could not be restarted: {ffi.reason(error)}.") from None


def unavailable(message: str) -> ToolError:
    """The failure of a kernel that cannot be used."""
    return ToolError(Code.KERNEL_UNAVAILABLE, message)


def connected(session: Js) -> Js | None:
    """The live kernel connection of a session context, or None."""
    now = _SESSION.read(session)
    if now["kernel"] is None or now["disposed"]:
        return None
    return session.session.kernel


async def ready(session: Js, starting: asyncio.Future[Any] | None = None) -> Js:
    """The kernel connection of a session context once it can run code.

    ``starting`` is the start that we asked for; the session does not show it at once.

    Raises ``ToolError`` KERNEL_UNAVAILABLE when there is none and none is starting, when a dialog
    asks the person for one, and when it is not ready in time.
    """
    pending = starting is not None and not starting.done()
    connection = None if pending else _usable(session)
    # A kernel that runs somebody's code takes ours after it: that is for whoever runs code to wait.
    if connection is not None and (
        connection.status == "idle" or messages_of(connection).executing
    ):
        return connection
    signals = (
        session.statusChanged,
        session.connectionStatusChanged,
        session.kernelChanged,
        session.sessionChanged,
    )
    with ffi.emissions(*signals) as changed:
        try:
            async with asyncio.timeout(KERNEL_TIMEOUT):
                if starting is not None:
                    await asyncio.wait([starting])
                # What JupyterLab itself waits for: whether it has to ask the person for a kernel.
                asking, greeted = await session.initialize(), False
                while True:
                    connection = _usable(session, asking=bool(asking))
                    if connection is not None and (connection.status == "idle" or greeted):
                        return connection
                    # A kernel that has just started is busy with JupyterLab's own requests; one
                    # that stays so runs somebody's code, and takes ours after it.
                    greeted = connection is not None
                    # Not every change has a signal: a failed start has none.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), POLL)
                    changed.clear()
        except TimeoutError:
            raise unavailable(
                f"The kernel was not ready within {KERNEL_TIMEOUT:.0f} s: restart it with "
                "jupyter_kernel_action, or reload the page."
            ) from None


def _usable(session: Js, *, asking: bool = False) -> Js | None:
    """The connection if it can run code now, None if that is worth waiting for; else raises.

    ``asking``: JupyterLab found no kernel to start. It calls the session "initializing" then, also
    when the person has chosen none.
    """
    now: dict[str, Any] = _SESSION.read(session)
    status = now["status"]
    has_kernel = now["kernel"] is not None and not now["disposed"]
    if has_kernel and status in ("idle", "busy"):
        return session.session.kernel
    starting = status in _STARTING and (has_kernel or status != "unknown")
    if starting and (has_kernel or status != "initializing" or not asking):
        return None
    raise unavailable(_why_none(status, has_kernel))


def _why_none(status: str, has_kernel: bool) -> str:
    if has_kernel:
        return f"The kernel is {status}: restart it with jupyter_kernel_action."
    dialog = ffi.given(ffi.document.querySelector(".jp-Dialog .jp-Dialog-header"))
    if dialog is not None:
        return (
            f'The notebook has no kernel, and the dialog "{dialog.textContent}" is open in the '
            "page: the person has to answer it, or name a kernel in jupyter_open_notebook."
        )
    return "The notebook has no kernel: name one in jupyter_open_notebook."
