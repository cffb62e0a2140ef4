"""The tool read_notebook_output, in this process and through a released client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "emscripten":
    pytest.skip("has no threads and no processes", allow_module_level=True)

from pywebmcp.mcp.outputs import OutputTools, outputs_server
from pywebmcp.mcp.session import Call, Session

PACKAGE = str(Path(__file__).parents[2])
PNG = "iVBORw0KGgo="


def notebook(*outputs: Any) -> str:
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": "x", "outputs": outputs}
    cell["execution_count"] = 2
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A trusted folder, and one outside of it."""
    place = tmp_path.resolve()
    (place / "root").mkdir()
    (place / "out").mkdir()
    (place / "root" / "a.ipynb").write_text(
        notebook(
            {"output_type": "stream", "name": "stdout", "text": "é\n"},
            {
                "output_type": "display_data",
                "data": {"image/png": PNG, "text/html": "<b>", "application/json": {"a": [1]}},
                "metadata": {"image/png": {"width": 3}},
            },
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
        )
    )
    (place / "out" / "b.ipynb").write_text(notebook())
    (place / "root" / "link.ipynb").symlink_to(place / "out" / "b.ipynb")
    (place / "root" / "pair.py").write_text("# %%\nx\n")
    (place / "root" / "pair.ipynb").symlink_to(place / "out" / "b.ipynb")
    return place


def call(place: Path, **arguments: Any) -> dict[str, Any]:
    tools = OutputTools([place / "root"])
    given = {"file_path": "a.ipynb", "cell_index": 0, **arguments}
    session = Session(lambda text: None, {})
    return asyncio.run(tools.call("read_notebook_output", given, Call(session, 1)))


def code(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    body = json.loads(result["content"][0]["text"])
    assert body["status"] == "error"
    assert body["message"]
    return str(body["code"])


def test_a_cell_is_listed(place: Path) -> None:
    result = call(place)
    assert result["content"] == []
    assert [each["output_type"] for each in result["structuredContent"]["outputs"]] == [
        "stream",
        "display_data",
        "error",
    ]


def test_text_is_a_text_block_and_not_carried_twice(place: Path) -> None:
    result = call(place, output_index=0, offset=1, limit=1)
    assert result["content"] == [{"type": "text", "text": "\n"}]
    stream = result["structuredContent"]["stream"]
    assert "data" not in stream
    assert (stream["offset"], stream["total_characters"]) == (1, 2)
    assert call(place, output_index=1, mime_type="text/html")["content"][0]["text"] == "<b>"


def test_an_image_is_an_image_block_and_keeps_its_metadata(place: Path) -> None:
    result = call(place, output_index=1)
    assert result["content"] == [{"type": "image", "data": PNG, "mimeType": "image/png"}]
    structured = result["structuredContent"]
    assert structured["metadata"] == {"image/png": {"width": 3}}
    assert structured["selected"] == {"mime_type": "image/png", "encoding": "base64", "bytes": 8}


def test_json_and_errors_are_structured(place: Path) -> None:
    result = call(place, output_index=1, mime_type="application/json")
    assert result["content"] == []
    assert result["structuredContent"]["selected"]["data"] == {"a": [1]}
    result = call(place, output_index=2)
    assert (result["content"], result["isError"]) == ([], False)
    assert result["structuredContent"]["error"]["traceback"] == ["t"]


def test_null_is_nothing_and_a_limit_of_null_is_none(place: Path) -> None:
    assert (
        "outputs"
        in call(place, output_index=None, mime_type=None, offset=None)["structuredContent"]
    )
    assert call(place, output_index=0, limit=None)["content"][0]["text"] == "é\n"
    assert call(place, output_index=0.0)["content"][0]["text"] == "é\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"cell_index": None},
        {"cell_index": "0"},
        {"cell_index": True},
        {"cell_index": -1},
        {"cell_index": 0.5},
        {"file_path": 5},
        {"output_index": 0, "limit": 0},
        {"output_index": 0, "offset": -1},
        {"run": True},
    ],
)
def test_wrong_arguments_are_told_in_words(arguments: Any, place: Path) -> None:
    result = call(place, **arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Wrong arguments: ")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"output_index": 9}, "OUTPUT_NOT_FOUND"),
        ({"cell_index": 9}, "CELL_NOT_FOUND"),
        ({"file_path": "gone.ipynb"}, "FILE_NOT_FOUND"),
        ({"file_path": ""}, "FILE_NOT_FOUND"),
        ({"output_index": 1, "mime_type": ""}, "MIME_NOT_FOUND"),
        ({"file_path": "link.ipynb"}, "PATH_NOT_ALLOWED"),
        ({"file_path": "pair.py"}, "PATH_NOT_ALLOWED"),
        ({"file_path": "../out/b.ipynb"}, "PATH_NOT_ALLOWED"),
    ],
)
def test_failures_have_their_codes(arguments: Any, expected: str, place: Path) -> None:
    assert code(call(place, **arguments)) == expected


def test_a_root_that_is_gone_is_told(place: Path) -> None:
    tools = OutputTools([place / "gone"])
    session = Session(lambda text: None, {})
    given = {"file_path": "a.ipynb", "cell_index": 0}
    assert code(asyncio.run(tools.call("x", given, Call(session, 1)))) == "ROOT_INVALID"


def test_the_tool_says_that_it_only_reads() -> None:
    (tool,) = OutputTools().descriptors()
    assert tool["annotations"]["readOnlyHint"] is True
    assert tool["inputSchema"]["additionalProperties"] is False


class Host:
    """A client in this process that tells its roots, or not."""

    def __init__(self, answer: Any, capabilities: Any) -> None:
        self.answer = answer
        self.results: dict[Any, Any] = {}
        self.asked: list[str] = []
        self.session = outputs_server().connect(self.take)
        self.send(0, "initialize", protocolVersion="2025-11-25", capabilities=capabilities)

    def send(self, number: int, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.session.receive(json.dumps(message))

    def take(self, text: str) -> None:
        message = json.loads(text)
        if "method" in message:
            self.asked.append(message["method"])
            answer = {"jsonrpc": "2.0", "id": message["id"], **self.answer}
            self.session.receive(json.dumps(answer))
        else:
            self.results[message["id"]] = message["result"]

    async def read(self, path: Path) -> dict[str, Any]:
        arguments = {"file_path": str(path), "cell_index": 0}
        self.send(1, "tools/call", name="read_notebook_output", arguments=arguments)
        await self.session.end(grace=60)
        result: dict[str, Any] = self.results[1]
        return result


def read_as_host(place: Path, answer: Any, capabilities: Any) -> tuple[dict[str, Any], list[str]]:
    async def run() -> tuple[dict[str, Any], list[str]]:
        host = Host(answer, capabilities)
        return await host.read(place / "root" / "a.ipynb"), host.asked

    return asyncio.run(run())


def test_the_roots_of_the_client_are_trusted(place: Path) -> None:
    answer = {"result": {"roots": [{"uri": (place / "root").as_uri()}]}}
    result, asked = read_as_host(place, answer, {"roots": {}})
    assert (result["isError"], asked) == (False, ["roots/list"])


@pytest.mark.parametrize(
    ("answer", "capabilities", "expected"),
    [
        ({"result": {"roots": []}}, {"roots": {}}, "ROOTS_REQUIRED"),
        ({"result": {"roots": [{"uri": "https://x"}]}}, {"roots": {}}, "ROOTS_REQUIRED"),
        ({"error": {"code": -1, "message": "no"}}, {"roots": {}}, "ROOTS_REQUIRED"),
        ({"result": {"roots": []}}, {}, "ROOTS_REQUIRED"),
        ({"result": {"roots": [{"uri": "file://server/x"}]}}, {"roots": {}}, "ROOT_INVALID"),
        ({"result": {"roots": [{"uri": "file:///nowhere-at-all"}]}}, {"roots": {}}, "ROOT_INVALID"),
        ({"result": 5}, {"roots": {}}, "ROOT_INVALID"),
    ],
)
def test_without_good_roots_nothing_is_read(
    answer: Any, capabilities: Any, expected: str, place: Path
) -> None:
    result, asked = read_as_host(place, answer, capabilities)
    assert code(result) == expected
    assert bool(asked) == ("roots" in capabilities)


def with_sdk(place: Path, roots: list[str] | None, work: Callable[[Any], Awaitable[None]]) -> None:
    """Run ``work`` with a session of the released Python SDK, over stdio to the real command."""
    pytest.importorskip("mcp.client.stdio", reason="the MCP SDK is not installed")
    from mcp import ClientSession, StdioServerParameters, types
    from mcp.client.stdio import stdio_client

    async def list_roots(context: Any) -> Any:
        assert roots is not None
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in roots]})

    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "pywebmcp", "mcp", "outputs"],
            env={**os.environ, "PYTHONPATH": PACKAGE},
            cwd=place,
        )
        async with (
            stdio_client(server) as (read, write),
            ClientSession(
                read, write, list_roots_callback=list_roots if roots is not None else None
            ) as session,
        ):
            await session.initialize()
            await work(session)

    asyncio.run(run())


async def ask(session: Any, **arguments: Any) -> Any:
    return await session.call_tool("read_notebook_output", {"cell_index": 0, **arguments})


def test_a_released_client_lists_and_calls_the_tool(place: Path) -> None:
    async def work(session: Any) -> None:
        (tool,) = (await session.list_tools()).tools
        assert (tool.name, tool.annotations.readOnlyHint) == ("read_notebook_output", True)

        directory = await ask(session, file_path="a.ipynb")
        assert len(directory.structuredContent["outputs"]) == 3

        text = await ask(session, file_path="a.ipynb", output_index=0)
        assert text.content[0].text == "é\n"

        image = await ask(session, file_path="a.ipynb", output_index=1)
        assert (image.content[0].data, image.content[0].mimeType) == (PNG, "image/png")
        assert image.structuredContent["metadata"] == {"image/png": {"width": 3}}

        for path, expected in (
            ("gone.ipynb", "FILE_NOT_FOUND"),
            (str(place / "out" / "b.ipynb"), "PATH_NOT_ALLOWED"),
            ("link.ipynb", "PATH_NOT_ALLOWED"),
            ("pair.py", "PATH_NOT_ALLOWED"),
        ):
            failed = await ask(session, file_path=path)
            assert failed.isError
            assert json.loads(failed.content[0].text)["code"] == expected

        await session.send_ping()

    with_sdk(place, [(place / "root").as_uri()], work)


def test_a_released_client_without_roots_is_told_what_is_missing(place: Path) -> None:
    async def work(session: Any) -> None:
        failed = await ask(session, file_path="a.ipynb")
        assert json.loads(failed.content[0].text)["code"] == "ROOTS_REQUIRED"

    with_sdk(place, None, work)
