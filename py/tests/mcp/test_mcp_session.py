"""A conversation: answers, cancellation, requests of our own."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pywebmcp.mcp.jsonrpc import ErrorCode, InvalidMessageError, JsonText, RpcError
from pywebmcp.mcp.session import Call, Session, SessionClosedError


class Desk:
    """A session with a few methods, and what it sent."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.heard: list[Any] = []
        self.gate = asyncio.Event()
        self.ended: list[str] = []
        methods = {
            "echo": self.echo,
            "wait": self.wait,
            "fail": self.fail,
            "refuse": self.refuse,
            "give up": self.give_up,
            "stubborn": self.stubborn,
        }
        listeners = {"note": self.heard.append, "break": self.break_}
        self.session = Session(self.texts.append, methods, listeners)

    async def echo(self, params: Any, call: Call) -> Any:
        return params or JsonText("{}")

    async def wait(self, params: Any, call: Call) -> Any:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append(f"{call.id} cancelled")
            raise
        return {"id": call.id}

    async def fail(self, params: Any, call: Call) -> Any:
        raise KeyError("x")

    async def refuse(self, params: Any, call: Call) -> Any:
        raise RpcError(-5, "no", {"why": 1})

    async def give_up(self, params: Any, call: Call) -> Any:
        raise asyncio.CancelledError

    async def stubborn(self, params: Any, call: Call) -> Any:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            return {"late": True}

    def break_(self, params: Any) -> None:
        raise KeyError("x")

    def receive(self, **message: Any) -> None:
        self.session.receive(json.dumps({"jsonrpc": "2.0", **message}))

    @property
    def sent(self) -> list[Any]:
        return [json.loads(text) for text in self.texts]

    async def quiet(self) -> list[Any]:
        """All that was sent, when nothing moves any more."""
        for _ in range(10):
            await asyncio.sleep(0)
        return self.sent


async def test_requests_are_answered_under_their_ids() -> None:
    desk = Desk()
    desk.receive(id="a", method="echo", params={"x": 1})
    desk.receive(id=2, method="echo")
    assert await desk.quiet() == [
        {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
    ]


async def test_others_are_answered_while_one_runs() -> None:
    desk = Desk()
    desk.receive(id=1, method="wait")
    desk.receive(id=2, method="echo")
    assert [each["id"] for each in await desk.quiet()] == [2]
    desk.gate.set()
    assert [each["id"] for each in await desk.quiet()] == [2, 1]


async def test_errors_are_answers(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    for number, method in enumerate(("nothing", "refuse", "fail", "give up")):
        desk.receive(id=number, method=method)
    errors = {each["id"]: each["error"] for each in await desk.quiet()}
    assert errors[0]["code"] == ErrorCode.METHOD_NOT_FOUND
    assert errors[1] == {"code": -5, "message": "no", "data": {"why": 1}}
    assert errors[2] == {
        "code": ErrorCode.INTERNAL_ERROR,
        "message": "Internal error: KeyError: 'x'",
    }
    assert errors[3]["code"] == ErrorCode.INTERNAL_ERROR
    assert "Traceback" in caplog.text


async def test_what_is_no_message_is_answered_and_the_session_goes_on() -> None:
    desk = Desk()
    desk.session.receive("garbage")
    desk.session.receive('[{"jsonrpc":"2.0","id":1,"method":"echo"}]')
    desk.session.refuse(InvalidMessageError(ErrorCode.INVALID_REQUEST, "too long"))
    desk.receive(id=4, method="echo")
    sent = await desk.quiet()
    assert [each.get("error", {}).get("code") for each in sent] == [-32700, -32600, -32600, None]
    assert [each["id"] for each in sent] == [None, None, None, 4]


async def test_a_cancelled_request_stops_and_is_not_answered() -> None:
    desk = Desk()
    for number in (1, 2):
        desk.receive(id=number, method="wait")
    desk.receive(id=3, method="stubborn")
    await desk.quiet()
    for request_id in (1, 3, 99, None, [], True):
        desk.receive(method="notifications/cancelled", params={"requestId": request_id})
    await desk.quiet()
    assert desk.ended == ["1 cancelled"]
    desk.gate.set()
    assert [each["id"] for each in await desk.quiet()] == [2]


async def test_an_id_in_use_is_refused_and_free_after_a_cancellation() -> None:
    desk = Desk()
    desk.receive(id=1, method="wait")
    desk.receive(id=1, method="echo")
    sent = await desk.quiet()
    assert sent[0]["error"]["code"] == ErrorCode.INVALID_REQUEST
    desk.receive(method="notifications/cancelled", params={"requestId": 1})
    desk.receive(id=1, method="wait")
    await desk.quiet()
    desk.gate.set()
    assert (await desk.quiet())[1:] == [{"jsonrpc": "2.0", "id": 1, "result": {"id": 1}}]


async def test_notifications_are_heard_and_never_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = Desk()
    for method in ("note", "unknown", "break", "echo"):
        desk.receive(method=method, params={"a": 1})
    assert await desk.quiet() == []
    assert desk.heard == [{"a": 1}]
    assert "break failed" in caplog.text


async def test_requests_of_our_own_are_answered() -> None:
    desk = Desk()
    first = asyncio.ensure_future(desk.session.request("roots/list"))
    second = asyncio.ensure_future(desk.session.request("other", {"a": 1}))
    sent = await desk.quiet()
    assert [each["method"] for each in sent] == ["roots/list", "other"]
    assert "params" not in sent[0]
    desk.receive(id=sent[1]["id"], error={"code": -1, "message": "no"})
    desk.receive(id=sent[0]["id"], result={"roots": []})
    # An answer twice, and one to nothing.
    desk.receive(id=sent[0]["id"], result={})
    desk.receive(id="x", result={})
    assert await first == {"roots": []}
    with pytest.raises(RpcError, match="no"):
        await second


async def test_an_error_that_answers_nothing_is_not_answered() -> None:
    desk = Desk()
    desk.receive(id=None, error={"code": -32700, "message": "what?"})
    desk.receive(id=None, result={})
    assert await desk.quiet() == []


async def test_a_request_of_ours_that_takes_too_long_is_cancelled_there() -> None:
    desk = Desk()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await desk.session.request("roots/list")
    number = desk.sent[0]["id"]
    assert desk.sent[1] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": number},
    }


async def test_at_the_end_what_runs_may_finish_and_what_waits_fails() -> None:
    desk = Desk()
    desk.receive(id=1, method="wait")
    waiting = asyncio.ensure_future(desk.session.request("roots/list"))
    await desk.quiet()
    ending = asyncio.ensure_future(desk.session.end(grace=5))
    await desk.quiet()
    assert isinstance(waiting.exception(), SessionClosedError)
    desk.gate.set()
    await ending
    assert desk.sent[-1] == {"jsonrpc": "2.0", "id": 1, "result": {"id": 1}}
    with pytest.raises(SessionClosedError):
        await desk.session.request("roots/list")


async def test_at_the_end_what_does_not_finish_is_cancelled_and_silent() -> None:
    desk = Desk()
    desk.receive(id=1, method="wait")
    desk.receive(id=2, method="stubborn")
    await desk.quiet()
    await desk.session.end(grace=5)
    desk.session.notify("late")
    assert desk.ended == ["1 cancelled"]
    assert desk.sent == []
