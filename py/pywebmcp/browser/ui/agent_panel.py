"""The Agent panel: a Lumino widget in JupyterLab's right sidebar."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.ui import view
from pywebmcp.browser.ui.host import Host
from pywebmcp.browser.ui.tabs import Tab, Tabs
from pywebmcp.browser.ui.view import Frames, View

WIDGET_ID = "pywebmcp-agent-panel"

# After JupyterLab's property inspector (100) and its debugger: the last of the sidebar.
_RANK = 1000


class AgentPanel(Host):
    """The panel with its tabs; drawn only while a person sees it."""

    def __init__(
        self,
        app: Js,
        start: Callable[[Coroutine[Any, Any, None]], None],
        tabs: Callable[[Host], Sequence[Tab]],
    ) -> None:
        """``start`` runs a coroutine in the background; ``tabs`` makes the tabs for this panel."""
        self._shell = app.shell
        self._start = start
        self._frames = Frames(self._draw)
        self._focus: str | None = None
        node = view.element("pywebmcp-panel", role="region", aria_label="Agent")
        widgets = ffi.module("widgets")
        if widgets is None:
            raise RuntimeError("the page does not share @lumino/widgets")
        self._widget: Js = widgets.Widget.new(ffi.struct(node=node))
        self._widget.id = WIDGET_ID
        self._widget.title.caption = "Agent"
        self._widget.title.iconClass = "pywebmcp-icon jp-SideBar-tabIcon"
        self._tabs = Tabs("Agent", tabs(self), self)
        self._view = View(node, self._tabs.actions)
        self._seen = ffi.create_proxy(lambda *_: self.changed())
        ffi.window.IntersectionObserver.new(self._seen).observe(node)
        app.shell.add(self._widget, "right", ffi.struct(rank=_RANK))

    def changed(self) -> None:
        """What it shows has changed, or it came into view."""
        self._frames.ask()

    def focus(self, element_id: str) -> None:
        """Give the keyboard focus to what the next drawing makes."""
        self._focus = element_id
        self.changed()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something in the background."""
        self._start(coroutine)

    def show(self, tab_id: str | None = None) -> None:
        """Bring it into view, with a tab of it."""
        if tab_id is not None:
            self._tabs.choose(tab_id)
        self._shell.activateById(WIDGET_ID)

    def _draw(self) -> None:
        if not self._widget.isVisible:
            return
        self._view.show(*self._tabs.nodes())
        if self._focus is not None:
            element_id, self._focus = self._focus, None
            view.focus(element_id)
