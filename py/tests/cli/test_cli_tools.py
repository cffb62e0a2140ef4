"""``pywebmcp tools`` and ``pywebmcp call``, on a notebook in memory in the place of a page."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
if sys.platform == "emscripten":
    pytest.skip("has no browser to drive", allow_module_level=True)

from desk import Desk
from pywebmcp.bridge import program
from pywebmcp.bridge.errors import BridgeError, UsageError
from pywebmcp.cli import main
from pywebmcp.mcp.page import page_server
from pywebmcp.mcp.session import Session
from pywebmcp.tasks import MemoryTaskStore, TaskService
from pywebmcp.testing import run
from pywebmcp.toolset import TOOLS

PAGE = ("--cdp", "http://x")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = f"class P:\n    def _repr_png_(self):\n        return {PNG!r}\nprint('x')\nP()"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The targets that the commands asked for; each gets a page with these cells."""
    asked: list[Any] = []
    monkeypatch.chdir(tmp_path)

    async def story(work: Any) -> Any:
        desk = Desk("6 * 7", PICTURE, "1 / 0", "import asyncio\nawait asyncio.sleep(60)\n'late'")
        await desk.open()
        tasks = TaskService(MemoryTaskStore())
        ends: list[Any] = []
        there = page_server(desk.server, tasks).connect(lambda text: ends[0].receive(text))
        ends.append(Session(there.receive, {}))
        try:
            await ends[0].request("initialize", {"protocolVersion": "2025-11-25"})
            return await work(ends[0])
        finally:
            await asyncio.sleep(200)
            await tasks.close()

    def ask(target: Any, work: Any, patience: float) -> Any:
        asked.append(target)
        return run(story(work))

    monkeypatch.setattr(program, "ask", ask)
    return asked


def call(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert main(["-j", "call", *words]) == code
    out = capfd.readouterr().out
    return json.loads(out) if out else None


def test_tools_are_listed_of_a_page_and_without_one(
    page: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [tool.name for tool in TOOLS]
    assert page == []
    assert main(["-j", "tools", *PAGE]) == 0
    assert len(json.loads(capfd.readouterr().out)["tools"]) == len(TOOLS)
    assert [each.cdp for each in page] == ["http://x"]


def test_a_call_prints_the_payload_and_its_exit_code_is_that_of_the_tool(
    page: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    ran = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-0"]}', *PAGE)
    assert ran["cells"][0]["outputs"][0]["data"] == {"text/plain": "42"}
    failed = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-2"]}', *PAGE, code=1)
    assert failed["errorName"] == "ZeroDivisionError"
    assert not Path(".pywebmcp").exists()
    assert main(["call", "jupyter_get_cells", *PAGE]) == 0
    assert json.loads(capfd.readouterr().out)["success"] is True


def test_rich_output_is_stored_with_its_images(
    page: list[Any], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    ran = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-1"]}', "--output", "there", *PAGE)
    assert ran["cells"][0]["storedOutputs"] == [0, 1]
    assert "outputs" not in ran["cells"][0]
    manifest = Path(ran["output_manifest"])
    assert manifest.is_relative_to(tmp_path / "there" / ".pywebmcp" / "outputs")
    assert main(["-j", "output", "show", str(manifest), "--output", "1"]) == 0
    assert json.loads(capfd.readouterr().out)["selected"]["data"] == PNG


def test_arguments_come_from_standard_input_too(
    page: list[Any], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"cellIds": ["cell-0"]}'))
    [cell] = call(capfd, "jupyter_get_cells", "-", *PAGE)["cells"]
    assert cell["source"] == "6 * 7"


def test_a_task_is_waited_for_and_a_failed_one_shows_its_result(
    page: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    pending = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-3"]}', *PAGE)
    assert pending["status"] == "pending"
    done = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-3"]}', "--task", *PAGE)
    assert done["cells"][0]["outputs"][0]["data"] == {"text/plain": "'late'"}
    failed = call(capfd, "jupyter_run_cells", '{"cellIds": ["cell-2"]}', "--task", *PAGE, code=1)
    assert failed["errorName"] == "ZeroDivisionError"


def test_a_pending_call_of_a_browser_that_ends_is_warned_of(
    page: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["call", "jupyter_run_cells", '{"cellIds": ["cell-3"]}', "--url", "http://x"]
    assert main(words) == 0
    assert "--task" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["jupyter_get_cells", "{"], 2, "not JSON"),
        (["jupyter_get_cells", "[]"], 2, "JSON object"),
        (["nothing"], 1, "Unknown tool"),
        (["jupyter_get_cells", "--url", "http://x", "--site", "."], 2, "not both"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(
    page: list[Any], capfd: pytest.CaptureFixture[str], words: list[str], code: int, says: str
) -> None:
    assert main(["-j", "call", *words, *PAGE]) == code
    assert says in json.loads(capfd.readouterr().err)["message"]


def test_a_call_needs_a_page(page: list[Any], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "jupyter_get_cells"]) == 2
    assert "Name the page" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (BridgeError("The page is gone."), 1, "PAGE_UNAVAILABLE"),
        (UsageError("There is no browser."), 2, "USAGE_ERROR"),
    ],
)
def test_a_page_that_cannot_be_reached_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BridgeError,
    code: int,
    name: str,
) -> None:
    def ask(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(program, "ask", ask)
    assert main(["-j", "call", "jupyter_get_cells", *PAGE]) == code
    told = json.loads(capfd.readouterr().err)
    assert (told["code"], told["message"]) == (name, str(error))
