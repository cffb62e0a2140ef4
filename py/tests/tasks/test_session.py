"""Tasks over MCP sessions: what a client sends and gets, here and after it has come back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from desk import Desk
from office import Office, turns
from pywebmcp.mcp.server import Server
from pywebmcp.mcp.tasks import task_methods
from pywebmcp.tasks import capabilities

LONG = "import asyncio\nprint('so far')\nawait asyncio.sleep(60)\nprint('end')"


class Tools:
    """The tools of a notebook in memory."""

    def __init__(self, desk: Desk) -> None:
        self._server = desk.server

    def descriptors(self) -> list[dict[str, Any]]:
        return [tool.descriptor() for tool in self._server.tools.values()]

    def work(self, name: str, arguments: dict[str, Any]) -> Any:
        return self._server.work(name, arguments, images=True)

    async def call(self, name: str, arguments: dict[str, Any], call: Any) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(await self._server.call(name, arguments))
        return result


class Client:
    """One connection."""

    def __init__(self, server: Server) -> None:
        self.messages: list[dict[str, Any]] = []
        self.session = server.connect(lambda text: self.messages.append(json.loads(text)))
        self._id = 0

    def send(self, method: str, **params: Any) -> int:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.session.receive(json.dumps(message))
        return self._id

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The response, whatever it is."""
        sent = self.send(method, **params)
        while True:
            for message in self.messages:
                if message.get("id") == sent:
                    return message
            await asyncio.sleep(0.01)

    async def start(self, version: str = "2025-11-25") -> dict[str, Any]:
        answer = await self.ask("initialize", protocolVersion=version, capabilities={})
        result: dict[str, Any] = answer["result"]
        return result

    def told(self) -> list[tuple[str, str]]:
        return [
            (message["params"]["taskId"], message["params"]["status"])
            for message in self.messages
            if message.get("method") == "notifications/tasks/status"
        ]


class Setting:
    """A server of tasks for a notebook."""

    def __init__(self, office: Office, *cells: Any) -> None:
        self.desk = Desk(*cells)
        methods = task_methods(Tools(self.desk), office.service)
        self.server = Server("pywebmcp", "0", "pywebmcp", methods, capabilities())

    async def client(self) -> Client:
        client = Client(self.server)
        await client.start()
        return client


async def setting(office: Office, *cells: Any) -> Setting:
    made = Setting(office, *cells)
    await made.desk.open()
    return made


def run_cell(**more: Any) -> dict[str, Any]:
    return {"name": "jupyter_run_cells", "arguments": {"cellIds": ["cell-0"]}, **more}


async def test_the_capability_is_declared_and_each_tool_may_be_a_task() -> None:
    async with Office() as office:
        made = await setting(office, "1")
        client = Client(made.server)
        declared = (await client.start())["capabilities"]
        assert declared["tasks"]["requests"] == {"tools": {"call": {}}}
        assert "io.datalayer/tasks" in declared["extensions"]
        tools = (await client.ask("tools/list"))["result"]["tools"]
        assert tools
        assert all(tool["execution"] == {"taskSupport": "optional"} for tool in tools)


async def test_a_call_without_task_metadata_is_what_it_always_was() -> None:
    async with Office() as office:
        made = await setting(office, "6 * 7")
        client = await made.client()
        result = (await client.ask("tools/call", **run_cell()))["result"]
        assert result["structuredContent"]["cells"][0]["status"] == "ok"
        assert (await client.ask("tasks/list"))["result"] == {"tasks": []}


async def test_a_client_goes_away_comes_back_and_finds_the_result() -> None:
    async with Office() as office:
        made = await setting(office, LONG)
        client = await made.client()
        answer = await client.ask("tools/call", **run_cell(task={"ttl": 900_000}))
        task = answer["result"]["task"]["taskId"]
        await client.session.end()
        await asyncio.sleep(100)
        back = await made.client()
        assert (await back.ask("tasks/get", taskId=task))["result"]["status"] == "completed"
        result = (await back.ask("tasks/result", taskId=task))["result"]
        assert "end" in str(result["structuredContent"])
        assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": task}}
        assert client.told() == back.told() == []


async def test_the_session_that_asked_is_told_once() -> None:
    async with Office() as office:
        made = await setting(office, LONG)
        client, other = await made.client(), await made.client()
        answer = await client.ask("tools/call", **run_cell(task={}))
        await asyncio.sleep(100)
        assert client.told() == [(answer["result"]["task"]["taskId"], "completed")]
        assert other.told() == []


async def test_errors_are_json_rpc_errors_with_their_codes_and_data() -> None:
    async with Office() as office:
        made = await setting(office, "1 / 0")
        client = await made.client()
        answer = await client.ask("tools/call", **run_cell(task={}))
        task = answer["result"]["task"]["taskId"]
        await asyncio.sleep(1)
        error = (await client.ask("tasks/result", taskId=task))["error"]
        assert error["code"] == -32603
        assert "ZeroDivisionError" in error["message"]
        assert error["data"]["result"]["isError"] is True
        for method, params in [
            ("tasks/get", {"taskId": "none"}),
            ("tasks/list", {"cursor": "x"}),
            ("tools/call", run_cell(task={"ttl": "soon"})),
            ("tools/call", {"name": "no_such_tool", "task": {}}),
            ("tools/call", {"name": ["x"], "task": {}}),
        ]:
            assert (await client.ask(method, **params))["error"]["code"] == -32602
        assert (await client.ask("tasks/update", taskId=task))["error"]["code"] == -32601


async def test_a_cancelled_request_for_a_task_does_not_lose_the_task() -> None:
    """MCP: a task is cancelled by tasks/cancel alone, not by cancelling what asked for it."""
    async with Office() as office:
        made = await setting(office, LONG)
        client = await made.client()
        meta = {"io.datalayer/idempotency-key": "k"}
        sent = client.send("tools/call", **run_cell(task={}, _meta=meta))
        note = {"method": "notifications/cancelled", "params": {"requestId": sent}}
        client.session.receive(json.dumps({"jsonrpc": "2.0", **note}))
        await turns()
        again = await client.ask("tools/call", **run_cell(task={}, _meta=meta))
        await asyncio.sleep(100)
        listed = (await client.ask("tasks/list"))["result"]["tasks"]
        assert [task["taskId"] for task in listed] == [again["result"]["task"]["taskId"]]
        assert listed[0]["status"] == "completed"


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_both_revisions_have_tasks(version: str) -> None:
    async with Office() as office:
        made = await setting(office, "1")
        client = Client(made.server)
        assert (await client.start(version))["protocolVersion"] == version
        answer = await client.ask("tools/call", **run_cell(task={}))
        assert answer["result"]["task"]["status"] == "working"
        task = answer["result"]["task"]["taskId"]
        assert (await client.ask("tasks/cancel", taskId=task))["result"]["taskId"] == task
