"""The tab Activity: who did what, what runs and waits, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pywebmcp.activity import Entry
from pywebmcp.browser.ui.decisions import Decisions
from pywebmcp.browser.ui.diff_view import counts, diff_nodes
from pywebmcp.browser.ui.elements import Kept, Node, button, h, name, visible
from pywebmcp.browser.ui.host import Host
from pywebmcp.errors import ToolError
from pywebmcp.records import State
from pywebmcp.server import ToolServer

_STATES = {
    State.WORKING: "runs",
    State.INPUT_REQUIRED: "waits for you",
    State.COMPLETED: "done",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
}
_DOORS = {"webmcp": "WebMCP", "mcp": "MCP", "panel": "this panel"}
_RESTART = (
    "This kernel cannot be interrupted. Restarting it stops the code; its variables are lost."
)


class ActivityTab:
    """The switch for asking first, the proposals that wait, and the log, the newest first."""

    id = "activity"
    label = "Activity"

    def __init__(self, server: ToolServer, decisions: Decisions, host: Host) -> None:
        self._server = server
        self._decisions = decisions
        self._host = host
        self._entries = Kept()
        self._open: set[str] = set()
        """The entries whose diff is shown."""
        self._restarts: set[str] = set()
        """The entries that only a restart can stop."""
        self._failed: dict[str, str] = {}
        """Why an edit was not taken back."""
        self.actions: dict[str, Callable[..., None]] = {
            "ask_first": self._ask_first,
            "stop": self._stop,
            "restart": self._restart,
            "undo": self._undo,
            "show_diff": self._show_diff,
            **decisions.actions,
        }

    # --- what a person does

    def _entry(self, entry_id: str) -> Entry | None:
        return self._server.activity.get(entry_id)

    def _ask_first(self, on: bool) -> None:
        self._server.proposals.enabled = on

    def _stop(self, entry_id: str, _: Any) -> None:
        entry = self._entry(entry_id)
        if entry is not None and self._server.activity.stop(entry) == "restart":
            self._restarts.add(entry_id)
            self._host.focus(_id(entry_id, "restart"))
        self._host.changed()

    def _restart(self, entry_id: str, _: Any) -> None:
        entry = self._entry(entry_id)
        if entry is not None:
            self._host.start(self._restarted(entry))

    async def _restarted(self, entry: Entry) -> None:
        try:
            await self._server.activity.restart(entry)
        except ToolError as error:
            self._failed[entry.id] = error.message
        self._restarts.discard(entry.id)
        self._host.changed()

    def _undo(self, entry_id: str, _: Any) -> None:
        entry = self._entry(entry_id)
        if entry is not None:
            self._host.start(self._undone(entry))

    async def _undone(self, entry: Entry) -> None:
        self._failed.pop(entry.id, None)
        try:
            await self._server.activity.undo(entry)
        except ToolError as error:
            self._failed[entry.id] = error.message
        self._host.changed()

    def _show_diff(self, entry_id: str, _: Any) -> None:
        self._open ^= {entry_id}
        self._host.changed()

    # --- what is shown

    def nodes(self) -> list[Node]:
        """The switch, the proposals, the log."""
        activity, proposals = self._server.activity, self._server.proposals
        entries = activity.entries()[::-1]
        known = {entry.id for entry in entries}
        self._open &= known
        self._restarts &= known
        waiting = [
            h(
                "li",
                h("p", h("code", proposal.path)) if proposal.cell_id else None,
                self._decisions.card(proposal, "panel"),
                key=proposal.id,
                cls="pywebmcp-waiting",
            )
            for proposal in proposals.open()
        ]
        return [
            h(
                "div",
                h(
                    "input",
                    type="checkbox",
                    id=_id("ask"),
                    checked=proposals.enabled,
                    on={"change": ["ask_first"]},
                    aria_describedby=_id("ask", "about"),
                ),
                h("label", "Ask before edits", for_=_id("ask")),
                h(
                    "div",
                    "An agent's changes of cells and files wait for your word."
                    if proposals.enabled
                    else "An agent changes cells and files at once.",
                    cls="pywebmcp-hint",
                    id=_id("ask", "about"),
                ),
                cls="pywebmcp-bar pywebmcp-ask",
                key="ask",
            ),
            h("h2", "Waiting for you", key="waiting title") if waiting else None,
            h("ul", waiting, cls="pywebmcp-list", aria_label="Waiting for you", key="waiting")
            if waiting
            else None,
            h("p", "No tool was called yet.", cls="pywebmcp-note", key="none")
            if not entries
            else h(
                "ul",
                self._entries.items(
                    [(entry.id, self._data(entry)) for entry in entries], self._item
                ),
                cls="pywebmcp-list",
                aria_label="Activity",
                key="log",
            ),
        ]

    def _data(self, entry: Entry) -> tuple[Any, ...]:
        """All that an entry's row is made of."""
        edit = entry.edit
        return (
            entry.who,
            entry.door,
            self._title(entry),
            tuple(entry.arguments.items()),
            entry.state,
            entry.note,
            entry.started.astimezone().strftime("%H:%M:%S"),
            None if entry.settled is None else (entry.settled - entry.started).total_seconds(),
            None if edit is None else (edit.added, edit.removed, edit.undone, edit.kept),
            edit is not None and not edit.undone and self._server.activity.undoable(entry),
            entry.id in self._open,
            entry.id in self._restarts,
            self._failed.get(entry.id, ""),
        )

    def _title(self, entry: Entry) -> str:
        tool = self._server.tools.get(entry.tool)
        if tool is not None:
            return tool.title
        undone = self._server.tools.get(str(entry.arguments.get("tool")))
        return "Undo" if undone is None else f"Undo: {undone.title}"

    def _item(self, key: str, data: tuple[Any, ...]) -> Node:
        (who, door, title, arguments, state, note, started, seconds) = data[:8]
        edit, undoable, opened, restart, failed = data[8:]
        running = state in (State.WORKING, State.INPUT_REQUIRED)
        took = "" if seconds is None or seconds < 0.1 else f"{seconds:.1f} s"
        buttons = [
            button("Stop", ["stop", key], aria_label=f"Stop {title}", key="stop")
            if running and not restart
            else None,
            button(
                "Diff",
                ["show_diff", key],
                aria_expanded="true" if opened else "false",
                aria_label=f"Diff of {title}",
                key="compare",
            )
            if edit and edit[3]
            else None,
            button("Undo", ["undo", key], aria_label=f"Undo {title}", key="undo")
            if undoable
            else None,
        ]
        shown = [each for each in buttons if each is not None]
        parts = [
            h(
                "div",
                h(
                    "span",
                    "You" if who == "person" else "Agent",
                    cls="pywebmcp-mark",
                    title=f"through {_DOORS.get(door, door)}",
                ),
                h("strong", title),
                " ",
                counts(*edit[:2]) if edit else None,
                cls="pywebmcp-entry-head",
                key="head",
            ),
            _arguments(arguments) if arguments else None,
            h("div", note, cls="pywebmcp-entry-note", key="note") if note else None,
            h("div", "Taken back.", cls="pywebmcp-entry-note", key="undone")
            if edit and edit[2]
            else None,
            h("div", failed, role="alert", cls="pywebmcp-failure", key="failed")
            if failed
            else None,
            self._restart_nodes(key) if restart and running else None,
            h(
                "div",
                h("span", _STATES[state], cls=f"pywebmcp-state pywebmcp-state-{state}"),
                h("time", started),
                h("span", took) if took else None,
                h("span", shown, cls="pywebmcp-buttons", key="buttons") if shown else None,
                cls="pywebmcp-entry-foot",
                key="foot",
            ),
            self._diff(key) if edit and edit[3] and opened else None,
        ]
        return h("li", parts, key=key, cls="pywebmcp-entry")

    def _restart_nodes(self, key: str) -> Node:
        return h(
            "div",
            h("p", _RESTART),
            button("Restart kernel", ["restart", key], id=_id(key, "restart")),
            cls="pywebmcp-failure",
            role="alert",
            key="restart",
        )

    def _diff(self, key: str) -> Node | None:
        entry = self._entry(key)
        if entry is None or entry.edit is None:
            return None
        label = f"Changes of {self._title(entry)}"
        return h("div", diff_nodes(entry.edit.before, entry.edit.after, label), key="diff")


def _arguments(arguments: tuple[tuple[str, Any], ...]) -> Node:
    """Names and values on one line; the style cuts what is too long."""
    parts = [
        part
        for argument, value in arguments
        for part in (h("span", f"{argument} "), h("code", _word(value)), " ")
    ]
    return h("div", parts, cls="pywebmcp-arguments", key="arguments")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return visible(" ".join(str(value).split()))


def _id(*parts: str) -> str:
    return name("activity", *parts)
