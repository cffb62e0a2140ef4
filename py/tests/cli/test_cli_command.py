"""The command as a process: what only a real one can show."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "emscripten":
    pytest.skip("has no processes", allow_module_level=True)

COMMAND = [sys.executable, "-X", "dev", "-W", "error", "-m", "pywebmcp"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A notebook with more text than a pipe holds."""
    output = {"output_type": "stream", "name": "stdout", "text": "line\n" * 200_000}
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": "", "outputs": [output]}
    cell["execution_count"] = None
    path = tmp_path / "a.ipynb"
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    )
    return str(path)


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *words],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_reader_that_goes_away_is_no_error(file: str) -> None:
    words = ["notebook", "output", file, "--cell", "0", "--output", "0", "--limit", "1000000"]
    with start(*words) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        process.wait()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.returncode == 1


def test_an_interrupt_ends_a_server_without_a_word(tmp_path: Path) -> None:
    with start("mcp", "outputs") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert b"Traceback" not in process.stderr.read()


def test_a_stray_print_does_not_get_among_the_messages() -> None:
    code = (
        "import os, sys\n"
        "from pywebmcp.mcp.outputs import OutputTools\n"
        "def noisy(self):\n"
        "    print('stray')\n"
        "    os.write(1, b'raw')\n"
        "    return ()\n"
        "OutputTools.descriptors = noisy\n"
        "from pywebmcp.cli import main\n"
        "sys.exit(main(['mcp', 'outputs']))\n"
    )
    messages = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=messages, env=ENVIRONMENT, capture_output=True
    )
    assert result.returncode == 0
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [1, 2]
    assert b"stray" in result.stderr
    assert b"raw" in result.stderr


def test_help_loads_no_reader_and_a_reader_no_server() -> None:
    code = (
        "import sys\n"
        "from pywebmcp.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "loaded = {name for name in sys.modules if name.startswith('pywebmcp.')}\n"
        "print(sorted(loaded), file=sys.stderr)\n"
        "heavy = {'asyncio', 'fastjsonschema', 'nbformat', 'pywebmcp.mcp', 'urllib.request'}\n"
        "sys.exit(bool(heavy & set(sys.modules)))\n"
    )
    for words in (["--help"], ["output", "clean", "--dry-run"]):
        result = subprocess.run(
            [sys.executable, "-c", code, *words], env=ENVIRONMENT, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        if words == ["--help"]:
            assert "pywebmcp.outputs.reading" not in result.stderr
