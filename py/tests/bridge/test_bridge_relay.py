"""The bridge's server, with pages in memory that come, go and come back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from desk import Desk
from pywebmcp.bridge.errors import BridgeError, UsageError
from pywebmcp.bridge.link import Link
from pywebmcp.bridge.relay import Relay
from pywebmcp.mcp.page import page_server
from pywebmcp.mcp.server import ServerSession
from pywebmcp.tasks import MemoryTaskStore, TaskService
from pywebmcp.toolset import TOOLS

LONG = "import asyncio\nprint('so far')\nawait asyncio.sleep(60)\nprint('end')"


class Handle:
    """What the page's script answers to being connected to."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        self.session: ServerSession | None = None
        if page.server is not None:
            self.session = page.server.connect(self._texts.put_nowait)

    async def evaluate(self, script: str, text: Any = None) -> Any:
        if "taskStore" in script:
            return {"error": self._page.error, "taskStore": self._page.store}
        assert self.session is not None
        if "send" in script:
            self.session.receive(text)
        elif "next" in script:
            text = asyncio.ensure_future(self._texts.get())
            gone = asyncio.ensure_future(self._page.gone.wait())
            try:
                await asyncio.wait({text, gone}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    raise RuntimeError("Execution context was destroyed")
                return [text.result()]
            finally:
                text.cancel()
                gone.cancel()
        else:
            await self.session.end()
        return None


class Page:
    """A page in memory, as Playwright has one; a reload makes another world in it."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.store = "memory"
        self.status = "ready"
        self.jupyter = True
        self.url = "http://x/lab"
        self.shut = False
        self.server: Any = None
        self.gone = asyncio.Event()
        self.there = asyncio.Event()
        self.desk: Desk | None = None
        self.tasks: list[TaskService] = []

    async def load(self, *cells: Any) -> Desk:
        """What was there goes, and a page with a notebook comes."""
        self.leave()
        self.gone = asyncio.Event()
        desk = self.desk = Desk(*cells)
        await desk.open()
        self.tasks.append(TaskService(MemoryTaskStore()))
        self.server = page_server(desk.server, self.tasks[-1])
        self.there.set()
        return desk

    def leave(self) -> None:
        self.there.clear()
        self.gone.set()

    def is_closed(self) -> bool:
        return self.shut

    async def wait_for_function(self, *_: Any, **__: Any) -> None:
        await self.there.wait()

    async def evaluate(self, script: str) -> Any:
        return {
            "door": self.there.is_set() and self.status != "failed",
            "status": self.status if self.jupyter else None,
            "reason": "no wasm",
            "jupyter": self.jupyter,
            "loaded": True,
            "visible": True,
            "url": self.url,
        }

    async def evaluate_handle(self, script: str) -> Handle:
        return Handle(self)


class Browser:
    """A browser with that page."""

    def __init__(self, page: Page) -> None:
        self.shown = page
        self.trouble: BridgeError | None = None
        self.closed = False

    async def page(self) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return self.shown

    async def close(self) -> None:
        self.closed = True


class Client:
    def __init__(self, relay: Relay) -> None:
        self.messages: list[dict[str, Any]] = []
        self.session = relay.server().connect(lambda text: self.messages.append(json.loads(text)))
        self._id = 0

    def send(self, method: str, **params: Any) -> int:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.session.receive(json.dumps(message))
        return self._id

    async def answer(self, sent: int) -> dict[str, Any]:
        while True:
            for message in self.messages:
                if message.get("id") == sent:
                    return message
            await asyncio.sleep(0.01)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.answer(self.send(method, **params))

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask("tools/call", name=name, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def told(self, method: str) -> list[Any]:
        return [each.get("params") for each in self.messages if each.get("method") == method]


class Bridge:
    def __init__(self, store: str | None = None) -> None:
        self.page = Page()
        self.browser = Browser(self.page)
        self.relay = Relay(self.browser, (), store)
        self.client = Client(self.relay)


@asynccontextmanager
async def bridge(*cells: Any, store: str | None = None) -> AsyncIterator[Bridge]:
    made = Bridge(store)
    if cells:
        await made.page.load(*cells)
    await made.client.ask("initialize", protocolVersion="2025-06-18", capabilities={})
    try:
        yield made
    finally:
        await made.relay.link.close()
        await made.client.session.end()
        assert made.browser.closed
        # What still runs in the kernels comes to its end.
        await asyncio.sleep(200)
        for tasks in made.page.tasks:
            await tasks.close()


async def test_requests_go_to_the_page_and_its_answers_back() -> None:
    async with bridge("6 * 7") as made:
        listed = (await made.client.ask("tools/list"))["result"]["tools"]
        assert [each["name"] for each in listed] == [
            *(tool.name for tool in TOOLS),
            "read_notebook_output",
        ]
        result = await made.client.call("jupyter_run_cells", cellIds=["cell-0"])
        assert "42" in str(result["structuredContent"])
        failed = await made.client.call("jupyter_focus_cell", cellId="no")
        assert failed["structuredContent"]["code"] == "CELL_NOT_FOUND"
        unknown = await made.client.ask("tools/call", name="nothing", arguments={})
        assert unknown["error"]["code"] == -32602


async def test_a_task_its_progress_and_its_notification_pass_through() -> None:
    async with bridge(LONG) as made:
        created = await made.client.ask(
            "tools/call",
            name="jupyter_run_cells",
            arguments={"cellIds": ["cell-0"]},
            task={},
            _meta={"progressToken": "p"},
        )
        task = created["result"]["task"]["taskId"]
        await asyncio.sleep(100)
        assert (await made.client.ask("tasks/get", taskId=task))["result"]["status"] == "completed"
        assert "end" in str((await made.client.ask("tasks/result", taskId=task))["result"])
        assert {each["progressToken"] for each in made.client.told("notifications/progress")} == {
            "p"
        }
        [settled] = made.client.told("notifications/tasks/status")
        assert (settled["taskId"], settled["status"]) == (task, "completed")


async def test_a_cancelled_request_is_cancelled_in_the_page() -> None:
    async with bridge(LONG) as made:
        sent = made.client.send(
            "tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-0"]}
        )
        await asyncio.sleep(1)
        note = {"method": "notifications/cancelled", "params": {"requestId": sent}}
        made.client.session.receive(json.dumps({"jsonrpc": "2.0", **note}))
        await asyncio.sleep(1)
        context = await made.client.call("jupyter_get_context")
        [pending] = context["structuredContent"]["pending"]
        assert pending["aborted"] is True
        assert all(each.get("id") != sent for each in made.client.messages)


async def test_tools_are_listed_before_the_page_is_there_and_a_change_is_told() -> None:
    async with bridge() as made:
        listed = (await made.client.ask("tools/list"))["result"]["tools"]
        assert len(listed) == len(TOOLS) + 1
        desk = await made.page.load("1")
        await asyncio.sleep(1)
        assert made.client.told("notifications/tools/list_changed") == []
        # A page with other tools.
        made.page.leave()
        await made.page.load("1")
        assert made.page.desk is not desk
        made.page.desk.server.tools = dict(list(made.page.desk.server.tools.items())[:3])
        await asyncio.sleep(1)
        assert made.client.told("notifications/tools/list_changed") == [None]
        assert len((await made.client.ask("tools/list"))["result"]["tools"]) == 4


async def test_a_call_waits_for_the_page_that_loads() -> None:
    async with bridge() as made:
        sent = made.client.send("tools/call", name="jupyter_get_context", arguments={})
        await asyncio.sleep(30)
        await made.page.load("1")
        assert (await made.client.answer(sent))["result"]["isError"] is False


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"status": "starting"}, "is still loading"),
        ({"jupyter": False, "url": "http://elsewhere"}, "http://elsewhere, which is no JupyterLab"),
        ({"status": None}, "a JupyterLab without pywebmcp"),
    ],
)
async def test_a_page_that_is_not_there_is_told_as_a_result_and_as_an_error_of_tasks(
    facts: dict[str, Any], words: str
) -> None:
    async with bridge() as made:
        for name, value in facts.items():
            setattr(made.page, name, value)
        result = await made.client.call("jupyter_get_context")
        assert result["isError"] is True
        assert words in result["content"][0]["text"]
        task = await made.client.ask("tools/call", name="jupyter_get_context", task={})
        assert task["error"]["code"] == -32603
        assert words in task["error"]["message"]
        assert words in (await made.client.ask("tasks/list"))["error"]["message"]


async def test_what_keeps_the_browser_from_its_page_is_told() -> None:
    async with bridge() as made:
        made.browser.trouble = BridgeError("The browser was closed.")
        result = await made.client.call("jupyter_get_context")
        assert result["content"][0]["text"] == "The browser was closed."
        made.browser.trouble = None
        await made.page.load("1")
        assert (await made.client.call("jupyter_get_context"))["isError"] is False


async def test_a_page_whose_python_did_not_start_says_why() -> None:
    async with bridge() as made:
        made.page.status = "failed"
        made.page.there.set()
        result = await made.client.call("jupyter_get_context")
        assert "could not start in http://x/lab: no wasm" in result["content"][0]["text"]


async def test_a_reload_loses_the_call_on_its_way_and_asks_reads_again() -> None:
    async with bridge(LONG, "print(1)") as made:
        client = made.client
        await client.call("jupyter_get_context")
        running = client.send(
            "tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-0"]}
        )
        waiting = client.send(
            "tools/call", name="jupyter_wait_for_result", arguments={"pendingId": "call-2"}
        )
        await asyncio.sleep(1)
        await made.page.load("2")
        lost = (await client.answer(running))["result"]
        assert lost["isError"] is True
        assert "reloaded, left or closed while jupyter_run_cells" in lost["content"][0]["text"]
        again = (await client.answer(waiting))["result"]
        assert again["structuredContent"]["code"] == "PENDING_NOT_FOUND"


async def test_a_task_of_a_page_that_is_gone_is_told_to_be_lost() -> None:
    async with bridge(LONG) as made:
        client = made.client
        created = await client.ask(
            "tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-0"]}, task={}
        )
        task = created["result"]["task"]["taskId"]
        await made.page.load("2")
        error = (await client.ask("tasks/get", taskId=task))["error"]
        assert error["code"] == -32602
        assert "reloaded since" in error["message"]
        assert "taskStoreClass" in error["message"]
        # An id that nobody was given is as unknown as ever.
        never = (await client.ask("tasks/get", taskId="tsk_never"))["error"]
        assert never["message"] == "No such task: tsk_never"


async def test_a_retry_with_a_key_is_advised_where_the_answer_was_lost() -> None:
    class Silent(MemoryTaskStore):
        async def create(self, record: Any) -> Any:
            await asyncio.sleep(5)
            return await super().create(record)

    async with bridge("1") as made:
        await made.client.call("jupyter_get_context")
        assert made.page.desk is not None
        tasks = TaskService(Silent())
        made.page.tasks.append(tasks)
        made.page.server = page_server(made.page.desk.server, tasks)
        made.page.leave()
        made.page.gone = asyncio.Event()
        made.page.there.set()
        await made.client.call("jupyter_get_context")
        sent = made.client.send("tools/call", name="jupyter_save_notebook", arguments={}, task={})
        await asyncio.sleep(1)
        made.page.leave()
        error = (await made.client.answer(sent))["error"]
        assert "idempotency key" in error["message"]


@pytest.mark.parametrize(
    ("error", "store", "words"),
    [
        ("The task store 'no:Store' cannot be loaded.", None, "'no:Store' cannot be loaded"),
        (None, "a:B", "JUPYTER_MCP_TASK_STORE_CLASS names the task store 'a:B'"),
    ],
)
async def test_a_store_that_is_not_what_was_asked_for_ends_the_program(
    error: str | None, store: str | None, words: str
) -> None:
    async with bridge(store=store) as made:
        made.page.error = error
        made.page.there.set()
        made.relay.link.begin()
        fatal = await made.relay.link.fatal
        assert isinstance(fatal, UsageError)
        assert words in str(fatal)


async def test_the_tool_of_saved_outputs_needs_no_page() -> None:
    async with bridge() as made:
        result = await made.client.call("read_notebook_output", file_path="x")
        assert "cell_index" in result["content"][0]["text"]
        task = await made.client.ask(
            "tools/call", name="read_notebook_output", arguments={}, task={}
        )
        assert task["error"]["code"] == -32601
        wrong = await made.client.ask("tools/call", name="read_notebook_output", arguments=[1])
        assert wrong["error"]["code"] == -32602
        assert (await made.client.ask("tools/list", cursor="x"))["error"]["code"] == -32602


async def test_a_link_begins_once() -> None:
    page = Page()
    link = Link(Browser(page), {})
    first = link.begin()
    assert link.begin() is first
    await asyncio.sleep(1)
    await link.close()
