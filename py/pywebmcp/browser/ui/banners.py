"""Proposals under the cells they are for: they stay there while cells are scrolled, moved, remade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pywebmcp.browser.ffi import Connections, Js
from pywebmcp.browser.ui import view
from pywebmcp.browser.ui.cell_nodes import CellNodes
from pywebmcp.browser.ui.decisions import Decisions, summary
from pywebmcp.browser.ui.elements import h, name
from pywebmcp.browser.ui.view import Frames, View
from pywebmcp.frontend import Frontend
from pywebmcp.proposals import Proposal


@dataclass(slots=True)
class Banner:
    """One proposal on the page."""

    view: View
    place: Js | None = None
    """The cell's element that it is in."""


class Banners:
    """Keeps one banner for each open proposal of an open notebook."""

    def __init__(
        self,
        frontend: Frontend,
        cells: CellNodes,
        decisions: Decisions,
        tell: Callable[[str], None],
    ) -> None:
        """``tell`` says something to those who do not see that a banner came."""
        self._frontend = frontend
        self._cells = cells
        self._decisions = decisions
        self._tell = tell
        self._banners: dict[str, Banner] = {}
        self._watched: dict[str, Connections] = {}
        self._frames = Frames(self._draw)
        decisions.proposals.watch(self._frames.ask)

    async def focus_next(self) -> bool:
        """Move the keyboard focus to the next banner; False where there is none."""
        waiting = [each for each in self._decisions.proposals.open() if each.id in self._banners]
        if not waiting:
            return False
        now = view.focused_within([_id(each) for each in waiting])
        following = waiting[(now + 1) % len(waiting)]
        notebook = self._frontend.notebook(following.path)
        index = self._index(following)
        if notebook is None or index is None:
            return False
        # A cell that is far away is on no page yet.
        await notebook.focus_cell(index, None)
        view.focus(_id(following))
        return True

    def _draw(self) -> None:
        waiting = {
            proposal.id: proposal
            for proposal in self._decisions.proposals.open()
            if proposal.cell_id is not None
        }
        for gone in self._banners.keys() - waiting.keys():
            self._remove(gone)
        for proposal in waiting.values():
            self._show(proposal)
        self._watch({proposal.path for proposal in waiting.values()})

    def _remove(self, proposal_id: str) -> None:
        banner = self._banners.pop(proposal_id)
        focused = view.within_focus(banner.view.node)
        place = banner.place
        banner.view.close()
        if focused and place is not None:
            # The keys of who decided go on in the notebook.
            view.focus_node(place.closest(".jp-Notebook"))

    def _show(self, proposal: Proposal) -> None:
        banner = self._banners.get(proposal.id)
        cell = self._place(proposal)
        if cell is None:
            return
        if banner is None:
            node = view.element(
                "pywebmcp-proposal",
                "section",
                id=_id(proposal),
                role="region",
                aria_labelledby=name("banner", proposal.id),
                tabindex="-1",
                # Keys in here are no commands of the notebook.
                data_lm_suppress_shortcuts="true",
            )
            banner = self._banners[proposal.id] = Banner(View(node, self._decisions.actions))
            banner.view.show(h("div", self._decisions.card(proposal, "banner")))
            self._tell(f"The agent proposes: {summary(proposal)}")
        if banner.place is None or not banner.place.isSameNode(cell.node):
            banner.place = cell.node
            cell.node.appendChild(banner.view.node)

    def _place(self, proposal: Proposal) -> Js | None:
        """The widget of the cell that a banner belongs to."""
        panel, index = self._cells.panel(proposal.path), self._index(proposal)
        return None if panel is None or index is None else self._cells.at(panel, index)

    def _index(self, proposal: Proposal) -> int | None:
        """The index of that cell; for a new cell that of the one above its place."""
        notebook = self._frontend.notebook(proposal.path)
        if notebook is None or proposal.cell_id is None:
            return None
        if proposal.action == "insert" and proposal.new is not None:
            last = notebook.state()["cellCount"] - 1
            return min(max(proposal.new.index - 1, 0), last)
        return next(iter(notebook.find(proposal.cell_id)), None)

    def _watch(self, paths: set[str]) -> None:
        """Draw again when the cells of these notebooks become others."""
        for path in [*self._watched]:
            if path not in paths:
                self._watched.pop(path).close()
        for path in paths - self._watched.keys():
            panel = self._cells.panel(path)
            if panel is not None:
                connections = self._watched[path] = Connections()
                connections.connect(panel.content.model.cells.changed, self._frames.ask)


def _id(proposal: Proposal) -> str:
    return name("banner", proposal.id, "region")
