"""Keeps the log's entry of a call up to date while it runs, also in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pywebmcp.activity import short
from pywebmcp.schema import Signature
from pywebmcp.tools import Call
from pywebmcp.types import Payload


def activity(
    endpoint: Callable[[Call], Awaitable[Payload]],
) -> Callable[[Call], Awaitable[Payload]]:
    """Note the checked arguments and where the call is registered."""

    async def handle(call: Call) -> Payload:
        if call.entry is None:
            return await endpoint(call)
        call.entry.arguments = short(_named(call.tool.signature, call.arguments))
        if call.record is not None:
            call.entry.register(call.record)
        payload = await endpoint(call)
        call.settled(payload)
        return payload

    return handle


def _named(signature: Signature, arguments: dict[str, object]) -> dict[str, object]:
    """The handler's arguments by the names that callers use."""
    names = {ours: theirs for theirs, ours in signature.names.items()}
    return {names[ours]: value for ours, value in arguments.items()}
