"""What every store has to do, and what the service makes of every store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from office import EPOCH, Office, clock, forever, raises, returns, text
from pywebmcp.records import State
from pywebmcp.tasks import MemoryTaskStore, TaskRecord, TaskStore, record_output
from stores import STORES, SlowStore


@pytest.fixture(params=sorted(STORES))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Makes the store, and a second one on the same data where there is such a thing."""
    return lambda: STORES[request.param](clock, tmp_path)


def record(task_id: str = "t1", created: float = 0, **more: Any) -> TaskRecord:
    moment = EPOCH + created
    fields = {"tool": "tool", "created_at": moment, "updated_at": moment, **more}
    return TaskRecord(task_id=task_id, **fields)


# --- the store alone


async def test_it_has_the_five_methods(made: Any) -> None:
    assert isinstance(made(), TaskStore)


async def test_what_was_created_is_there_whole(made: Any) -> None:
    store = made()
    whole = record(
        status=State.WORKING,
        status_message="é\ud800",
        idempotency_key="k",
        fingerprint="f",
        owner="me",
        partial={"content": [{"type": "text", "text": "日本"}], "n": [1, None, True, 0.5]},
        ttl=60_000,
    )
    assert await store.create(whole) == whole
    assert await store.get("t1") == whole
    assert await store.find_by_key("k") == whole
    assert await store.list() == [whole]


async def test_what_was_never_created_is_absent(made: Any) -> None:
    store = made()
    assert await store.get("t1") is None
    assert await store.find_by_key("k") is None
    assert await store.update("t1", status=State.COMPLETED) is None
    assert await store.list() == []


async def test_update_changes_the_fields_that_it_names_and_no_others(made: Any) -> None:
    store = made()
    first = await store.create(record(idempotency_key="k"))
    changed = await store.update("t1", status=State.INPUT_REQUIRED, status_message="?")
    assert changed == first.changed(status=State.INPUT_REQUIRED, status_message="?")
    assert await store.get("t1") == changed
    assert await store.find_by_key("k") == changed


async def test_update_leaves_a_terminal_task_as_it_is(made: Any) -> None:
    store = made()
    await store.create(record())
    settled = await store.update("t1", status=State.COMPLETED, result=text("42"))
    assert await store.update("t1", status=State.CANCELLED, result=None) == settled
    assert await store.get("t1") == settled


async def test_a_key_that_is_held_answers_its_holder_and_nothing_is_created(made: Any) -> None:
    store = made()
    first = await store.create(record("t1", idempotency_key="k"))
    assert await store.create(record("t2", idempotency_key="k")) == first
    assert await store.get("t2") is None
    assert await store.list() == [first]


async def test_tasks_without_a_key_do_not_share_one(made: Any) -> None:
    store = made()
    await store.create(record("t1"))
    await store.create(record("t2"))
    assert len(await store.list()) == 2


@pytest.mark.parametrize("status", [State.COMPLETED, State.FAILED, State.CANCELLED])
async def test_a_task_past_its_ttl_is_absent_for_each_method(made: Any, status: State) -> None:
    store = made()
    await store.create(record(idempotency_key="k", ttl=10_000))
    await asyncio.sleep(100)
    await store.update("t1", status=status, updated_at=clock())
    await asyncio.sleep(5)
    assert (await store.get("t1")) == (await store.find_by_key("k")) is not None
    await asyncio.sleep(6)
    assert await store.get("t1") is None
    assert await store.find_by_key("k") is None
    assert await store.list() == []
    assert await store.update("t1", result=1) is None
    again = await store.create(record("t2", idempotency_key="k"))
    assert again.task_id == "t2"


async def test_a_task_that_runs_is_kept_whatever_its_ttl(made: Any) -> None:
    store = made()
    kept = await store.create(record(idempotency_key="k", ttl=1))
    await asyncio.sleep(100_000)
    assert await store.get("t1") == await store.find_by_key("k") == kept


async def test_the_list_is_newest_first_and_as_long_as_was_asked(made: Any) -> None:
    store = made()
    for number in (3, 1, 4, 2, 5):
        await store.create(record(f"t{number}", number))
    await store.update("t1", status_message="changed last")
    assert [each.task_id for each in await store.list()] == ["t5", "t4", "t3", "t2", "t1"]
    assert [each.task_id for each in await store.list(limit=2)] == ["t5", "t4"]


async def test_the_list_has_fifty_where_nothing_is_said(made: Any) -> None:
    store = made()
    for number in range(52):
        await store.create(record(f"t{number}", number))
    assert len(await store.list()) == 50


# --- the service with the store


async def test_twenty_retries_at_once_are_one_task_and_one_run(made: Any) -> None:
    async with Office(made()) as office:
        ran: list[str] = []
        work = returns(after=100, log=ran)
        calls = [office.call(work, key="k") for _ in range(20)]
        assert len(set(await asyncio.gather(*calls))) == 1
        await asyncio.sleep(50)
        assert ran == ["ran"]
        assert len(await office.listed()) == 1


async def test_retries_at_once_of_different_calls_are_one_task_and_refusals(made: Any) -> None:
    async with Office(made()) as office:
        calls = [office.call(key="k", arguments={"n": number}) for number in range(10)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(answer, str) for answer in answers) == 1
        assert len(await office.listed()) == 1


async def test_a_caller_that_goes_away_while_its_task_is_created_can_retry(made: Any) -> None:
    async with Office(made()) as office:
        ran: list[str] = []
        first = asyncio.create_task(office.call(returns(after=5, log=ran), key="k"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        task = await office.call(returns(after=5, log=ran), key="k")
        await asyncio.sleep(10)
        assert ran == ["ran"]
        assert await office.result(task) == text("42")


async def test_a_whole_life_with_every_store(made: Any) -> None:
    async def work() -> Any:
        for number in range(10):
            await record_output([f"line {number}"])
            await asyncio.sleep(0.1)
        await forever()

    async with Office(made()) as office:
        completed = await office.call(returns(text("done")))
        failed = await office.call(raises(ValueError("no")))
        cancelled = await office.call(work)
        await asyncio.sleep(20)
        assert (await office.cancel(cancelled))["status"] == "cancelled"
        await asyncio.sleep(20)
        # Now all is in the store alone.
        assert office.service._runs == {}
        assert await office.listed() == [cancelled, failed, completed]
        assert await office.result(completed) == text("done")
        assert (await office.refused(office.result(failed))).message == "ValueError: no"
        outputs = (await office.result(cancelled))["structuredContent"]["outputs"]
        assert outputs == ["line 9"]
        statuses = [params["status"] for _, params in office.session.notes]
        assert sorted(statuses) == ["cancelled", "completed", "failed"]


async def test_a_fast_task_is_never_seen_to_go_back(made: Any) -> None:
    """Whatever way a slow store has yet to go, what was seen as settled stays that."""
    async with Office(made()) as office:
        task = await office.call(returns(after=0.5))
        seen = []
        for _ in range(40):
            await asyncio.sleep(0.1)
            seen.append(await office.status(task))
        assert seen == sorted(seen, reverse=True)
        assert seen[-1] == "completed"


async def test_tasks_whose_page_is_gone_have_failed_and_keep_their_output(made: Any) -> None:
    store = made()
    gone, here = Office(store, name="gone"), Office(store)

    async def work() -> Any:
        await record_output(["half"])
        await forever()

    async with gone, here:
        running = await gone.call(work, key="k")
        await asyncio.sleep(5)

        async def alive(owner: str) -> bool:
            return owner == here.service.owner

        assert await here.service.recover(alive) == 1
        await asyncio.sleep(5)
        shown = await here.get(running)
        assert shown["status"] == "failed"
        assert "went away" in shown["statusMessage"]
        error = await here.refused(here.result(running))
        assert error.data["partial"]["structuredContent"]["outputs"] == ["half"]
        assert await here.service.recover(alive) == 0


async def test_a_task_of_another_page_is_seen_and_not_touched(made: Any) -> None:
    store = made()
    there, here = Office(store, name="there"), Office(store)
    async with there, here:
        task = await there.call(returns(after=50), key="k")
        assert await here.call(returns(), key="k") == task
        assert await here.status(task) == "working"
        error = await here.refused(here.cancel(task))
        assert error.code == -32603
        assert "another" in error.message

        async def alive(owner: str) -> bool:
            return True

        assert await here.service.recover(alive) == 0
        await asyncio.sleep(60)
        assert await here.result(task) == text("42")


async def test_two_servers_with_one_store_and_one_key_at_once_run_it_once() -> None:
    store = SlowStore(MemoryTaskStore(clock))
    here, there = Office(store, name="here"), Office(store, name="there")
    async with here, there:
        ran: list[str] = []
        calls = [office.call(returns(after=50, log=ran), key="k") for office in (here, there)]
        assert len(set(await asyncio.gather(*calls))) == 1
        await asyncio.sleep(20)
        assert ran == ["ran"]


async def test_retries_at_once_are_one_run_with_a_store_that_minds_no_keys_too() -> None:
    class Careless(MemoryTaskStore):
        async def create(self, record: TaskRecord) -> TaskRecord:
            self._keys.pop(record.idempotency_key or "", None)
            return await super().create(record)

    async with Office(SlowStore(Careless(clock))) as office:
        ran: list[str] = []
        calls = [office.call(returns(after=50, log=ran), key="k") for _ in range(20)]
        assert len(set(await asyncio.gather(*calls))) == 1
        await asyncio.sleep(20)
        assert ran == ["ran"]


async def test_a_task_that_is_cancelled_while_it_is_created_is_not_begun() -> None:
    inner = MemoryTaskStore(clock)
    async with Office(SlowStore(inner)) as office:
        ran: list[str] = []
        creation = asyncio.create_task(office.call(returns(log=ran)))
        # Kept already, but the store has not said so yet.
        await asyncio.sleep(0.4)
        [stored] = await inner.list()
        assert (await office.cancel(stored.task_id))["status"] == "cancelled"
        task = await creation
        await asyncio.sleep(5)
        assert await office.status(task) == "cancelled"
        assert ran == []
