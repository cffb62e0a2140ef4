"""Waiting for someone else's code: never longer than agreed, whatever it does with a cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


async def bounded(awaitable: Awaitable[T], seconds: float) -> T:
    """What it answers or raises.

    Raises ``TimeoutError`` when it takes longer; it is cancelled then, and whether it heeds that
    is not waited for. ``RuntimeError`` when it cancels itself: that must not look like a
    cancellation of whoever waits.
    """
    task = asyncio.ensure_future(awaitable)
    task.add_done_callback(seen)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not task.done():
        raise TimeoutError
    if task.cancelled():
        raise RuntimeError("it was cancelled")
    return task.result()


def seen(task: asyncio.Future[Any]) -> None:
    """A callback for what ends unwatched: its exception is nobody's any more."""
    if not task.cancelled():
        task.exception()
