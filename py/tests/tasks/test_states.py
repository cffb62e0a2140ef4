"""Every event in every state: what is terminal never changes, and nobody is left without an answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from office import Office, text, turns
from pywebmcp.tasks import TaskError, needs_input, record_output, register_interrupt
from pywebmcp.testing import run

STATES = ("working", "input_required", "completed", "failed", "cancelled")
TERMINAL = STATES[2:]
EVENTS = (
    "work returns",
    "work returns an error",
    "work raises",
    "work asks",
    "work goes on",
    "work puts out",
    "work registers an interrupt",
    "get",
    "list",
    "result",
    "cancel",
    "retry",
    "time passes",
    "close",
)

AFTER = {
    "work returns": "completed",
    "work returns an error": "failed",
    "work raises": "failed",
    "work asks": "input_required",
    "work goes on": "working",
    "cancel": "cancelled",
    "close": "failed",
}
"""Where an event leads from a state that is not terminal; the others leave it as it is."""


class Stage:
    """One task whose work does what it is told, even after it was cancelled."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.orders: asyncio.Queue[str] = asyncio.Queue()
        self.task = ""

    async def work(self) -> Any:
        while True:
            match await self.orders.get():
                case "work returns":
                    return text("42")
                case "work returns an error":
                    return {"content": [], "isError": True}
                case "work raises":
                    raise ValueError("x")
                case "work asks":
                    await needs_input("?")
                case "work goes on":
                    await needs_input(None)
                case "work puts out":
                    await record_output(["line"])
                case "work registers an interrupt":
                    await register_interrupt(lambda: None)

    async def begin(self, state: str) -> None:
        self.task = await self.office.call(self.work, key="k", task={"ttl": 3_600_000})
        leads = {
            "input_required": "work asks",
            "completed": "work returns",
            "failed": "work raises",
        }
        if state in leads:
            await self.event(leads[state])
        elif state == "cancelled":
            await self.event("cancel")
        await turns()

    async def event(self, event: str) -> None:
        match event:
            case "get":
                await self.office.get(self.task)
            case "list":
                await self.office.listed()
            case "result":
                await self.result()
            case "cancel":
                await self.office.cancel(self.task)
            case "retry":
                assert await self.office.call(self.work, key="k") == self.task
            case "time passes":
                await asyncio.sleep(100)
            case "close":
                await self.office.service.close()
            case _:
                self.orders.put_nowait(event)
        await turns()

    async def result(self) -> Any:
        try:
            return await self.office.result(self.task)
        except TaskError as error:
            return error.as_json()

    async def seen(self) -> Any:
        """All that a client can see of the task."""
        return await self.office.get(self.task), await self.result()


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", STATES)
async def test_each_event_in_each_state(state: str, event: str) -> None:
    async with Office() as office:
        stage = Stage(office)
        await stage.begin(state)
        before = await stage.seen()
        assert before[0]["status"] == state
        await stage.event(event)
        after = await stage.seen()
        if state in TERMINAL:
            assert after == before
        else:
            assert after[0]["status"] == AFTER.get(event, state)
        assert await office.listed() == [stage.task]


@given(st.lists(st.sampled_from(EVENTS[:-1]), max_size=12))
def test_any_order_of_events_settles_once(events: list[str]) -> None:
    async def play() -> None:
        async with Office() as office:
            stage = Stage(office)
            await stage.begin("working")
            settled = None
            for event in events:
                await stage.event(event)
                seen = await stage.seen()
                assert settled is None or seen == settled
                if seen[0]["status"] in TERMINAL:
                    settled = seen
            notes = [params["status"] for _, params in office.session.notes]
            assert notes == ([settled[0]["status"]] if settled else [])

    run(play())
