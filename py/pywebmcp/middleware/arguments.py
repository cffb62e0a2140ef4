"""Refuses disabled tools and wrong arguments before anything else looks at them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pywebmcp import jsontext
from pywebmcp.errors import Code, ToolError
from pywebmcp.tools import Call
from pywebmcp.types import Payload


def arguments(
    endpoint: Callable[[Call], Awaitable[Payload]],
) -> Callable[[Call], Awaitable[Payload]]:
    """Check the caller's arguments and turn them into the handler's keyword arguments."""

    async def handle(call: Call) -> Payload:
        tool = call.tool
        if tool.name in call.settings.disabled_tools:
            raise ToolError(
                Code.TOOL_DISABLED,
                f"{tool.name} is disabled in this site's settings; the person can enable it there.",
            )
        values = tool.validate(parsed(call.arguments))
        names = tool.signature.names
        call.arguments = {names[name]: value for name, value in values.items()}
        return await endpoint(call)

    return handle


def parsed(given: Any) -> Any:
    """The arguments as Python data: an object, a JSON string of one, or nothing.

    Raises ``ToolError`` INVALID_ARGUMENT for a string that is not JSON.
    """
    if given is None:
        return {}
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}
    try:
        value = jsontext.loads(given)
    except ValueError as error:
        raise ToolError(
            Code.INVALID_ARGUMENT, f"The arguments are not valid JSON: {error}."
        ) from None
    # A client that encodes twice sends a JSON string of a JSON string.
    if isinstance(value, str):
        return parsed(value) if value != given else value
    return {} if value is None else value
