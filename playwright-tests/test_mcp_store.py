"""Tasks in IndexedDB: over a reload, between tabs, and where the browser does not keep them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from background import open_gates, shut
from lab import Lab, Watch
from playwright.sync_api import Browser, BrowserContext

STORE = "pywebmcp.browser.store:IndexedDBTaskStore"
HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "py" / "tests" / "tasks"

# What a relay does when its environment names a store.
USE_STORE = f"globalThis.pywebmcpTaskStoreClass = '{STORE}';"
CLIENT = """async () => {
    const messages = [];
    let wake = () => {};
    const session = pywebmcpMcp.connect((text) => { messages.push(JSON.parse(text)); wake(); });
    let last = 0;
    const ask = async (method, params) => {
        const id = ++last;
        session.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        while (!messages.some((each) => each.id === id)) {
            await new Promise((resolve) => { wake = resolve; });
        }
        return messages.find((each) => each.id === id);
    };
    await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    globalThis.mcp = ask;
}"""

# Whether a task in the store has an output so far with this text.
STORED = """async (text) => {
    const all = await indexedDB.databases();
    const { name } = all.find(({ name }) => name.startsWith("pywebmcp-tasks:"));
    const database = await new Promise((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
    });
    const rows = await new Promise((resolve) => {
        const request = database.transaction("tasks").objectStore("tasks").getAll();
        request.onsuccess = () => resolve(request.result);
    });
    database.close();
    return rows.some(({ record }) => JSON.stringify(JSON.parse(record).partial).includes(text));
}"""


class Tab(Lab):
    """A page with an MCP client in it."""

    def connect(self, path: str | None = None) -> Tab:
        if path is None:
            self.open()
        else:
            self.open(path, kernel=True)
        self.page.evaluate(CLIENT)
        return self

    def ask(self, method: str, **params: Any) -> Any:
        return self.page.evaluate("([method, params]) => mcp(method, params)", [method, params])

    def task(self, code: str, key: str | None = None) -> str:
        answer = self.ask(
            "tools/call",
            name="jupyter_run_code",
            arguments={"code": code},
            task={},
            _meta={"io.datalayer/idempotency-key": key} if key else {},
        )
        return str(answer["result"]["task"]["taskId"])

    def state(self, task: str) -> Any:
        return self.ask("tasks/get", taskId=task).get("result")

    def settled(self, task: str) -> Any:
        while (state := self.state(task))["status"] in ("working", "input_required"):
            pass
        return state

    def answer(self, task: str) -> Any:
        return self.ask("tasks/result", taskId=task)


@pytest.fixture
def context(browser: Browser, site: str) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.add_init_script(USE_STORE)
    watch = Watch(context, site)
    yield context
    watch.check()
    context.close()


def test_the_store_does_what_every_store_has_to_do(jl: Lab) -> None:
    jl.open()
    names = ("test_stores", "office", "stores")
    sources = {name: (TESTS / f"{name}.py").read_text("utf-8") for name in names}
    sources["stores_in_page"] = (HERE / "stores_in_page.py").read_text("utf-8")
    outcomes = json.loads(
        jl.page.evaluate(
            """async (sources) => {
                const { pyodide } = pywebmcp;
                pyodide.FS.mkdirTree("/tests");
                for (const [name, text] of Object.entries(JSON.parse(sources))) {
                    pyodide.FS.writeFile(`/tests/${name}.py`, text);
                }
                return await pyodide.runPythonAsync(`
                    import sys
                    sys.path.insert(0, "/tests")
                    import stores_in_page
                    await stores_in_page.run()`);
            }""",
            json.dumps(sources),
        )
    )
    assert len(outcomes) >= 19
    failed = {name: trace for name, trace in outcomes.items() if trace}
    assert not failed, "\n".join(f"{name}\n{trace}" for name, trace in failed.items())


def test_a_settled_task_survives_a_reload_and_one_that_ran_has_failed(
    context: BrowserContext, site: str
) -> None:
    tab = Tab(context.new_page(), site).connect("analysis.ipynb")
    assert tab.page.evaluate("pywebmcpMcp.taskStore") == STORE
    done = tab.task("6 * 7", key="k")
    assert tab.settled(done)["status"] == "completed"
    running = tab.task("print('half')\nawait __import__('asyncio').Event().wait()")
    # Copied to the store while it runs.
    while not tab.page.evaluate(STORED, "half"):
        pass
    tab.reload()
    tab.page.evaluate(CLIENT)
    listed = tab.ask("tasks/list")["result"]["tasks"]
    assert [(each["taskId"], each["status"]) for each in listed] == [
        (running, "failed"),
        (done, "completed"),
    ]
    assert "went away" in listed[0]["statusMessage"]
    assert "42" in str(tab.answer(done)["result"]["structuredContent"])
    lost = tab.answer(running)["error"]
    assert "went away" in lost["message"]
    assert "half" in str(lost["data"]["partial"])
    # The key is still that task's.
    assert tab.task("6 * 7", key="k") == done


def test_two_tabs_see_each_others_tasks_and_do_not_spoil_them(
    context: BrowserContext, site: str
) -> None:
    first = Tab(context.new_page(), site).connect("analysis.ipynb")
    running = first.task(shut(first, "gate"))
    second = Tab(context.new_page(), site).connect()
    assert second.state(running)["status"] == "working"
    assert "another" in second.ask("tasks/cancel", taskId=running)["error"]["message"]
    open_gates(first)
    assert first.settled(running)["status"] == "completed"
    assert second.settled(running)["status"] == "completed"
    endless = first.task("await __import__('asyncio').Event().wait()", key="shared")
    # A retry in another tab finds it.
    assert second.task("await __import__('asyncio').Event().wait()", key="shared") == endless
    assert second.state(endless)["status"] == "working"
    first.page.close()
    state = second.settled(endless)
    assert state["status"] == "failed"
    assert "went away" in state["statusMessage"]


def test_a_browser_without_room_is_told_of_and_nothing_is_run(browser: Browser, site: str) -> None:
    context = browser.new_context()
    context.add_init_script(USE_STORE)
    page = context.new_page()
    # Before anything is stored: what Chromium knows of the room that is left holds for a while.
    context.new_cdp_session(page).send(
        "Storage.overrideQuotaForOrigin", {"origin": site.rstrip("/"), "quotaSize": 4_000_000}
    )
    tab = Tab(page, site).connect("analysis.ipynb")
    answer = tab.ask(
        "tools/call",
        name="jupyter_run_code",
        arguments={"code": "ran = 1"},
        task={},
        _meta={"io.datalayer/idempotency-key": "k" * 8_000_000},
    )
    assert answer.get("error", {}).get("code") == -32603, answer
    assert "The task store failed" in answer["error"]["message"]
    assert "QuotaExceededError" in answer["error"]["message"]
    ran = tab.ask("tools/call", name="jupyter_run_code", arguments={"code": "'ran' in globals()"})
    while ran["result"]["structuredContent"].get("status") == "pending":
        pending = ran["result"]["structuredContent"]["pendingId"]
        ran = tab.ask(
            "tools/call", name="jupyter_wait_for_result", arguments={"pendingId": pending}
        )
    assert "False" in str(ran["result"]["structuredContent"]["outputs"])
    context.close()


def test_storage_that_is_cleared_under_the_page_opens_anew(
    context: BrowserContext, site: str
) -> None:
    tab = Tab(context.new_page(), site).connect()
    answer = tab.ask("tools/call", name="jupyter_get_context", arguments={}, task={})
    task = answer["result"]["task"]["taskId"]
    assert tab.settled(task)["status"] == "completed"
    tab.page.evaluate(
        """async () => {
            for (const { name } of await indexedDB.databases()) {
                if (!name.startsWith("pywebmcp-tasks:")) continue;
                await new Promise((resolve) => {
                    indexedDB.deleteDatabase(name).onsuccess = resolve;
                });
            }
        }"""
    )
    assert "No such task" in tab.ask("tasks/get", taskId=task)["error"]["message"]
    answer = tab.ask("tools/call", name="jupyter_get_context", arguments={}, task={})
    assert tab.settled(answer["result"]["task"]["taskId"])["status"] == "completed"


def test_no_more_tasks_are_kept_than_there_is_room_for(jl: Lab) -> None:
    jl.open()
    kept = jl.python(
        """
        from pywebmcp.browser.store import IndexedDBTaskStore
        from pywebmcp.records import State
        from pywebmcp.tasks import TaskRecord
        store = IndexedDBTaskStore(lambda: 1000.0, "few", kept=3)
        for number in range(6):
            moment = 1000.0 + number
            await store.create(TaskRecord(
                task_id=f"t{number}", tool="x", created_at=moment, updated_at=moment,
                status=State.WORKING if number == 0 else State.COMPLETED))
        return [record.task_id for record in await store.list()]
        """
    )
    # What runs stays; of the others, the oldest went.
    assert kept == ["t5", "t4", "t0"]


@pytest.mark.parametrize("spec", ["no.such:Store", "pywebmcp.records:Record", "x"])
def test_a_store_that_cannot_be_loaded_leaves_no_door_and_is_told_in_the_status(
    browser: Browser, site: str, spec: str
) -> None:
    context = browser.new_context()
    context.add_init_script(f"globalThis.pywebmcpTaskStoreClass = '{spec}';")
    tab = Lab(context.new_page(), site).open()
    error = tab.page.evaluate("pywebmcpMcp.error")
    assert spec in error
    assert (
        tab.page.evaluate(
            "(() => { try { pywebmcpMcp.connect(() => {}) } catch (error) { return error.message } })()"
        )
        == error
    )
    shown = tab.page.get_by_role("status").filter(has_text="WebMCP")
    assert "MCP failed" in shown.inner_text()
    assert error in (shown.get_attribute("title") or "")
    # What has no tasks works as ever.
    assert tab.must("jupyter_get_context")["pending"] == []
    context.close()


def test_the_setting_names_the_store(browser: Browser, site: str) -> None:
    context = browser.new_context()
    tab = Lab(context.new_page(), site).open()
    assert tab.page.evaluate("pywebmcpMcp.taskStore") == "memory"
    tab.page.evaluate(
        """async (store) => {
            const settings = await pywebmcp.tokens.settings.load("pywebmcp:plugin");
            await settings.set("taskStoreClass", store);
        }""",
        STORE,
    )
    tab.reload()
    assert tab.page.evaluate("pywebmcpMcp.taskStore") == STORE
    context.close()
