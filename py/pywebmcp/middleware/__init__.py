"""What every call passes on its way to its handler, in one fixed order.

A layer takes an endpoint and is an endpoint; the order is written once, in ``STACK``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import reduce
from typing import cast

from pywebmcp.middleware.activity import activity
from pywebmcp.middleware.arguments import arguments
from pywebmcp.middleware.calls import calls
from pywebmcp.middleware.changes import changes
from pywebmcp.middleware.failures import failures
from pywebmcp.tools import Call
from pywebmcp.types import Payload

Endpoint = Callable[[Call], Awaitable[Payload]]
Layer = Callable[[Endpoint], Endpoint]

# Twice failures: the inner one makes a result of what a call in the background raises, the outer
# one of what was wrong before there was a call.
STACK: tuple[Layer, ...] = (failures, arguments, calls, activity, failures, changes)


def build(endpoint: Endpoint, layers: tuple[Layer, ...] = STACK) -> Endpoint:
    """Wrap an endpoint in the layers, the first one outermost."""
    return reduce(lambda inner, layer: layer(inner), reversed(layers), endpoint)


async def handle(call: Call) -> Payload:
    """The innermost endpoint: the tool's own function, with its checked arguments."""
    # A Change is applied by the layer above: only payloads go farther up.
    return cast(Payload, await call.tool.handler(call, **call.arguments))


__all__ = ["STACK", "Endpoint", "Layer", "build", "handle"]
