"""A call of the registry as the work of a task: what becomes of the call is told to the task."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from pywebmcp import constants
from pywebmcp.records import Record
from pywebmcp.tasks.current import needs_input, record_output
from pywebmcp.tasks.results import stopped
from pywebmcp.types import Payload


class Cancellation:
    """The signal of a task's call; an ``AbortSignal`` that is ours to give."""

    def __init__(self) -> None:
        self.aborted = False
        self._callbacks: list[Callable[[], None]] = []

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once at the end; answers the way to undo that."""
        self._callbacks.append(callback)

        def undo() -> None:
            with contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return undo

    def abort(self) -> None:
        """Nobody waits any longer."""
        self.aborted = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


async def follow(
    record: Record, shown: Callable[[Payload], dict[str, Any]], patience: float
) -> Payload:
    """Wait for a call to settle, for as long as that takes, and answer its payload.

    Args:
        record: the call, as ``Calls.begin`` gave it.
        shown: makes a tool result of a payload, for the output so far.
        patience: seconds for which the call counts as waited for. As for any other call, a dialog
            that opens in this time is its own; later ones are hardly from it.
    """
    waited = True
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    copied = loop.time() + constants.TASK_SNAPSHOT
    try:
        while record.payload is None:
            await needs_input(_asked(record))
            record.news.clear()
            due = min(copied, deadline) if waited else copied
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await record.news.wait()
            if waited and loop.time() >= deadline:
                record.waiters -= 1
                waited = False
            if loop.time() >= copied:
                await _copy(record, shown)
                copied = loop.time() + constants.TASK_SNAPSHOT
    except asyncio.CancelledError:
        if record.payload is None:
            await _copy(record, shown)
            # The call may take a while to end; until then it is there for whoever looks.
            record.aborted = record.promised = True
            raise
    finally:
        if waited:
            record.waiters -= 1
    assert record.payload is not None
    return record.payload


async def _copy(record: Record, shown: Callable[[Payload], dict[str, Any]]) -> None:
    progress = record.progress()
    if _produced(progress):
        await record_output(shown(stopped(progress)))


def _produced(progress: Payload) -> bool:
    """Whether there is more to it than that a cell waits or runs: that alone is no output."""
    cells = progress.get("cells", [])
    return len(progress) > ("cells" in progress) or any(
        cell.get("outputs") or cell.get("status") not in ("queued", "running") for cell in cells
    )


def _asked(record: Record) -> str | None:
    """What a person has to do before the call goes on."""
    if record.prompt is not None:
        return f"The code asks for input in the page: {record.prompt['prompt']}"
    if record.dialogs:
        return "A dialog in the page waits for an answer."
    return None
