"""The official MCP client for Python, at the other end of ``pywebmcp mcp``'s standard streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import _chromium
import _setup
from lab import PATIENCE
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "py")}
COMMAND = [sys.executable, "-W", "error", "-m", "pywebmcp"]
KEY = "io.datalayer/idempotency-key"


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run it on a loop of its own; that of this thread is Playwright's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asyncio.wait_for(coroutine, PATIENCE / 1000)).result()


class Client:
    """One client's session."""

    def __init__(self, session: ClientSession, notes: list[Any]) -> None:
        self.session = session
        self.notes = notes
        """The methods of the notifications that came."""

    @property
    def _tasks(self) -> Any:
        with warnings.catch_warnings():
            # Tasks are to leave the protocol and come back as an extension; this SDK still has them.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.session.experimental

    async def cancel(self, task: str) -> Any:
        """Cancel a task; its state then."""
        return await self._tasks.cancel_task(task)

    async def tool(self, name: str, /, **arguments: Any) -> types.CallToolResult:
        return await self.session.call_tool(name, arguments)

    async def ok(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The payload of a call that has to succeed, pending or not."""
        result = await self.tool(name, **arguments)
        while True:
            assert not result.isError, result.content
            payload: dict[str, Any] = result.structuredContent or {}
            if payload.get("status") != "pending":
                return payload
            result = await self.tool("jupyter_wait_for_result", pendingId=payload["pendingId"])

    async def task(self, name: str, /, key: str | None = None, **arguments: Any) -> str:
        """Create a task; its id."""
        meta = {KEY: key} if key else None
        made = await self._tasks.call_tool_as_task(name, arguments, ttl=600_000, meta=meta)
        return str(made.task.taskId)

    async def settled(self, task: str) -> types.GetTaskResult:
        """The task once it has settled."""
        async for state in self._tasks.poll_task(task):
            last = state
        return last

    async def result(self, task: str) -> types.CallToolResult:
        return await self._tasks.get_task_result(task, types.CallToolResult)

    async def notebook(self, path: str, *sources: str) -> list[str]:
        """Make a notebook with these cells and a kernel that is ready; the ids of the cells."""
        await self.ok("jupyter_open_notebook", path=path, create=True, kernel="python")
        ids = []
        for source in sources:
            given = {"source": source, **({"referenceCellId": ids[-1]} if ids else {})}
            ids.append((await self.ok("jupyter_insert_cell", **given))["id"])
        await self.ok("jupyter_run_code", code="None")
        return ids


@contextlib.asynccontextmanager
async def client(*words: str, env: dict[str, str] | None = None) -> AsyncIterator[Client]:
    """A client that has started ``pywebmcp mcp`` with these words."""
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", *words],
        env={**ENVIRONMENT, **(env or {})},
    )
    notes: list[Any] = []

    async def note(message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            notes.append(message.root)

    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write, message_handler=note) as session,
    ):
        await session.initialize()
        yield Client(session, notes)


class Chromium:
    """A browser that somebody has open, with its DevTools at an address."""

    def __init__(self, process: subprocess.Popen[bytes], cdp: str) -> None:
        self.process = process
        self.cdp = cdp

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def chromium(*urls: str) -> Iterator[Chromium]:
    """A Chromium of its own, on these pages."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [
                str(_setup.ensure_chromium()),
                "--headless=new",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                *_chromium.arguments(),
                *urls,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Chromium(process, f"http://127.0.0.1:{_port(process, Path(folder))}")
        finally:
            process.terminate()
            process.wait()


def _port(process: subprocess.Popen[bytes], profile: Path) -> int:
    """The port of its DevTools, which it writes into its profile."""
    while process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            return int((profile / "DevToolsActivePort").read_text().split()[0])
        time.sleep(0.05)
    raise AssertionError("Chromium ended at once")


def tabs(browser: Chromium) -> list[str]:
    """The addresses of the browser's tabs."""
    with urllib.request.urlopen(f"{browser.cdp}/json/list") as answer:
        return [each["url"] for each in json.load(answer) if each["type"] == "page"]
