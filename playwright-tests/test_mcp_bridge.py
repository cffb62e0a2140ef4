"""A released MCP client over stdio, a Chromium that the bridge starts, a real kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lab import PATIENCE
from mcp import McpError
from mcp_client import COMMAND, ENVIRONMENT, ROOT, client, run

SITE = ("--site", str(ROOT / "build" / "site"), "--headless", "--isolated")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = f"""class Picture:
    def _repr_png_(self):
        import base64
        return base64.b64decode({PNG!r})
Picture()"""
ENDLESS = "for number in range(500):\n    print('line', number)\nwhile True:\n    pass"


@pytest.fixture(autouse=True)
def own_site(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("base_url"):
        pytest.skip("the bridge serves build/site itself")


def processes(parent: int) -> list[int]:
    """A process's descendants."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()[1:]]
    found, look = [], [parent]
    while look:
        above = look.pop()
        children = [pid for pid, ppid in pairs if ppid == above]
        found += children
        look += children
    return found


def test_a_client_reads_edits_runs_sees_an_image_and_uses_tasks(tmp_path: Path) -> None:
    async def story() -> None:
        async with client(*SITE, "--root", str(tmp_path)) as agent:
            tools = (await agent.session.list_tools()).tools
            assert len(tools) == 23
            assert tools[-1].name == "read_notebook_output"
            by_name = {tool.name: tool for tool in tools}
            assert by_name["jupyter_get_cells"].annotations.readOnlyHint is True
            assert by_name["jupyter_run_cells"].execution.taskSupport == "optional"

            picture, endless, failing = await agent.notebook("story.ipynb", IMAGE, ENDLESS, "1 / 0")
            await agent.ok(
                "jupyter_update_cell",
                cellId=failing,
                edits=[{"oldText": "1 / 0", "newText": "2 / 0"}],
            )
            seen = await agent.ok("jupyter_get_cells", cellIds=[failing])
            assert seen["cells"][0]["source"] == "2 / 0"

            ran = await agent.tool("jupyter_run_cells", cellIds=[picture])
            assert [block.type for block in ran.content] == ["text", "image"]
            assert (ran.content[1].data, ran.content[1].mimeType) == (PNG, "image/png")
            failed = await agent.tool("jupyter_run_cells", cellIds=[failing])
            assert failed.isError
            assert failed.structuredContent["errorName"] == "ZeroDivisionError"

            # A failed cell's task has failed.
            task = await agent.task("jupyter_run_cells", cellIds=[failing])
            assert (await agent.settled(task)).status == "failed"
            with pytest.raises(McpError, match="ZeroDivisionError"):
                await agent.result(task)

            # A retry runs the cell once.
            counting = "globals()['ran'] = globals().get('ran', 0) + 1"
            first = await agent.task("jupyter_run_code", key="k", code=counting)
            again = await agent.task("jupyter_run_code", key="k", code=counting)
            assert first == again
            await agent.settled(first)
            assert "'1'" in str((await agent.ok("jupyter_run_code", code="str(ran)"))["outputs"])

            # Cancelled, on a kernel that cannot be interrupted: what was printed is served.
            task = await agent.task("jupyter_run_cells", cellIds=[endless])
            while "line 499" not in str(await agent.ok("jupyter_get_cells", includeOutputs=True)):
                pass
            cancelled = await agent.cancel(task)
            assert cancelled.status == "cancelled"
            assert "variables are gone" in cancelled.statusMessage
            served = await agent.result(task)
            assert served.isError
            text = str(served.structuredContent)
            assert "line 0" in text
            assert "line 499" in text
            # The kernel is another one, and usable.
            fresh = await agent.ok("jupyter_run_code", code="'ran' in globals()")
            assert fresh["outputs"][0]["data"]["text/plain"] == "False"
            settled = {
                note.params.taskId: note.params.status
                for note in agent.notes
                if note.method == "notifications/tasks/status"
            }
            assert settled[task] == "cancelled"
            assert settled[first] == "completed"

            # The tool of saved outputs is there too.
            outside = await agent.tool(
                "read_notebook_output", file_path=str(tmp_path / "no.ipynb"), cell_index=0
            )
            assert "FILE_NOT_FOUND" in outside.content[0].text

    run(story())


@pytest.mark.parametrize("way", ["stdin", "SIGTERM", "SIGKILL"])
def test_the_browser_ends_with_the_bridge_however_that_ends(way: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "mcp", *SITE],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as bridge:
        assert bridge.stdin is not None
        # Answered while the browser is still starting.
        bridge.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        bridge.stdin.flush()
        assert bridge.stdout is not None
        assert bridge.stdout.readline() == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
        while len(started := processes(bridge.pid)) < 5:
            assert bridge.poll() is None
        if way == "stdin":
            bridge.stdin.close()
        elif way == "SIGTERM":
            bridge.terminate()
        else:
            bridge.kill()
        code = bridge.wait(PATIENCE / 1000)
        assert code == {"stdin": 0, "SIGTERM": 143, "SIGKILL": -9}[way]
        assert bridge.stdout.read() == b""
        assert bridge.stderr is not None
        assert bridge.stderr.read() == b""
        while any(map(alive, started)):
            pass


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("words", "env", "expected"),
    [
        (["--site", "{tmp}"], {}, "no JupyterLite site"),
        ([], {}, "Name the page"),
        (["--url", "http://x", "--site", "{tmp}"], {}, "not both"),
        ([*SITE], {"PYWEBMCP_CHROMIUM": "/nowhere"}, "/nowhere, which is not there"),
        (
            [*SITE],
            {"JUPYTER_MCP_TASK_STORE_CLASS": "no.such:Store"},
            "'no.such:Store' of JUPYTER_MCP_TASK_STORE_CLASS cannot be loaded",
        ),
    ],
)
def test_what_is_set_up_wrongly_ends_with_2_and_says_what(
    words: list[str], env: dict[str, str], expected: str, tmp_path: Path
) -> None:
    done = subprocess.Popen(
        [*COMMAND, "mcp", *(word.format(tmp=tmp_path) for word in words)],
        env={**ENVIRONMENT, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with done:
        # The client waits, and does not close its end.
        assert done.wait(PATIENCE / 1000) == 2
        assert done.stderr is not None
        assert expected in done.stderr.read()
        assert done.stdout is not None
        assert done.stdout.read() == ""


def test_a_site_that_is_not_there_is_told_and_the_tools_are_listed_all_the_same() -> None:
    async def story() -> None:
        async with client("--url", "http://127.0.0.1:9/lab", "--headless", "--isolated") as agent:
            tools = (await agent.session.list_tools()).tools
            assert len(tools) == 23
            result = await agent.tool("jupyter_get_context")
            assert result.isError
            assert "http://127.0.0.1:9/lab cannot be opened" in result.content[0].text
            with pytest.raises(McpError, match="cannot be opened"):
                await agent.task("jupyter_get_context")

    run(story())


def test_a_tool_is_called_from_the_shell_and_its_rich_output_is_stored(tmp_path: Path) -> None:
    def shell(*words: str) -> Any:
        return subprocess.run(
            [*COMMAND, *words], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True
        )

    import json

    failed = shell("-j", "call", "jupyter_run_cells", '{"cellIds": ["x"]}', *SITE)
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["code"] == "NO_ACTIVE_NOTEBOOK"
