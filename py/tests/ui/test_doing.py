"""What the status bar says of agents."""

from __future__ import annotations

import asyncio

from desk import Desk
from pywebmcp.browser.ui.doing import Doing
from pywebmcp.types import NeverAborted


async def test_calls_that_take_a_while_are_told_and_others_are_not() -> None:
    desk = Desk("x")
    await desk.open()
    told: list[str] = []
    Doing(desk.server.activity, desk.server.tools, told.append)
    await desk.ok("jupyter_get_cells")
    await asyncio.sleep(1)
    assert told == []
    code = "import asyncio; await asyncio.sleep(3)"
    await desk.ok("jupyter_run_code", code=code)
    await asyncio.sleep(1)
    assert told == ["Agent: Run code", ""]


async def test_what_a_person_does_is_not_told() -> None:
    desk = Desk("x")
    told: list[str] = []
    Doing(desk.server.activity, desk.server.tools, told.append)
    desk.server.activity.begin("x", {}, who="person", door="panel", signal=NeverAborted())
    await asyncio.sleep(1)
    assert told == []


async def test_what_waits_for_the_person_comes_first() -> None:
    desk = Desk("x")
    await desk.open()
    told: list[str] = []
    Doing(desk.server.activity, desk.server.tools, told.append)
    desk.server.proposals.enabled = True
    call = asyncio.create_task(desk.call("jupyter_insert_cell", source="y"))
    begin = desk.server.activity.begin
    await asyncio.sleep(0.1)
    begin("jupyter_get_cells", {}, who="agent", door="mcp", signal=NeverAborted())
    await asyncio.sleep(1)
    assert told == ["Agent waits for you: Insert cell and 1 more"]
    desk.server.proposals.deny(desk.server.proposals.open()[0].id)
    await call
