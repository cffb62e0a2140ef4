"""Random schedules of proposals, hand edits and decisions: none lost, doubled, or over a hand."""

from __future__ import annotations

import asyncio
from typing import Any

from desk import Abort, Desk
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.access import set_level
from pywebmcp.edits import source_hash
from pywebmcp.proposals import Proposal, ProposalState
from pywebmcp.settings import Settings
from pywebmcp.testing import run

CELLS = 3

actions = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.integers(0, CELLS - 1)),
        st.tuples(st.just("replace"), st.integers(0, CELLS - 1)),
        st.tuples(st.just("insert"), st.integers(0, CELLS - 1)),
        st.tuples(st.just("delete"), st.integers(0, CELLS - 1)),
        st.tuples(st.just("type"), st.integers(0, CELLS - 1)),
        st.tuples(st.just("accept"), st.integers(0, 5)),
        st.tuples(st.just("deny"), st.integers(0, 5)),
        st.tuples(st.just("abort"), st.integers(0, 5)),
        st.tuples(
            st.just("level"), st.integers(0, CELLS - 1), st.sampled_from(["write", "read", "none"])
        ),
        st.tuples(st.just("time"), st.integers(1, 9)),
        st.tuples(st.just("mode"), st.booleans()),
    ),
    max_size=16,
)


class Schedule:
    """One run of one schedule, and what the sources must be."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.proposals = desk.server.proposals
        self.calls: list[tuple[asyncio.Task[Any], Abort]] = []
        self.number = 0

    def sources(self) -> dict[str, str]:
        return dict(zip(self.desk.ids(), self.desk.sources(), strict=True))

    def begin(self, tool: str, **arguments: Any) -> None:
        signal = Abort()
        self.calls.append(
            (asyncio.ensure_future(self.desk.call(tool, signal, **arguments)), signal)
        )

    async def act(self, action: tuple[Any, ...]) -> None:
        name, which, *rest = action
        sources, cell = self.sources(), f"cell-{which}"
        self.number += 1
        if name in ("update", "replace", "delete", "type", "level") and cell not in sources:
            return
        live = self.desk.frontend.notebook()
        assert live is not None
        match name:
            case "update":
                digest = source_hash(sources[cell])
                text = f"# {self.number}\n{sources[cell]}"
                self.begin(
                    "jupyter_update_cell", cellId=cell, source=text, expectedSourceHash=digest
                )
            case "replace":
                edits = [{"oldText": "v", "newText": f"w{self.number}"}]
                self.begin("jupyter_update_cell", cellId=cell, edits=edits)
            case "insert":
                reference = {"referenceCellId": cell} if cell in sources else {}
                self.begin("jupyter_insert_cell", source=f"v{self.number}", **reference)
            case "delete":
                digest = source_hash(sources[cell])
                self.begin("jupyter_delete_cell", cellId=cell, expectedSourceHash=digest)
            case "type":
                [index] = live.find(cell)
                self.desk.person.click(index)
                self.desk.person.type(f" + {self.number}")
            case "level":
                [index] = live.find(cell)
                set_level(live, index, rest[0])
            case "accept":
                await self.accept(which)
            case "deny":
                found = self.proposals.open()
                if which < len(found):
                    before = self.sources()
                    self.proposals.deny(found[which].id)
                    assert self.sources() == before
            case "abort":
                if which < len(self.calls):
                    self.calls[which][1].abort()
            case "time":
                await asyncio.sleep(which)
            case "mode":
                self.proposals.enabled = which
        await asyncio.sleep(0.01)

    async def accept(self, which: int) -> None:
        found = self.proposals.open()
        if which >= len(found):
            return
        proposal, before = found[which], self.sources()
        await self.proposals.accept(proposal.id)
        expected = before
        if proposal.state is ProposalState.ACCEPTED:
            assert proposal.cell_id is not None
            assert before.get(proposal.cell_id) == proposal.before, "over a hand edit"
            expected = {**before, proposal.cell_id: proposal.after}
        else:
            assert proposal.state is ProposalState.STALE
            assert self.was_in_the_way(proposal, before)
        kept = {key: source for key, source in expected.items() if source is not None}
        after = self.sources()
        # Where the last cell goes, JupyterLab puts an empty one.
        assert kept == after or (not kept and list(after.values()) == [""])

    def was_in_the_way(self, proposal: Proposal, before: dict[str, str]) -> bool:
        """Whether a person's act explains that a proposal could not be made."""
        assert proposal.cell_id is not None
        return proposal.reason != "" and (
            proposal.action == "insert"
            or before.get(proposal.cell_id) != proposal.before
            or "read-only" in proposal.reason
            or "No cell" in proposal.reason
        )

    async def finish(self) -> None:
        for proposal in self.proposals.open():
            self.proposals.deny(proposal.id)
        await asyncio.sleep(1)
        for calling, _ in self.calls:
            assert calling.done(), "a call is stuck"
            payload = calling.result()
            if payload.get("status") == "pending":
                identity = payload["pendingId"]
                payload = await self.desk.call("jupyter_wait_for_result", pendingId=identity)
            assert payload.get("status") != "pending", payload
            assert payload.get("code") != "INTERNAL_ERROR", payload
        assert [entry for entry in self.desk.server.activity.entries() if not entry.settled] == []


async def play(schedule: list[tuple[Any, ...]]) -> None:
    cells = [f"v = {index}" for index in range(CELLS)]
    desk = Desk(*cells, settings=Settings(execution_timeout=5))
    await desk.open()
    desk.server.proposals.enabled = True
    state = Schedule(desk)
    for action in schedule:
        await state.act(action)
    await state.finish()


@given(actions)
def test_no_proposal_is_lost_doubled_or_made_over_a_hand_edit(
    schedule: list[tuple[Any, ...]],
) -> None:
    run(play(schedule))
