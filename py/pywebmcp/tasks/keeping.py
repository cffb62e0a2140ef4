"""Between the tasks that run here and their store: nothing waits for it that need not, and what it
does not take now is given to it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from pywebmcp import constants
from pywebmcp.tasks.bounded import bounded
from pywebmcp.tasks.errors import StoreFailed
from pywebmcp.tasks.record import TaskRecord
from pywebmcp.tasks.results import described
from pywebmcp.tasks.run import Notify, Run
from pywebmcp.tasks.store import TaskStore

log = logging.getLogger("pywebmcp")
T = TypeVar("T")

NOTIFICATION = "notifications/tasks/status"


class Keeper:
    """The runs whose last change their store has not got yet, and all that goes on for them."""

    def __init__(self, store: TaskStore, now: Callable[[], float]) -> None:
        self.runs: dict[str, Run] = {}
        self._store = store
        self._now = now
        self._closing = False
        self._background: set[asyncio.Task[Any]] = set()

    async def ask(self, method: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        """What a method of the store answers. Raises ``TaskError`` where it raises or hangs."""
        try:
            return await bounded(method(*args, **named), constants.STORE_TIMEOUT)
        except TimeoutError:
            what = f"it did not answer within {constants.STORE_TIMEOUT:g} seconds"
            raise StoreFailed(what) from None
        except Exception as error:
            log.warning("the task store failed", exc_info=True)
            raise StoreFailed(described(error)) from error

    def open(self, record: TaskRecord, notify: Notify | None = None) -> Run:
        """The run of a record; every change of it is written and, at its end, told."""
        run = Run(record, self._now, self._changed, [notify] if notify else [])
        self.runs[record.task_id] = run
        return run

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something that ends with the keeper."""
        task = asyncio.get_running_loop().create_task(coroutine)
        # The loop keeps no strong reference to a task.
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def close(self) -> None:
        """Give the store a moment for the last changes, and end everything else."""
        self._closing = True
        writers = {run.writer for run in self.runs.values() if run.writer}
        if writers:
            await asyncio.wait(writers, timeout=constants.CANCEL_GRACE)
        for task in list(self._background):
            task.cancel()
        if self._background:
            await asyncio.wait(self._background, timeout=constants.CANCEL_GRACE)
        self.runs.clear()

    def _changed(self, run: Run) -> None:
        if run.writer is None:
            run.writer = self.spawn(self._write(run))

    async def _write(self, run: Run) -> None:
        """Give the store what it has not got, in order, until it took it or the task expired."""
        pause = 1.0
        while run.unwritten:
            changes, run.unwritten = run.unwritten, {}
            try:
                await self.ask(self._store.update, run.task_id, **changes)
            except StoreFailed:
                run.unwritten = {**changes, **run.unwritten}
                self._tell(run)
                if self._closing or run.record.expired(self._now()):
                    break
                await asyncio.sleep(pause)
                pause = min(2 * pause, constants.STORE_RETRY)
        run.writer = None
        self._tell(run)
        if run.record.terminal:
            self.runs.pop(run.task_id, None)

    def _tell(self, run: Run) -> None:
        """Say once that the task settled, to whoever created it or asked for it again."""
        if not run.record.terminal or run.told:
            return
        run.told = True
        for notify in run.notifiers:
            self.spawn(_notified(notify, run.record))


async def _notified(notify: Notify, record: TaskRecord) -> None:
    try:
        await bounded(notify(NOTIFICATION, record.wire()), constants.STORE_TIMEOUT)
    except Exception:
        # Advisory: the next poll finds the same.
        log.info("nobody took the notification for task %s", record.task_id, exc_info=True)
