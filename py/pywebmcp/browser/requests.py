"""One request in a kernel's queue: its reply, or why none will come."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Connections, Js, Spec
from pywebmcp.browser.messages import KernelMessages, Watch
from pywebmcp.frontend import RunEvents
from pywebmcp.text import exception_name

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


@dataclass(frozen=True, slots=True)
class Reply:
    """The kernel's ``execute_reply``: ``status``, ``count``, ``error``."""

    content: dict[str, Any]


class Lost(Enum):
    """Why no reply comes: the request was dropped from the queue, or the kernel or cell is gone."""

    DROPPED = "dropped"
    GONE = "gone"


async def until_ended(
    connection: Js, messages: KernelMessages, future: Js, events: RunEvents
) -> Reply | Lost:
    """Wait for a request's reply, or for what makes one impossible."""
    loop = asyncio.get_running_loop()
    dropped, gone = loop.create_future(), loop.create_future()
    run_id: str = future.msg.header.msg_id
    done = ffi.watch_quietly(future.done)

    def check() -> None:
        # The futures of a connection that is gone never settle.
        if not gone.done() and (connection.isDisposed or connection.status == "dead"):
            gone.set_result(None)

    def drop() -> None:
        if not dropped.done():
            dropped.set_result(None)

    messages.queue(run_id, Watch(events.started, drop, events.asked))
    connections = Connections()
    connections.connect(connection.disposed, check)
    connections.connect(connection.statusChanged, check)
    try:
        await asyncio.wait([done, dropped, gone], return_when=asyncio.FIRST_COMPLETED)
    finally:
        connections.close()
        messages.forget(run_id)
    if done.done() and done.exception() is None:
        return Reply(_REPLY.read(done.result()))
    if dropped.done():
        future.dispose()
        return Lost.DROPPED
    return Lost.GONE


def error_of(outputs: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    """The error of a run, from its output or else from its reply."""
    for output in reversed(outputs):
        if output.get("output_type") == "error":
            error = {key: output.get(key) for key in ("ename", "evalue", "traceback")}
            break
    else:
        error = {key: value for key, value in reply.items() if value is not None}
    return {**error, "ename": exception_name(str(error.get("ename") or "Error"))}
