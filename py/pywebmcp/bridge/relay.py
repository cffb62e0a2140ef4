"""The MCP server that a client starts: it answers for the page, also while that is not there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pywebmcp import __version__
from pywebmcp.bridge.browser import Browser
from pywebmcp.bridge.errors import BridgeError
from pywebmcp.bridge.link import Link
from pywebmcp.mcp.jsonrpc import ErrorCode, RpcError
from pywebmcp.mcp.outputs import TOOL as READ_OUTPUT
from pywebmcp.mcp.outputs import OutputTools
from pywebmcp.mcp.page import INSTRUCTIONS, PROGRESS, descriptor
from pywebmcp.mcp.server import Server
from pywebmcp.mcp.session import Call, Method, Session, SessionClosedError
from pywebmcp.tasks import METHODS, NOTIFICATION, SUPPORT, capabilities
from pywebmcp.toolset import TOOLS

LIST_PATIENCE = 1.0
"""Seconds that tools/list waits for the page: clients begin with it, and some give up after five."""

_HARMLESS = frozenset(tool.name for tool in TOOLS if tool.read_only)

_LIST_CHANGED = "notifications/tools/list_changed"


class Relay:
    """One client's server; the page's session is another one, with the same requests in it."""

    def __init__(
        self, browser: Browser, roots: Sequence[Path] = (), store: str | None = None
    ) -> None:
        listeners = {name: self._pass_on(name) for name in (PROGRESS, NOTIFICATION)}
        self.link = Link(browser, listeners, store)
        self.link.connected = self._compare
        self._outputs = OutputTools(roots)
        self._client: Session | None = None
        self._listed: list[Any] | None = None
        """The page's tools as the client knows them."""
        self._tasks: dict[str, int] = {}
        """The tasks that were begun here, and in which page."""
        self._background: set[asyncio.Task[None]] = set()

    def server(self) -> Server:
        """What is served on the standard streams."""
        methods: dict[str, Method] = {
            "tools/list": self._list,
            "tools/call": self._call,
            **{name: self._task_method(name) for name in METHODS},
        }
        return Server(
            name="pywebmcp",
            title="Notebook in the page",
            version=__version__,
            methods=methods,
            capabilities={"tools": {"listChanged": True}, **capabilities()},
            instructions=INSTRUCTIONS,
        )

    async def _list(self, params: dict[str, Any], call: Call) -> Any:
        self._client = call.session
        if params.get("cursor") is not None:
            raise RpcError(ErrorCode.INVALID_PARAMS, "All tools are on the first page")
        try:
            session = await self.link.session(LIST_PATIENCE)
            self._listed = await _tools_of(session)
        except (BridgeError, RpcError):
            # The agent calls one of them, and reads why the page is not there; an error here would
            # only make the client show no tools.
            self._listed = [{**descriptor(tool), "execution": SUPPORT} for tool in TOOLS]
        return {"tools": [*self._listed, READ_OUTPUT]}

    async def _call(self, params: dict[str, Any], call: Call) -> Any:
        self._client = call.session
        name, arguments = params.get("name"), params.get("arguments") or {}
        if name == READ_OUTPUT["name"]:
            if params.get("task") is not None:
                raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"{name} cannot be called as a task")
            if not isinstance(arguments, dict):
                raise RpcError(ErrorCode.INVALID_PARAMS, "arguments are an object")
            return await self._outputs.call(name, arguments, call)
        as_task = params.get("task") is not None
        try:
            result = await self._ask("tools/call", params, again=name in _HARMLESS)
        except SessionClosedError:
            message = (
                f"The page was reloaded, left or closed while {name} was on its way: what it did "
                "until then is not known."
                + (" Repeat the call with its idempotency key." if as_task else "")
            )
        except BridgeError as error:
            message = str(error)
        else:
            if as_task and isinstance(result, dict) and isinstance(result.get("task"), dict):
                self._tasks[str(result["task"].get("taskId"))] = self.link.generation
            return result
        if as_task:
            raise RpcError(ErrorCode.INTERNAL_ERROR, message)
        # A result, not an error of the protocol: agents read those, and clients hide the others.
        return {"content": [{"type": "text", "text": message}], "isError": True}

    def _task_method(self, name: str) -> Method:
        async def answer(params: dict[str, Any], call: Call) -> Any:
            self._client = call.session
            try:
                return await self._ask(name, params, again=True)
            except SessionClosedError:
                raise RpcError(
                    ErrorCode.INTERNAL_ERROR,
                    "The page was reloaded, left or closed meanwhile: ask again.",
                ) from None
            except BridgeError as error:
                raise RpcError(ErrorCode.INTERNAL_ERROR, str(error)) from None
            except RpcError as error:
                raise self._lost(params.get("taskId"), error) from None

        return answer

    async def _ask(self, method: str, params: dict[str, Any], *, again: bool) -> Any:
        """What the page answers; where the page went away, the next one, if asking twice is no harm.

        Raises ``BridgeError``, ``SessionClosedError`` and what the page refused with.
        """
        session = await self.link.session()
        try:
            return await session.request(method, params)
        except SessionClosedError:
            if not again:
                raise
        return await (await self.link.session()).request(method, params)

    def _lost(self, task_id: Any, error: RpcError) -> RpcError:
        """The page's refusal; for a task that went away with an earlier page, that in words."""
        begun = self._tasks.get(task_id) if isinstance(task_id, str) else None
        unknown = error.code == ErrorCode.INVALID_PARAMS and "No such task" in error.message
        if begun is None or begun == self.link.generation or not unknown:
            return error
        if self.link.task_store != "memory":
            return error
        return RpcError(
            error.code,
            f"{error.message}. The page was reloaded since that task was created, and keeps its "
            "tasks in memory (its setting taskStoreClass names a store that lasts).",
        )

    def _pass_on(self, name: str) -> Any:
        def told(params: Mapping[str, Any]) -> None:
            if self._client is not None:
                self._client.notify(name, params)

        return told

    def _compare(self, session: Session) -> None:
        """Tell the client when a page that came has other tools than it was told of."""

        async def compare() -> None:
            before = self._listed
            if before is None or self._client is None:
                return
            try:
                now = await _tools_of(session)
            except RpcError:
                return
            if now != before and self._listed is before:
                self._client.notify(_LIST_CHANGED)

        task = asyncio.create_task(compare())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _tools_of(session: Session) -> list[Any]:
    answer = await session.request("tools/list")
    tools: list[Any] = answer["tools"]
    return tools
