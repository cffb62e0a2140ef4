"""The way to the page's MCP endpoint: made when it is needed, made again after a reload, and lost with
a reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pywebmcp import __version__
from pywebmcp.bridge.browser import Browser, facts
from pywebmcp.bridge.errors import BridgeError, FatalError, UsageError
from pywebmcp.mcp.server import VERSIONS
from pywebmcp.mcp.session import Listener, Session

if TYPE_CHECKING:
    from playwright.async_api import JSHandle, Page

log = logging.getLogger("pywebmcp.bridge")

PATIENCE = 45.0
"""Seconds that a request waits for a page that loads. Clients give up at 60."""

LOOK = 5.0
"""Seconds until it is looked whether waiting for the page is of any use."""

_READY = """() => globalThis.pywebmcpMcp
    || document.documentElement.dataset.pywebmcpStatus === "failed" """

# Answers are fetched, not sent: nothing of ours is left in the page's globals, and a page that is left
# ends the fetch with an error. One whose relay died keeps a thousand texts and no more.
_CONNECT = """() => {
    const { error, taskStore, connect } = globalThis.pywebmcpMcp;
    if (error) return { error };
    let texts = [], wake = null;
    const session = connect((text) => {
        if (texts.push(text) > 1000) session.close();
        wake?.();
    });
    return {
        taskStore,
        send: (text) => session.send(text),
        close: () => session.close(),
        async next() {
            if (!texts.length) await new Promise((resolve) => { wake = resolve; });
            const taken = texts;
            texts = [];
            return taken;
        },
    };
}"""


class Link:
    """One page's endpoint, as long as the program runs.

    Args:
        browser: where the page is.
        listeners: for the page's notifications, by name.
        store: the task store that the environment names; a page that has another one is refused.
    """

    def __init__(
        self, browser: Browser, listeners: Mapping[str, Listener], store: str | None = None
    ) -> None:
        self._browser = browser
        self._listeners = listeners
        self._store = store
        self._page: Page | None = None
        self._session: Session | None = None
        self._connecting: asyncio.Task[Session] | None = None
        self._following: set[asyncio.Task[None]] = set()
        self.fatal: asyncio.Future[FatalError] = asyncio.get_running_loop().create_future()
        """Set when trying again is of no use."""
        self.generation = 0
        """Grows with every page that was connected to."""
        self.task_store = "memory"
        """Where the page keeps its tasks."""
        self.connected: Callable[[Session], None] = lambda session: None
        """Told of every new session."""

    async def session(self, patience: float = PATIENCE) -> Session:
        """The session, once the page is there. Raises ``BridgeError`` when it is not in time."""
        if self._session is not None:
            return self._session
        connecting = self.begin()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while not connecting.done():
            left = deadline - loop.time()
            await asyncio.wait({connecting}, timeout=min(max(left, 0), LOOK))
            if not connecting.done() and (loop.time() >= deadline or await self._elsewhere()):
                raise BridgeError(await self._why_not())
        return connecting.result()

    def begin(self) -> asyncio.Task[Session]:
        """Connect, unless that goes on already."""
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(self._connected)
        return self._connecting

    async def close(self) -> None:
        """End the session, and let go of the browser."""
        tasks = {*self._following, *([self._connecting] if self._connecting else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        if self._session is not None:
            await self._session.end()
        await self._browser.close()

    def _connected(self, connecting: asyncio.Task[Session]) -> None:
        if connecting.cancelled():
            return
        error = connecting.exception()
        if isinstance(error, FatalError) and not self.fatal.done():
            self.fatal.set_result(error)

    async def _connect(self) -> Session:
        page = self._page = await self._browser.page()
        handle = await self._ready(page)
        told: dict[str, Any] = await handle.evaluate("({error, taskStore}) => ({error, taskStore})")
        if told.get("error"):
            raise UsageError(told["error"])
        if self._store and told["taskStore"] != self._store:
            raise UsageError(
                f"JUPYTER_MCP_TASK_STORE_CLASS names the task store {self._store!r}, and the page "
                f"that is open already keeps its tasks in {told['taskStore']!r}: reload it, or set "
                "taskStoreClass there."
            )
        self.task_store = told["taskStore"]
        outgoing: asyncio.Queue[str] = asyncio.Queue()
        session = Session(outgoing.put_nowait, {}, self._listeners)
        following = asyncio.create_task(self._follow(page, handle, session, outgoing))
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        await session.request(
            "initialize",
            {
                "protocolVersion": VERSIONS[0],
                "capabilities": {},
                "clientInfo": {"name": "pywebmcp-bridge", "version": __version__},
            },
        )
        session.notify("notifications/initialized")
        self._session = session
        self.generation += 1
        self.connected(session)
        return session

    async def _ready(self, page: Page) -> JSHandle:
        """What the page's endpoint answers to being connected to."""
        while True:
            try:
                # Polled by time: a hidden tab draws no frames. A navigation is gone along with.
                await page.wait_for_function(_READY, polling=250, timeout=0)
                told = await facts(page)
                if told is not None and told["status"] == "failed" and not told["door"]:
                    raise BridgeError(
                        f"pywebmcp could not start in {told['url']}: {told['reason']}. Reload the "
                        "page to try again."
                    )
                return await page.evaluate_handle(_CONNECT)
            except BridgeError:
                raise
            except Exception as error:
                if page.is_closed():
                    # Says why.
                    await self._browser.page()
                    raise BridgeError("The page was closed.") from None
                if "crash" in str(error).lower():
                    raise BridgeError("The page crashed: it is loaded again.") from None
                log.info("the page was left while it was connected to: %s", error)
                await asyncio.sleep(0.25)

    async def _follow(
        self, page: Page, handle: JSHandle, session: Session, outgoing: asyncio.Queue[str]
    ) -> None:
        """Carry messages until the page is gone."""

        async def send() -> None:
            while True:
                await handle.evaluate("(link, text) => link.send(text)", await outgoing.get())

        async def receive() -> None:
            while True:
                for text in await handle.evaluate("(link) => link.next()"):
                    session.receive(text)

        ways = {asyncio.create_task(send()), asyncio.create_task(receive())}
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)
            for way in ways:
                if not way.cancelled():
                    log.info("the page was left: %s", way.exception())
            if self._session is session:
                self._session = None
            await session.end()
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    await handle.evaluate("(link) => link.close()")
        if not page.is_closed():
            self.begin()

    async def _elsewhere(self) -> bool:
        """Whether the tab shows something that will never be a page of ours."""
        told = await facts(self._page) if self._page is not None else None
        return told is not None and told["loaded"] and not told["jupyter"]

    async def _why_not(self) -> str:
        """Why there is no session yet, in words."""
        page = self._page
        if page is None:
            return "The browser is still starting: try again in some seconds."
        told = await facts(page)
        if told is None:
            return (
                f"The page {page.url} does not answer (it may be loading, or show a dialog of the "
                "browser): try again in some seconds."
            )
        if told["status"] == "starting" or not told["loaded"]:
            return f"The page {told['url']} is still loading: try again in some seconds."
        what = "a JupyterLab without pywebmcp" if told["jupyter"] else "no JupyterLab"
        return (
            f"The tab shows {told['url']}, which is {what}: the tools are there when it shows a "
            "site that has pywebmcp."
        )
