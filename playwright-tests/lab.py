"""Driving JupyterLab's page in a test: opening, waiting for states, calling tools."""

from __future__ import annotations

import json
from textwrap import dedent, indent
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, WebError

PATIENCE = 180_000
"""Milliseconds. Only what hangs takes that long; a loaded machine starts a kernel in 40 s."""

_STATUS = "document.documentElement.dataset.pywebmcpStatus"
_CURRENT = "pywebmcp.tokens.tracker.currentWidget"

_CALL = """async ([name, input, seconds]) => {
    const tool = (await document.modelContext.getTools()).find((tool) => tool.name === name);
    if (!tool) throw new Error(`the page has no tool ${name}`);
    const text = typeof tool.inputSchema === "string";
    return await document.modelContext.executeTool(tool, text ? JSON.stringify(input) : input);
}"""

_PYTHON = """
import asyncio, json
import js
from pywebmcp.browser import activation, ffi
from pywebmcp.errors import ToolError

async def body():
    frontend = activation.server().frontend
    nb = frontend.notebook()
{body}

json.dumps(await body())
"""


class Lab:
    """One page of the site, in whichever app."""

    def __init__(self, page: Page, site: str) -> None:
        self.page = page
        self.site = site
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(PATIENCE)

    def open(self, path: str | None = None, *, app: str = "lab", kernel: bool = False) -> Lab:
        """Open the app, on a notebook or without; wait until the boot has ended.

        With ``kernel`` also until the notebook's kernel is idle.
        """
        query = f"?path={path}" if path else "?reset"
        self.page.goto(f"{self.site}{app}/index.html{query}")
        self.until(f"['ready', 'unavailable', 'failed'].includes({_STATUS})")
        if path:
            self.until(f"{_CURRENT}?.context.isReady")
        if kernel:
            self.until_kernel()
        return self

    def reload(self) -> Lab:
        """Load the page anew and wait until the boot has ended."""
        self.page.reload()
        self.until(f"['ready', 'unavailable', 'failed'].includes({_STATUS})")
        return self

    def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is truthy."""
        self.page.wait_for_function(expression, timeout=PATIENCE)

    def until_kernel(self, status: str = "idle") -> None:
        """Wait until the current notebook's kernel has this status."""
        self.until(f"{_CURRENT}?.sessionContext.session?.kernel?.status === '{status}'")

    @property
    def status(self) -> str:
        """``ready``, ``unavailable``, ``failed`` or ``starting``."""
        return str(self.page.evaluate(_STATUS))

    def js(self, code: str, argument: Any = None) -> Any:
        """Evaluate JavaScript in the page; ``nb`` is the current notebook's widget there."""
        return self.page.evaluate(
            f"(argument) => {{ const nb = {_CURRENT}?.content; return ({code}); }}", argument
        )

    def python(self, body: str) -> Any:
        """Run the body of an async function in the page's Python; what it returns, through JSON.

        ``frontend`` is the page's front end there, ``nb`` its current notebook.
        """
        text = self.page.evaluate(
            "(code) => pywebmcp.pyodide.runPythonAsync(code)",
            _PYTHON.format(body=indent(dedent(body), "    ")),
        )
        return json.loads(text)

    def raw(self, name: str, arguments: dict[str, Any] | None = None) -> str:
        """Call a tool as a browser's agent does; what ``executeTool`` answers."""
        return str(self.page.evaluate(_CALL, [name, arguments or {}]))

    def call(self, name: str, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
        """Call a tool and answer its payload."""
        envelope = json.loads(self.raw(name, {**(arguments or {}), **more}))
        return envelope["structuredContent"]

    def must(self, name: str, **arguments: Any) -> Any:
        """Call a tool that has to succeed and answer its payload."""
        payload = self.call(name, arguments)
        assert payload["success"] is True, payload
        return payload

    def start(self, name: str, **arguments: Any) -> None:
        """Begin a call and do not wait for it; ``finish`` answers its payload."""
        self.page.evaluate(
            f"(given) => {{ globalThis.begun = ({_CALL})(given); }}", [name, arguments]
        )

    def finish(self) -> Any:
        """The payload of the call that was begun."""
        return json.loads(self.page.evaluate("begun"))["structuredContent"]

    # What a person does

    def cell(self, index: int) -> Locator:
        """A cell of the notebook in view, where it is rendered."""
        return self.page.locator(
            f'.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index="{index}"]'
        )

    def click(self, index: int, cursor: int) -> None:
        """Click into a cell's editor and walk to an offset, with mouse and keyboard."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Home")
        for _ in range(cursor):
            self.page.keyboard.press("ArrowRight")

    def type(self, text: str) -> None:
        """Press keys, wherever the keyboard focus is."""
        self.page.keyboard.type(text)

    def sources(self) -> list[str]:
        """The sources of the current notebook's cells, as the shared model has them."""
        found: list[str] = self.js("nb.model.sharedModel.cells.map((cell) => cell.getSource())")
        return found


class Watch:
    """What no test may cause: requests that leave this machine, and errors in the console."""

    HARMLESS = (
        # JupyterLite, when it looks for files that the site does not have.
        "Failed to load resource",
        "worry, about SyntaxError",
        # A kernel whose code ends its process.
        "Program terminated with exit",
        # JupyterLab, of a file that it cannot read; the person gets a dialog.
        "Failed to initialize the context",
        # JupyterLab, of a Markdown output that the file keeps as a list of lines.
        "Failed to update the table of contents",
        # JupyterLab, when a notebook is closed that it was still rendering.
        "Error while computing the ReactiveToolbar",
        "reading 'insertWidget'",
        "reading 'promise'",
    )

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.left: list[str] = []
        self.errors: list[str] = []
        self._site = site
        context.on("request", lambda request: self._request(request.url))
        # Of these the context hears nothing itself.
        context.on("page", lambda page: page.on("websocket", lambda each: self._request(each.url)))
        context.on("console", self._console)
        context.on("weberror", self._error)

    def check(self) -> None:
        """Assert that nothing of it happened."""
        assert not self.left, "requests that left this machine: " + ", ".join(self.left)
        assert not self.errors, "errors in the console:\n" + "\n".join(self.errors)

    def _request(self, url: str) -> None:
        if not url.startswith((self._site, "blob:", "data:")):
            self.left.append(url)

    def _console(self, message: ConsoleMessage) -> None:
        ours = "[pywebmcp]" in message.text
        if message.type == "error" or (ours and message.type == "warning"):
            self._note(message.text)

    def _error(self, error: WebError) -> None:
        stack = getattr(error.error, "stack", None) or ""
        if "/build/" in stack and not any(part in stack for part in ("pywebmcp", "pyodide")):
            # Of JupyterLab's own code alone, which minds when a notebook closes early.
            return
        self._note(str(error.error))

    def _note(self, text: str) -> None:
        if not any(harmless in text for harmless in self.HARMLESS):
            self.errors.append(text)
