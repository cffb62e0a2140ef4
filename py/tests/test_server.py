"""The door: arguments in any form, expected and unexpected failures, the envelope's modes."""

from __future__ import annotations

import json
import logging
from typing import Annotated, Any

import pytest
from desk import Desk
from pywebmcp import envelope
from pywebmcp.server import ToolServer
from pywebmcp.settings import Settings
from pywebmcp.testing import MemoryFrontend
from pywebmcp.tools import Call, tool
from pywebmcp.types import Arg


@tool("Echo", "R")
async def echo(call: Call, *, value: Annotated[str, Arg("Anything")] | None = None) -> Any:
    """Answer the value."""
    return {"value": value}


@tool("Boom")
async def boom(call: Call) -> Any:
    """Fail in a way nobody foresaw."""
    raise ZeroDivisionError("division\nby zero")


@tool("Odd", "R")
async def odd(call: Call) -> Any:
    """Answer what JSON does not have."""
    return {"values": {1: float("nan"), "set": {1}, "bytes": b"\x00\xff"}}


def server(**settings: Any) -> ToolServer:
    return ToolServer(MemoryFrontend(), (echo, boom, odd), settings=Settings(**settings))


@pytest.mark.parametrize(
    "given",
    [
        {"value": "x"},
        '{"value": "x"}',
        '"{\\"value\\": \\"x\\"}"',
    ],
)
async def test_arguments_are_an_object_or_a_json_string_of_one(given: Any) -> None:
    payload = envelope.decode(await server().call("echo", given))
    assert payload == {"success": True, "value": "x"}


@pytest.mark.parametrize("given", [None, {}, "", "  ", "null", {"value": None}])
async def test_no_arguments_are_no_arguments(given: Any) -> None:
    assert envelope.decode(await server().call("echo", given))["value"] is None


@pytest.mark.parametrize("given", ["{", "[1]", "3", [], '"text"', "[" * 100_000])
async def test_anything_else_is_an_invalid_argument(given: Any) -> None:
    payload = envelope.decode(await server().call("echo", given))
    assert payload["code"] == "INVALID_ARGUMENT"


async def test_an_unknown_tool_names_the_tools() -> None:
    payload = envelope.decode(await server().call("jupyter_run_cell", {}))
    assert payload["code"] == "INVALID_ARGUMENT"
    assert "echo" in payload["error"]


async def test_an_unexpected_failure_has_its_type_and_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "pywebmcp"):
        payload = envelope.decode(await server().call("boom", {}))
    assert payload["code"] == "INTERNAL_ERROR"
    assert "ZeroDivisionError: division by zero" in payload["error"]
    assert "Traceback" not in json.dumps(payload)
    assert "Traceback" in caplog.text


async def test_a_disabled_tool_says_so_and_settings_change_at_once() -> None:
    door = server(disabled_tools=("echo",))
    assert envelope.decode(await door.call("echo", {}))["code"] == "TOOL_DISABLED"
    door.settings = Settings()
    assert envelope.decode(await door.call("echo", {}))["success"] is True


async def test_what_json_does_not_have_gets_a_stated_form() -> None:
    text = await server().call("odd", {})

    def refuse(token: str) -> None:
        raise AssertionError(token)

    values = json.loads(text, parse_constant=refuse)["structuredContent"]["values"]
    assert set(values) == {"1", "set", "bytes"}
    assert values["1"] is None


@pytest.mark.parametrize(
    ("mode", "parts"),
    [
        ("full", {"content", "structuredContent", "isError"}),
        ("text", {"content", "isError"}),
        ("structured", {"content", "structuredContent", "isError"}),
    ],
)
async def test_the_envelope_setting_drops_one_of_the_copies(mode: str, parts: set[str]) -> None:
    text = await server(envelope=mode).call("echo", {"value": "x"})
    found = json.loads(text)
    assert set(found) == parts
    assert bool(found["content"]) == (mode != "structured")
    assert envelope.decode(text)["value"] == "x"


async def test_a_failure_is_an_error_in_the_envelope_too() -> None:
    assert json.loads(await server().call("boom", {}))["isError"] is True
    assert json.loads(await server().call("echo", {}))["isError"] is False


async def test_a_result_that_cannot_be_encoded_is_still_a_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("broken")

    door = server()
    monkeypatch.setattr(door, "_bounded", broken)
    assert envelope.decode(await door.call("echo", {}))["code"] == "INTERNAL_ERROR"


async def test_every_failure_fits_the_limit() -> None:
    desk = Desk("x" * 500_000, settings=Settings(max_result_length=2000))
    await desk.open()
    text = await desk.server.call(
        "jupyter_delete_cell", {"cellId": "cell-0", "expectedSourceHash": "0"}
    )
    payload = json.loads(text)["structuredContent"]
    assert payload["code"] == "STALE_CELL"
    assert len(json.dumps(payload)) <= 2000


def test_a_tool_without_a_description_fails_at_import() -> None:
    async def silent(call: Call) -> Any: ...

    with pytest.raises(TypeError, match="docstring"):
        tool("Silent")(silent)
