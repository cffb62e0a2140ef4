"""The virtual clock: time, deadlocks, tasks left behind, exceptions nobody has seen."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest
from pywebmcp.testing import (
    Deadlock,
    Unfinished,
    VirtualLoop,
    run,
)


def now() -> float:
    return asyncio.get_running_loop().time()


def test_an_hour_passes_at_once():
    async def nap():
        await asyncio.sleep(3600)
        return now()

    assert run(nap()) == 3600


def test_timers_fire_in_their_order_and_at_their_time():
    seen = []

    async def sleeper(name, seconds):
        await asyncio.sleep(seconds)
        seen.append((name, now()))

    async def main():
        await asyncio.gather(sleeper("c", 86400 * 30), sleeper("a", 1), sleeper("b", 1.5))

    run(main())
    assert seen == [("a", 1), ("b", 1.5), ("c", 86400 * 30)]


def test_what_is_ready_comes_before_any_timer():
    async def main():
        for _ in range(1000):
            await asyncio.sleep(0)
        return now()

    assert run(main()) == 0


def test_time_limits_work():
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 20)
        async with asyncio.timeout(10):
            await asyncio.sleep(9)
        return now()

    assert run(main()) == 29


def test_waiting_for_what_cannot_come_is_a_deadlock_that_names_the_place():
    async def stuck():
        await asyncio.Event().wait()

    async def main():
        await asyncio.create_task(stuck(), name="the stuck one")

    with pytest.raises(Deadlock, match=r"the stuck one in .*locks\.py") as caught:
        run(main())
    assert "Task-" in str(caught.value)


def test_a_deadlock_after_some_time_is_one_too():
    async def main():
        await asyncio.sleep(5)
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock, match=r"test_a_deadlock_after.*test_loop\.py"):
        run(main())


def test_a_future_nobody_works_on_is_a_deadlock():
    loop = VirtualLoop()
    with pytest.raises(Deadlock, match="nothing but a future"):
        loop.run_until_complete(loop.create_future())
    loop.close()


def test_the_error_of_the_coroutine_comes_out():
    async def main():
        asyncio.get_running_loop().create_task(asyncio.sleep(100))
        raise LookupError("this one")

    with pytest.raises(LookupError, match="this one"):
        run(main())


def test_a_task_left_behind_is_a_failure():
    async def main():
        asyncio.get_running_loop().create_task(asyncio.sleep(1), name="forgotten")

    with pytest.raises(Unfinished, match="forgotten in sleep"):
        run(main())


def test_a_task_that_stubbornly_goes_on_does_not_hang_the_end():
    async def stubborn():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1)

    async def main():
        asyncio.get_running_loop().create_task(stubborn(), name="stubborn")
        await asyncio.sleep(0)

    with pytest.raises(Unfinished, match="stubborn"):
        run(main())
    gc.collect()


def test_a_cancelled_task_may_end_after_the_coroutine():
    ended = []

    async def worker():
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(0)
            ended.append(now())

    async def main():
        task = asyncio.get_running_loop().create_task(worker())
        await asyncio.sleep(1)
        task.cancel()

    run(main())
    assert ended == [1]


@pytest.mark.parametrize("kept", [True, False])
def test_an_exception_nobody_has_seen_is_a_failure(kept):
    tasks = []

    async def fails():
        raise ValueError("unseen")

    async def main():
        task = asyncio.get_running_loop().create_task(fails())
        if kept:
            tasks.append(task)
        del task
        await asyncio.sleep(1)

    with pytest.raises(Unfinished, match="unseen") as caught:
        run(main())
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_unseen_exception_of_a_future_is_a_failure():
    futures = []

    async def main():
        future = asyncio.get_running_loop().create_future()
        future.set_exception(ValueError("of a future"))
        futures.append(future)

    with pytest.raises(Unfinished, match="of a future"):
        run(main())


def test_an_exception_in_a_callback_is_a_failure():
    async def main():
        asyncio.get_running_loop().call_later(1, lambda: 1 / 0)
        await asyncio.sleep(2)

    with pytest.raises(Unfinished, match="ZeroDivisionError"):
        run(main())


def test_an_exception_that_was_seen_is_none():
    async def fails():
        raise ValueError

    async def main():
        outcomes = await asyncio.gather(fails(), fails(), return_exceptions=True)
        return len(outcomes)

    assert run(main()) == 2


def test_asynchronous_generators_are_closed():
    closed = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    kept = numbers()

    async def main():
        return await anext(kept)

    assert run(main()) == 1
    assert closed == [True]


def test_there_are_no_threads():
    async def main():
        await asyncio.get_running_loop().run_in_executor(None, int)

    with pytest.raises(RuntimeError, match="no threads"):
        run(main())


def test_a_callback_may_claim_to_come_from_a_thread():
    async def main():
        event = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(event.set)
        await event.wait()

    run(main())


async def test_a_loop_in_a_loop_is_refused():
    with pytest.raises(RuntimeError, match="running already"):
        run(asyncio.sleep(1))
