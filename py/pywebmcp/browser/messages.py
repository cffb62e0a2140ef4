"""What the messages of a kernel connection tell: its prompt, its restarts, which runs it dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Connections, Js, Spec
from pywebmcp.frontend import Prompt

# The value of an input_reply may be a password: it is not among the parts.
_MESSAGE = Spec(
    {
        "type": "args.msg.header.msg_type",
        "parent": "args.msg.parent_header.msg_id",
        "parentType": "args.msg.parent_header.msg_type",
        "state": "args.msg.content.execution_state",
        "prompt": "args.msg.content.prompt",
        "password": "args.msg.content.password",
    }
)
_TYPES = {"args.msg.header.msg_type": ["status", "input_request", "input_reply"]}


class KernelMessages:
    """Listens to one kernel connection for as long as it lives."""

    def __init__(self, connection: Js) -> None:
        self.prompt: Prompt | None = None
        self.restarts = 0
        """How often the kernel was restarted since this connection was seen first."""
        self._kernel = connection
        self._queued: dict[str, Callable[[], None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections = Connections()
        self._connections.listen(connection.anyMessage, _MESSAGE, self._on_message, when=_TYPES)
        self._connections.connect(connection.statusChanged, self._on_status)
        self._connections.connect(connection.disposed, self._end)

    @property
    def ended(self) -> bool:
        """Whether the connection is gone."""
        return bool(self._kernel.isDisposed)

    def queue(self, run_id: str, dropped: Callable[[], None]) -> None:
        """Watch a run just sent; ``dropped`` is called when the kernel throws it away unrun.

        A failing cell cancels all that is queued behind it, and the futures of what it cancelled
        never settle.
        """
        self._queued[run_id] = dropped

    def forget(self, run_id: str) -> None:
        """A run is over."""
        self._queued.pop(run_id, None)

    def _on_message(self, message: dict[str, Any]) -> None:
        if message["type"] == "input_request":
            self.prompt = Prompt(
                prompt=str(message["prompt"] or ""), password=message["password"] is True
            )
        elif message["type"] == "input_reply":
            self.prompt = None
        elif message["state"] == "busy":
            self._queued.pop(message["parent"], None)
        elif message["state"] == "idle" and message["parentType"] == "execute_request":
            self.prompt = None
            if self._queued:
                self._ask_what_was_dropped()

    def _on_status(self) -> None:
        status = self._kernel.status
        if status in ("restarting", "autorestarting"):
            self.restarts += 1
        if status in ("restarting", "autorestarting", "dead"):
            self.prompt = None
            self._queued.clear()

    def _end(self) -> None:
        self.prompt = None
        self._connections.close()

    def _ask_what_was_dropped(self) -> None:
        task = asyncio.get_running_loop().create_task(self._barrier(list(self._queued)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _barrier(self, asked: list[str]) -> None:
        # Requests are answered in their order: what has not begun by now never will.
        try:
            await self._kernel.requestKernelInfo()
        except ffi.JsException:
            return
        for run_id in asked:
            dropped = self._queued.pop(run_id, None)
            if dropped is not None:
                dropped()
