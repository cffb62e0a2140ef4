"""Where tasks are kept: what a store has to do, and the one that keeps them in memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from pywebmcp import constants
from pywebmcp.tasks.record import TaskRecord

Records = list[TaskRecord]


@runtime_checkable
class TaskStore(Protocol):
    """Five coroutine methods; an exception of any of them becomes a JSON-RPC error.

    A store answers a task past its ttl (``TaskRecord.expired``) as absent, whoever asks, which
    frees its idempotency key too.
    """

    async def create(self, record: TaskRecord) -> TaskRecord:
        """Keep a new task and answer it.

        When a task that has not expired holds its idempotency key already, that one is answered
        and nothing is kept. A store that several servers or pages share does look-up and insertion
        in one transaction.
        """
        ...

    async def get(self, task_id: str) -> TaskRecord | None:
        """One task."""
        ...

    async def list(self, *, limit: int = constants.TASK_PAGE) -> Records:
        """The newest tasks, by ``created_at``, newest first."""
        ...

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        """Change fields of a task, named as in `TaskRecord`, and answer it as it is then.

        A terminal task stays as it is.
        """
        ...

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        """The task that holds a key."""
        ...


class MemoryTaskStore:
    """Keeps tasks as long as the process or the page lives.

    ``now`` is a clock in seconds since the epoch.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._records: dict[str, TaskRecord] = {}
        self._keys: dict[str, str] = {}

    async def create(self, record: TaskRecord) -> TaskRecord:
        """Keep a new task, or answer the one that holds its key."""
        self._sweep()
        if record.idempotency_key is not None:
            holder = self._keys.get(record.idempotency_key)
            if holder is not None:
                return self._records[holder]
            self._keys[record.idempotency_key] = record.task_id
        self._records[record.task_id] = record
        return record

    async def get(self, task_id: str) -> TaskRecord | None:
        """One task, None when it expired."""
        self._sweep()
        return self._records.get(task_id)

    async def list(self, *, limit: int = constants.TASK_PAGE) -> Records:
        """The newest tasks, newest first; of two with the same time, the later one."""
        self._sweep()
        newest = [*reversed(self._records.values())]
        newest.sort(key=lambda record: record.created_at, reverse=True)
        return newest[:limit]

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        """Change a task that runs; a terminal one stays as it is."""
        self._sweep()
        record = self._records.get(task_id)
        if record is None or record.terminal:
            return record
        self._records[task_id] = record.changed(**changes)
        return self._records[task_id]

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        """The task that holds a key, None when it expired."""
        self._sweep()
        holder = self._keys.get(idempotency_key)
        return None if holder is None else self._records[holder]

    def _sweep(self) -> None:
        now = self._now()
        for task_id in [key for key, record in self._records.items() if record.expired(now)]:
            key = self._records.pop(task_id).idempotency_key
            if key is not None:
                del self._keys[key]
