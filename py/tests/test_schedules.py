"""Random schedules of calls, aborts, dialogs, prompts, restarts and time: none stuck, lost, doubled."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from desk import Abort, Desk
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.settings import Settings
from pywebmcp.testing import run

TIMEOUT = 5.0
MARKS: list[int] = []

BODIES = {
    "quick": "",
    "slow": "\nimport asyncio\nawait asyncio.sleep(7)",
    "fails": "\nimport asyncio\nawait asyncio.sleep(1)\n1 / 0",
    "asks": "\ninput('? ')",
}

actions = st.lists(
    st.one_of(
        st.tuples(st.just("code"), st.sampled_from(sorted(BODIES))),
        st.tuples(st.just("aborted"), st.sampled_from(sorted(BODIES)), st.integers(0, 9)),
        st.tuples(st.just("command"), st.sampled_from(["dialog", "error", "slow", "quick"])),
        st.tuples(st.just("answer"), st.integers(0, 2)),
        st.tuples(st.just("person answers")),
        st.tuples(st.just("person runs"), st.sampled_from(["slow", "fails"])),
        st.tuples(st.just("restart")),
        st.tuples(st.just("wait"), st.integers(0, 6)),
        st.tuples(st.just("time"), st.integers(0, 30)),
        st.tuples(st.just("context")),
    ),
    max_size=14,
)


@pytest.fixture(autouse=True)
def marks() -> Iterator[None]:
    builtins.MARKS = MARKS  # type: ignore[attr-defined]
    yield
    del builtins.MARKS  # type: ignore[attr-defined]


@dataclass
class Schedule:
    """One run of one schedule."""

    desk: Desk
    tasks: list[tuple[int, asyncio.Task[Any]]] = field(default_factory=list)
    finals: dict[int, list[Any]] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    extra: list[asyncio.Task[Any]] = field(default_factory=list)
    number: int = 0

    async def timed(self, tool: str, signal: Abort | None = None, **arguments: Any) -> Any:
        """A call; the desk asserts that it answers within the time limit."""
        return await self.desk.call(tool, signal, **arguments)

    def begin(self, tool: str, signal: Abort | None = None, **arguments: Any) -> None:
        self.number += 1
        number = self.number
        if tool == "jupyter_run_code":
            arguments["code"] = f"MARKS.append({number})" + arguments["code"]

        async def call() -> None:
            self.settle(number, await self.timed(tool, signal, **arguments))

        self.tasks.append((number, asyncio.ensure_future(call())))

    def settle(self, number: int, payload: Any) -> None:
        if payload.get("status") == "pending":
            self.promised[payload["pendingId"]] = number
        else:
            self.finals.setdefault(number, []).append(payload)

    async def act(self, action: tuple[Any, ...]) -> None:
        match action:
            case ("code", body):
                self.begin("jupyter_run_code", code=BODIES[body])
            case ("aborted", body, after):
                signal = Abort()
                self.begin("jupyter_run_code", signal, code=BODIES[body])
                asyncio.get_running_loop().call_later(after, signal.abort)
            case ("command", name):
                self.begin("jupyter_execute_command", command_id=f"app:{name}")
            case ("answer", index):
                dialogs = self.desk.frontend.dialogs()
                if index < len(dialogs):
                    await self.timed(
                        "jupyter_answer_dialog", button=0, dialogId=dialogs[index]["id"]
                    )
            case ("person answers",):
                await self.person_answers()
            case ("person runs", body):
                index = {"slow": 0, "fails": 1}[body]
                self.extra.append(self.desk.person.start_run(index))
            case ("restart",):
                await self.timed("jupyter_kernel_action", action="restart")
            case ("wait", which):
                waiting = list(self.promised)
                if which < len(waiting):
                    await self.fetch(waiting[which])
            case ("time", seconds):
                await asyncio.sleep(seconds)
            case ("context",):
                await self.timed("jupyter_get_context")

    async def person_answers(self) -> None:
        live = self.desk.frontend.notebook()
        assert live is not None
        kernel = live.kernel()
        assert kernel is not None
        if kernel.state().get("input"):
            self.desk.person.answer("x")
            await asyncio.sleep(0.1)

    async def fetch(self, pending_id: str) -> None:
        payload = await self.timed("jupyter_wait_for_result", pendingId=pending_id, timeout=1)
        if payload.get("status") == "pending":
            assert payload["pendingId"] == pending_id
        else:
            number = self.promised[pending_id]
            before = self.finals.setdefault(number, [])
            plain = {key: value for key, value in payload.items() if key != "dialogs"}
            assert before in ([], [plain])
            self.finals[number] = [plain]

    async def finish(self) -> None:
        """Answer what asks and wait: everything has to settle by itself."""
        for _ in range(200):
            await self.person_answers()
            for dialog in self.desk.frontend.dialogs():
                if dialog["shown"]:
                    self.desk.frontend.screen.answer(dialog["id"], 0)
            await asyncio.sleep(1)
        for _, task in self.tasks:
            assert task.done(), "a call is stuck"
            task.result()
        for task in self.extra:
            assert task.done()
        for entry in (await self.desk.ok("jupyter_get_context"))["pending"]:
            assert entry["status"] in ("completed", "failed"), f"stuck: {entry}"
        for pending_id in list(self.promised):
            await self.fetch(pending_id)


async def play(schedule: list[tuple[Any, ...]]) -> None:
    MARKS.clear()
    desk = Desk(
        "import asyncio\nawait asyncio.sleep(9)",
        "import asyncio\nawait asyncio.sleep(2)\n1 / 0",
        settings=Settings(execution_timeout=TIMEOUT),
        restart_after=2.0,
    )
    screen, registry = desk.frontend.screen, desk.frontend.registry

    async def dialog(args: dict[str, Any]) -> str:
        return await screen.ask("Sure?", "Really?", ("Yes", "No"))

    async def error(args: dict[str, Any]) -> str:
        return await screen.ask("Error", "It failed", ("Dismiss",))

    async def slow(args: dict[str, Any]) -> str:
        await asyncio.sleep(8)
        return "slow"

    async def quick(args: dict[str, Any]) -> str:
        return "quick"

    for command in (dialog, error, slow, quick):
        registry.add(f"app:{command.__name__}", command)
    await desk.open()
    state = Schedule(desk)
    for action in schedule:
        await state.act(action)
    await state.finish()
    for number, _ in state.tasks:
        finals = state.finals.get(number, [])
        assert len(finals) == 1, f"call {number} has {len(finals)} results"
        count = MARKS.count(number)
        assert count <= 1, f"call {number} ran {count} times"
        if finals[0].get("status") == "ok":
            assert count == 1


@given(actions)
def test_no_call_is_stuck_lost_or_doubled(schedule: list[tuple[Any, ...]]) -> None:
    run(play(schedule))
