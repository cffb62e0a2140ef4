"""Puts the parts together: front end, tool server, settings, registration, status."""

from __future__ import annotations

import asyncio
import logging

from pywebmcp.browser import endpoint, ffi, loop, model_context, settings, status
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.frontend import BrowserFrontend
from pywebmcp.browser.ui.person import PersonSide
from pywebmcp.server import ToolServer
from pywebmcp.settings import Settings
from pywebmcp.toolset import TOOLS

log = logging.getLogger("pywebmcp")

_active: ToolServer | None = None


def server() -> ToolServer | None:
    """The page's tool server, once it is active."""
    return _active


async def start(app: Js, tokens: Js, modules: Js) -> None:
    """Activate once; a second time does nothing.

    Never raises for what the browser or the site does not offer: that is a status, and JupyterLab
    works on.
    """
    global _active
    if _active is not None:
        log.warning("pywebmcp is active already; this activation does nothing")
        return
    ffi.use_modules(modules)
    loop.quicken(asyncio.get_running_loop())
    frontend = BrowserFrontend(app, tokens)
    active = _active = ToolServer(frontend, TOOLS)
    # Before anything of WebMCP: a person has it where the browser has none as well.
    person = _person_side(app, tokens, frontend, active)

    def apply(values: Settings) -> None:
        active.settings = values
        if person is not None:
            person.panel.changed()

    await settings.follow(ffi.given(tokens.settings), apply)
    # With the settings, and before what a browser may lack: MCP is the door that is always there.
    no_mcp = await _mcp_door(active)
    context = model_context.find()
    if context is None:
        status.unavailable(tokens.status, status.NO_WEBMCP, no_mcp)
        return
    try:
        await model_context.register(context, active, tokens.signal)
    except model_context.Refused as refused:
        status.unavailable(tokens.status, f"No tools: {refused}", no_mcp)
        return
    status.ready(tokens.status, len(active.tools), no_mcp)


async def _mcp_door(active: ToolServer) -> str | None:
    """Open the MCP door; answers why there is none."""
    try:
        return await endpoint.open_door(active)
    except Exception as error:
        log.exception("the MCP door could not be opened")
        return f"{type(error).__name__}: {error}"


def _person_side(
    app: Js, tokens: Js, frontend: BrowserFrontend, active: ToolServer
) -> PersonSide | None:
    """The person's side; the tools do not depend on it where an app cannot show it."""
    try:
        return PersonSide(app, tokens, frontend, active)
    except Exception:
        log.exception("the Agent panel could not be made")
        return None
