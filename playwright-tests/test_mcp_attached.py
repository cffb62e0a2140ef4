"""A browser that somebody has open, and MCP clients that come and go."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import McpError
from mcp_client import COMMAND, ENVIRONMENT, Chromium, chromium, client, run, tabs
from playwright.async_api import Page, async_playwright

GATED = "import js\nprint('so far')\nawait js.navigator.locks.request('gate', lambda lock: 'end')"
# Runs in the page: the cell, in its worker, waits until the lock is let go.
SHUT = """() => new Promise((held) => navigator.locks.request("gate", () => {
    held();
    return new Promise((release) => { globalThis.openGate = release; });
}))"""
CURRENT = "pywebmcp.tokens.tracker.currentWidget"

GOES_AWAY = """
import asyncio, sys
sys.path[:0] = {path!r}
from mcp_client import client

async def main():
    async with client("--cdp", {cdp!r}) as agent:
        task = await agent.task("jupyter_run_cells", key="once", cellIds=[{cell!r}])
        print(task, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def browser(site: str) -> Iterator[Chromium]:
    with chromium(f"{site}lab/index.html") as started:
        yield started


@asynccontextmanager
async def seen(browser: Chromium) -> AsyncIterator[Page]:
    """The tab with the site, as the person has it."""
    async with async_playwright() as playwright:
        remote = await playwright.chromium.connect_over_cdp(browser.cdp)
        [page] = [each for each in remote.contexts[0].pages if each.url != "about:blank"]
        # JupyterLab asks whether unsaved changes may go.
        page.context.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        yield page


async def ready(page: Page) -> None:
    await page.wait_for_function(
        "document.documentElement.dataset.pywebmcpStatus === 'ready'", polling=100, timeout=0
    )


def test_a_task_outlives_the_client_that_created_it(browser: Chromium) -> None:
    async def story() -> None:
        async with client("--cdp", browser.cdp) as agent, seen(browser) as page:
            [cell] = await agent.notebook("away.ipynb", GATED)
            await page.evaluate(SHUT)
        script = GOES_AWAY.format(path=sys.path, cdp=browser.cdp, cell=cell)
        away = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, env=ENVIRONMENT, stdout=asyncio.subprocess.PIPE
        )
        assert away.stdout is not None
        task = (await away.stdout.readline()).decode().strip()
        assert task.startswith("tsk_")
        away.kill()
        await away.wait()
        async with client("--cdp", browser.cdp) as agent, seen(browser) as page:
            listed = (await agent._tasks.list_tasks()).tasks
            assert [(each.taskId, each.status) for each in listed] == [(task, "working")]
            # A retry of the lost request finds the task, and runs nothing.
            again = await agent.task("jupyter_run_cells", key="once", cellIds=[cell])
            assert again == task
            await page.evaluate("openGate()")
            assert (await agent.settled(task)).status == "completed"
            result = await agent.result(task)
            assert "so far" in str(result.structuredContent)
            [read] = (await agent.ok("jupyter_get_cells", cellIds=[cell]))["cells"]
            assert read["executionCount"] == 1
        # The browser is as it was: one tab, alive.
        assert browser.process.poll() is None
        assert len(tabs(browser)) == 1

    run(story())


def test_cancelling_a_task_never_stops_a_persons_run(browser: Chromium) -> None:
    async def story() -> None:
        async with client("--cdp", browser.cdp) as agent, seen(browser) as page:
            mine, _hers = await agent.notebook("hers.ipynb", "print('never')", GATED)
            await agent.ok("jupyter_run_code", code="kept = 5")
            await page.evaluate(SHUT)
            await page.evaluate(f"{CURRENT}.content.activeCellIndex = 2")
            await page.evaluate("void pywebmcp.app.commands.execute('notebook:run-cell')")
            while not await page.evaluate(
                "navigator.locks.query().then(({ pending }) => pending.some((it) => it.name === 'gate'))"
            ):
                pass
            task = await agent.task("jupyter_run_cells", cellIds=[mine])
            cancelled = await agent.cancel(task)
            assert cancelled.status == "cancelled"
            assert "gone" not in (cancelled.statusMessage or "")
            await page.evaluate("openGate()")
            read = await agent.ok("jupyter_run_code", code="kept")
            assert read["outputs"][0]["data"]["text/plain"] == "5"
            [cell] = (await agent.ok("jupyter_get_cells", cellIds=[mine]))["cells"]
            assert "executionCount" not in cell

    run(story())


def test_a_page_reloaded_under_a_client_comes_back_and_what_is_lost_is_told(
    browser: Chromium,
) -> None:
    async def story() -> None:
        async with client("--cdp", browser.cdp) as agent, seen(browser) as page:
            [cell] = await agent.notebook("again.ipynb", GATED)
            await agent.ok("jupyter_save_notebook")
            await page.evaluate(SHUT)
            task = await agent.task("jupyter_run_cells", cellIds=[cell])
            running = asyncio.create_task(agent.tool("jupyter_run_code", code="'behind the gate'"))
            while len((await agent.ok("jupyter_get_context"))["pending"]) < 2:
                pass
            await page.reload(wait_until="commit")
            lost = await running
            assert lost.isError
            assert "page was reloaded" in lost.content[0].text
            # The next call waits for the page that comes.
            context = await agent.ok("jupyter_get_context")
            assert context["pending"] == []
            with pytest.raises(McpError, match=r"reloaded since .* taskStoreClass"):
                await agent._tasks.get_task(task)
            assert (await agent.ok("jupyter_open_notebook", path="again.ipynb"))["cellCount"] == 2

    run(story())


def test_two_clients_and_the_browsers_agent_share_one_registry(browser: Chromium) -> None:
    async def story() -> None:
        async with (
            client("--cdp", browser.cdp) as first,
            client("--cdp", browser.cdp) as second,
            seen(browser) as page,
        ):
            [cell] = await first.notebook("both.ipynb", GATED)
            await page.evaluate(SHUT)
            task = await first.task("jupyter_run_cells", cellIds=[cell])
            [pending] = (await second.ok("jupyter_get_context"))["pending"]
            assert pending["tool"] == "jupyter_run_cells"
            through_the_page = await page.evaluate(
                """async () => {
                    const tools = await document.modelContext.getTools();
                    const tool = tools.find(({ name }) => name === "jupyter_get_context");
                    return JSON.parse(await document.modelContext.executeTool(tool, {}));
                }"""
            )
            [same] = through_the_page["structuredContent"]["pending"]
            assert same["pendingId"] == pending["pendingId"]
            assert [each.taskId for each in (await second._tasks.list_tasks()).tasks] == [task]
            await page.evaluate("openGate()")
            assert (await second.settled(task)).status == "completed"

    run(story())


def test_a_scripts_session_in_the_page(browser: Chromium) -> None:
    async def story() -> None:
        async with seen(browser) as page:
            await ready(page)
            answers = await page.evaluate(
                """async () => {
                    const messages = [];
                    let wake;
                    const session = pywebmcpMcp.connect((text) => {
                        messages.push(JSON.parse(text));
                        wake();
                    });
                    const ask = async (id, method, params = {}) => {
                        session.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
                        while (!messages.some((each) => each.id === id)) {
                            await new Promise((resolve) => { wake = resolve; });
                        }
                        return messages.find((each) => each.id === id);
                    };
                    const hello = await ask(1, "initialize", {
                        protocolVersion: "2025-06-18", capabilities: {},
                        clientInfo: { name: "script", version: "1" },
                    });
                    const listed = await ask(2, "tools/list");
                    const called = await ask(3, "tools/call", {
                        name: "jupyter_get_context", arguments: {},
                    });
                    session.send("no JSON");
                    session.send({});
                    while (messages.length < 5) await new Promise((r) => { wake = r; });
                    session.close();
                    session.close();
                    let closed;
                    try { session.send("{}"); } catch (error) { closed = error.message; }
                    let wrong;
                    try { pywebmcpMcp.connect(); } catch (error) { wrong = error.name; }
                    return { hello, count: listed.result.tools.length, called, closed, wrong,
                        codes: messages.slice(3).map((each) => each.error.code),
                        facts: [pywebmcpMcp.protocolVersions, pywebmcpMcp.taskStore] };
                }"""
            )
            assert answers["hello"]["result"]["protocolVersion"] == "2025-06-18"
            assert answers["count"] == 22
            assert answers["called"]["result"]["isError"] is False
            assert answers["closed"] == "This session is closed"
            assert answers["wrong"] == "TypeError"
            assert answers["codes"] == [-32700, -32700]
            assert answers["facts"] == [["2025-11-25", "2025-06-18"], "memory"]

    run(story())


def test_tabs_are_chosen_opened_and_left_alone(site: str) -> None:
    async def story(browser: Chromium) -> None:
        async with client("--cdp", browser.cdp) as agent:
            result = await agent.tool("jupyter_get_context")
            assert "No tab of the browser" in result.content[0].text
            assert "about:blank" in result.content[0].text
        # Named, it is opened; and there it stays.
        async with client("--cdp", browser.cdp, "--url", f"{site}lab/index.html") as agent:
            await agent.ok("jupyter_open_notebook", path="analysis.ipynb")
        assert sorted(tabs(browser))[0] == "about:blank"
        assert len(tabs(browser)) == 2
        # The next one finds it, by the address of the site, and what was open.
        async with client("--cdp", browser.cdp, "--url", f"{site}lab") as agent:
            context = await agent.ok("jupyter_get_context")
            assert context["notebook"]["path"] == "analysis.ipynb"
        assert len(tabs(browser)) == 2
        async with client("--cdp", browser.cdp) as agent, seen(browser) as page:
            await agent.ok("jupyter_get_context")
            # The person goes elsewhere with the tab.
            await page.goto("about:blank")
            result = await agent.tool("jupyter_get_context")
            assert "which is no JupyterLab" in result.content[0].text
            await page.goto(f"{site}lab/index.html")
            assert (await agent.ok("jupyter_get_context"))["pending"] == []

    with chromium("about:blank") as browser:
        run(story(browser))


def test_a_browser_that_is_closed_is_told_and_one_that_comes_back_is_used(
    site: str, tmp_path: Path
) -> None:
    async def story(browser: Chromium) -> None:
        async with client("--cdp", browser.cdp) as agent:
            await agent.ok("jupyter_get_context")
            browser.close()
            result = await agent.tool("jupyter_get_context")
            assert result.isError
            assert f"No browser answers at {browser.cdp}" in result.content[0].text
            with pytest.raises(McpError, match="No browser answers"):
                await agent.task("jupyter_get_context")

    with chromium(f"{site}lab/index.html") as browser:
        run(story(browser))


def test_the_shell_calls_a_tool_and_keeps_its_rich_output(
    browser: Chromium, tmp_path: Path
) -> None:
    def shell(*words: str, code: int = 0) -> Any:
        done = subprocess.run(
            [*COMMAND, "-j", *words], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    page = ("--cdp", browser.cdp)
    assert len(shell("tools", *page)["tools"]) == 22
    made = json.dumps({"path": "shell.ipynb", "create": True, "kernel": "python"})
    assert shell("call", "jupyter_open_notebook", made, *page)["success"] is True
    short = shell("call", "jupyter_run_code", '{"code": "6 * 7"}', "--task", *page)
    assert short["outputs"][0]["data"] == {"text/plain": "42"}
    assert not (tmp_path / ".pywebmcp").exists()
    rich = json.dumps({"code": "from IPython.display import HTML\nHTML('<b>x</b>')"})
    stored = shell("call", "jupyter_run_code", rich, "--task", *page)
    assert "outputs" not in stored
    shown = shell("output", "show", stored["output_manifest"], "--output", "0")
    assert shown["selected"]["data"] == "<b>x</b>"
    assert Path(stored["output_manifest"]).is_relative_to(tmp_path / ".pywebmcp" / "outputs")
    failed = shell("call", "jupyter_run_code", '{"code": "1 / 0"}', "--task", *page, code=1)
    assert failed["errorName"] == "ZeroDivisionError"
