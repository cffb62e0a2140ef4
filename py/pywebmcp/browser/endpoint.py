"""The page's MCP door, ``window.pywebmcpMcp``: for its other scripts, and for a relay that drives the
page from outside. It is there with or without WebMCP.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

from pywebmcp import __version__
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.neighbours import Neighbours
from pywebmcp.eager import start
from pywebmcp.mcp.page import page_server
from pywebmcp.mcp.server import VERSIONS, Server
from pywebmcp.server import ToolServer
from pywebmcp.tasks import VARIABLE, StoreError, TaskService, build_store

log = logging.getLogger("pywebmcp")

NAME = "pywebmcpMcp"


async def open_door(tools: ToolServer) -> str | None:
    """Offer sessions to the page; answers why not, where the site's task store cannot be used.

    Then ``window.pywebmcpMcp.error`` says it too, and ``connect`` throws it: a site that asked for
    tasks that last does not get others.
    """
    # A relay that opens the page may name a store, as its environment does.
    named = ffi.given(getattr(ffi.window, "pywebmcpTaskStoreClass", None))
    spec, setting = (
        (str(named), VARIABLE) if named else (tools.settings.task_store_class, "taskStoreClass")
    )
    facts: dict[str, Any] = {
        "version": __version__,
        "protocolVersions": list(VERSIONS),
        "taskStore": spec.strip() or "memory",
    }
    try:
        tasks = TaskService(build_store(spec, setting=setting))
    except StoreError as error:
        log.error("No MCP in this page: %s", error)
        _offer({**facts, "error": str(error)}, ffi.null)
        return str(error)
    server = page_server(tools, tasks)
    if spec.strip():
        server = await _beside_others(server, tasks)
    _offer(facts, ffi.create_proxy(_Door(server).connect))
    return None


def _offer(facts: dict[str, Any], connect: Js) -> None:
    setattr(ffi.window, NAME, ffi.bridge().door(json.dumps(facts), connect))


async def _beside_others(server: Server, tasks: TaskService) -> Server:
    """The server for a store that other tabs and earlier pages may use too."""
    neighbours = Neighbours(tasks)
    await neighbours.arrive()

    def after_a_look(method: Any, name: str) -> Any:
        async def answer(params: dict[str, Any], call: Any) -> Any:
            if name.startswith("tasks/") or params.get("task") is not None:
                await neighbours.look()
            return await method(params, call)

        return answer

    methods = {name: after_a_look(each, name) for name, each in server.methods.items()}
    return replace(server, methods=methods)


class _Door:
    """Makes the sessions."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ending: set[asyncio.Task[None]] = set()

    def connect(self, post: Js) -> Js:
        """A session: ``post`` takes each text for the client; answers ``{take(text), end()}``."""
        session = self._server.connect(lambda text: post(ffi.string(text)))

        async def ended() -> None:
            await session.end()
            # Not in the call of one of them.
            await asyncio.sleep(0)
            for proxy in (take, end):
                proxy.destroy()
            post.destroy()

        def close(*_: Any) -> None:
            task = start(ended())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

        take = ffi.create_proxy(lambda text, *_: session.receive(text))
        end = ffi.create_proxy(close)
        return ffi.struct(take=take, end=end)
