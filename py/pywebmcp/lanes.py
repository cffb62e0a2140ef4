"""One run at a time on a kernel: a failing cell drops whatever waits behind it in the kernel."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from pywebmcp.records import Record


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    holder: Record | None = None
    users: int = 0


class Lanes:
    """Which call holds which kernel, and which wait for it, in their order."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    @contextlib.asynccontextmanager
    async def hold(self, kernel_id: str, record: Record) -> AsyncIterator[None]:
        """Hold a kernel for one call's runs, once those before it have left."""
        lane = self._lanes.setdefault(kernel_id, _Lane())

        def behind() -> str | None:
            holder = lane.holder
            return holder.id if holder is not None and holder is not record else None

        record.behind = behind
        lane.users += 1
        try:
            async with lane.lock:
                lane.holder = record
                try:
                    yield
                finally:
                    lane.holder = None
        finally:
            lane.users -= 1
            if not lane.users:
                lane.empty.set()
                self._lanes.pop(kernel_id, None)

    async def left(self, kernel_id: str) -> None:
        """Return when no call holds a kernel or waits for it, as after its restart."""
        lane = self._lanes.get(kernel_id)
        if lane is not None:
            await lane.empty.wait()
