"""What the status bar says of the tools, through the loader's status (`tokens.status`)."""

from __future__ import annotations

from pywebmcp.browser.ffi import Js
from pywebmcp.constants import WEBMCP_FLAG

NO_WEBMCP = (
    f"This browser does not offer WebMCP. In Chromium, set {WEBMCP_FLAG} "
    "to Enabled and start the browser anew; JupyterLab works without it."
)


def ready(status: Js, count: int) -> None:
    """All tools are registered."""
    status.set("ready", f"{count} tools for the agent of this browser")


def unavailable(status: Js, reason: str) -> None:
    """No tool is registered; JupyterLab works as without them."""
    status.set("unavailable", reason)
