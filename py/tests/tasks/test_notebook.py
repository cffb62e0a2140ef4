"""Tasks of the tools themselves, on a notebook in memory with a real kernel: what runs, what stops."""

from __future__ import annotations

import ast
import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from office import Office, turns
from pywebmcp import toolset
from pywebmcp.settings import Settings

ENDLESS = "import asyncio\nx = 1\nprint('so far')\nwhile True: await asyncio.sleep(1)"
LONG = "import asyncio\nprint('so far')\nawait asyncio.sleep(600)\nprint('end')"


class Room:
    """A notebook, its tools, and a task service beside them."""

    def __init__(self, office: Office, *cells: Any, **more: Any) -> None:
        self.office = office
        self.desk = Desk(*cells, **more)

    async def call(self, tool: str, **arguments: Any) -> str:
        work = self.desk.server.work(tool, arguments)
        task = await self.office.call(work, name=tool, arguments=arguments)
        await turns()
        return task

    async def payload(self, task: str) -> dict[str, Any]:
        result = await self.office.result(task)
        payload: dict[str, Any] = result["structuredContent"]
        return payload

    def kernel(self) -> Any:
        live = self.desk.frontend.notebook("a.ipynb")
        assert live is not None
        return live.kernel()


async def room(office: Office, *cells: Any, **more: Any) -> Room:
    made = Room(office, *cells, **more)
    await made.desk.open()
    return made


async def test_a_tasks_call_has_no_time_limit_and_its_result_is_the_envelope() -> None:
    async with Office() as office:
        it = await room(office, LONG)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(300)
        assert await office.status(task) == "working"
        await asyncio.sleep(301)
        result = await office.result(task)
        assert result["isError"] is False
        [cell] = result["structuredContent"]["cells"]
        assert (cell["status"], cell["outputs"][0]["text"]) == ("ok", "so far\nend\n")
        assert result["content"][0]["type"] == "text"


async def test_a_tasks_call_is_in_the_one_registry_of_calls() -> None:
    async with Office() as office:
        it = await room(office, LONG)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        [entry] = (await it.desk.ok("jupyter_get_context"))["pending"]
        assert (entry["tool"], entry["status"]) == ("jupyter_run_cells", "working")
        waiting = await it.desk.call("jupyter_wait_for_result", pendingId=entry["pendingId"])
        assert waiting["status"] == "pending"
        # Another call waits its turn for the kernel, as behind any other.
        queued = await it.desk.call("jupyter_run_code", code="1")
        assert queued["queuedBehind"] == entry["pendingId"]
        await asyncio.sleep(600)
        assert (await it.payload(task))["cells"][0]["status"] == "ok"
        found = await it.desk.ok("jupyter_wait_for_result", pendingId=entry["pendingId"])
        assert found["cells"] == (await it.payload(task))["cells"]


async def test_a_settled_task_leaves_nothing_in_the_registry() -> None:
    async with Office() as office:
        it = await room(office, "1")
        await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(1)
        assert (await it.desk.ok("jupyter_get_context"))["pending"] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("jupyter_no_such_tool", {}),
        ("jupyter_run_cells", {"cellIds": "cell-0"}),
        ("jupyter_run_cells", {"cellIds": ["none"]}),
        ("jupyter_wait_for_result", {"pendingId": "none"}),
    ],
)
async def test_what_is_wrong_with_a_call_fails_its_task(tool: str, arguments: Any) -> None:
    async with Office() as office:
        it = await room(office, "1")
        task = await it.call(tool, **arguments)
        await asyncio.sleep(1)
        error = await office.refused(office.result(task))
        assert error.code == -32603
        assert error.message == error.data["result"]["structuredContent"]["error"]


async def test_a_failed_cell_fails_the_task_and_keeps_its_outputs() -> None:
    async with Office() as office:
        it = await room(office, "print('so far')\n1 / 0")
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(1)
        shown = await office.get(task)
        assert (shown["status"], shown["statusMessage"]) == (
            "failed",
            "ZeroDivisionError: division by zero",
        )
        error = await office.refused(office.result(task))
        payload = error.data["result"]["structuredContent"]
        assert payload["cells"][0]["outputs"][0]["text"] == "so far\n"


RUNS = [("jupyter_run_cells", {"cellIds": ["cell-0"]}), ("jupyter_run_code", {"code": ENDLESS})]


@pytest.mark.parametrize("can_interrupt", [True, False])
@pytest.mark.parametrize(("tool", "arguments"), RUNS)
async def test_cancelling_stops_the_code_whichever_tool_started_it(
    tool: str, arguments: Any, can_interrupt: bool
) -> None:
    async with Office() as office:
        it = await room(office, ENDLESS, can_interrupt=can_interrupt, restart_after=10.0)
        task = await it.call(tool, **arguments)
        await asyncio.sleep(60)
        assert it.kernel().state()["status"] == "busy"
        answer = await office.cancel(task)
        assert answer["status"] == "cancelled"
        assert it.kernel().state()["status"] != "busy"
        payload = await it.payload(task)
        assert "so far" in str(payload)
        gone = it.kernel().generation() > 0
        assert gone is not can_interrupt
        assert ("variables are gone" in answer["statusMessage"]) is gone
        assert ("KERNEL_RESTARTED" in str(payload)) is gone
        await asyncio.sleep(20)
        seen = await it.desk.ok("jupyter_run_code", code="'x' in globals()")
        assert str(not gone) in str(seen["outputs"])


async def test_a_cancelled_cell_with_five_hundred_lines_serves_them() -> None:
    source = (
        "import asyncio\nfor i in range(500): print('line', i)\nwhile True: await asyncio.sleep(1)"
    )
    async with Office() as office:
        it = await room(office, source)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(60)
        await office.cancel(task)
        [cell] = (await it.payload(task))["cells"]
        lines = cell["outputs"][0]["text"].splitlines()
        assert lines == [f"line {i}" for i in range(500)]


@pytest.mark.parametrize("can_interrupt", [True, False])
async def test_cancelling_what_waits_behind_a_persons_code_never_stops_that(
    can_interrupt: bool,
) -> None:
    async with Office() as office:
        it = await room(office, "print('mine')", LONG, can_interrupt=can_interrupt)
        person = it.desk.person.start_run(1)
        await asyncio.sleep(1)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(60)
        assert (await office.cancel(task))["status"] == "cancelled"
        assert it.kernel().state()["status"] == "busy"
        assert it.kernel().generation() == 0
        await asyncio.sleep(700)
        assert (await person).status == "ok"
        live = it.desk.frontend.notebook("a.ipynb")
        assert live is not None
        [cell] = live.cells(0, 1, outputs=True)
        assert cell["outputs"] == []
        assert (await office.refused(office.result(task))).code == -32602


async def test_cancelling_what_waits_behind_another_call_leaves_that_alone() -> None:
    async with Office() as office:
        it = await room(office, LONG, "print('second')")
        first = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        second = await it.call("jupyter_run_cells", cellIds=["cell-1"])
        await asyncio.sleep(30)
        assert (await office.cancel(second))["status"] == "cancelled"
        await asyncio.sleep(600)
        assert await office.status(first) == "completed"
        assert await office.status(second) == "cancelled"


async def test_what_was_cancelled_before_it_began_does_not_begin_and_is_still_found() -> None:
    async with Office() as office:
        it = await room(office, "print('mine')", LONG)
        person = it.desk.person.start_run(1)
        await asyncio.sleep(1)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await office.cancel(task)
        [entry] = (await it.desk.ok("jupyter_get_context"))["pending"]
        assert entry["aborted"] is True
        await person
        await asyncio.sleep(1)
        found = entry["pendingId"]
        await it.desk.fail("ABORTED", "jupyter_wait_for_result", pendingId=found)


async def test_what_begins_in_spite_of_its_cancellation_is_ended_then() -> None:
    """It was handed to a kernel that was not ready; nobody can take it back from there."""
    async with Office() as office:
        it = await room(office, "1", restart_after=10.0)
        kernel = it.kernel()
        restart = asyncio.create_task(kernel.restart())
        await asyncio.sleep(1)
        task = await it.call("jupyter_run_code", code=ENDLESS, kernelId=kernel.id)
        await asyncio.sleep(1)
        assert (await office.cancel(task))["status"] == "cancelled"
        await restart
        await asyncio.sleep(30)
        assert kernel.state()["status"] == "idle"


async def test_code_that_cleans_up_after_its_interrupt_has_that_in_its_output() -> None:
    source = (
        "import asyncio\ntry:\n while True: await asyncio.sleep(1)\n"
        "finally:\n await asyncio.sleep(2)\n print('cleaned up')"
    )
    async with Office() as office:
        it = await room(office, source, can_interrupt=True)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(5)
        assert (await office.cancel(task))["status"] == "cancelled"
        [cell] = (await it.payload(task))["cells"]
        assert (cell["status"], cell["outputs"][0]["text"]) == ("error", "cleaned up\n")


async def test_a_task_that_runs_long_takes_no_other_calls_dialog() -> None:
    async with Office() as office:
        it = await room(office, LONG)
        screen = it.desk.frontend.screen

        async def ask(args: dict[str, Any]) -> str:
            return str(await screen.ask("Sure?", "Really?", ("Yes", "No")))

        it.desk.frontend.registry.add("app:ask", ask)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(100)
        pending = await it.desk.call("jupyter_execute_command", command_id="app:ask")
        assert pending["dialog"]["title"] == "Sure?"
        assert await office.status(task) == "working"
        await it.desk.ok("jupyter_answer_dialog", button="Yes")
        await asyncio.sleep(600)
        assert (await it.desk.ok("jupyter_get_context"))["pending"] == []


async def test_of_a_cancelled_run_of_several_cells_no_further_one_starts() -> None:
    async with Office() as office:
        it = await room(office, ENDLESS, "print('later')", can_interrupt=True)
        task = await it.call("jupyter_run_cells", stopOnError=False, startIndex=0, endIndex=2)
        await asyncio.sleep(60)
        assert (await office.cancel(task))["status"] == "cancelled"
        await asyncio.sleep(60)
        live = it.desk.frontend.notebook("a.ipynb")
        assert live is not None
        assert live.cells(1, 2, outputs=True)[0]["outputs"] == []


async def test_a_task_is_input_required_while_the_code_asks_the_person() -> None:
    async with Office() as office:
        it = await room(office, "name = input('Your name?')\nprint(name)")
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(1)
        shown = await office.get(task)
        assert shown["status"] == "input_required"
        assert "Your name?" in shown["statusMessage"]
        it.desk.person.answer("Ada")
        await asyncio.sleep(1)
        assert await office.status(task) == "completed"


async def test_a_task_is_input_required_while_its_own_dialog_waits() -> None:
    async with Office() as office:
        it = await room(office, "1")
        screen = it.desk.frontend.screen

        async def ask(args: dict[str, Any]) -> str:
            return str(await screen.ask("Sure?", "Really?", ("Yes", "No")))

        it.desk.frontend.registry.add("app:ask", ask)
        task = await it.call("jupyter_execute_command", command_id="app:ask")
        await asyncio.sleep(1)
        assert await office.status(task) == "input_required"
        await asyncio.sleep(100)
        await it.desk.ok("jupyter_answer_dialog", button="Yes")
        await asyncio.sleep(1)
        assert await office.status(task) == "completed"


async def test_a_restart_by_somebody_else_settles_the_task_at_once() -> None:
    async with Office() as office:
        it = await room(office, ENDLESS)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(60)
        await it.desk.ok("jupyter_kernel_action", action="restart")
        await turns()
        error = await office.refused(office.result(task))
        payload = error.data["result"]["structuredContent"]
        assert payload["code"] == "KERNEL_RESTARTED"
        assert "so far" in str(payload)


async def test_the_output_so_far_is_in_the_store_before_the_work_ends() -> None:
    async with Office() as office:
        it = await room(office, ENDLESS)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(30)
        stored = await office.store.get(task)
        assert stored.status == "working"
        assert "so far" in str(stored.partial)
        await office.cancel(task)


async def test_a_result_is_bounded_as_any_other() -> None:
    async with Office() as office:
        settings = Settings(max_result_length=2000)
        it = await room(office, "print('x' * 100_000)", settings=settings)
        task = await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(1)
        result = await office.result(task)
        assert len(result["content"][0]["text"]) <= 2000
        assert result["structuredContent"]["truncated"] is True


async def test_stopping_the_server_aborts_the_calls_of_its_tasks() -> None:
    async with Office() as office:
        it = await room(office, ENDLESS, can_interrupt=True)
        await it.call("jupyter_run_cells", cellIds=["cell-0"])
        await asyncio.sleep(1)
        await office.service.close()
        await asyncio.sleep(1)
        assert it.kernel().state()["status"] == "idle"


def test_every_function_that_runs_code_is_given_the_lane_that_registers_an_interrupt() -> None:
    """Found by shape, not by name: a tool of tomorrow is covered on the day it is written."""
    runs = {"run_cell", "execute"}
    found = []
    for path in Path(inspect.getfile(toolset)).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        for function in tree.body:
            if not isinstance(function, ast.AsyncFunctionDef):
                continue
            calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
            names = {call.attr for call in calls if isinstance(call, ast.Attribute)}
            if names & runs and path.stem != "commands":
                found.append(function.name)
                laned = {call.id for call in calls if isinstance(call, ast.Name)} >= {"lane"}
                held = any(
                    "Lane" in ast.unparse(arg.annotation)
                    for arg in function.args.args
                    if arg.annotation
                )
                assert laned or held, f"{path.name}: {function.name}"
    assert len(found) >= 2
