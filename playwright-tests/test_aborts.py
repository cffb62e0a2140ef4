"""An agent that stops waiting: its call goes on where it runs, and nothing further is begun."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from background import (
    Begun,
    arrived,
    ask,
    at_gate,
    begin,
    cells,
    listed,
    open_gates,
    outputs,
    pending,
    result,
    settings,
)
from files import put_and_open, settled
from lab import Lab
from playwright.sync_api import CDPSession
from pywebmcp.testing import notebook, stream

NEXT = "print('next')"
DONE = [stream("so far\nend\n")]


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, "aborts.ipynb", notebook("1"))
    lab.until_kernel()


@pytest.fixture(autouse=True)
def nothing_left(lab: Lab) -> Iterator[None]:
    """What a test left running ends before the next one begins."""
    yield
    open_gates(lab)
    lab.until_kernel()


class Caller(Protocol):
    """Whoever called a tool and can give up."""

    def abort(self) -> None: ...

    def gave_up(self) -> bool:
        """Whether the browser told the caller so."""
        ...


class InPage(Begun):
    """An agent in the page, with an ``AbortController``."""

    def gave_up(self) -> bool:
        return self.error() == "AbortError"


class OverDevTools:
    """A bridge over the DevTools protocol, with ``WebMCP.cancelInvocation``."""

    def __init__(self, lab: Lab, name: str, arguments: dict[str, Any]) -> None:
        self._lab = lab
        self._session: CDPSession = lab.page.context.new_cdp_session(lab.page)
        self._responses: list[dict[str, Any]] = []
        self._session.on("WebMCP.toolResponded", lambda event: self._responses.append(event))
        self._session.send("WebMCP.enable")
        frame = self._session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        call = {"frameId": frame, "toolName": name, "input": arguments}
        self._id = self._session.send("WebMCP.invokeTool", call)["invocationId"]

    def abort(self) -> None:
        self._session.send("WebMCP.cancelInvocation", {"invocationId": self._id})

    def gave_up(self) -> bool:
        while not self._responses:
            # Playwright hands out events while it waits for something.
            self._lab.page.evaluate("new Promise(requestAnimationFrame).then(() => null)")
        [response] = self._responses
        self._session.detach()
        return bool(response["invocationId"] == self._id and response["status"] == "Canceled")


DOORS: dict[str, Callable[[Lab, str, dict[str, Any]], Caller]] = {
    "executeTool": InPage,
    "devtools": OverDevTools,
}


@pytest.mark.parametrize("door", DOORS)
def test_an_aborted_run_goes_on_and_its_result_is_kept(lab: Lab, door: str) -> None:
    cells(lab, at_gate(lab))
    call = DOORS[door](lab, "jupyter_run_cells", {"cellIds": ["a"]})
    arrived(lab, "gate")
    call.abort()
    assert call.gave_up()
    entry = listed(lab, "aborted")
    assert (entry["tool"], entry["status"]) == ("jupyter_run_cells", "working")
    waits = ask(lab, "jupyter_wait_for_result", pendingId=entry["pendingId"], timeout=0)
    # This kernel cannot be interrupted, so nothing was; what would stop it is said.
    assert "restart" in waits["message"]
    assert waits["cells"][0]["status"] == "running"
    assert lab.must("jupyter_get_context")["notebook"]["kernel"]["status"] == "busy"
    open_gates(lab)
    [cell] = result(lab, entry["pendingId"])["cells"]
    assert (cell["status"], cell["outputs"]) == ("ok", DONE)
    assert outputs(lab, 0) == DONE


@pytest.mark.parametrize("door", DOORS)
def test_of_an_aborted_run_of_three_cells_no_further_one_begins(lab: Lab, door: str) -> None:
    cells(lab, at_gate(lab), NEXT, NEXT)
    call = DOORS[door](lab, "jupyter_run_cells", {"cellIds": ["a", "b", "c"]})
    arrived(lab, "gate")
    call.abort()
    assert call.gave_up()
    entry = listed(lab, "aborted")
    open_gates(lab)
    stopped = result(lab, entry["pendingId"])
    assert (stopped["success"], stopped["isError"], stopped["code"]) == (False, True, "ABORTED")
    [cell] = stopped["cells"]
    assert (cell["id"], cell["status"], cell["outputs"]) == ("a", "ok", DONE)
    assert stopped["notRun"] == ["b", "c"]
    assert outputs(lab, 1) == outputs(lab, 2) == []


def test_an_aborted_call_of_code_keeps_its_outputs(lab: Lab) -> None:
    call = InPage(lab, "jupyter_run_code", {"code": at_gate(lab)})
    arrived(lab, "gate")
    call.abort()
    assert call.gave_up()
    entry = listed(lab, "aborted")
    open_gates(lab)
    assert result(lab, entry["pendingId"]) == {"success": True, "status": "ok", "outputs": DONE}


def test_a_call_aborted_before_it_began_does_nothing(lab: Lab) -> None:
    cells(lab, NEXT)
    call = InPage(lab, "jupyter_run_cells", {"cellIds": ["a"]}, aborted=True)
    assert call.gave_up()
    assert pending(lab) == {}
    before = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["a"]))["cells"][0]
    call = InPage(lab, "jupyter_run_cells", {"cellIds": ["a"]}, aborted=True)
    assert call.gave_up()
    after = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["a"]))["cells"][0]
    assert after["executionCount"] == before["executionCount"] + 1


def test_a_call_aborted_while_it_waits_for_its_turn_is_not_run(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    with settings(lab, executionTimeout=0.5):
        first = ask(lab, "jupyter_run_cells", cellIds=["a"])
    second = InPage(lab, "jupyter_run_cells", {"cellIds": ["b"]})
    queued = listed(lab, "queuedBehind")
    assert queued["queuedBehind"] == first["pendingId"]
    second.abort()
    assert second.gave_up()
    open_gates(lab)
    stopped = result(lab, queued["pendingId"])
    assert (stopped["code"], stopped["notRun"]) == ("ABORTED", ["b"])
    assert result(lab, first["pendingId"])["cells"][0]["status"] == "ok"
    assert outputs(lab, 1) == []


def test_an_aborted_wait_stops_nothing(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    with settings(lab, executionTimeout=0.5):
        run = ask(lab, "jupyter_run_cells", cellIds=["a", "b"])
    wait = InPage(lab, "jupyter_wait_for_result", {"pendingId": run["pendingId"]})
    wait.abort()
    assert wait.gave_up()
    open_gates(lab)
    done = result(lab, run["pendingId"])["cells"]
    assert [cell["status"] for cell in done] == ["ok", "ok"]


def test_a_call_aborted_while_a_dialog_is_open_leaves_the_dialog_alone(lab: Lab) -> None:
    cells(lab, at_gate(lab))
    lab.js("void pywebmcp.modules.apputils.showDialog({ title: 'Of the person' })")
    lab.page.locator(".jp-Dialog").wait_for()
    call = InPage(lab, "jupyter_run_cells", {"cellIds": ["a"]})
    arrived(lab, "gate")
    call.abort()
    assert call.gave_up()
    entry = listed(lab, "aborted")
    assert "dialogs" not in entry
    open_gates(lab)
    done = result(lab, entry["pendingId"])
    assert done["cells"][0]["outputs"] == DONE
    assert lab.page.locator(".jp-Dialog").count() == 1
    lab.page.keyboard.press("Escape")
    lab.page.locator(".jp-Dialog").wait_for(state="detached")
    assert lab.must("jupyter_get_context")["dialogs"] == []


def test_a_command_aborted_behind_its_dialog_settles_when_the_person_answers(lab: Lab) -> None:
    # Two calls are waited for, so that the dialog does not answer the command's.
    cells(lab, at_gate(lab))
    run = begin(lab, "jupyter_run_cells", cellIds=["a"])
    arrived(lab, "gate")
    command = InPage(lab, "jupyter_execute_command", {"command_id": "notebook:restart-kernel"})
    lab.page.locator(".jp-Dialog").wait_for()
    command.abort()
    assert command.gave_up()
    entry = listed(lab, "aborted")
    assert entry["tool"] == "jupyter_execute_command"
    lab.page.get_by_role("button", name="Cancel").click()
    assert result(lab, entry["pendingId"])["success"] is True
    open_gates(lab)
    assert settled(lab, run.answer())["cells"][0]["outputs"] == DONE


def test_an_abort_after_the_answer_changes_nothing(lab: Lab) -> None:
    cells(lab, NEXT)
    call = InPage(lab, "jupyter_run_cells", {"cellIds": ["a"]})
    answer = call.answer()
    call.abort()
    assert pending(lab) == {}
    assert call.answer() == answer
