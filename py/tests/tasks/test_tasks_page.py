"""What docs/tasks.md promises, sentence after sentence, for work of any kind."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from typing import Any

import pytest
from office import EPOCH, Office, Session, clock, forever, raises, returns, text, turns
from pywebmcp.tasks import (
    EXTENSION,
    METHODS,
    NOTIFICATION,
    MemoryTaskStore,
    capabilities,
    current_task,
    needs_input,
    record_output,
    register_interrupt,
)

# --- nothing changes unless you ask


async def test_a_task_is_created_only_when_the_request_carries_task_metadata() -> None:
    async with Office() as office:
        for params in ({"name": "tool"}, {"name": "tool", "task": None}):
            assert await office.methods.call(params, forever) is None
        assert await office.listed() == []


async def test_the_answer_is_a_create_task_result_rather_than_the_output() -> None:
    async with Office() as office:
        params = {"name": "tool", "arguments": {}, "task": {"ttl": 60000}}
        answer = await office.methods.call(params, returns())
        assert answer == {
            "task": {
                "taskId": answer["task"]["taskId"],
                "status": "working",
                "createdAt": "2023-11-14T22:13:20.000Z",
                "lastUpdatedAt": "2023-11-14T22:13:20.000Z",
                "ttl": 60000,
                "pollInterval": 1000,
            }
        }


async def test_the_id_comes_at_once_and_the_work_goes_on_without_the_caller() -> None:
    async with Office() as office:
        loop = asyncio.get_running_loop()
        task = await office.call(returns(text("done"), after=600))
        assert loop.time() == 0
        assert await office.status(task) == "working"
        await asyncio.sleep(601)
        assert await office.result(task) == text("done")


async def test_the_result_can_be_asked_for_whenever_one_likes_and_again() -> None:
    async with Office() as office:
        task = await office.call(returns({**text("42"), "structuredContent": {"k": [1, None]}}))
        for seconds in (1, 500, 300):
            await asyncio.sleep(seconds)
            result = await office.result(task)
            assert result == {**text("42"), "structuredContent": {"k": [1, None]}}


@pytest.mark.parametrize("value", [None, "v", ["a", 1], {"k": 1}])
async def test_what_is_no_tool_result_becomes_one(value: Any) -> None:
    async def work() -> Any:
        return value

    async with Office() as office:
        task = await office.call(work)
        await turns()
        result = await office.result(task)
        assert result["structuredContent"] == {"result": value}
        assert result["content"][0]["type"] == "text"
        assert result["isError"] is False


async def test_ids_cannot_be_guessed() -> None:
    from pywebmcp.tasks import TaskService

    service = TaskService(MemoryTaskStore())
    ids = {service._new_id() for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 32


# --- a retry is one task


async def test_a_retry_with_its_key_answers_the_task_of_the_first_attempt() -> None:
    async with Office() as office:
        ran: list[str] = []
        first = await office.call(returns(after=600, log=ran), key="k")
        await asyncio.sleep(300)
        assert await office.call(returns(after=600, log=ran), key="k") == first
        await asyncio.sleep(301)
        assert await office.call(returns(after=600, log=ran), key="k") == first
        assert ran == ["ran"]
        assert await office.listed() == [first]


@pytest.mark.parametrize("key", [None, ""])
async def test_without_a_key_every_call_is_a_task_of_its_own(key: Any) -> None:
    async with Office() as office:
        ran: list[str] = []
        tasks = [await office.call(returns(log=ran), key=key) for _ in range(2)]
        await turns()
        assert len(set(tasks)) == len(ran) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"name": "run"}, {"name": "delete"}),
        ({"arguments": {"x": 1}}, {"arguments": {"x": 2}}),
        ({"arguments": {"x": 1}}, {"arguments": {"x": True}}),
        ({"arguments": {"x": [1, 2]}}, {"arguments": {"x": [2, 1]}}),
        ({"arguments": {"x": "1"}}, {"arguments": {"x": 1}}),
        ({"arguments": {"x": None}}, {"arguments": {}}),
    ],
)
async def test_the_same_key_on_a_different_call_is_refused(first: Any, second: Any) -> None:
    async with Office() as office:
        ran: list[str] = []
        task = await office.call(key="k-1", **first)
        error = await office.refused(office.call(returns(log=ran), key="k-1", **second))
        assert error.code == -32602
        assert "k-1" in error.message
        await turns()
        assert ran == []
        assert await office.status(task) == "working"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"arguments": {"x": 1, "y": {"p": 1, "q": 2}}},
            {"arguments": {"y": {"q": 2, "p": 1}, "x": 1}},
        ),
        ({"arguments": {}}, {}),
        ({"task": {"ttl": 5}}, {"task": {"ttl": 6}}),
        ({"arguments": {"x": "\ud800"}}, {"arguments": {"x": "\ud800"}}),
    ],
)
async def test_the_same_call_written_otherwise_is_still_the_same(first: Any, second: Any) -> None:
    async with Office() as office:
        task = await office.call(key="k", **first)
        assert await office.call(key="k", **second) == task


async def test_a_key_is_free_again_once_its_task_has_expired() -> None:
    async with Office() as office:
        ran: list[str] = []
        first = await office.call(returns(log=ran), key="k", task={"ttl": 1000})
        await asyncio.sleep(1.1)
        second = await office.call(returns(log=ran), key="k", name="other")
        await turns()
        assert second != first
        assert ran == ["ran", "ran"]


async def test_a_key_stays_with_a_task_that_runs_longer_than_its_ttl() -> None:
    async with Office() as office:
        first = await office.call(key="k", task={"ttl": 1})
        await asyncio.sleep(100_000)
        assert await office.call(key="k") == first


async def test_a_synchronous_call_with_a_key_is_still_a_synchronous_call() -> None:
    async with Office() as office:
        task = await office.call(key="k")
        params = {"name": "tool", "_meta": {"io.datalayer/idempotency-key": "k"}}
        assert await office.methods.call(params, forever) is None
        assert await office.listed() == [task]


# --- states and methods


async def test_there_are_four_methods_and_no_update() -> None:
    async with Office() as office:
        assert sorted(office.methods.methods) == sorted(METHODS)
        assert sorted(METHODS) == ["tasks/cancel", "tasks/get", "tasks/list", "tasks/result"]


async def test_input_required_while_a_person_is_asked_and_working_after() -> None:
    async with Office() as office:
        answered = asyncio.Event()

        async def work() -> Any:
            assert await needs_input("A number, please")
            await answered.wait()
            await needs_input(None)
            await asyncio.sleep(5)
            return text("thanks")

        task = await office.call(work)
        await turns()
        shown = await office.get(task)
        assert (shown["status"], shown["statusMessage"]) == ("input_required", "A number, please")
        assert shown["pollInterval"] == 1000
        error = await office.refused(office.result(task))
        assert error.code == -32602
        assert "input_required" in error.message
        answered.set()
        await turns()
        shown = await office.get(task)
        assert shown["status"] == "working"
        assert "statusMessage" not in shown
        await asyncio.sleep(6)
        assert await office.status(task) == "completed"


async def test_the_list_has_the_newest_first_strictly() -> None:
    async with Office() as office:
        tasks = [await office.call() for _ in range(5)]
        await asyncio.sleep(1)
        tasks.append(await office.call())
        assert await office.listed() == tasks[::-1]


async def test_newest_first_even_when_the_clock_is_set_back() -> None:
    times = [0.0, 100.0, 50.0, 50.0, 200.0]
    async with Office(now=lambda: times[0]) as office:
        tasks = []
        while len(times) > 1:
            del times[0]
            tasks.append(await office.call())
        assert await office.listed() == tasks[::-1]


async def test_a_clock_that_is_set_back_makes_no_task_older_than_it_is() -> None:
    times = [100.0, 50.0]
    async with Office(now=lambda: times[0]) as office:
        task = await office.call(returns(after=1))
        del times[0]
        await asyncio.sleep(2)
        shown = await office.get(task)
        assert shown["status"] == "completed"
        assert shown["lastUpdatedAt"] >= shown["createdAt"]


async def test_the_list_comes_in_pages_and_misses_none_when_others_begin() -> None:
    async with Office() as office:
        tasks = [await office.call(returns()) for _ in range(130)]
        page = await office.methods.list({})
        seen = [task["taskId"] for task in page["tasks"]]
        while "nextCursor" in page:
            await office.call()
            page = await office.methods.list({"cursor": page["nextCursor"]})
            seen += [task["taskId"] for task in page["tasks"]]
        assert seen == tasks[::-1]


async def test_a_page_that_ends_with_the_last_task_has_no_cursor() -> None:
    async with Office() as office:
        for _ in range(50):
            await office.call(returns())
        page = await office.methods.list(None)
        assert len(page["tasks"]) == 50
        assert "nextCursor" not in page


async def test_a_task_in_the_list_is_the_whole_task() -> None:
    async with Office() as office:
        task = await office.call(returns())
        await turns()
        assert (await office.methods.list({}))["tasks"] == [await office.get(task)]


# --- a failure is a failed task


async def test_a_tool_that_raised_ends_failed_and_its_result_raises() -> None:
    async with Office() as office:
        task = await office.call(raises(ValueError("kernel is dead")))
        await turns()
        shown = await office.get(task)
        assert (shown["status"], shown["statusMessage"]) == ("failed", "ValueError: kernel is dead")
        for _ in range(2):
            error = await office.refused(office.result(task))
            assert (error.code, error.message) == (-32603, "ValueError: kernel is dead")
        assert await office.get(task) == shown


async def test_an_error_without_words_is_told_all_the_same() -> None:
    async with Office() as office:
        task = await office.call(raises(ValueError()))
        await turns()
        assert (await office.refused(office.result(task))).message == "ValueError"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"content": [{"type": "text", "text": "no kernel"}], "isError": True}, "no kernel"),
        ({"content": [], "structuredContent": {"error": "E1"}, "isError": True}, "E1"),
        ({"content": [], "isError": True}, "The tool failed and did not say why."),
    ],
)
async def test_a_result_that_says_is_error_makes_the_task_failed(result: Any, message: str) -> None:
    async with Office() as office:
        task = await office.call(returns(result))
        await turns()
        assert await office.status(task) == "failed"
        error = await office.refused(office.result(task))
        assert (error.code, error.message) == (-32603, message)
        # The whole of it is there for whoever wants to see why.
        assert error.data == {"taskId": task, "status": "failed", "result": result}


async def test_the_result_of_a_working_task_is_refused() -> None:
    async with Office() as office:
        task = await office.call()
        error = await office.refused(office.result(task))
        assert error.code == -32602
        assert "working" in error.message


async def test_work_that_stops_itself_has_failed() -> None:
    async with Office() as office:
        task = await office.call(raises(asyncio.CancelledError()))
        await turns()
        assert await office.status(task) == "failed"
        assert (await office.refused(office.result(task))).message


# --- cancelling stops the work


async def test_cancelling_interrupts_the_work_then_stops_waiting_for_it() -> None:
    order: list[str] = []

    async def work() -> Any:
        assert await register_interrupt(lambda: order.append("interrupt"))
        try:
            await forever()
        except asyncio.CancelledError:
            order.append("stop waiting")
            raise

    async with Office() as office:
        task = await office.call(work)
        await turns()
        answer = await office.cancel(task)
        assert (answer["taskId"], answer["status"]) == (task, "cancelled")
        assert "pollInterval" not in answer
        assert order == ["interrupt", "stop waiting"]


async def test_an_interrupt_that_takes_a_while_is_waited_for() -> None:
    order: list[str] = []

    async def interrupt() -> str:
        await asyncio.sleep(2)
        order.append("interrupt")
        return "The kernel was restarted."

    async def work() -> Any:
        await register_interrupt(interrupt)
        try:
            await forever()
        finally:
            order.append("stop waiting")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        answer = await office.cancel(task)
        assert order == ["interrupt", "stop waiting"]
        assert answer["statusMessage"] == "Cancelled by the client. The kernel was restarted."


async def test_an_interrupt_that_comes_too_late_is_refused() -> None:
    seen = []

    async def work() -> Any:
        try:
            await forever()
        finally:
            seen.append(await register_interrupt(lambda: seen.append("called")))

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        assert seen == [False]


async def test_the_last_interrupt_that_was_registered_counts() -> None:
    order: list[str] = []

    async def work() -> Any:
        await register_interrupt(lambda: order.append("first"))
        await register_interrupt(lambda: order.append("second"))
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        assert order == ["second"]


async def test_outside_a_task_the_three_answer_false_and_do_nothing() -> None:
    async with Office() as office:
        await office.call(returns())
        await turns()
        assert await register_interrupt(lambda: 1 / 0) is False
        assert await record_output(["x"]) is False
        assert await needs_input("x") is False
        assert current_task() is None


async def test_what_the_work_starts_knows_its_task() -> None:
    seen = []

    async def work() -> Any:
        seen.append(current_task())
        seen.append(await asyncio.create_task(child()))
        await asyncio.create_task(part())
        await forever()

    async def child() -> str | None:
        return current_task()

    async def part() -> None:
        assert await record_output(["from a child"])

    async with Office() as office:
        task = await office.call(work)
        await turns()
        assert seen == [task, task]
        await office.cancel(task)
        assert (await office.result(task))["structuredContent"]["outputs"] == ["from a child"]


async def test_an_interrupt_that_fails_does_not_stop_the_cancellation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> None:
        raise RuntimeError("no kernel")

    async def work() -> Any:
        await register_interrupt(broken)
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        answer = await office.cancel(task)
        assert answer["status"] == "cancelled"
        assert "may go on" in answer["statusMessage"]
        assert [entry.levelno for entry in caplog.records] == [logging.ERROR]
        assert task in caplog.text


async def test_an_interrupt_that_hangs_does_not_hold_the_cancellation_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def stubborn() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                continue

    async def work() -> Any:
        await register_interrupt(stubborn)
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        assert (await office.cancel(task))["status"] == "cancelled"
        assert asyncio.get_running_loop().time() < 10
        assert task in caplog.text
        await asyncio.sleep(5000)


async def test_work_that_does_not_heed_the_cancellation_does_not_hold_it_up() -> None:
    ended = []

    async def work() -> Any:
        end = asyncio.get_running_loop().time() + 100
        while (left := end - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                continue
        ended.append(await record_output(["late"]))
        return text("much too late")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        answer = await office.cancel(task)
        assert answer["status"] == "cancelled"
        assert asyncio.get_running_loop().time() < 10
        await asyncio.sleep(200)
        assert ended == [False]
        assert await office.get(task) == answer
        assert (await office.refused(office.result(task))).code == -32602


async def test_cancelling_what_has_settled_answers_it_as_it_is() -> None:
    async with Office() as office:
        interrupts: list[str] = []

        async def work() -> Any:
            await register_interrupt(lambda: interrupts.append("i"))
            return text("42")

        for task in [await office.call(work), await office.call(raises(ValueError("x")))]:
            await turns()
            before = await office.get(task)
            await asyncio.sleep(5)
            assert await office.cancel(task) == before
            assert await office.get(task) == before
        assert interrupts == []


async def test_cancelling_twice_and_at_once_is_one_cancellation() -> None:
    interrupts: list[str] = []

    async def interrupt() -> None:
        interrupts.append("i")
        await asyncio.sleep(1)

    async def work() -> Any:
        await register_interrupt(interrupt)
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        answers = await asyncio.gather(*(office.cancel(task) for _ in range(5)))
        assert answers == [await office.cancel(task)] * 5
        assert interrupts == ["i"]
        await turns()
        assert [params["status"] for _, params in office.session.notes] == ["cancelled"]


async def test_a_cancellation_goes_on_when_its_client_goes_away() -> None:
    async def interrupt() -> None:
        await asyncio.sleep(1)

    async def work() -> Any:
        await register_interrupt(interrupt)
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        request = asyncio.create_task(office.cancel(task))
        await turns()
        request.cancel()
        await asyncio.sleep(2)
        assert await office.status(task) == "cancelled"


async def test_cancelling_before_the_work_began_leaves_it_undone() -> None:
    async with Office() as office:
        ran: list[str] = []
        task = await office.call(returns(log=ran))
        assert (await office.cancel(task))["status"] in ("cancelled", "completed")
        other = await office.call(returns())
        await turns()
        assert await office.result(other) == text("42")


async def test_cancelling_one_lets_the_others_go_on() -> None:
    async with Office() as office:
        first, second = await office.call(), await office.call(returns(after=5))
        await office.cancel(first)
        await asyncio.sleep(6)
        assert await office.result(second) == text("42")


# --- a cancelled task keeps what it produced


async def test_on_cancellation_the_partial_output_becomes_a_proper_tool_result() -> None:
    async def work() -> Any:
        await record_output(["one"])
        await record_output(["one", "two"])
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        result = await office.result(task)
        assert result["structuredContent"]["outputs"] == ["one", "two"]
        assert result["isError"] is True
        [block] = result["content"]
        assert block["type"] == "text"
        assert '"one","two"' in block["text"]


async def test_a_recorded_tool_result_is_served_as_it_is() -> None:
    async def work() -> Any:
        await record_output(text("half"))
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        assert await office.result(task) == text("half")


async def test_recorded_output_is_a_copy_of_that_moment() -> None:
    async def work() -> Any:
        lines = ["one"]
        await record_output(lines)
        lines.append("not recorded")
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        assert (await office.result(task))["structuredContent"]["outputs"] == ["one"]


@pytest.mark.parametrize("output", [None, [], {}, ""])
async def test_a_cancelled_task_that_produced_nothing_has_no_result(output: Any) -> None:
    async def work() -> Any:
        await record_output(output)
        await forever()

    async with Office() as office:
        task = await office.call(work)
        await turns()
        await office.cancel(task)
        error = await office.refused(office.result(task))
        assert error.code == -32602
        assert "cancelled" in error.message


async def test_the_tools_own_result_wins_over_the_partial_one() -> None:
    async def work() -> Any:
        await record_output(["half"])
        try:
            await forever()
        except asyncio.CancelledError:
            return text("whole")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        assert (await office.cancel(task))["status"] == "cancelled"
        assert await office.result(task) == text("whole")


async def test_work_that_comes_to_its_end_while_it_is_interrupted_is_completed() -> None:
    async def work() -> Any:
        done = asyncio.Event()

        async def interrupt() -> None:
            done.set()
            await turns()

        await register_interrupt(interrupt)
        await done.wait()
        return text("whole")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        assert (await office.cancel(task))["status"] == "completed"
        assert await office.result(task) == text("whole")


@pytest.mark.parametrize("stage", ["interrupted", "no longer waited for"])
async def test_work_that_fails_because_it_is_cancelled_is_cancelled_not_failed(stage: str) -> None:
    async def work() -> Any:
        stopped = asyncio.Event()

        async def interrupt() -> None:
            if stage == "interrupted":
                stopped.set()
                await turns()

        await record_output(["half"])
        await register_interrupt(interrupt)
        try:
            await stopped.wait()
        finally:
            raise KeyError("cleaning up broke")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        assert (await office.cancel(task))["status"] == "cancelled"
        assert (await office.result(task))["structuredContent"]["outputs"] == ["half"]


async def test_a_failed_task_keeps_its_partial_output_though_its_result_raises() -> None:
    async def work() -> Any:
        await record_output(["nine minutes of lines"])
        raise ValueError("late")

    async with Office() as office:
        task = await office.call(work)
        await turns()
        error = await office.refused(office.result(task))
        assert error.message == "ValueError: late"
        kept = error.data["partial"]["structuredContent"]["outputs"]
        assert kept == ["nine minutes of lines"]


# --- retention


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({}, 900_000),
        ({"ttl": None}, 900_000),
        ({"ttl": 0}, 900_000),
        ({"ttl": -5}, 900_000),
        ({"ttl": 60_000}, 60_000),
        ({"ttl": 1500.5}, 1500),
        ({"ttl": 0.5}, 1),
        ({"ttl": 86_400_000}, 86_400_000),
        ({"ttl": 86_400_001}, 86_400_000),
        ({"ttl": float("inf")}, 86_400_000),
    ],
)
async def test_a_finished_task_is_kept_for_its_ttl_and_is_then_gone(asked: Any, kept: int) -> None:
    async with Office() as office:
        task = await office.call(returns(after=1000), task=asked)
        await asyncio.sleep(1000)
        assert (await office.get(task))["ttl"] == kept
        await turns()
        await asyncio.sleep(kept / 1000 * 0.99)
        assert await office.result(task) == text("42")
        await asyncio.sleep(kept / 1000 * 0.02)
        assert (await office.refused(office.get(task))).code == -32602


async def test_an_expired_task_answers_as_one_that_never_was() -> None:
    async with Office() as office:
        task = await office.call(returns(), task={"ttl": 10})
        await asyncio.sleep(1)
        for method in ("get", "cancel", "result"):
            expired = await office.refused(getattr(office, method)(task))
            never = await office.refused(getattr(office, method)("tsk_never"))
            assert expired.message.replace(task, "tsk_never") == never.message
            assert expired.code == never.code == -32602
            assert expired.data == never.data
        assert await office.listed() == []


async def test_a_task_that_runs_never_expires() -> None:
    async with Office() as office:
        task = await office.call(task={"ttl": 1})
        await asyncio.sleep(1_000_000)
        assert await office.status(task) == "working"
        assert await office.listed() == [task]


# --- polling, and the notification


async def test_every_working_task_carries_a_poll_interval_and_a_settled_one_none() -> None:
    async with Office() as office:
        task = await office.call(returns(after=1))
        assert (await office.get(task))["pollInterval"] == 1000
        await asyncio.sleep(2)
        assert "pollInterval" not in await office.get(task)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_notification_is_sent_once_when_a_task_settles(status: str) -> None:
    work = {"completed": returns(), "failed": raises(ValueError("x")), "cancelled": forever}
    async with Office() as office:
        task = await office.call(work[status])
        await turns()
        if status == "cancelled":
            assert office.session.notes == []
            await office.cancel(task)
        await asyncio.sleep(100)
        assert office.session.notes == [(NOTIFICATION, await office.get(task))]


async def test_the_notification_carries_the_status_and_never_the_result() -> None:
    async with Office() as office:
        await office.call(returns(text("SECRET")))
        await turns()
        [(_, params)] = office.session.notes
        assert set(params) == {"taskId", "status", "createdAt", "lastUpdatedAt", "ttl"}


@pytest.mark.parametrize("way", ["raises", "hangs"])
async def test_a_session_that_cannot_carry_it_costs_nothing_else(way: str) -> None:
    class Gone(Session):
        async def notify(self, method: str, params: dict[str, Any]) -> None:
            if way == "raises":
                raise ConnectionError("gone")
            await forever()

    async with Office() as office:
        done = await office.call(returns(), session=Gone())
        stopped = await office.call(session=Gone())
        await turns()
        assert (await office.cancel(stopped))["status"] == "cancelled"
        assert await office.result(done) == text("42")


async def test_a_retry_from_another_connection_is_notified_too() -> None:
    async with Office() as office:
        again = Session()
        await office.call(returns(after=5), key="k")
        await office.call(returns(after=5), key="k", session=again)
        await office.call(returns(after=5), key="k", session=again)
        await asyncio.sleep(6)
        assert len(office.session.notes) == len(again.notes) == 1


async def test_a_status_message_is_one_short_line() -> None:
    async with Office() as office:
        task = await office.call(raises(ValueError("long\n" * 5000)))
        await turns()
        message = (await office.get(task))["statusMessage"]
        assert len(message) == 500
        assert "\n" not in message


# --- an extension


async def test_tasks_are_advertised_as_an_extension_and_as_the_protocols_capability() -> None:
    advertised = capabilities()
    assert EXTENSION == "io.datalayer/tasks"
    settings = {"defaultTtlMs": 900_000, "maxTtlMs": 86_400_000, "pollIntervalMs": 1000}
    assert advertised["extensions"] == {EXTENSION: settings}
    assert advertised["experimental"] == {EXTENSION: settings}
    requests = {"tools": {"call": {}}}
    assert advertised["tasks"] == {"list": {}, "cancel": {}, "requests": requests}


async def test_time_stamps_are_those_of_the_change_of_state() -> None:
    async with Office() as office:

        async def work() -> Any:
            await asyncio.sleep(3)
            await record_output(["x"])
            await asyncio.sleep(4)
            return text("42")

        task = await office.call(work)
        await asyncio.sleep(5)
        shown = await office.get(task)
        assert shown["lastUpdatedAt"] == shown["createdAt"]
        await asyncio.sleep(50)
        shown = await office.get(task)
        updated = datetime.fromisoformat(shown["lastUpdatedAt"]).timestamp()
        assert updated == EPOCH + 7
        assert clock() == EPOCH + 55
