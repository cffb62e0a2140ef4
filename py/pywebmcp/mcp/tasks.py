"""Tasks in an MCP session: tools/call with task metadata, the four methods, what is advertised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pywebmcp.mcp.jsonrpc import ErrorCode, RpcError
from pywebmcp.mcp.server import Tools, tool_methods
from pywebmcp.mcp.session import Call, Method
from pywebmcp.tasks import SUPPORT, Notify, TaskError, TaskMethods, TaskService, Work


class TaskTools(Tools, Protocol):
    """Tools that can be called as tasks too."""

    def work(self, name: str, arguments: dict[str, Any]) -> Work:
        """A call that nobody waits for: a coroutine function that answers a ``CallToolResult``."""
        ...


def task_methods(tools: TaskTools, service: TaskService) -> dict[str, Method]:
    """The methods of tools, and those of tasks. Advertise ``pywebmcp.tasks.capabilities()``.

    A tool's descriptor gets ``execution.taskSupport``. A settled task is told to the session that
    asked for it.
    """
    plain = tool_methods(tools)
    tasks = TaskMethods(service)

    async def list_tools(params: dict[str, Any], call: Call) -> Any:
        listed = await plain["tools/list"](params, call)
        return {**listed, "tools": [{**tool, "execution": SUPPORT} for tool in listed["tools"]]}

    async def call_tool(params: dict[str, Any], call: Call) -> Any:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if params.get("task") is None:
            return await plain["tools/call"](params, call)
        if all(each["name"] != name for each in tools.descriptors()):
            raise RpcError(ErrorCode.INVALID_PARAMS, f"Unknown tool: {name!s:.100}")
        work = tools.work(str(name), arguments)
        return await _answered(lambda _: tasks.call(params, work, _notify(call)))(params, call)

    return {
        "tools/list": list_tools,
        "tools/call": call_tool,
        **{name: _answered(method) for name, method in tasks.methods.items()},
    }


def _answered(method: Callable[[Any], Any]) -> Method:
    async def answer(params: dict[str, Any], call: Call) -> Any:
        try:
            return await method(params)
        except TaskError as error:
            raise RpcError(error.code, error.message, error.data) from None

    return answer


def _notify(call: Call) -> Notify:
    async def notify(method: str, params: dict[str, Any]) -> None:
        call.session.notify(method, params)

    return notify
