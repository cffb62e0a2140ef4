"""Makes the page's event loop take its next step at once, as JavaScript's own promises do."""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from typing import Any

from pywebmcp.browser import ffi

BURST = 200
"""Steps taken in one go; then the page gets a turn, so that no chain of steps can starve it."""


class Steps:
    """The steps that asyncio wants taken soon, as microtasks instead of a macrotask for each.

    Pyodide's loop gives every ``call_soon`` a macrotask of its own. A result passes through several
    of them on its way to the caller, and each waits behind whatever else the page has to do.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._later = loop.call_soon
        self._ready: deque[asyncio.Handle] = deque()
        self._scheduled = False
        self._flush = ffi.create_proxy(self._take)

    def call_soon(
        self,
        callback: Callable[..., Any],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Take the step of a callback when the present one is over, in the order of the calls."""
        handle = asyncio.Handle(callback, args, self._loop, context=context)
        self._ready.append(handle)
        if not self._scheduled:
            self._scheduled = True
            ffi.window.queueMicrotask(self._flush)
        return handle

    def _take(self, *_: Any) -> None:
        try:
            for _step in range(BURST):
                if not self._ready:
                    break
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            # Also when a step ended in SystemExit, which a handle lets through.
            self._scheduled = bool(self._ready)
            if self._scheduled:
                self._later(self._take)


def quicken(loop: asyncio.AbstractEventLoop) -> None:
    """Let a loop's ``call_soon`` use microtasks from now on; once per page."""
    steps = Steps(loop)
    loop.call_soon = steps.call_soon  # type: ignore[assignment]
