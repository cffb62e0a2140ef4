"""Adapter between the conformance kit's runner for tasks and `pywebmcp.tasks`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pywebmcp.tasks import (
    EXTENSION,
    METHODS,
    SETTINGS,
    MemoryTaskStore,
    TaskError,
    TaskMethods,
    TaskService,
    build_store,
    current_task,
    record_output,
    register_interrupt,
)

__all__ = ["build_store", "current_task", "record_output", "register_interrupt"]

default_store = MemoryTaskStore


def error(exception: BaseException) -> dict[str, Any] | None:
    return exception.as_json() if isinstance(exception, TaskError) else None


def extension() -> dict[str, Any]:
    return {"identifier": EXTENSION, "settings": SETTINGS, "methods": list(METHODS)}


def stdio_command() -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("tasks_server.py"))]


class Adapter:
    """One server whose tool is whatever coroutine function the runner hands over."""

    def __init__(self, store: Any = None) -> None:
        self.service = TaskService(store or default_store())
        self.methods = TaskMethods(self.service)

    async def call(self, params: Any, work: Any, notify: Any) -> Any:
        created = await self.methods.call(params, work, notify)
        return await work() if created is None else created

    async def get(self, task_id: str) -> Any:
        return await self.methods.get({"taskId": task_id})

    async def list(self, cursor: Any = None) -> Any:
        return await self.methods.list({"cursor": cursor})

    async def cancel(self, task_id: str) -> Any:
        return await self.methods.cancel({"taskId": task_id})

    async def result(self, task_id: str) -> Any:
        return await self.methods.result({"taskId": task_id})

    async def peek(self, task_id: str) -> Any:
        record = await self.service.get(task_id)
        kept = record.partial if record.result is None else record.result
        return {"status": str(record.status), "result": kept, "partial": record.partial}

    async def close(self) -> None:
        await self.service.close()
