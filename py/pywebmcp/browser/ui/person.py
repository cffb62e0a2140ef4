"""Builds the person's side on a running JupyterLab, with WebMCP or without."""

from __future__ import annotations

import uuid

from pywebmcp.browser import status
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.frontend import BrowserFrontend
from pywebmcp.browser.ui import comment_commands
from pywebmcp.browser.ui.access_commands import AccessCommands
from pywebmcp.browser.ui.access_tab import AccessTab
from pywebmcp.browser.ui.activity_tab import ActivityTab
from pywebmcp.browser.ui.agent_panel import AgentPanel
from pywebmcp.browser.ui.announcer import Announcer
from pywebmcp.browser.ui.banners import Banners
from pywebmcp.browser.ui.cell_nodes import CellNodes
from pywebmcp.browser.ui.commands import CommandAdder
from pywebmcp.browser.ui.comment_marks import CommentMarks
from pywebmcp.browser.ui.comments_tab import CommentsTab
from pywebmcp.browser.ui.decisions import Decisions
from pywebmcp.browser.ui.doing import Doing
from pywebmcp.browser.ui.host import Host
from pywebmcp.browser.ui.marks import Marks
from pywebmcp.browser.ui.pointer import Pointer
from pywebmcp.browser.ui.spots import Spot
from pywebmcp.browser.ui.tabs import Tab
from pywebmcp.browser.ui.tools_tab import ToolsTab
from pywebmcp.browser.ui.watch import Watch
from pywebmcp.server import ToolServer
from pywebmcp.tools import utc_now

SHOW_PANEL = "pywebmcp:show-agent-panel"
ASK_FIRST = "pywebmcp:ask-before-edits"
NEXT_PROPOSAL = "pywebmcp:next-proposal"


class PersonSide:
    """The panel, its commands, and what is shown at cells."""

    def __init__(self, app: Js, tokens: Js, frontend: BrowserFrontend, server: ToolServer) -> None:
        self._server = server
        self._frontend = frontend
        self._pointer = Pointer(app, tokens.tracker)
        self._announcer = Announcer()
        tell = self._announcer.tell
        self._decisions = Decisions(server.proposals, server.calls.in_background, tell)
        self.panel = AgentPanel(app, server.calls.in_background, self._tabs)
        commands = CommandAdder(app, tokens, server.calls.in_background)
        self._add_commands(commands)
        AccessCommands(app, tokens, frontend, commands, self._pointer)
        comment_commands.add(commands, self._pointer, self._compose)
        server.activity.watch(self.panel.changed)
        server.proposals.watch(self.panel.changed)
        cells = CellNodes(frontend, tokens.tracker)
        self._banners = Banners(frontend, cells, self._decisions, tell)
        self._marks = Marks(server.activity, cells)
        self._doing = Doing(
            server.activity, server.tools, lambda text: status.tell(tokens.status, text)
        )
        self._comment_marks = CommentMarks(frontend, cells, self._show_thread)
        self._watch = Watch(tokens.tracker, self._notebook_changed)

    def _notebook_changed(self) -> None:
        self.panel.changed()
        self._comment_marks.changed()

    def _compose(self, spot: Spot | None) -> None:
        self.panel.show("comments")
        self._comments.compose(spot)

    def _show_thread(self, thread_id: str) -> None:
        self.panel.show("comments")
        self._comments.show(thread_id)

    def _spot(self) -> Spot | None:
        """What a new comment is about: the selected text, or else the active cell."""
        cell = self._pointer.active()
        return self._pointer.range() or (None if cell is None else Spot(cell))

    def _tabs(self, host: Host) -> list[Tab]:
        self._comments = CommentsTab(self._frontend, host, self._spot, utc_now, _thread_id)
        return [
            ActivityTab(self._server, self._decisions, host),
            self._comments,
            AccessTab(self._frontend, host),
            ToolsTab(self._server, host),
        ]

    def _add_commands(self, commands: CommandAdder) -> None:
        commands.add(
            SHOW_PANEL,
            "Show Agent Panel",
            lambda args: self.panel.show(args.get("tab")),
            caption="What the agent does, and what it may do",
            schema={"type": "object", "properties": {"tab": {"type": "string"}}},
        )
        commands.add(
            ASK_FIRST,
            "Ask Before Agent Edits",
            lambda _: self._ask_first(),
            toggled=lambda _: self._server.proposals.enabled,
            caption="Changes that an agent wants to make wait until you accept them",
        )
        commands.add(
            NEXT_PROPOSAL,
            "Go to Next Proposed Change",
            lambda _: commands.in_background(self._next_proposal()),
            enabled=lambda _: bool(self._server.proposals.open()),
            caption="Move the focus to a change that an agent proposes",
        )
        commands.to_menu("viewMenu", 20, {"command": SHOW_PANEL})
        commands.to_menu("editMenu", 40, {"command": ASK_FIRST}, {"command": NEXT_PROPOSAL})

    def _ask_first(self) -> None:
        self._server.proposals.enabled = not self._server.proposals.enabled

    async def _next_proposal(self) -> None:
        if not await self._banners.focus_next():
            self.panel.show("activity")


def _thread_id() -> str:
    return uuid.uuid4().hex[:8]
