"""Cancels a task: first its work is interrupted, then nobody waits for it any longer."""

from __future__ import annotations

import asyncio
import inspect
import logging

from pywebmcp import constants
from pywebmcp.records import State
from pywebmcp.tasks.bounded import bounded
from pywebmcp.tasks.run import Run

log = logging.getLogger("pywebmcp")

_MESSAGE = "Cancelled by the client."


async def cancel(run: Run) -> None:
    """Settle a running task as cancelled, within some seconds whatever its work does.

    The tool's own result wins: work that came to a good end while it was interrupted is completed,
    and what it answers to being cancelled is kept as the result.
    """
    said = await _interrupt(run)
    done = run.outcome
    if done is not None and done.raised is None and not done.failed:
        run.move(State.COMPLETED, result=done.result)
        return
    worker = run.worker
    if worker is not None and not worker.done():
        worker.cancel()
        await asyncio.wait({worker}, timeout=constants.CANCEL_GRACE)
    result = run.outcome.result if run.outcome is not None else None
    run.move(State.CANCELLED, f"{_MESSAGE} {said}" if said else _MESSAGE, result=result)


async def _interrupt(run: Run) -> str | None:
    """What is to be told of it. One that fails does not stop the cancellation."""
    if run.interrupt is None:
        return None
    try:
        said = run.interrupt()
        if inspect.isawaitable(said):
            said = await bounded(said, constants.INTERRUPT_TIMEOUT)
    except Exception:
        log.exception("task %s could not be interrupted: its work may go on", run.task_id)
        return "What it runs could not be interrupted and may go on."
    return said if isinstance(said, str) else None
