"""What a person decides about proposed changes, in the banner at the cell and in the panel."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from pywebmcp.browser.ui.diff_view import diff_nodes
from pywebmcp.browser.ui.elements import Node, button, h, name, visible
from pywebmcp.proposals import Proposal, Proposals

_WHAT = {
    "insert": "Insert a cell",
    "update": "Change this cell",
    "delete": "Delete this cell",
    "write": "Write a file",
}


def summary(proposal: Proposal) -> str:
    """What an agent wants to do, in a few words."""
    if proposal.cell_id is None:
        verb = "Create" if proposal.before is None else "Replace"
        return f"{verb} {visible(proposal.path)}"
    if proposal.action == "insert" and proposal.new is not None:
        return f"Insert a {proposal.new.cell_type} cell at {proposal.new.index + 1}"
    if proposal.action == "update" and proposal.old is not None and proposal.new is not None:
        parts = []
        if proposal.before != proposal.after:
            parts.append("change the source")
        if proposal.old.cell_type != proposal.new.cell_type:
            parts.append(f"make it {proposal.new.cell_type}")
        if proposal.old.index != proposal.new.index:
            parts.append(f"move it to {proposal.new.index + 1}")
        return ", ".join(parts).capitalize() or _WHAT["update"]
    return _WHAT[proposal.action]


class Decisions:
    """Accepts and denies, with the reasons that are being written."""

    def __init__(
        self,
        proposals: Proposals,
        start: Callable[[Coroutine[Any, Any, None]], None],
        tell: Callable[[str], None],
    ) -> None:
        """``start`` runs a coroutine in the background, ``tell`` says something to the person."""
        self.proposals = proposals
        self._start = start
        self._tell = tell
        self._reasons: dict[str, str] = {}
        self.actions: dict[str, Callable[..., None]] = {
            "accept": self._accept,
            "deny": self._deny,
            "write_reason": self._write,
        }

    def _accept(self, proposal_id: str, _: Any) -> None:
        if self.proposals.get(proposal_id) is not None:
            self._start(self._accepted(proposal_id))

    async def _accepted(self, proposal_id: str) -> None:
        proposal = await self.proposals.accept(proposal_id)
        self._reasons.pop(proposal_id, None)
        if proposal.state == "stale":
            self._tell(f"The change was not made: {proposal.reason}")

    def _deny(self, proposal_id: str, _: Any) -> None:
        if self.proposals.get(proposal_id) is not None:
            self.proposals.deny(proposal_id, self._reasons.pop(proposal_id, ""))

    def _write(self, proposal_id: str, reason: str) -> None:
        self._reasons[proposal_id] = reason

    def card(self, proposal: Proposal, place: str) -> list[Node | None]:
        """The diff of a proposal with what a person can do; ``place`` keeps its ids apart."""
        reason = name(place, proposal.id, "reason")
        what = summary(proposal)
        return [
            h(
                "h3",
                h("strong", "The agent proposes: "),
                what,
                id=name(place, proposal.id),
                cls="pywebmcp-heading",
            ),
            diff_nodes(proposal.before, proposal.after, f"Changes: {what}")
            if proposal.before != proposal.after
            else None,
            h(
                "div",
                button(
                    "Accept",
                    ["accept", proposal.id],
                    "pywebmcp-mod-accept",
                    aria_describedby=name(place, proposal.id),
                ),
                button(
                    "Deny",
                    ["deny", proposal.id],
                    aria_describedby=name(place, proposal.id),
                ),
                h(
                    "input",
                    type="text",
                    id=reason,
                    value=self._reasons.get(proposal.id, ""),
                    placeholder="Reason, if you deny",
                    aria_label="Reason, if you deny",
                    autocomplete="off",
                    on={
                        "input": ["write_reason", proposal.id],
                        "keydown": {"Enter": ["deny", proposal.id]},
                    },
                ),
                cls="pywebmcp-buttons",
            ),
        ]
