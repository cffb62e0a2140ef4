"""Texts as messages and messages as texts."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.mcp.jsonrpc import (
    ErrorCode,
    InvalidMessageError,
    JsonText,
    Notification,
    Request,
    Response,
    RpcError,
    error_text,
    notification_text,
    parse,
    request_text,
    result_text,
)


def test_messages_are_told_apart() -> None:
    assert parse('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}') == Request(
        1, "m", {"a": 1}
    )
    assert parse(b'{"jsonrpc":"2.0","id":"x","method":"m"}') == Request("x", "m", {})
    assert parse('{"jsonrpc":"2.0","method":"m","params":null}') == Notification("m", {})
    assert parse('{"jsonrpc":"2.0","id":1,"result":null}') == Response(1, None)


def test_an_error_answer_has_a_code_and_a_message_whatever_came() -> None:
    for error in ({"code": -1, "message": "no", "data": 5}, {}, None, {"code": "x", "message": 1}):
        message = parse(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}))
        assert isinstance(message, Response)
        assert isinstance(message.error, RpcError)
        assert isinstance(message.error.code, int)
        assert message.error.message


def test_an_answer_is_an_answer_however_wrong_it_is() -> None:
    assert parse('{"id":1,"result":2}') == Response(1, 2)
    for text in ('{"jsonrpc":"2.0","id":null,"error":{}}', '{"error":5,"result":1}'):
        message = parse(text)
        assert isinstance(message, Response)
        assert message.id is None
        assert message.error is not None


@pytest.mark.parametrize(
    ("text", "code", "request_id"),
    [
        ("", ErrorCode.PARSE_ERROR, None),
        ("{", ErrorCode.PARSE_ERROR, None),
        (b"\xff", ErrorCode.PARSE_ERROR, None),
        ("[" * 100_000, ErrorCode.PARSE_ERROR, None),
        ('{"jsonrpc":"2.0","id":NaN,"method":"m"}', ErrorCode.PARSE_ERROR, None),
        ("[]", ErrorCode.INVALID_REQUEST, None),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', ErrorCode.INVALID_REQUEST, None),
        ("1", ErrorCode.INVALID_REQUEST, None),
        ("{}", ErrorCode.INVALID_REQUEST, None),
        ('{"id":7,"method":"m"}', ErrorCode.INVALID_REQUEST, 7),
        ('{"jsonrpc":"1.0","id":7,"method":"m"}', ErrorCode.INVALID_REQUEST, 7),
        ('{"jsonrpc":"2.0","id":7,"method":5}', ErrorCode.INVALID_REQUEST, 7),
        ('{"jsonrpc":"2.0","id":null,"method":"m"}', ErrorCode.INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":true,"method":"m"}', ErrorCode.INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":[],"method":"m"}', ErrorCode.INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":1e999,"method":"m"}', ErrorCode.INVALID_REQUEST, None),
        ('{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}', ErrorCode.INVALID_PARAMS, 7),
        ('{"jsonrpc":"2.0","id":7}', ErrorCode.INVALID_REQUEST, 7),
    ],
)
def test_what_is_no_message_is_refused_with_its_id(
    text: str | bytes, code: int, request_id: Any
) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.request_id) == (code, request_id)


def test_an_id_goes_back_as_it_came() -> None:
    for request_id in (0, -1, 2**60, 1.5, "", "é\ud800", "1"):
        text = result_text(request_id, {})
        assert json.loads(text) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


def test_a_result_that_is_json_already_is_sent_as_it_is() -> None:
    assert result_text(1, JsonText('{"a": 1}')).endswith('"result":{"a": 1}}')
    assert result_text(1, "a").endswith('"result":"a"}')


def test_every_text_is_one_line_of_utf_8() -> None:
    value = {"s": "a\nb\r\u2028\ud800", "b": b"x", "n": float("nan"), 1: 2}
    for text in (
        result_text(1, value),
        request_text(1, "m", value),
        notification_text("m", value),
        error_text(None, RpcError(1, "a\nb\ud800", value)),
    ):
        assert b"\n" not in text.encode("utf-8")
        json.loads(text)


@given(st.text() | st.binary())
def test_any_text_is_a_message_or_refused(text: str | bytes) -> None:
    with contextlib.suppress(InvalidMessageError):
        parse(text)
