"""Marks on the cells that an agent reads, edits or runs, while it does and a moment longer."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from pywebmcp.activity import Activity
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.ui.cell_nodes import CellNodes
from pywebmcp.browser.ui.view import Frames
from pywebmcp.guard import Touch

_LINGER = 1.5
"""Seconds that a mark is seen at least: most calls take a few milliseconds."""

_MANY = 50
"""Cells that are marked at once; who reads a whole notebook marks none."""

_CLASSES = {"read": "pywebmcp-mod-read", "edit": "pywebmcp-mod-edit", "run": "pywebmcp-mod-run"}


class Marks:
    """Puts a class on the elements of cells, and takes it off again."""

    def __init__(self, activity: Activity, cells: CellNodes) -> None:
        self._activity = activity
        self._cells = cells
        self._seen: dict[str, tuple[dict[str, Touch], float]] = {}
        """What an entry was last seen to do, and until when that is marked, by its id."""
        self._marked: list[tuple[Js, str]] = []
        self._frames = Frames(self._draw)
        self._timer: asyncio.TimerHandle | None = None
        activity.watch(self._frames.ask)

    def _draw(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        wanted: dict[str, dict[str, Touch]] = defaultdict(dict)
        lingering = False
        seen: dict[str, tuple[dict[str, Touch], float]] = {}
        for entry in self._activity.entries():
            if entry.who != "agent" or entry.path is None or len(entry.touches) > _MANY:
                continue
            before, until = self._seen.get(entry.id, ({}, 0.0))
            if entry.running is not None or before != entry.touches:
                # Something new; a call that only waits is at no cell.
                until = now + _LINGER
            seen[entry.id] = dict(entry.touches), until
            if until <= now:
                continue
            lingering = lingering or entry.running is None
            for cell_id, kind in entry.touches.items():
                # A call that runs cells has looked at the next ones and finished the last ones.
                if entry.running in (None, cell_id):
                    wanted[entry.path][cell_id] = kind
        self._seen = seen
        self._mark(wanted)
        if lingering and self._timer is None:
            self._timer = loop.call_later(_LINGER, self._later)

    def _later(self) -> None:
        self._timer = None
        self._frames.ask()

    def _mark(self, wanted: dict[str, dict[str, Touch]]) -> None:
        for node, mark in self._marked:
            node.classList.remove(mark)
        self._marked = []
        for path, touches in wanted.items():
            for cell_id, cell in self._cells.found(path, touches):
                mark = _CLASSES[touches[cell_id]]
                cell.node.classList.add(mark)
                self._marked.append((cell.node, mark))
