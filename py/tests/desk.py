"""A tool server on a notebook in memory: what most tests of tools start from."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp import envelope
from pywebmcp.server import ToolServer
from pywebmcp.settings import Settings
from pywebmcp.testing import MemoryFrontend, counter, notebook
from pywebmcp.toolset import TOOLS
from pywebmcp.types import AbortSignal

Payload = dict[str, Any]


class Desk:
    """One person, one agent, and the tools between them."""

    def __init__(
        self,
        *cells: Any,
        files: dict[str, Any] | None = None,
        settings: Settings | None = None,
        minor: int = 5,
        **frontend: Any,
    ) -> None:
        self.frontend = MemoryFrontend(
            {"a.ipynb": notebook(*cells, minor=minor), **(files or {})}, **frontend
        )
        self.person = self.frontend.person
        self.server = ToolServer(self.frontend, TOOLS, settings=settings, new_id=counter("new"))

    async def open(self, path: str = "a.ipynb") -> None:
        """Open a notebook as the person does, and let its kernel start."""
        self.person.open(path)
        live = self.frontend.notebook(path)
        assert live is not None
        if live.kernel() is not None:
            await live.ready_kernel()

    async def call(
        self, tool: str, /, signal: AbortSignal | None = None, **arguments: Any
    ) -> Payload:
        """Call a tool through the whole of the server and take its payload out of the envelope.

        No call may take longer than its time limit, and a little for what it ends by.
        """
        loop = asyncio.get_running_loop()
        limit, start = self.server.settings.execution_timeout, loop.time()
        text = await self.server.call(tool, arguments, signal)
        assert loop.time() - start <= limit + 2, f"{tool} took {loop.time() - start} s"
        return envelope.decode(text)

    async def ok(self, tool: str, /, **arguments: Any) -> Payload:
        """Call a tool that has to succeed."""
        payload = await self.call(tool, **arguments)
        assert payload["success"] is True, payload
        assert "isError" not in payload
        return payload

    async def fail(self, code: str, tool: str, /, **arguments: Any) -> Payload:
        """Call a tool that has to fail with this code."""
        payload = await self.call(tool, **arguments)
        assert payload["success"] is False, payload
        assert payload["isError"] is True
        assert payload.get("code") == code, payload
        assert isinstance(payload["error"], str)
        return payload

    def sources(self, path: str = "a.ipynb") -> list[str]:
        """The sources of the live notebook."""
        live = self.frontend.notebook(path)
        assert live is not None
        return [cell["source"] for cell in live.cells(0, live.state()["cellCount"])]

    def ids(self, path: str = "a.ipynb") -> list[str]:
        """The ids of the live notebook."""
        live = self.frontend.notebook(path)
        assert live is not None
        return live.ids()


class Abort:
    """A caller's signal that a test aborts."""

    def __init__(self, aborted: bool = False) -> None:
        self.aborted = aborted
        self._callbacks: list[Any] = []

    def on_abort(self, callback: Any) -> Any:
        """Remember a listener."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def abort(self) -> None:
        """Give up."""
        self.aborted = True
        for callback in list(self._callbacks):
            callback()
