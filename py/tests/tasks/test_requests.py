"""Requests that are wrong are refused at once, with the code for that, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from office import Office, returns, turns

WRONG_CALLS: list[Any] = [
    None,
    [],
    {"name": "tool", "task": "yes"},
    {"name": "tool", "task": []},
    {"name": "tool", "task": True},
    {"name": "tool", "task": {"ttl": "soon"}},
    {"name": "tool", "task": {"ttl": True}},
    {"name": "tool", "task": {"ttl": [1]}},
    {"name": "tool", "task": {"ttl": float("nan")}},
    {"name": 5, "task": {}},
    {"name": "", "task": {}},
    {"task": {}},
    {"name": "tool", "task": {}, "arguments": []},
    {"name": "tool", "task": {}, "arguments": "{}"},
    {"name": "tool", "task": {}, "_meta": []},
    {"name": "tool", "task": {}, "_meta": {"io.datalayer/idempotency-key": 5}},
]


@pytest.mark.parametrize("params", WRONG_CALLS)
async def test_a_wrong_call_creates_no_task(params: Any) -> None:
    async with Office() as office:
        ran: list[str] = []
        error = await office.refused(office.methods.call(params, returns(log=ran)))
        assert error.code == -32602
        await turns()
        assert ran == []
        assert await office.listed() == []


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/result"])
@pytest.mark.parametrize("params", [None, [], {}, {"taskId": 5}, {"taskId": None}, {"taskId": ""}])
async def test_a_request_for_no_task_in_particular_is_refused(method: str, params: Any) -> None:
    async with Office() as office:
        await office.call()
        error = await office.refused(office.methods.methods[method](params))
        assert error.code == -32602


@pytest.mark.parametrize(
    "cursor", ["zzz", "-1", "", 5, [], "é", "MA==", "MSA=", "bmFuIHg=", "aW5mIHg=", "x" * 100_000]
)
async def test_a_cursor_that_no_answer_gave_is_refused(cursor: Any) -> None:
    async with Office() as office:
        await office.call()
        error = await office.refused(office.methods.list({"cursor": cursor}))
        assert error.code == -32602
        assert "cursor" in error.message


async def test_an_error_does_not_echo_an_endless_id() -> None:
    async with Office() as office:
        error = await office.refused(office.get("x" * 1_000_000))
        assert len(error.message) < 1000
        await office.call(key="k" * 1_000_000)
        error = await office.refused(office.call(key="k" * 1_000_000, name="other"))
        assert len(error.message) < 1000


async def test_arguments_of_any_depth_make_a_task_and_end_no_interpreter() -> None:
    deep: Any = 0
    for _ in range(2_000):
        deep = [deep]
    async with Office() as office:
        task = await office.call(key="k", arguments={"x": deep})
        assert await office.call(key="k", arguments={"x": deep}) == task
        assert (await office.refused(office.call(key="k", arguments={"x": 0}))).code == -32602


async def test_an_error_is_a_json_rpc_error_object() -> None:
    async with Office() as office:
        error = await office.refused(office.get("x"))
        assert error.as_json() == {"code": -32602, "message": "No such task: x"}
        task = await office.call()
        error = await office.refused(office.result(task))
        assert error.as_json()["data"] == {"taskId": task, "status": "working"}
