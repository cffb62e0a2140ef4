"""Random schedules of tasks, retries, cancels, a person's code, restarts, faults and time.

No task is stuck, lost or run twice, none changes after it settled, and a person's code is never
stopped by one.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from typing import Any

import pytest
from desk import Desk
from hypothesis import given
from hypothesis import strategies as st
from office import Office, clock, turns
from pywebmcp.settings import Settings
from pywebmcp.tasks import TaskError
from pywebmcp.testing import run
from stores import FaultyStore, SlowStore

TERMINAL = ("completed", "failed", "cancelled")
MARKS: list[str] = []

BODIES = {
    "quick": "",
    "slow": "\nimport asyncio\nprint('so far')\nawait asyncio.sleep(7)",
    "endless": "\nimport asyncio\nprint('so far')\nwhile True: await asyncio.sleep(1)",
    "fails": "\n1 / 0",
    "asks": "\ninput('? ')",
}

actions = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.sampled_from(sorted(BODIES)), st.integers(0, 3)),
        st.tuples(st.just("burst"), st.sampled_from(sorted(BODIES)), st.integers(0, 3)),
        st.tuples(st.just("cancel"), st.integers(0, 5)),
        st.tuples(st.just("cancel at once"), st.integers(0, 5)),
        st.tuples(st.just("person runs")),
        st.tuples(st.just("person answers")),
        st.tuples(st.just("restart")),
        st.tuples(st.just("fault"), st.sampled_from(["create", "update", "get", "find_by_key"])),
        st.tuples(st.just("repair")),
        st.tuples(st.just("time"), st.sampled_from([0, 0.1, 1, 12])),
        st.tuples(st.just("look")),
    ),
    max_size=14,
)


@pytest.fixture(autouse=True)
def marks() -> Iterator[None]:
    builtins.MARKS = MARKS  # type: ignore[attr-defined]
    yield
    del builtins.MARKS  # type: ignore[attr-defined]


class Schedule:
    """One run of one schedule."""

    def __init__(self, office: Office, desk: Desk, store: FaultyStore) -> None:
        self.office, self.desk, self.store = office, desk, store
        self.tasks: dict[str, str] = {}
        """The code's mark for each task."""
        self.settled: dict[str, Any] = {}
        self.persons: list[Any] = []
        self.restarts = 0
        self.number = 0
        self.background: list[asyncio.Task[Any]] = []

    async def call(self, body: str, key: int) -> None:
        """Key 0 is none: then each call is a task of its own."""
        self.number += 1
        mark = f"{body}-{key}" if key else f"{body}-new-{self.number}"
        arguments = {"code": f"MARKS.append({mark!r}){BODIES[body]}"}
        work = self.desk.server.work("jupyter_run_code", arguments)
        try:
            task = await self.office.call(
                work, key=mark if key else None, arguments=arguments, task={"ttl": 3_600_000}
            )
        except TaskError as error:
            self.only_a_fault(error)
            return
        self.tasks[task] = mark

    async def act(self, action: tuple[Any, ...]) -> None:
        tasks = list(self.tasks)
        match action:
            case ("call", body, key):
                await self.call(body, key)
            case ("burst", body, key):
                await asyncio.gather(*(self.call(body, key) for _ in range(3)))
            case ("cancel", which) if which < len(tasks):
                await self.cancel(tasks[which])
            case ("cancel at once", which) if which < len(tasks):
                self.background.append(asyncio.ensure_future(self.cancel(tasks[which])))
            case ("person runs",):
                self.persons.append((self.restarts, self.desk.person.start_run(0)))
            case ("person answers",):
                await self.person_answers()
            case ("restart",):
                self.restarts += 1
                await self.desk.call("jupyter_kernel_action", action="restart")
            case ("fault", method):
                self.store.faulty.add(method)
            case ("repair",):
                self.store.faulty.clear()
            case ("time", seconds):
                await asyncio.sleep(seconds)
            case ("look",):
                await self.look()

    async def cancel(self, task: str) -> None:
        start = asyncio.get_running_loop().time()
        try:
            assert (await self.office.cancel(task))["status"] in TERMINAL
        except TaskError as error:
            self.only_a_fault(error)
        assert asyncio.get_running_loop().time() - start <= 30

    def only_a_fault(self, error: TaskError) -> None:
        assert error.code == -32603, error
        assert self.store.faulty, error

    async def person_answers(self) -> None:
        live = self.desk.frontend.notebook()
        assert live is not None
        kernel = live.kernel()
        if kernel is not None and kernel.state().get("input"):
            self.desk.person.answer("x")
            await asyncio.sleep(0.1)

    async def look(self) -> None:
        for task in self.tasks:
            try:
                shown = await self.office.get(task)
            except TaskError as error:
                self.only_a_fault(error)
                continue
            if task in self.settled:
                assert shown == self.settled[task]
            elif shown["status"] in TERMINAL:
                self.settled[task] = shown

    async def finish(self) -> None:
        self.store.faulty.clear()
        await asyncio.gather(*self.background)
        for task, mark in self.tasks.items():
            if mark.startswith("endless"):
                await self.cancel(task)
        for _ in range(100):
            await self.person_answers()
            await asyncio.sleep(1)
        await self.look()
        assert set(self.settled) == set(self.tasks), "a task is stuck or lost"
        for task, mark in self.tasks.items():
            status = self.settled[task]["status"]
            count = MARKS.count(mark)
            if "-new-" in mark or list(self.tasks.values()).count(mark) == 1:
                assert count <= 1, f"{mark} ran {count} times"
            if status == "completed":
                assert count >= 1
                assert (await self.office.result(task))["isError"] is False
            if status == "failed":
                assert (await self.office.refused(self.office.result(task))).code == -32603
        assert self.office.service._runs == {}


async def play(schedule: list[tuple[Any, ...]], can_interrupt: bool, slow: bool) -> None:
    MARKS.clear()
    store = FaultyStore(clock)
    desk = Desk(
        "import asyncio\nawait asyncio.sleep(9)",
        settings=Settings(execution_timeout=5.0),
        restart_after=2.0,
        can_interrupt=can_interrupt,
    )
    await desk.open()
    async with Office(SlowStore(store, 0.2) if slow else store) as office:
        state = Schedule(office, desk, store)
        for action in schedule:
            await state.act(action)
        await state.finish()
        await turns()
    if can_interrupt and not state.restarts:
        for _, run_of_person in state.persons:
            assert run_of_person.result().status != "restarted"


@given(actions, st.booleans(), st.booleans())
def test_no_task_is_stuck_lost_or_run_twice(
    schedule: list[tuple[Any, ...]], can_interrupt: bool, slow: bool
) -> None:
    run(play(schedule, can_interrupt, slow))


@given(st.integers(0, 40), st.sampled_from(["slow", "asks", "endless"]))
def test_a_persons_code_is_never_stopped_by_a_cancelled_task(turn: int, body: str) -> None:
    """Cancelled in any turn of the loop around the moment when the task's own code begins."""

    async def scene() -> None:
        MARKS.clear()
        desk = Desk("import asyncio\nawait asyncio.sleep(9)", restart_after=1.0)
        await desk.open()
        async with Office() as office:
            person = desk.person.start_run(0)
            await asyncio.sleep(8.9999 if turn % 2 else 9)
            work = desk.server.work("jupyter_run_code", {"code": f"MARKS.append(1){BODIES[body]}"})
            task = await office.call(work)
            await turns(turn)
            await office.cancel(task)
            assert await office.status(task) == "cancelled"
            await asyncio.sleep(30)
            assert (await person).status == "ok"
            live = desk.frontend.notebook()
            assert live is not None
            kernel = live.kernel()
            assert kernel is not None
            assert kernel.state()["status"] == "idle"
            ran = len(MARKS)
            assert ran <= 1
            assert kernel.generation() == ran

    run(scene())
