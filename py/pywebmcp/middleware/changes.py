"""Applies the change that a handler answered, in the same turn in which it is checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pywebmcp.tools import Call
from pywebmcp.types import Payload


def changes(endpoint: Callable[[Call], Awaitable[Any]]) -> Callable[[Call], Awaitable[Payload]]:
    """Let payloads pass; plan and apply changes with no ``await`` between the two."""

    async def handle(call: Call) -> Payload:
        answer = await endpoint(call)
        if isinstance(answer, dict):
            return answer
        payload: Payload = answer.plan(call.frontend).apply()
        return payload

    return handle
