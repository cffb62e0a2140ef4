"""What an agent is doing, in a few words for the status bar."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pywebmcp.activity import Activity
from pywebmcp.records import State
from pywebmcp.tools import Tool

_REST = 0.5
"""Seconds until it is said: most calls are over by then, and nobody wants to read them flicker."""


class Doing:
    """Follows the calls of agents that take a while."""

    def __init__(
        self, activity: Activity, tools: Mapping[str, Tool], tell: Callable[[str], None]
    ) -> None:
        """``tell`` shows a text, or with an empty one what is shown when nothing is done."""
        self._activity = activity
        self._tools = tools
        self._tell = tell
        self._told = ""
        self._timer: asyncio.TimerHandle | None = None
        activity.watch(self._changed)

    def _changed(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_REST, self._show)

    def _show(self) -> None:
        self._timer = None
        running = [
            entry
            for entry in self._activity.entries()
            if entry.who == "agent" and entry.settled is None
        ]
        text = ""
        if running:
            waiting = [entry for entry in running if entry.state == State.INPUT_REQUIRED]
            entry = (waiting or running)[-1]
            tool = self._tools.get(entry.tool)
            words = "Agent waits for you" if waiting else "Agent"
            more = f" and {len(running) - 1} more" if len(running) > 1 else ""
            text = f"{words}: {tool.title if tool else entry.tool}{more}"
        if text != self._told:
            self._told = text
            self._tell(text)
