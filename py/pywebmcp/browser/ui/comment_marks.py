"""A button at each cell with open comments, which shows them in the panel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pywebmcp.browser.ffi import Js
from pywebmcp.browser.ui import view
from pywebmcp.browser.ui.cell_nodes import CellNodes
from pywebmcp.browser.ui.elements import h
from pywebmcp.browser.ui.view import View
from pywebmcp.comments import read
from pywebmcp.constants import METADATA_KEY
from pywebmcp.frontend import Frontend
from pywebmcp.toolset import threads

_REST = 0.4
"""Seconds of rest after a change before all threads of a notebook are looked for anew."""


class CommentMarks:
    """Follows the threads of the current notebook."""

    def __init__(self, frontend: Frontend, cells: CellNodes, show: Callable[[str], None]) -> None:
        """``show`` opens a thread."""
        self._frontend = frontend
        self._cells = cells
        self._show = show
        self._marks: dict[tuple[str, str], tuple[View, Js]] = {}
        self._seen: tuple[str, int] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Another notebook, or a change in it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_REST, self._draw)

    def _draw(self) -> None:
        self._timer = None
        notebook = self._frontend.notebook()
        if notebook is None:
            return
        state = notebook.state()
        if self._seen == (state["path"], state["revision"]):
            return
        self._seen = state["path"], state["revision"]
        path = state["path"]
        at: dict[str, list[str]] = {}
        if read(notebook.metadata().get(METADATA_KEY)).threads:
            book = threads.live(notebook)
            for thread_id, place in book.chosen("open", None):
                index = (place or book.place(thread_id)).index
                cell_id = None if index is None else book.cells[index].get("id")
                if cell_id is not None:
                    at.setdefault(cell_id, []).append(thread_id)
        for other, cell_id in [*self._marks]:
            closed = other != path and self._frontend.notebook(other) is None
            if closed or (other == path and cell_id not in at):
                self._marks.pop((other, cell_id))[0].close()
        for cell_id, cell in self._cells.found(path, at) if at else ():
            self._mark((path, cell_id), cell.node, at[cell_id])

    def _mark(self, key: tuple[str, str], node: Js, found: list[str]) -> None:
        if key in self._marks and not self._marks[key][1].isSameNode(node):
            # The cell was made anew, for another type for example.
            self._marks.pop(key)[0].close()
        if key not in self._marks:
            root = view.element("pywebmcp-comment-mark", data_lm_suppress_shortcuts="true")
            self._marks[key] = View(root, {"show": self._pressed}), node
            node.appendChild(root)
        words = "1 comment" if len(found) == 1 else f"{len(found)} comments"
        self._marks[key][0].show(
            h(
                "button",
                words,
                type="button",
                title="Show the open comments on this cell",
                on={"click": ["show", found[0]]},
            )
        )

    def _pressed(self, thread_id: str, _: Any) -> None:
        self._show(thread_id)
