"""Turns what a call raised into a failed result: agents get no message of a thrown error."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from pywebmcp.errors import Code, ToolError
from pywebmcp.tools import Call
from pywebmcp.types import Payload

log = logging.getLogger("pywebmcp")


def failures(
    endpoint: Callable[[Call], Awaitable[Payload]],
) -> Callable[[Call], Awaitable[Payload]]:
    """Map ``ToolError`` to its payload, and anything else to INTERNAL_ERROR.

    The traceback of an unexpected one goes to the log (the browser's console), not to the agent.
    """

    async def handle(call: Call) -> Payload:
        try:
            answer = await endpoint(call)
        except ToolError as error:
            return error.payload()
        except Exception as error:
            log.exception("%s failed unexpectedly", call.tool.name)
            return unexpected(error)
        if "success" in answer or answer.get("status") == "pending":
            return answer
        return {"success": True, **answer}

    return handle


def unexpected(error: BaseException) -> Payload:
    """The failed result for an exception that nobody foresaw."""
    message = " ".join(str(error).split())
    detail = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return ToolError(
        Code.INTERNAL_ERROR,
        f"pywebmcp failed unexpectedly ({detail}); the traceback is in the page's console.",
    ).payload()
