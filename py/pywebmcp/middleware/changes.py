"""Applies the change that a handler answered, or lets the person decide about it first."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from pywebmcp.changes import Change, Plan
from pywebmcp.proposals import Terms
from pywebmcp.tools import Call
from pywebmcp.types import Payload


def changes(endpoint: Callable[[Call], Awaitable[Any]]) -> Callable[[Call], Awaitable[Payload]]:
    """Let payloads pass; plan and apply a notebook's changes with no wait between the two.

    In propose mode they are planned, and once more when the person accepts.
    """

    async def handle(call: Call) -> Payload:
        answer = await endpoint(call)
        if isinstance(answer, dict):
            return answer
        plan = answer.plan(call.frontend)
        if isawaitable(plan):
            plan = await plan
        if call.proposals is not None and call.proposals.enabled:
            return await _proposed(call, answer, plan)
        applied = plan.apply()
        payload: Payload = await applied if isawaitable(applied) else applied
        call.applied(plan)
        return payload

    return handle


async def _proposed(call: Call, change: Change, plan: Plan) -> Payload:
    """What the person's decision answers; an abort withdraws the proposal."""
    record, proposals = call.record, call.proposals
    assert record is not None
    assert proposals is not None
    notebook = None if plan.cell_id is None else call.frontend.notebook(plan.path)

    def path() -> str | None:
        """Where the notebook is now: it can be renamed, and closed."""
        if notebook is None:
            return plan.path
        now = notebook.state()["path"]
        return now if now and call.frontend.notebook(now) is not None else None

    def replan() -> Plan | Awaitable[Plan]:
        now = path() or plan.path
        # Where it is closed, planning says so.
        moved = change if now == plan.path else dataclasses.replace(change, path=now)  # type: ignore[type-var]
        return moved.plan(call.frontend)

    proposal = proposals.propose(record.id, call.tool.name, plan, Terms(replan, call.applied, path))
    record.propose(proposal.shown())
    undo = call.signal.on_abort(lambda: proposals.withdraw(proposal.id))
    try:
        return await proposals.decided(proposal)
    finally:
        undo()
        record.propose(None)
