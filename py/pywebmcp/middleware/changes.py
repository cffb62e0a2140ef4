"""Applies the change that a handler answered, in the same turn in which it is checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from pywebmcp.tools import Call
from pywebmcp.types import Payload


def changes(endpoint: Callable[[Call], Awaitable[Any]]) -> Callable[[Call], Awaitable[Payload]]:
    """Let payloads pass; plan and apply a notebook's changes with no wait between the two."""

    async def handle(call: Call) -> Payload:
        answer = await endpoint(call)
        if isinstance(answer, dict):
            return answer
        plan = answer.plan(call.frontend)
        if isawaitable(plan):
            plan = await plan
        applied = plan.apply()
        payload: Payload = await applied if isawaitable(applied) else applied
        return payload

    return handle
