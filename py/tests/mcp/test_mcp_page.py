"""The page's tools over MCP sessions, on a notebook in memory: one registry, images, progress."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any

import pytest
from desk import Desk
from pywebmcp.constants import PROGRESS_INTERVAL
from pywebmcp.mcp.page import page_server
from pywebmcp.settings import Settings
from pywebmcp.tasks import MemoryTaskStore, TaskService
from pywebmcp.toolset import TOOLS

LONG = "import asyncio\nprint('so far')\nawait asyncio.sleep(60)\nprint('end')"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Client:
    """One connection."""

    def __init__(self, server: Any) -> None:
        self.messages: list[dict[str, Any]] = []
        self.session = server.connect(lambda text: self.messages.append(json.loads(text)))
        self._id = 0

    def send(self, method: str, **params: Any) -> int:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.session.receive(json.dumps(message))
        return self._id

    def tell(self, method: str, **params: Any) -> None:
        self.session.receive(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def answer(self, sent: int) -> dict[str, Any] | None:
        return next((each for each in self.messages if each.get("id") == sent), None)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        sent = self.send(method, **params)
        while True:
            answer = self.answer(sent)
            if answer is not None:
                return answer
            await asyncio.sleep(0.01)

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask("tools/call", name=name, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    def progress(self) -> list[dict[str, Any]]:
        return [
            each["params"]
            for each in self.messages
            if each.get("method") == "notifications/progress"
        ]


class Page:
    """A page with a notebook, and its MCP server."""

    def __init__(self, *cells: Any, settings: Settings | None = None, **frontend: Any) -> None:
        self.desk = Desk(*cells, settings=settings, **frontend)
        self.tasks = TaskService(MemoryTaskStore())
        self.server = page_server(self.desk.server, self.tasks)

    async def client(self, version: str = "2025-11-25") -> Client:
        client = Client(self.server)
        await client.ask("initialize", protocolVersion=version, capabilities={})
        return client


@asynccontextmanager
async def opened(*cells: Any, **more: Any) -> Any:
    page = Page(*cells, **more)
    await page.desk.open()
    try:
        yield page
    finally:
        # What still runs in the kernel comes to its end.
        await asyncio.sleep(200)
        await page.tasks.close()


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_both_revisions_are_spoken_and_what_is_advertised_is_there(version: str) -> None:
    async with opened("1") as page:
        client = Client(page.server)
        answer = await client.ask("initialize", protocolVersion=version, capabilities={})
        assert answer["result"]["protocolVersion"] == version
        assert answer["result"]["serverInfo"]["name"] == "pywebmcp"
        assert "jupyter_get_context" in answer["result"]["instructions"]
        assert answer["result"]["capabilities"].keys() == {
            "tools",
            "tasks",
            "extensions",
            "experimental",
        }
        assert (await client.ask("ping"))["result"] == {}
        assert (await client.ask("tasks/list"))["result"] == {"tasks": []}
        assert (await client.ask("resources/list"))["error"]["code"] == -32601


async def test_every_tool_is_listed_with_its_hints_in_mcps_words() -> None:
    async with opened("1") as page:
        client = await page.client()
        listed = (await client.ask("tools/list"))["result"]["tools"]
        assert [each["name"] for each in listed] == [tool.name for tool in TOOLS]
        hints = {each["name"]: each["annotations"] for each in listed}
        assert hints["jupyter_get_cells"]["readOnlyHint"] is True
        assert hints["jupyter_delete_cell"]["destructiveHint"] is True
        assert hints["jupyter_insert_cell"]["destructiveHint"] is False
        assert all(each["execution"] == {"taskSupport": "optional"} for each in listed)
        assert all(each["inputSchema"]["type"] == "object" for each in listed)


async def test_a_call_answers_the_envelope_and_a_failure_is_a_result() -> None:
    async with opened("6 * 7") as page:
        client = await page.client()
        result = await client.call("jupyter_get_cells")
        assert result["isError"] is False
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        failed = await client.call("jupyter_focus_cell", cellId="nowhere")
        assert failed["isError"] is True
        assert failed["structuredContent"]["code"] == "CELL_NOT_FOUND"
        unknown = await client.ask("tools/call", name="nothing", arguments={})
        assert unknown["error"]["code"] == -32602


async def test_the_setting_of_the_envelope_holds_here_too() -> None:
    async with opened("1", settings=Settings(envelope="text")) as page:
        result = await (await page.client()).call("jupyter_get_context")
        assert "structuredContent" not in result


async def test_a_runs_image_comes_as_an_image_block() -> None:
    source = f"class Picture:\n    def _repr_png_(self):\n        return {PNG!r}\nPicture()"
    async with opened(source) as page:
        result = await (await page.client()).call("jupyter_run_cells", cellIds=["cell-0"])
        assert result["content"][1:] == [{"type": "image", "data": PNG, "mimeType": "image/png"}]
        assert PNG not in result["content"][0]["text"]


async def test_a_call_of_one_session_is_seen_by_another_and_by_the_browsers_agent() -> None:
    async with opened(LONG) as page:
        first, second = await page.client(), await page.client("2025-06-18")
        sent = first.send("tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-0"]})
        await asyncio.sleep(1)
        context = (await second.call("jupyter_get_context"))["structuredContent"]
        through_webmcp = await page.desk.ok("jupyter_get_context")
        [pending] = context["pending"]
        assert pending["tool"] == "jupyter_run_cells"
        assert through_webmcp["pending"] == [pending]
        waited = await second.call(
            "jupyter_wait_for_result", pendingId=pending["pendingId"], timeout=100
        )
        assert "end" in str(waited["structuredContent"])
        # Its own caller was told at the time limit.
        answer = first.answer(sent)
        assert answer is not None
        assert answer["result"]["structuredContent"]["pendingId"] == pending["pendingId"]


async def test_a_cancelled_request_has_no_answer_and_starts_no_further_cell() -> None:
    async with opened(LONG, "print('second')") as page:
        client = await page.client()
        sent = client.send("tools/call", name="jupyter_run_cells", arguments={"startIndex": 0})
        await asyncio.sleep(1)
        client.tell("notifications/cancelled", requestId=sent)
        await asyncio.sleep(0.1)
        [pending] = (await client.call("jupyter_get_context"))["structuredContent"]["pending"]
        assert pending["aborted"] is True
        waited = await client.call(
            "jupyter_wait_for_result", pendingId=pending["pendingId"], timeout=100
        )
        assert "second" not in str(waited["structuredContent"]["cells"])
        assert client.answer(sent) is None


async def test_a_client_that_goes_away_aborts_its_call_and_leaves_its_task() -> None:
    async with opened(LONG, "print('second')") as page:
        client = await page.client()
        answer = await client.ask(
            "tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-0"]}, task={}
        )
        client.send("tools/call", name="jupyter_run_cells", arguments={"cellIds": ["cell-1"]})
        await asyncio.sleep(1)
        await client.session.end()
        await asyncio.sleep(100)
        back = await page.client()
        task = answer["result"]["task"]["taskId"]
        assert (await back.ask("tasks/get", taskId=task))["result"]["status"] == "completed"
        assert "end" in str((await back.ask("tasks/result", taskId=task))["result"])
        [aborted] = (await back.call("jupyter_get_context"))["structuredContent"]["pending"]
        waited = await back.call("jupyter_wait_for_result", pendingId=aborted["pendingId"])
        assert waited["structuredContent"]["code"] == "ABORTED"


async def test_progress_is_told_to_the_call_that_brought_a_token_and_ends_with_it() -> None:
    async with opened(LONG, settings=Settings(execution_timeout=9)) as page:
        client, other = await page.client(), await page.client()
        await client.ask(
            "tools/call",
            name="jupyter_run_cells",
            arguments={"cellIds": ["cell-0"]},
            _meta={"progressToken": "p"},
        )
        told = client.progress()
        assert {each["progressToken"] for each in told} == {"p"}
        values = [each["progress"] for each in told]
        assert values == [PROGRESS_INTERVAL * number for number in (1, 2, 3, 4)]
        assert "jupyter_run_cells" in told[0]["message"]
        await asyncio.sleep(100)
        assert client.progress() == told
        assert other.progress() == []


@pytest.mark.parametrize("token", [None, [], {}, True])
async def test_what_is_no_token_gets_no_progress(token: Any) -> None:
    async with opened(LONG) as page:
        client = await page.client()
        await client.ask(
            "tools/call",
            name="jupyter_run_cells",
            arguments={"cellIds": ["cell-0"]},
            _meta={"progressToken": token},
        )
        assert client.progress() == []


async def test_progress_of_a_task_goes_on_until_it_has_settled() -> None:
    async with opened(LONG) as page:
        client = await page.client()
        await client.ask(
            "tools/call",
            name="jupyter_run_cells",
            arguments={"cellIds": ["cell-0"]},
            task={},
            _meta={"progressToken": 7},
        )
        await asyncio.sleep(200)
        values = [each["progress"] for each in client.progress()]
        assert 50 < values[-1] <= 62


async def test_progress_of_a_task_ends_with_the_session() -> None:
    async with opened(LONG) as page:
        client = await page.client()
        await client.ask(
            "tools/call",
            name="jupyter_run_cells",
            arguments={"cellIds": ["cell-0"]},
            task={},
            _meta={"progressToken": 7},
        )
        await client.session.end()
        await asyncio.sleep(100)
        assert client.progress() == []


async def test_a_task_that_cannot_be_created_has_no_progress() -> None:
    async with opened("1") as page:
        client = await page.client()
        answer = await client.ask(
            "tools/call",
            name="jupyter_get_cells",
            arguments={},
            task=5,
            _meta={"progressToken": 7},
        )
        assert answer["error"]["code"] == -32602
        await asyncio.sleep(10)
        assert client.progress() == []
