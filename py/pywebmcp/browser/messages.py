"""What the messages of a kernel connection tell: its prompt, its restarts, which runs it dropped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
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
        "id": "args.msg.header.msg_id",
        "direction": "args.direction",
    }
)
_TYPES = {"args.msg.header.msg_type": ["status", "input_request", "input_reply", "execute_request"]}

POLL = 1.0
"""Seconds after which a busy kernel is looked at without a message."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told of a run: taken up by the kernel, dropped from its queue, asks for input."""

    started: Callable[[], None]
    dropped: Callable[[], None]
    asked: Callable[[Prompt | None], None]


def can_interrupt(connection: Js) -> bool:
    """Whether an interrupt stops running code.

    A kernel inside the page never hears of it while it runs; JupyterLite reaches its kernels
    through a simulated WebSocket, a server's kernel is behind the browser's own.
    """
    return bool(connection.serverSettings.WebSocket == ffi.window.WebSocket)


class KernelMessages:
    """Listens to one kernel connection for as long as it lives."""

    def __init__(self, connection: Js) -> None:
        self.prompt: Prompt | None = None
        self.restarts = 0
        """How often the kernel was restarted since this connection was seen first."""
        self.can_interrupt = can_interrupt(connection)
        self._kernel = connection
        self._queued: dict[str, Watch] = {}
        """Runs of ours that the kernel has not taken up."""
        self._running: dict[str, Watch] = {}
        self._requests: set[str] = set()
        """Every run sent on this connection, the person's too, that is not known to have ended."""
        self.changed = asyncio.Event()
        """Set by every message that says what runs; whoever waits clears it."""
        self._asking: asyncio.Task[None] | None = None
        self._connections = Connections()
        self._connections.listen(connection.anyMessage, _MESSAGE, self._on_message, when=_TYPES)
        self._connections.connect(connection.statusChanged, self._on_status)
        self._connections.connect(connection.disposed, self._end)

    @property
    def ended(self) -> bool:
        """Whether the connection is gone."""
        return bool(self._kernel.isDisposed)

    @property
    def executing(self) -> bool:
        """Whether code that was sent on this connection runs or waits."""
        return bool(self._requests)

    @property
    def busy(self) -> bool:
        """Whether something runs in the kernel or waits for it, as far as the messages tell."""
        return bool(self._requests) or self._kernel.status == "busy"

    def queue(self, run_id: str, watch: Watch) -> None:
        """Watch a run just sent.

        A failing cell cancels all that is queued behind it, and the futures of what it cancelled
        never settle: ``dropped`` is how one hears of that.
        """
        self._queued[run_id] = watch

    def forget(self, run_id: str) -> None:
        """A run is over."""
        self._queued.pop(run_id, None)
        self._running.pop(run_id, None)
        self._requests.discard(run_id)
        self.changed.set()

    async def idle(self) -> None:
        """Return when nothing runs and nothing waits, or when the kernel is gone."""
        while self.busy and not self.ended and self._kernel.status != "dead":
            self.changed.clear()
            if self._kernel.status == "idle":
                # Sent and neither taken up nor ended: perhaps dropped, which nobody is told.
                self._ask_what_was_dropped()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), POLL)

    def _on_message(self, message: dict[str, Any]) -> None:
        parent = message["parent"]
        if message["type"] == "execute_request":
            if message["direction"] == "send":
                self._requests.add(message["id"])
            return
        if message["type"] == "input_request":
            self._asks(
                parent,
                Prompt(prompt=str(message["prompt"] or ""), password=message["password"] is True),
            )
        elif message["type"] == "input_reply":
            self._asks(None, None)
        elif message["state"] == "busy":
            watch = self._queued.pop(parent, None)
            if watch is not None:
                self._running[parent] = watch
                watch.started()
        elif message["state"] == "idle" and message["parentType"] == "execute_request":
            self._asks(parent, None)
            self._requests.discard(parent)
            if self._queued:
                self._ask_what_was_dropped()
        self.changed.set()

    def _asks(self, run_id: str | None, prompt: Prompt | None) -> None:
        """The kernel asks the person, or (None) was answered; it runs one thing at a time."""
        if prompt == self.prompt:
            return
        self.prompt = prompt
        for key, watch in self._running.items():
            if run_id is None or key == run_id:
                watch.asked(prompt)

    def _on_status(self) -> None:
        status = self._kernel.status
        if status in ("restarting", "autorestarting"):
            self.restarts += 1
        if status in ("restarting", "autorestarting", "dead"):
            self._asks(None, None)
            self._queued.clear()
            self._running.clear()
            self._requests.clear()
        self.changed.set()

    def _end(self) -> None:
        self.prompt = None
        self._requests.clear()
        self.changed.set()
        self._connections.close()

    def _ask_what_was_dropped(self) -> None:
        if self._asking is None or self._asking.done():
            asked = list(self._requests | self._queued.keys())
            self._asking = asyncio.get_running_loop().create_task(self._barrier(asked))

    async def _barrier(self, asked: list[str]) -> None:
        # Requests are answered in their order: what has not begun by now never will.
        try:
            await self._kernel.requestKernelInfo()
        except ffi.JsException:
            return
        for run_id in asked:
            if run_id in self._running:
                continue
            self._requests.discard(run_id)
            watch = self._queued.pop(run_id, None)
            if watch is not None:
                watch.dropped()
        self.changed.set()
