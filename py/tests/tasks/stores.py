"""The stores that the tests of stores run against; one more is one more entry of ``STORES``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
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


def file_store(now: Callable[[], float], folder: Path) -> Any:
    """The example of docs/tasks.md: a file of JSON for each task, read anew at each look."""
    page = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text("utf-8")
    [example] = re.findall(r"```python\n(import json\n.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    names["time"] = SimpleNamespace(time=now)
    store = names["FileTaskStore"]()
    store.folder = folder
    return store


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
    "file": file_store,
}
"""How each is made: of a clock in seconds since the epoch, and a folder of its own."""
