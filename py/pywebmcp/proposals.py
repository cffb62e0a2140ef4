"""Changes that an agent proposes and a person decides about: waiting ones, and what became of them.

With `Proposals.enabled` the middleware puts every change here instead of applying it. Accepting
checks it against the live model again, so that what a person did meanwhile wins.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from inspect import isawaitable

from pywebmcp import constants
from pywebmcp.changes import Action, Place, Plan
from pywebmcp.errors import Code, ToolError
from pywebmcp.types import Payload

log = logging.getLogger("pywebmcp")

DENIED_CODE = "PROPOSAL_DENIED"
"""The code of a person's no, which is a normal answer and no error."""


class ProposalState(StrEnum):
    """Open, or what became of it; ``stale``: it could no longer be made when it was accepted."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    STALE = "stale"


@dataclass(slots=True, eq=False)
class Proposal:
    """A change that was proposed, to be shown as the diff from ``before`` to ``after``.

    ``call`` is the id of the call that waits. ``cell_id`` is None for a file; an inserted cell
    has the id that it will have. ``old`` and ``new`` are the cell's place and type before and
    after. ``reason`` is the person's for a denial, and why not for a stale one.
    """

    id: str
    call: str
    tool: str
    path: str
    cell_id: str | None
    action: Action
    before: str | None
    after: str | None
    base: str | None
    old: Place | None
    new: Place | None
    created: datetime
    state: ProposalState = ProposalState.OPEN
    reason: str = ""

    @property
    def size(self) -> int:
        """Characters that it keeps."""
        return len(self.before or "") + len(self.after or "")

    def shown(self) -> Payload:
        """As an agent is told of it."""
        if self.cell_id is None:
            return {"id": self.id, "path": self.path}
        return {"id": self.id, "cellId": self.cell_id}


@dataclass(frozen=True, slots=True)
class Terms:
    """What deciding takes: ``replan`` checks the change again, ``applied`` is told of it once made.

    ``path`` is where its notebook is now, None once that is closed.
    """

    replan: Callable[[], Plan | Awaitable[Plan]]
    applied: Callable[[Plan], None]
    path: Callable[[], str | None]


@dataclass(slots=True, eq=False)
class _Open:
    proposal: Proposal
    terms: Terms
    outcome: asyncio.Future[Payload]
    deciding: bool = False


class Proposals:
    """The proposals of a page, in their order; of the settled ones the latest.

    ``clock`` gives the time of day in UTC.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._enabled = False
        self._proposals: dict[str, Proposal] = {}
        self._open: dict[str, _Open] = {}
        self._numbers = itertools.count(1)
        self._watchers: list[Callable[[], None]] = []

    @property
    def enabled(self) -> bool:
        """Whether changes wait for the person; theirs to say, and no tool's."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = value
        self._changed()

    def watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after every change of what is here; answers the way to undo that."""
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback)

    def all(self) -> list[Proposal]:
        """The open proposals and the latest settled ones, the oldest first."""
        self._follow()
        return list(self._proposals.values())

    def open(self, path: str | None = None) -> list[Proposal]:
        """Those that wait, of one notebook or file where a path is given; the oldest first."""
        self._follow()
        return [held.proposal for held in self._open.values() if path in (None, held.proposal.path)]

    def get(self, proposal_id: str) -> Proposal | None:
        """A proposal by its id, None when it is not known (any more)."""
        return self._proposals.get(proposal_id)

    # --- the agent's side

    def propose(self, call: str, tool: str, plan: Plan, terms: Terms) -> Proposal:
        """Keep a planned change for the person.

        Raises ``ToolError`` PROPOSAL_PENDING when one on the same cell or file waits already, or
        too many do.
        """
        self._refuse(plan)
        proposal = Proposal(
            f"proposal-{next(self._numbers)}",
            call,
            tool,
            plan.path,
            plan.cell_id,
            plan.action,
            plan.before,
            plan.after,
            plan.base,
            plan.old,
            plan.new,
            self._clock(),
        )
        outcome: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        self._proposals[proposal.id] = proposal
        self._open[proposal.id] = _Open(proposal, terms, outcome)
        self._changed()
        return proposal

    async def decided(self, proposal: Proposal) -> Payload:
        """The answer of the call, once the person has decided.

        Raises ``ToolError`` when it was accepted and could not be made, withdrawn, or its notebook
        was closed. Whoever stops waiting withdraws it.
        """
        try:
            return await self._open[proposal.id].outcome
        finally:
            self.withdraw(proposal.id)

    def withdraw(self, proposal_id: str) -> None:
        """The caller gave up; nothing happens when it is decided already."""
        held = self._open.get(proposal_id)
        if held is not None and not held.deciding:
            message = "The call was aborted: the change was withdrawn, and nothing was changed."
            self._settle(held, ProposalState.WITHDRAWN, ToolError(Code.ABORTED, message))

    def _refuse(self, plan: Plan) -> None:
        waiting = sum(held.proposal.size for held in self._open.values())
        if len(self._open) >= constants.OPEN_PROPOSALS or waiting > constants.KEPT_TEXT:
            raise ToolError(
                Code.PROPOSAL_PENDING,
                f"{len(self._open)} changes wait for the person already: wait for those first.",
            )
        for other in self.open(plan.path):
            if other.cell_id == plan.cell_id:
                what = f'cell "{other.cell_id}"' if other.cell_id else f'"{other.path}"'
                raise ToolError(
                    Code.PROPOSAL_PENDING,
                    f"A change of {what} waits for the person already: wait for its result with "
                    "jupyter_wait_for_result.",
                    proposal=other.shown(),
                    pendingId=other.call,
                )

    # --- the person's side

    async def accept(self, proposal_id: str) -> Proposal:
        """Make the change, if it still can be made; that is done before this first waits.

        Only files are read and written with a wait. Answers the proposal, ``accepted`` or
        ``stale``, or unchanged when it was settled already. Raises KeyError for an unknown id.
        """
        proposal, held = self._proposals[proposal_id], self._open.get(proposal_id)
        if held is None or held.deciding:
            return proposal
        held.deciding = True
        try:
            plan = held.terms.replan()
            plan = await plan if isawaitable(plan) else plan
            _require_base(proposal, plan)
            applied = plan.apply()
            payload = await applied if isawaitable(applied) else applied
        except ToolError as error:
            self._settle(held, ProposalState.STALE, _staleness(proposal, error))
        except Exception as error:
            self._settle(held, ProposalState.STALE, error)
        else:
            held.terms.applied(plan)
            self._settle(held, ProposalState.ACCEPTED, payload)
        return proposal

    def deny(self, proposal_id: str, reason: str = "") -> Proposal:
        """Refuse the change; the agent is told the reason. Raises KeyError for an unknown id."""
        proposal, held = self._proposals[proposal_id], self._open.get(proposal_id)
        if held is None or held.deciding:
            return proposal
        proposal.reason = reason.strip()
        answer: Payload = {
            "success": True,
            "status": "denied",
            "code": DENIED_CODE,
            "message": "The person denied the change: nothing was changed.",
        }
        if proposal.reason:
            answer["reason"] = proposal.reason
        self._settle(held, ProposalState.DENIED, answer)
        return proposal

    def closed(self) -> None:
        """A notebook was closed: what was proposed for it can no longer be decided."""
        for held in list(self._open.values()):
            proposal = held.proposal
            if proposal.cell_id is None or held.deciding or held.terms.path() is not None:
                continue
            error = ToolError(
                Code.NOTEBOOK_NOT_FOUND,
                f'"{proposal.path}" was closed before the person decided: nothing was changed.',
            )
            self._settle(held, ProposalState.WITHDRAWN, error)

    # --- keeping

    def _settle(self, held: _Open, state: ProposalState, outcome: Payload | Exception) -> None:
        proposal = held.proposal
        del self._open[proposal.id]
        proposal.state = state
        if not held.outcome.done():
            if isinstance(outcome, Exception):
                held.outcome.set_exception(outcome)
                # Nobody may be left who waits for it.
                held.outcome.exception()
            else:
                held.outcome.set_result(outcome)
        if isinstance(outcome, Exception):
            proposal.reason = str(outcome)
        settled = [each for each in self._proposals if each not in self._open]
        size = 0
        for count, old in enumerate(reversed(settled), 1):
            size += self._proposals[old].size
            if count > constants.KEPT_PROPOSALS or size > constants.KEPT_TEXT:
                del self._proposals[old]
        self._changed()

    def _follow(self) -> None:
        """Go along where a notebook was renamed."""
        for held in self._open.values():
            path = held.terms.path()
            if path is not None and held.proposal.cell_id is not None:
                held.proposal.path = path

    def _changed(self) -> None:
        for watcher in list(self._watchers):
            try:
                watcher()
            except Exception:
                log.exception("what shows the proposals failed")


def _require_base(proposal: Proposal, plan: Plan) -> None:
    """Raise ``ToolError`` when somebody changed what the change was proposed for."""
    if (plan.cell_id, plan.base) == (proposal.cell_id, proposal.base):
        return
    if proposal.cell_id is None:
        raise ToolError(
            Code.STALE_FILE,
            f'"{proposal.path}" changed before the person accepted: nothing was changed. Read it '
            "again.",
            contentHash=plan.base,
        )
    raise _stale_cell(proposal, plan.base, plan.before)


def _staleness(proposal: Proposal, error: ToolError) -> ToolError:
    """Why a change could not be made: replacements that no longer fit are a stale cell too."""
    present = error.details.get("sourceHash")
    if error.code is Code.INVALID_ARGUMENT and present not in (None, proposal.base):
        return _stale_cell(proposal, present, error.details.get("source"))
    return error


def _stale_cell(proposal: Proposal, present: str | None, source: str | None) -> ToolError:
    return ToolError(
        Code.STALE_CELL,
        f'Cell "{proposal.cell_id}" was changed before the person accepted: nothing else was '
        "changed. Work from its present source.",
        sourceHash=present,
        source=source,
    )
