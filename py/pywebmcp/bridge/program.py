"""Runs the bridge: for a client on the standard streams, or for one piece of work."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pywebmcp.bridge.browser import browser_for
from pywebmcp.bridge.link import Link
from pywebmcp.bridge.relay import Relay
from pywebmcp.bridge.target import Target, served
from pywebmcp.mcp import stdio
from pywebmcp.mcp.session import Session

T = TypeVar("T")


def serve(target: Target, roots: Sequence[Path] = ()) -> None:
    """Serve one MCP client on this process's standard streams until it closes them.

    The browser opens at once, so that it is there when the client asks. Raises ``FatalError``.
    """
    with served(target) as known, stdio.private_output() as output:
        asyncio.run(_serve(known, roots, output))


def ask(target: Target, work: Callable[[Session], Awaitable[T]], patience: float) -> T:
    """Do something with a session of the page, for whose loading ``patience`` seconds are waited.

    Raises ``BridgeError``.
    """
    with served(target) as known:
        return asyncio.run(_ask(known, work, patience))


async def _serve(target: Target, roots: Sequence[Path], output: int) -> None:
    relay = Relay(browser_for(target), roots, target.store)
    async with _ending(relay.link):
        serving = asyncio.create_task(stdio.serve(relay.server(), 0, output))
        relay.link.begin()
        try:
            relay.link.fatal.add_done_callback(lambda _: serving.cancel())
            await asyncio.wait({serving})
        finally:
            if not serving.done():
                serving.cancel()
                await asyncio.wait({serving})
        if relay.link.fatal.done():
            raise relay.link.fatal.result()
        await serving


async def _ask(target: Target, work: Callable[[Session], Awaitable[T]], patience: float) -> T:
    link = Link(browser_for(target), {}, target.store)
    async with _ending(link):
        return await work(await link.session(patience))


@contextlib.asynccontextmanager
async def _ending(link: Link) -> AsyncIterator[None]:
    """Let go of the browser at the end, and at SIGTERM too: clients end their servers with it."""
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(NotImplementedError, RuntimeError):
        # Windows has no such handlers; there the browser sees that its driver is gone.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        await link.close()
