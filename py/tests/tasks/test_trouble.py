"""Stores that raise or hang: clear errors, no lost result, no stuck call, nothing run twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from office import Office, clock, forever, raises, returns, text, turns
from pywebmcp.tasks import record_output
from pywebmcp.testing import run
from stores import FaultyStore

WAYS = ["raises", "hangs"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def faulty(way: str, *methods: str) -> tuple[Office, FaultyStore]:
    store = FaultyStore(clock, way)
    store.faulty = set(methods)
    return Office(store), store


async def test_a_task_that_cannot_be_kept_is_refused_and_not_begun(way: str) -> None:
    office, store = faulty(way, "create")
    ran: list[str] = []
    async with office:
        error = await office.refused(office.call(returns(log=ran)))
        assert error.code == -32603
        assert ("disk is full" if way == "raises" else "10 seconds") in error.message
        store.faulty.clear()
        await asyncio.sleep(100)
        assert ran == []
        assert await office.listed() == []


@pytest.mark.parametrize("methods", [("create",), ("find_by_key",), ("create", "find_by_key")])
async def test_a_retry_after_such_a_refusal_runs_once(way: str, methods: Any) -> None:
    office, store = faulty(way, *methods)
    ran: list[str] = []
    async with office:
        await office.refused(office.call(returns(log=ran), key="k"))
        store.faulty.clear()
        task = await office.call(returns(log=ran), key="k")
        await turns()
        assert ran == ["ran"]
        assert await office.result(task) == text("42")


async def test_a_retry_of_what_was_kept_against_the_stores_word_runs_once(way: str) -> None:
    office, store = faulty(way, "create")
    store.late = True
    ran: list[str] = []
    async with office:
        await office.refused(office.call(returns(log=ran), key="k"))
        store.faulty.clear()
        tasks = [await office.call(returns(log=ran), key="k") for _ in range(3)]
        await turns()
        assert len(set(tasks)) == 1
        assert ran == ["ran"]
        assert await office.result(tasks[0]) == text("42")


async def test_what_was_kept_against_the_stores_word_and_not_retried_has_failed(way: str) -> None:
    office, store = faulty(way, "create")
    store.late = True
    async with office:
        await office.refused(office.call())
        store.faulty.clear()
        [task] = await office.listed()
        assert await office.status(task) == "failed"
        assert "never begun" in (await office.refused(office.result(task))).message
        await asyncio.sleep(100)
        assert (await store.get(task)).status == "failed"  # type: ignore[union-attr]


async def test_waiting_retries_of_a_creation_that_fails_try_themselves(way: str) -> None:
    office, store = faulty(way, "create")
    ran: list[str] = []
    async with office:
        calls = [asyncio.create_task(office.call(returns(log=ran), key="k")) for _ in range(3)]
        await asyncio.sleep(0.001)
        store.faulty.clear()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        good = {answer for answer in answers if isinstance(answer, str)}
        assert len(good) <= 1
        assert len(ran) == len(good)


async def test_a_result_is_served_though_the_store_does_not_take_it(way: str) -> None:
    office, store = faulty(way, "update")
    async with office:
        task = await office.call(returns())
        await asyncio.sleep(60)
        assert await office.status(task) == "completed"
        assert await office.result(task) == text("42")
        assert [params["status"] for _, params in office.session.notes] == ["completed"]
        # It takes it later, and then has it for good.
        store.faulty.clear()
        await asyncio.sleep(60)
        assert office.service._runs == {}
        assert await office.result(task) == text("42")


async def test_a_result_that_the_store_never_takes_expires_all_the_same(way: str) -> None:
    office, _ = faulty(way, "update")
    async with office:
        task = await office.call(returns(), task={"ttl": 60_000})
        await asyncio.sleep(59)
        assert await office.result(task) == text("42")
        await asyncio.sleep(2)
        assert (await office.refused(office.get(task))).code == -32602
        await asyncio.sleep(60)
        assert office.service._runs == {}


async def test_output_that_the_store_does_not_take_holds_no_work_up(way: str) -> None:
    async def work() -> Any:
        for number in range(100):
            assert await record_output([number])
        assert asyncio.get_running_loop().time() == 0
        await forever()

    office, _ = faulty(way, "update")
    async with office:
        task = await office.call(work)
        await asyncio.sleep(60)
        before = asyncio.get_running_loop().time()
        assert (await office.cancel(task))["status"] == "cancelled"
        assert asyncio.get_running_loop().time() - before < 5
        assert (await office.result(task))["structuredContent"]["outputs"] == [99]


async def test_of_what_the_store_did_not_take_the_newest_gets_there(way: str) -> None:
    async def work() -> Any:
        for number in range(20):
            await record_output([number])
            await asyncio.sleep(1)
        await forever()

    office, store = faulty(way, "update")
    async with office:
        task = await office.call(work)
        await asyncio.sleep(25)
        store.faulty.clear()
        await asyncio.sleep(60)
        kept = await store.get(task)
        assert kept is not None
        assert kept.partial == [19]


@pytest.mark.parametrize("method", ["get", "result", "cancel"])
async def test_a_task_that_runs_here_is_answered_without_its_store(way: str, method: str) -> None:
    office, _ = faulty(way, "get", "list", "update", "find_by_key")
    async with office:
        task = await office.call()
        if method == "result":
            assert (await office.refused(office.result(task))).code == -32602
        else:
            assert (await getattr(office, method)(task))["taskId"] == task


async def test_what_is_in_the_store_alone_is_a_clear_error_meanwhile(way: str) -> None:
    office, store = faulty(way)
    async with office:
        task = await office.call(returns())
        await turns()
        store.faulty = {"get", "list"}
        for request in (office.get(task), office.result(task), office.cancel(task)):
            error = await office.refused(request)
            assert error.code == -32603
            assert "task store" in error.message
        assert (await office.refused(office.methods.list({}))).code == -32603
        store.faulty.clear()
        assert await office.result(task) == text("42")


async def test_stopping_is_not_held_up(way: str) -> None:
    office, _ = faulty(way, "update")
    async with office:
        await office.call()
        await turns()
        before = asyncio.get_running_loop().time()
        await office.service.close()
        assert asyncio.get_running_loop().time() - before < 5


async def test_what_ran_when_the_server_stopped_has_failed_and_says_so() -> None:
    async with Office() as office:
        task = await office.call()
        await turns()
        await office.service.close()
        shown = await office.get(task)
        assert shown["status"] == "failed"
        assert "stopped" in shown["statusMessage"]


async def test_nothing_is_begun_once_the_server_stops() -> None:
    async with Office() as office:
        await office.service.close()
        ran: list[str] = []
        assert (await office.refused(office.call(returns(log=ran)))).code == -32603
        await turns()
        assert ran == []


def test_work_that_ends_the_program_has_failed() -> None:
    seen = []

    async def main() -> None:
        async with Office() as office:
            task = await office.call(raises(KeyboardInterrupt(), after=1))
            seen.append(office.service._runs[task])
            await asyncio.sleep(2)

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert seen[0].record.status == "failed"


async def test_a_store_method_that_cancels_itself_cancels_nobody_else() -> None:
    class Odd(FaultyStore):
        async def create(self, record: Any) -> Any:
            raise asyncio.CancelledError

    async with Office(Odd(clock)) as office:
        assert (await office.refused(office.call())).code == -32603
