"""The browser: one that is started for a site and ended with us, or one that somebody else has."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any, Protocol

from pywebmcp.bridge import chromium
from pywebmcp.bridge.errors import BridgeError, FatalError, UsageError
from pywebmcp.bridge.target import Target

if TYPE_CHECKING:
    from playwright.async_api import Browser as Remote
    from playwright.async_api import BrowserContext, Page, Playwright

LOADING = 60_000
"""Milliseconds for a site to answer with its page."""

TABS = 10.0
"""Seconds in which tabs that are loading may turn out to be what is looked for."""

GLANCE = 2.0
"""Seconds for a tab to say what it shows; one that is frozen or asks something does not."""

FACTS = """() => ({
    door: Boolean(globalThis.pywebmcpMcp),
    status: document.documentElement.dataset.pywebmcpStatus ?? null,
    reason: document.querySelector("[data-pywebmcp-status][role=status]")?.title ?? null,
    jupyter: Boolean(document.getElementById("jupyter-config-data")),
    loaded: document.readyState === "complete",
    visible: document.visibilityState === "visible",
    url: location.href,
})"""
"""What a page says of itself."""


class Browser(Protocol):
    """Where the page is."""

    async def page(self) -> Page:
        """The page, as soon as it was asked to load. Raises ``BridgeError``."""
        ...

    async def close(self) -> None:
        """Let go of the browser; end it if it was started here."""
        ...


def browser_for(target: Target) -> Browser:
    """The browser that a target means; nothing is started yet."""
    return Attached(target) if target.cdp else Started(target)


async def facts(page: Page) -> dict[str, Any] | None:
    """What the page says of itself, None when it says nothing in time."""
    try:
        async with asyncio.timeout(GLANCE):
            told: dict[str, Any] = await page.evaluate(FACTS)
            return told
    except Exception:
        # Playwright's errors of pages that are just being left, closed or crashed.
        return None


async def _playwright() -> Playwright:
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise UsageError(
            'Playwright is needed for this and not installed: pip install "pywebmcp[mcp]".'
        ) from None
    return await async_playwright().start()


class Started:
    """A Chromium of our own: it begins with the first page and ends with us."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._playwright: Playwright | None = None
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._closed = False

    async def page(self) -> Page:
        """The page; loaded anew where that failed before, or where it crashed."""
        if self._context is None:
            self._context = await self._start()
        if self._closed or (self._page is not None and self._page.is_closed()):
            raise BridgeError(
                "The browser that pywebmcp had opened was closed. Start the MCP server pywebmcp "
                "again (in most clients: reconnect it) to open another one."
            )
        if self._page is None:
            page = self._context.pages[0] if self._context.pages else None
            page = page or await self._context.new_page()
            if self._target.store:
                await page.add_init_script(
                    f"globalThis.pywebmcpTaskStoreClass = {self._target.store!r};"
                )
            await _load(page, self._target.url or "")
            self._page = page
            page.on("crash", self._crashed)
        return self._page

    async def close(self) -> None:
        """End the browser, and wait for that."""
        if self._context is not None:
            with contextlib.suppress(Exception):
                await self._context.close()
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                await self._playwright.stop()

    def _crashed(self, page: Page) -> None:
        self._page = None

    async def _start(self) -> BrowserContext:
        try:
            program = chromium.find()
        except chromium.ChromiumError as error:
            raise UsageError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        self._playwright = self._playwright or await _playwright()
        target = self._target
        # Without a folder Playwright makes one, and removes it at the end.
        folder = "" if target.isolated else str(target.profile)
        try:
            context = await self._playwright.chromium.launch_persistent_context(
                folder,
                executable_path=str(program),
                headless=target.headless,
                args=chromium.switches(),
                no_viewport=True if not target.headless else None,
            )
        except Exception as error:
            text = str(error)
            if "ProcessSingleton" in text or "existing browser session" in text:
                raise FatalError(
                    f"Another browser, of another pywebmcp perhaps, uses the profile {folder}. "
                    "Attach to it with --cdp, or give --isolated for a browser that keeps nothing."
                ) from None
            raise FatalError(f"{program} did not start: {_first_line(text)}") from None
        context.on("close", lambda _: self._left())
        if not target.headless:
            _leave_dialogs(context)
        return context

    def _left(self) -> None:
        self._closed = True


class Attached:
    """Somebody else's browser, at the address of its DevTools: nothing of it is closed."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._playwright: Playwright | None = None
        self._remote: Remote | None = None
        self._page: Page | None = None

    async def page(self) -> Page:
        """The tab we had; else one that shows a page of ours; else a new one for the address."""
        remote = await self._connected()
        if self._page is not None and not self._page.is_closed():
            return self._page
        wanted = self._target.url
        loop = asyncio.get_running_loop()
        deadline = loop.time() + TABS
        while True:
            tabs = [page for context in remote.contexts for page in context.pages]
            told = [(page, await facts(page)) for page in tabs]
            ours = [
                (page, each)
                for page, each in told
                if each and each["jupyter"] and (not wanted or _same_site(each["url"], wanted))
            ]
            loading = any(each is None or not each["loaded"] for _, each in told)
            if ours or not loading or loop.time() > deadline:
                break
            await asyncio.sleep(0.25)
        # The one that a person looks at, if there are several.
        ours.sort(
            key=lambda pair: (pair[1]["door"], bool(pair[1]["status"]), pair[1]["visible"]),
            reverse=True,
        )
        if ours:
            self._page = ours[0][0]
            if len(ours) > 1:
                print(f"pywebmcp: {len(ours)} tabs; using {ours[0][1]['url']}", file=sys.stderr)
        elif wanted is None:
            shown = ", ".join(page.url for page in tabs) or "none"
            raise BridgeError(
                f"No tab of the browser at {self._target.cdp} shows a page with pywebmcp (its tabs: "
                f"{shown}). Open the site there, or name it with --url."
            )
        else:
            context = remote.contexts[0] if remote.contexts else await remote.new_context()
            page = await context.new_page()
            if self._target.store:
                await page.add_init_script(
                    f"globalThis.pywebmcpTaskStoreClass = {self._target.store!r};"
                )
            await _load(page, wanted)
            self._page = page
        self._page.on("crash", self._crashed)
        return self._page

    async def close(self) -> None:
        """Detach; tabs and browser stay as they are."""
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                await self._playwright.stop()

    def _crashed(self, page: Page) -> None:
        self._page = None

    async def _connected(self) -> Remote:
        if self._remote is not None and self._remote.is_connected():
            return self._remote
        self._page = None
        self._playwright = self._playwright or await _playwright()
        try:
            self._remote = await self._playwright.chromium.connect_over_cdp(self._target.cdp or "")
        except Exception as error:
            raise BridgeError(
                f"No browser answers at {self._target.cdp}: start one with "
                f"--remote-debugging-port, and try again ({_first_line(str(error))})."
            ) from None
        for context in self._remote.contexts:
            _leave_dialogs(context)
        return self._remote


async def _load(page: Page, url: str) -> None:
    try:
        # Not all of it: JupyterLab loads for seconds, and says itself when it is there.
        answer = await page.goto(url, wait_until="commit", timeout=LOADING)
    except Exception as error:
        raise BridgeError(f"{url} cannot be opened: {_first_line(str(error))}") from None
    if answer is not None and answer.status >= 400:
        raise BridgeError(f"{url} cannot be opened: the site answers {answer.status}.")


def _leave_dialogs(context: BrowserContext) -> None:
    """Without a listener Playwright dismisses the browser's own dialogs; they are for the person."""
    context.on("dialog", lambda dialog: None)


def _same_site(shown: str, wanted: str) -> bool:
    """Whether a tab shows a page of the site that an address is of, in whichever of its apps."""
    start = wanted.partition("?")[0].partition("#")[0]
    for end in ("lab/index.html", "index.html", "lab/", "lab"):
        if start.endswith(end):
            start = start[: -len(end)]
            break
    return shown.startswith(start)


def _first_line(text: str) -> str:
    line = next((each.strip() for each in text.splitlines() if each.strip()), "no reason given")
    return line if len(line) <= 300 else f"{line[:299]}…"
