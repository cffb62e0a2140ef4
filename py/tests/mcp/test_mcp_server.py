"""The lifecycle of a session with a server, and tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.mcp.jsonrpc import JsonText
from pywebmcp.mcp.server import Server, ServerSession, tool_methods
from pywebmcp.mcp.session import Call
from pywebmcp.testing import run


class Greeter:
    """One tool."""

    def descriptors(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": "greet", "inputSchema": {"type": "object"}}]

    async def call(self, name: str, arguments: dict[str, Any], call: Call) -> JsonText:
        return JsonText(json.dumps({"content": [], "structuredContent": arguments}))


class Client:
    """What a client sends and gets."""

    def __init__(self, **more: Any) -> None:
        self.texts: list[str] = []
        server = Server(
            name="test",
            title="Test",
            version="1",
            methods=tool_methods(Greeter()),
            capabilities={"tools": {}},
            **more,
        )
        self.session: ServerSession = server.connect(self.texts.append)

    async def answer(self, method: str, params: Any = None) -> Any:
        message = {"jsonrpc": "2.0", "id": len(self.texts), "method": method, "params": params}
        self.session.receive(json.dumps(message))
        # None of these methods waits, but before Python 3.12 a task starts a turn later.
        for _ in range(3):
            await asyncio.sleep(0)
        return json.loads(self.texts[-1])

    async def start(self, version: Any = "2025-11-25", **more: Any) -> Any:
        return await self.answer(
            "initialize", {"protocolVersion": version, "capabilities": {"roots": {}}, **more}
        )


@pytest.mark.parametrize(
    ("wanted", "spoken"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("x", "2025-11-25"),
    ],
)
async def test_a_version_is_agreed_on(wanted: str, spoken: str) -> None:
    client = Client(instructions="Be kind.")
    answer = await client.start(wanted)
    assert answer["result"] == {
        "protocolVersion": spoken,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "test", "title": "Test", "version": "1"},
        "instructions": "Be kind.",
    }
    assert client.session.protocol_version == spoken
    assert client.session.client_capabilities == {"roots": {}}


async def test_before_that_there_is_only_ping() -> None:
    client = Client()
    assert (await client.answer("ping"))["result"] == {}
    assert (await client.answer("tools/list"))["error"]["code"] == -32600
    await client.start()
    assert (await client.answer("tools/list"))["result"]["tools"][0]["name"] == "greet"


async def test_initialize_is_checked_and_comes_once() -> None:
    client = Client()
    for version in (None, 5, []):
        assert (await client.start(version))["error"]["code"] == -32602
    assert "result" in await client.start(capabilities=None)
    assert client.session.client_capabilities == {}
    assert (await client.start())["error"]["code"] == -32600


async def test_tools_are_called() -> None:
    client = Client()
    await client.start()
    for arguments in ({"a": 1}, {}, None):
        answer = await client.answer("tools/call", {"name": "greet", "arguments": arguments})
        assert answer["result"]["structuredContent"] == (arguments or {})


@pytest.mark.parametrize(
    "params", [{"name": "x"}, {}, {"name": 5}, {"name": "greet", "arguments": []}, None]
)
async def test_a_call_of_nothing_is_an_error_of_the_protocol(params: Any) -> None:
    client = Client()
    await client.start()
    assert (await client.answer("tools/call", params))["error"]["code"] == -32602


async def test_there_is_one_page_of_tools() -> None:
    client = Client()
    await client.start()
    assert "nextCursor" not in (await client.answer("tools/list", {}))["result"]
    assert (await client.answer("tools/list", {"cursor": "x"}))["error"]["code"] == -32602


_texts = st.sampled_from(["2.0", "ping", "tools/call", "initialize", "greet", "x", "2025-06-18"])
_names = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "requestId"]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(_names, _values).map(json.dumps) | st.text(), max_size=5))
def test_whatever_comes_the_answers_are_messages(texts: list[str]) -> None:
    async def feed() -> list[str]:
        client = Client()
        await client.answer("initialize", {"protocolVersion": "2025-06-18"})
        for text in texts:
            client.session.receive(text)
        await client.session.end(grace=1)
        return client.texts

    for text in run(feed()):
        answer = json.loads(text)
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
