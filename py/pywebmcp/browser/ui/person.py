"""Builds the person's side on a running JupyterLab, with WebMCP or without."""

from __future__ import annotations

from pywebmcp.browser.ffi import Js
from pywebmcp.browser.frontend import BrowserFrontend
from pywebmcp.browser.ui.access_commands import AccessCommands
from pywebmcp.browser.ui.access_tab import AccessTab
from pywebmcp.browser.ui.agent_panel import AgentPanel
from pywebmcp.browser.ui.commands import CommandAdder
from pywebmcp.browser.ui.host import Host
from pywebmcp.browser.ui.tabs import Tab
from pywebmcp.browser.ui.tools_tab import ToolsTab
from pywebmcp.browser.ui.watch import Watch
from pywebmcp.server import ToolServer

SHOW_PANEL = "pywebmcp:show-agent-panel"


class PersonSide:
    """The panel, its commands, and what is shown at cells."""

    def __init__(self, app: Js, tokens: Js, frontend: BrowserFrontend, server: ToolServer) -> None:
        self._server = server
        self._frontend = frontend
        self.panel = AgentPanel(app, server.calls.in_background, self._tabs)
        commands = CommandAdder(app, tokens, server.calls.in_background)
        self._add_commands(commands)
        AccessCommands(app, tokens, frontend, commands)
        self._watch = Watch(tokens.tracker, self.panel.changed)

    def _tabs(self, host: Host) -> list[Tab]:
        return [AccessTab(self._frontend, host), ToolsTab(self._server, host)]

    def _add_commands(self, commands: CommandAdder) -> None:
        commands.add(
            SHOW_PANEL,
            "Show Agent Panel",
            lambda args: self.panel.show(args.get("tab")),
            caption="What the agent does, and what it may do",
            schema={"type": "object", "properties": {"tab": {"type": "string"}}},
        )
        commands.to_menu("viewMenu", 20, {"command": SHOW_PANEL})
