"""WebMCP: registers the tools on ``document.modelContext`` and carries calls to the tool server."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from pywebmcp import envelope, jsontext
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Signal
from pywebmcp.errors import Code, ToolError
from pywebmcp.server import ToolServer

log = logging.getLogger("pywebmcp")


class Refused(Exception):  # noqa: N818
    """The browser did not take the tools; the message says why, for a person."""


def find() -> Js | None:
    """The page's model context, or None where the browser has none."""
    context = ffi.given(getattr(ffi.document, "modelContext", None))
    if context is None or ffi.given(getattr(context, "registerTool", None)) is None:
        return None
    return context


class Calls:
    """Runs the browser's calls; each is answered once and none ever raises."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._running: set[asyncio.Task[None]] = set()

    def start(self, name: str, arguments: str, signal: Js, settle: Js) -> None:
        """Begin a call; ``settle`` takes the JSON text of the envelope."""
        # Eager: a tool that has nothing to wait for answers before this returns.
        task: asyncio.Task[None] = asyncio.Task(
            self._run(name, arguments, signal, settle),
            loop=self._loop,
            eager_start=True,  # type: ignore[call-arg,unused-ignore]
        )
        if not task.done():
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, name: str, arguments: str, signal: Js, settle: Js) -> None:
        caller = Signal(signal)
        try:
            text = await self._server.call(name, arguments, caller)
        except BaseException as error:
            # The server answers every failure itself; what is left is the end of its task.
            log.exception("the call of %s was lost", name)
            payload = ToolError(
                Code.INTERNAL_ERROR, f"The call was lost ({type(error).__name__}): try again."
            ).payload()
            text = envelope.encode(jsontext.dumps(payload), True)
        finally:
            caller.close()
        settle(text)


async def register(context: Js, server: ToolServer, given_up: Js) -> None:
    """Register every tool of the server; raises ``Refused`` and leaves none when one is refused.

    ``given_up`` is the ``AbortSignal`` of the boot.
    """
    descriptors = [tool.descriptor() for tool in server.tools.values()]
    controller = ffi.window.AbortController.new()
    call = ffi.create_proxy(Calls(server).start)
    answer = await ffi.bridge().registerTools(
        context, json.dumps(descriptors), call, ffi.struct(signal=controller.signal)
    )
    failures: list[dict[str, Any] | None] = json.loads(answer)
    failed = next((failure for failure in failures if failure), None)
    if failed is not None or given_up.aborted:
        controller.abort()
        raise Refused(_explained(failed) if failed else "the boot was given up")


def _explained(failure: dict[str, Any]) -> str:
    """A failure of ``registerTool`` (a DOMException's name and message) in a person's words."""
    name, message = failure["name"], failure["message"]
    known = {
        "NotAllowedError": "this site's Permissions-Policy forbids WebMCP tools",
        "SecurityError": "the browser refuses WebMCP tools on this page (a site needs https, or "
        "127.0.0.1, and no Origin-Agent-Cluster: ?0)",
        "InvalidStateError": "a tool of the same name is registered already, perhaps by another "
        "extension",
    }
    return f"{known.get(name, 'the browser refused the tools')} ({name}: {message})"
