"""Says aloud what happens outside of the panel, for those who do not see it."""

from __future__ import annotations

from pywebmcp.browser import ffi
from pywebmcp.browser.ui import view


class Announcer:
    """A live region of the page that is heard and not seen."""

    def __init__(self) -> None:
        self._node = view.element("pywebmcp-announcer", role="status", aria_live="polite")
        ffi.document.body.appendChild(self._node)

    def tell(self, text: str) -> None:
        """Say something once."""
        self._node.textContent = ffi.string(text)
