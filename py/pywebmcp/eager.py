"""Starting a coroutine so that one which never waits is done when this returns."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def start(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that has run up to its first real wait (on Python 3.12 and newer).

    A trip through the page's event loop costs more than most tools' work.
    """
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        return asyncio.Task(coroutine, loop=loop, eager_start=True)
    return loop.create_task(coroutine)
