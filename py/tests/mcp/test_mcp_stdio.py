"""Lines in, lines out, over pipes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "emscripten":
    pytest.skip("has no threads", allow_module_level=True)

from pywebmcp.mcp import stdio
from pywebmcp.mcp.jsonrpc import InvalidMessageError
from pywebmcp.mcp.server import Server
from pywebmcp.mcp.session import Call


async def forever(params: Any, call: Call) -> Any:
    await asyncio.Event().wait()


async def large(params: Any, call: Call) -> Any:
    return {"text": "x" * params["size"]}


SERVER = Server(
    name="test",
    title="Test",
    version="1",
    methods={"forever": forever, "large": large},
    capabilities={},
)


def message(number: int, method: str, **params: Any) -> bytes:
    value = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


HELLO = message(0, "initialize", protocolVersion="2025-11-25")


def talk(*pieces: bytes) -> list[Any]:
    """Serve what these pieces say until the end of the input; the answers, in order."""
    source, into = os.pipe()
    out_of, target = os.pipe()
    answers = bytearray()

    def feed() -> None:
        for piece in pieces:
            os.write(into, piece)
        os.close(into)

    def collect() -> None:
        while chunk := os.read(out_of, 65_536):
            answers.extend(chunk)

    threads = [threading.Thread(target=feed), threading.Thread(target=collect)]
    for thread in threads:
        thread.start()
    asyncio.run(stdio.serve(SERVER, source, target, grace=0.2))
    os.close(target)
    for thread in threads:
        thread.join()
    os.close(source)
    os.close(out_of)
    lines = bytes(answers).split(b"\n")
    assert lines.pop() == b""
    return [json.loads(line) for line in lines]


def test_each_line_is_a_message_in_whatever_pieces_it_comes() -> None:
    whole = HELLO + b"\r\n \n" + message(1, "ping") + message(2, "ping").replace(b"\n", b"\r\n")
    for size in (1, 7, len(whole)):
        answers = talk(*(whole[at : at + size] for at in range(0, len(whole), size)))
        assert [each["id"] for each in answers] == [0, 1, 2]


def test_the_last_line_needs_no_end_and_half_a_line_is_no_message() -> None:
    assert talk(message(1, "ping").rstrip()) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    (answer,) = talk(b'{"jsonrpc":"2.0","id":1,')
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)


def test_garbage_is_answered_and_the_server_goes_on() -> None:
    answers = talk(b"\x00\xff\xfe\n", b"hello\n", b"[]\n", HELLO, message(1, "nothing"))
    assert [each.get("error", {}).get("code") for each in answers] == [
        -32700,
        -32700,
        -32600,
        None,
        -32601,
    ]


def test_a_line_that_is_too_long_is_refused_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE", 1000)
    answers = talk(
        HELLO, b"x" * 200_000 + b"\n", b"y" * 1001 + b"\n", message(1, "ping"), b"z" * 2000
    )
    codes = {each["id"]: each["error"]["code"] for each in answers if "error" in each}
    assert codes == {None: -32600}
    assert sorted(each["id"] for each in answers if "result" in each) == [0, 1]
    assert len(answers) == 5


def test_a_megabyte_goes_both_ways() -> None:
    padded = message(1, "large", size=3_000_000, padding="é" * 1_000_000)
    answers = talk(HELLO, padded)
    assert len(answers[1]["result"]["text"]) == 3_000_000


def test_the_end_of_the_input_ends_what_runs() -> None:
    assert [each["id"] for each in talk(HELLO, message(1, "forever"), message(2, "ping"))] == [0, 2]


def test_a_client_that_no_longer_reads_ends_the_server() -> None:
    source, into = os.pipe()
    out_of, target = os.pipe()
    os.close(out_of)
    os.write(into, HELLO + message(1, "forever"))
    # The input stays open: only the broken output can end it.
    asyncio.run(stdio.serve(SERVER, source, target, grace=0.2))
    for descriptor in (into, target):
        os.close(descriptor)


def test_lines_of_a_descriptor_that_fails_end() -> None:
    source, into = os.pipe()
    os.close(into)
    os.close(source)
    assert list(stdio.lines(source)) == []


def test_an_error_stands_in_the_place_of_a_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE", 3)
    source, into = os.pipe()
    os.write(into, b"abc\nabcd\nab\n")
    os.close(into)
    found = list(stdio.lines(source))
    os.close(source)
    assert (found[0], found[2]) == (b"abc", b"ab")
    assert isinstance(found[1], InvalidMessageError)


def test_a_line_in_pieces_of_one_byte_takes_linear_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stdio, "_CHUNK", 1)
    (tmp_path / "input").write_bytes(b"x" * 300_000)
    source = os.open(tmp_path / "input", os.O_RDONLY)
    found = list(stdio.lines(source))
    os.close(source)
    assert found == [b"x" * 300_000]
