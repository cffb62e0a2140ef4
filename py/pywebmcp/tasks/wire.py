"""Tasks in the words of JSON-RPC and MCP, without a transport: params in, result or error out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pywebmcp import constants
from pywebmcp.tasks import parameters
from pywebmcp.tasks.results import of_task, tool_result
from pywebmcp.tasks.run import Notify, Work
from pywebmcp.tasks.service import TaskService

EXTENSION = "io.datalayer/tasks"
"""Under which the methods are advertised."""

SUPPORT = {"taskSupport": "optional"}
"""What every tool of tools/list has as its ``execution``: a task where a client asks for one."""

Method = Callable[[Any], Awaitable[dict[str, Any]]]


class TaskMethods:
    """The requests about tasks; each raises ``TaskError`` for what it refuses."""

    def __init__(self, service: TaskService) -> None:
        self._service = service
        self.methods: Mapping[str, Method] = {
            "tasks/cancel": self.cancel,
            "tasks/get": self.get,
            "tasks/list": self.list,
            "tasks/result": self.result,
        }

    async def call(
        self, params: Any, work: Work, notify: Notify | None = None
    ) -> dict[str, Any] | None:
        """The part of tools/call that is for tasks: a ``CreateTaskResult``.

        None when the params ask for no task: then the caller runs the tool and answers its result.
        """
        call = parameters.asked_for(params)
        if call is None:
            return None
        return {"task": (await self._service.create(call, work, notify)).wire()}

    async def get(self, params: Any) -> dict[str, Any]:
        """A task's status."""
        return (await self._service.get(parameters.task_id(params))).wire()

    async def list(self, params: Any) -> dict[str, Any]:
        """A page of tasks, newest first."""
        page, more = await self._service.page(parameters.place(params))
        listed: dict[str, Any] = {"tasks": [record.wire() for record in page]}
        if more is not None:
            listed["nextCursor"] = parameters.cursor(more)
        return listed

    async def cancel(self, params: Any) -> dict[str, Any]:
        """The task, cancelled; one that had settled before as it is."""
        return (await self._service.cancel(parameters.task_id(params))).wire()

    async def result(self, params: Any) -> dict[str, Any]:
        """The tool's result; refused before the task settled, and raised for a failed one."""
        task_id = parameters.task_id(params)
        return of_task(tool_result(await self._service.result(task_id)), task_id)


METHODS = ("tasks/cancel", "tasks/get", "tasks/list", "tasks/result")

SETTINGS = {
    "defaultTtlMs": constants.TASK_TTL,
    "maxTtlMs": constants.MAX_TASK_TTL,
    "pollIntervalMs": constants.TASK_POLL_INTERVAL,
}


def capabilities() -> dict[str, Any]:
    """What a server that has tasks adds to its capabilities.

    ``tasks`` is MCP 2025-11-25's; ``extensions`` is where later versions advertise ours, and
    ``experimental`` where clients look that know neither.
    """
    return {
        "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
        "extensions": {EXTENSION: SETTINGS},
        "experimental": {EXTENSION: SETTINGS},
    }
