"""The page's tools as an MCP server: what its sessions share, whoever carries them.

A call that comes in here is a call like any other: the registry, the person's rights and the limits
are the tool server's. This door adds what MCP clients know and browsers do not: images as blocks,
progress, cancelled requests, tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pywebmcp import __version__, envelope
from pywebmcp.constants import PROGRESS_INTERVAL
from pywebmcp.mcp.jsonrpc import JsonText, is_id
from pywebmcp.mcp.server import Server
from pywebmcp.mcp.session import Call, Method
from pywebmcp.mcp.tasks import task_methods
from pywebmcp.server import ToolServer
from pywebmcp.tasks import Cancellation, TaskError, TaskService, Work, capabilities
from pywebmcp.tools import Tool

PROGRESS = "notifications/progress"

INSTRUCTIONS = (
    "The notebook that a person has open in JupyterLab, live and shared with them. Begin with "
    "jupyter_get_context. A call that answers pending goes on: jupyter_wait_for_result has its "
    "result. For work of minutes, call the tool as a task where your client can."
)


def page_server(tools: ToolServer, tasks: TaskService) -> Server:
    """The server of a page; ``Server.connect`` makes a session of it, as many as there are clients.

    A session that ends stops no task. A call that it still waited for is aborted as the person's
    agent in the browser aborts one: it goes on in the registry, and starts nothing more.
    """
    methods = task_methods(PageTools(tools), tasks)
    methods["tools/call"] = _with_progress(methods["tools/call"], tasks)
    return Server(
        name="pywebmcp",
        title="Notebook in the page",
        version=__version__,
        methods=methods,
        capabilities={"tools": {"listChanged": False}, **capabilities()},
        instructions=INSTRUCTIONS,
    )


def descriptor(tool: Tool) -> dict[str, Any]:
    """A tool as MCP's ``Tool``: WebMCP's hints in MCP's words."""
    return {
        **tool.descriptor(),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            # Its default is true, which would make clients ask the person about every insertion.
            "destructiveHint": "C" in tool.hints,
        },
    }


class PageTools:
    """A tool server's tools, called by MCP clients (`pywebmcp.mcp.tasks.TaskTools`)."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server

    def descriptors(self) -> Sequence[Mapping[str, Any]]:
        """All tools; a disabled one stays listed and says so when it is called."""
        return [descriptor(tool) for tool in self._server.tools.values()]

    async def call(self, name: str, arguments: dict[str, Any], call: Call) -> JsonText:
        """The envelope; a run's images are image blocks."""
        signal, mode = Cancellation(), self._server.settings.envelope
        answer = asyncio.ensure_future(self._server.answer(name, arguments, signal, images=True))
        try:
            given = await asyncio.shield(answer)
        except asyncio.CancelledError:
            # The call is told, and not torn off: it knows what an abort may stop.
            signal.abort()
            raise
        return JsonText(envelope.encode(given.text, given.is_error, given.blocks, mode))

    def work(self, name: str, arguments: dict[str, Any]) -> Work:
        """The same as the work of a task."""
        return self._server.work(name, arguments, images=True)


def _with_progress(call_tool: Method, tasks: TaskService) -> Method:
    """``notifications/progress`` for calls that bring a token, until they or their task are done.

    Progress is the seconds that have passed: nobody knows how long a cell takes, and what a client
    needs is the sign of life that puts off its time limit.
    """
    tickers: set[asyncio.Task[None]] = set()

    async def answer(params: dict[str, Any], call: Call) -> Any:
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not is_id(token):
            return await call_tool(params, call)
        plain = f"{params.get('name')!s:.100} runs"
        task_id: str | None = None

        async def state() -> str | None:
            return plain if task_id is None else await _state(tasks, task_id, plain)

        ticker = asyncio.create_task(_tick(call, token, state))
        # The loop keeps no strong reference to a task.
        tickers.add(ticker)
        ticker.add_done_callback(tickers.discard)
        try:
            result = await call_tool(params, call)
            if isinstance(result, dict) and "task" in result:
                task_id = result["task"]["taskId"]
            return result
        finally:
            if task_id is None:
                ticker.cancel()

    return answer


async def _tick(call: Call, token: Any, message: Callable[[], Awaitable[str | None]]) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    while True:
        await asyncio.sleep(PROGRESS_INTERVAL)
        said = None if call.session.closed else await message()
        if said is None:
            return
        passed = round(loop.time() - start, 1)
        call.session.notify(PROGRESS, {"progressToken": token, "progress": passed, "message": said})


async def _state(tasks: TaskService, task_id: str, plain: str) -> str | None:
    try:
        record = await tasks.get(task_id)
    except TaskError:
        return None
    return None if record.terminal else record.status_message or plain
