"""JSON-RPC 2.0 messages as MCP has them: text to a checked message, and answers to text.

MCP narrows JSON-RPC: ids are strings or numbers and never null, params are objects, and since
revision 2025-06-18 there are no batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeGuard

from pywebmcp import jsontext

RequestId = str | int | float


class ErrorCode(IntEnum):
    """The codes of the JSON-RPC 2.0 specification, section 5.1."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603


class RpcError(Exception):
    """An error of the protocol: raised by a method it becomes the answer, raised by a request it
    is what the other side answered.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.data = data


class InvalidMessageError(RpcError):
    """What came is no message; its ``request_id`` is None when it cannot be known."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(code, message)
        self.request_id = request_id


class JsonText(str):
    """A result that is JSON text already: it is sent as it is, not as a JSON string."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants an answer."""

    id: RequestId
    method: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants none."""

    method: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request of ours: a result, or an error. Without an id it answers none."""

    id: RequestId | None
    result: Any = None
    error: RpcError | None = None


Message = Request | Notification | Response


def parse(text: str | bytes) -> Message:
    """The message in a text.

    Raises:
        InvalidMessageError: when there is none in it.
    """
    try:
        value = jsontext.loads(text)
    except ValueError:
        raise InvalidMessageError(ErrorCode.PARSE_ERROR, "The message is not JSON") from None
    if isinstance(value, list):
        raise _invalid("Batches are no part of the protocol; send one message a line", None)
    if not isinstance(value, dict):
        raise _invalid("A message is a JSON object", None)
    known = value.get("id")
    request_id = known if is_id(known) else None
    if "method" not in value and ("result" in value or "error" in value):
        return _response(value, request_id)
    if value.get("jsonrpc") != "2.0":
        raise _invalid('A message has "jsonrpc": "2.0"', request_id)
    method = value.get("method")
    if not isinstance(method, str):
        raise _invalid("The method is a string", request_id)
    if "id" in value and request_id is None:
        raise _invalid("The id is a string or a number", None)
    params = value.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise InvalidMessageError(ErrorCode.INVALID_PARAMS, "The params are an object", request_id)
    if request_id is None:
        return Notification(method, params)
    return Request(request_id, method, params)


def is_id(value: Any) -> TypeGuard[RequestId]:
    """Whether a value can be the id of a request."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def request_text(request_id: RequestId, method: str, params: Any = None) -> str:
    """A request of ours."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return _encode(message if params is None else {**message, "params": params})


def notification_text(method: str, params: Any = None) -> str:
    """A notification of ours."""
    message = {"jsonrpc": "2.0", "method": method}
    return _encode(message if params is None else {**message, "params": params})


def result_text(request_id: RequestId, result: Any) -> str:
    """The answer to a request."""
    text = result if isinstance(result, JsonText) else _encode(result)
    return f'{{"jsonrpc":"2.0","id":{_encode(request_id)},"result":{text}}}'


def error_text(request_id: RequestId | None, error: RpcError) -> str:
    """The answer to a request that failed, or to what was none (id null)."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def _response(value: dict[str, Any], request_id: RequestId | None) -> Response:
    """An answer, however wrong it is: to answer that in turn could go on for ever."""
    if "error" not in value:
        return Response(request_id, value["result"])
    error = value["error"]
    error = error if isinstance(error, dict) else {}
    code, message = error.get("code"), error.get("message")
    return Response(
        request_id,
        error=RpcError(
            code if isinstance(code, int) else ErrorCode.INTERNAL_ERROR,
            message if isinstance(message, str) else "the other side gave no reason",
            error.get("data"),
        ),
    )


def _invalid(message: str, request_id: RequestId | None) -> InvalidMessageError:
    return InvalidMessageError(ErrorCode.INVALID_REQUEST, message, request_id)


def _encode(value: Any) -> str:
    try:
        # Keeps integers as they are: an id that came has to go back unchanged.
        return jsontext.encode(value)
    except TypeError:
        return jsontext.dumps(value)
