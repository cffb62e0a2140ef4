"""What the status bar says of the tools, through the loader's status (`tokens.status`)."""

from __future__ import annotations

from pywebmcp.browser.ffi import Js
from pywebmcp.constants import WEBMCP_FLAG

NO_WEBMCP = (
    f"This browser does not offer WebMCP. In Chromium, set {WEBMCP_FLAG} "
    "to Enabled and start the browser anew; JupyterLab works without it."
)


def ready(status: Js, count: int, no_mcp: str | None = None) -> None:
    """All tools are registered; ``no_mcp`` says why MCP clients have none."""
    _set(status, "ready", f"{count} tools for the agent of this browser", no_mcp)


def unavailable(status: Js, reason: str, no_mcp: str | None = None) -> None:
    """No tool is registered with the browser; JupyterLab, and MCP, work as without that."""
    _set(status, "unavailable", reason, no_mcp)


def _set(status: Js, state: str, reason: str, no_mcp: str | None) -> None:
    if no_mcp is None:
        status.set(state, reason)
    else:
        status.set(state, f"No MCP: {no_mcp} WebMCP: {reason}", f"WebMCP {state}, MCP failed")


def tell(status: Js, words: str) -> None:
    """What an agent is doing; nothing: the state as it was."""
    status.tell(words)
