"""Puts every call into the registry, so that none blocks its caller and none loses its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pywebmcp.errors import Code, ToolError
from pywebmcp.records import Record
from pywebmcp.tools import Call
from pywebmcp.types import Payload


def calls(endpoint: Callable[[Call], Awaitable[Payload]]) -> Callable[[Call], Awaitable[Payload]]:
    """Answer the result, or pending at the time limit, at a dialog, at a prompt, on an abort."""

    async def handle(call: Call) -> Payload:
        if call.signal.aborted:
            raise ToolError(Code.ABORTED, "The call was aborted before it began: nothing was done.")
        if call.tool.waits:
            return await endpoint(call)

        async def run(record: Record) -> Payload:
            call.record = record
            return await endpoint(call)

        if call.follow is not None:
            return await call.follow(call.calls.begin(call.tool.name, run))
        return await call.calls.call(
            call.tool.name, run, call.settings.execution_timeout, call.signal
        )

    return handle
