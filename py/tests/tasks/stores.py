"""The stores that the tests of stores run against; one more is one more entry of ``STORES``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pywebmcp.tasks import MemoryTaskStore, TaskRecord


class SlowStore:
    """One that takes its time before and after it does anything."""

    def __init__(self, inner: Any, pause: float = 0.3) -> None:
        self._inner = inner
        self.pause = pause

    async def _later(self, coroutine: Any) -> Any:
        await asyncio.sleep(self.pause)
        answer = await coroutine
        await asyncio.sleep(self.pause)
        return answer

    async def create(self, record: TaskRecord) -> TaskRecord:
        return await self._later(self._inner.create(record))  # type: ignore[no-any-return]

    async def get(self, task_id: str) -> TaskRecord | None:
        return await self._later(self._inner.get(task_id))  # type: ignore[no-any-return]

    async def list(self, *, limit: int = 50) -> Any:
        return await self._later(self._inner.list(limit=limit))

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        return await self._later(  # type: ignore[no-any-return]
            self._inner.update(task_id, **changes)
        )

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        return await self._later(  # type: ignore[no-any-return]
            self._inner.find_by_key(idempotency_key)
        )


class FileStore:
    """A file of JSON for each task, read anew at each look: nothing lives in memory."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now

    def _path(self, task_id: str) -> Path:
        return self._folder / f"{task_id.encode().hex()[:200]}.json"

    def _write(self, record: TaskRecord) -> TaskRecord:
        self._path(record.task_id).write_text(json.dumps(record.as_json()))
        return record

    def _all(self) -> list[TaskRecord]:
        records = []
        for path in self._folder.glob("*.json"):
            record = TaskRecord.from_json(json.loads(path.read_text()))
            if record.expired(self._now()):
                path.unlink()
            else:
                records.append(record)
        return sorted(records, key=lambda record: record.created_at, reverse=True)

    async def create(self, record: TaskRecord) -> TaskRecord:
        if record.idempotency_key is not None:
            holder = await self.find_by_key(record.idempotency_key)
            if holder is not None:
                return holder
        return self._write(record)

    async def get(self, task_id: str) -> TaskRecord | None:
        return next((record for record in self._all() if record.task_id == task_id), None)

    async def list(self, *, limit: int = 50) -> Any:
        return self._all()[:limit]

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        record = await self.get(task_id)
        if record is None or record.terminal:
            return record
        return self._write(record.changed(**changes))

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        held = (each for each in self._all() if each.idempotency_key == idempotency_key)
        return next(held, None)


class FaultyStore(MemoryTaskStore):
    """One that raises or hangs in the methods that a test names, before or after it did them."""

    def __init__(self, now: Callable[[], float], way: str = "raises") -> None:
        super().__init__(now)
        self.way = way
        self.faulty: set[str] = set()
        self.late = False
        """Whether the fault comes after the work was done."""

    async def _do(self, name: str, coroutine: Any) -> Any:
        if name not in self.faulty:
            return await coroutine
        if self.late:
            await coroutine
        else:
            coroutine.close()
        if self.way == "hangs":
            await asyncio.Event().wait()
        raise OSError("the disk is full")

    async def create(self, record: TaskRecord) -> TaskRecord:
        return await self._do("create", super().create(record))  # type: ignore[no-any-return]

    async def get(self, task_id: str) -> TaskRecord | None:
        return await self._do("get", super().get(task_id))  # type: ignore[no-any-return]

    async def list(self, *, limit: int = 50) -> Any:
        return await self._do("list", super().list(limit=limit))

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        return await self._do(  # type: ignore[no-any-return]
            "update", super().update(task_id, **changes)
        )

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        return await self._do(  # type: ignore[no-any-return]
            "find_by_key", super().find_by_key(idempotency_key)
        )


STORES: dict[str, Callable[[Callable[[], float], Path], Any]] = {
    "memory": lambda now, folder: MemoryTaskStore(now),
    "slow": lambda now, folder: SlowStore(MemoryTaskStore(now)),
    "file": lambda now, folder: FileStore(folder, now),
}
"""How each is made: of a clock in seconds since the epoch, and a folder of its own."""
