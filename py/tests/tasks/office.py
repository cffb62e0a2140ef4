"""A task service on the virtual clock, with the sessions around it and work that tests steer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pywebmcp.tasks import IDEMPOTENCY_KEY, MemoryTaskStore, TaskError, TaskMethods, TaskService
from pywebmcp.testing import counter

EPOCH = 1_700_000_000.0


def clock() -> float:
    """The time of day on the virtual clock, in seconds since the epoch."""
    return EPOCH + asyncio.get_running_loop().time()


def text(value: str) -> dict[str, Any]:
    """A tool result."""
    return {"content": [{"type": "text", "text": value}]}


def returns(value: Any = None, after: float = 0, log: list[str] | None = None) -> Any:
    """Work that answers something after a while, and notes that it ran."""

    async def work() -> Any:
        if log is not None:
            log.append("ran")
        await asyncio.sleep(after)
        return text("42") if value is None else value

    return work


def raises(error: BaseException, after: float = 0) -> Any:
    """Work that fails after a while."""

    async def work() -> Any:
        await asyncio.sleep(after)
        raise error

    return work


async def forever() -> Any:
    """Work without an end."""
    await asyncio.Event().wait()


class Session:
    """What a client's connection carries to it."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, dict[str, Any]]] = []

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        self.notes.append((method, params))


class Office:
    """``async with Office() as office``: ended with everything it began."""

    def __init__(
        self, store: Any = None, now: Callable[[], float] = clock, name: str = "tsk"
    ) -> None:
        self.store = store or MemoryTaskStore(now)
        self.session = Session()
        self.service = TaskService(self.store, now=now, new_id=counter(name))
        self.methods = TaskMethods(self.service)

    async def __aenter__(self) -> Office:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.service.close()

    async def call(
        self,
        work: Any = forever,
        *,
        task: Any = None,
        key: Any = None,
        name: str = "tool",
        arguments: Any = None,
        session: Session | None = None,
    ) -> str:
        """Call a tool as a task; answers its id."""
        params: dict[str, Any] = {"name": name, "task": {} if task is None else task}
        if arguments is not None:
            params["arguments"] = arguments
        if key is not None:
            params["_meta"] = {IDEMPOTENCY_KEY: key}
        answer = await self.methods.call(params, work, (session or self.session).notify)
        assert answer is not None
        task_id: str = answer["task"]["taskId"]
        return task_id

    async def get(self, task_id: str) -> dict[str, Any]:
        return await self.methods.get({"taskId": task_id})

    async def status(self, task_id: str) -> str:
        status: str = (await self.get(task_id))["status"]
        return status

    async def cancel(self, task_id: str) -> dict[str, Any]:
        return await self.methods.cancel({"taskId": task_id})

    async def result(self, task_id: str) -> dict[str, Any]:
        """The result, without what says whose it is."""
        result = await self.methods.result({"taskId": task_id})
        assert result.pop("_meta")["io.modelcontextprotocol/related-task"] == {"taskId": task_id}
        return result

    async def refused(self, coroutine: Any) -> TaskError:
        """The error that a request is answered with."""
        with pytest.raises(TaskError) as caught:
            await coroutine
        return caught.value

    async def listed(self) -> list[str]:
        return [task["taskId"] for task in (await self.methods.list({}))["tasks"]]


async def turns(count: int = 30) -> None:
    """Let what is ready run; no time passes."""
    for _ in range(count):
        await asyncio.sleep(0)
