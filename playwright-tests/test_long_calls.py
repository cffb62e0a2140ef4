"""Calls that take long, on a real kernel: none blocks its caller, none loses its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from background import (
    arrived,
    ask,
    at_gate,
    begin,
    cells,
    configure,
    open_gates,
    outputs,
    pending,
    result,
    settings,
)
from files import close_all, put_and_open, settled
from lab import Lab
from pywebmcp.testing import notebook, stream

PATH = "calls.ipynb"
NEXT = "print('next')"


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, PATH, notebook("1"))
    lab.until_kernel()


@pytest.fixture(autouse=True)
def nothing_left(lab: Lab) -> Iterator[None]:
    """What a test left running ends before the next one begins."""
    yield
    open_gates(lab)
    lab.until_kernel()


def started_by(lab: Lab, *names: str, seconds: float = 1) -> dict[str, Any]:
    """The pending answer of a run that waits at its gate."""
    with settings(lab, executionTimeout=seconds):
        call = begin(lab, "jupyter_run_cells", cellIds=list(names))
        arrived(lab, "gate")
        answer: dict[str, Any] = call.answer()
    assert answer["status"] == "pending"
    return answer


def test_the_example_of_the_rules_from_the_first_call_to_the_last(lab: Lab) -> None:
    """The Example of docs/results.md, with a restart in the place of the interrupt."""
    kernel = lab.must("jupyter_get_context")["notebook"]["kernel"]["id"]
    code = "import time\nfor i in range(120):\n    print(i)\n    time.sleep(1)"
    begun = begin(lab, "jupyter_run_code", kernelId=kernel, code=code)
    waits = begun.answer()
    assert waits["status"] == "pending"
    assert waits["tool"] == "jupyter_run_code"
    assert "after 20 seconds" in waits["message"]
    assert "jupyter_wait_for_result" in waits["message"]
    assert "restart" in waits["message"]
    assert waits["outputs"][0]["text"].startswith("0\n1\n2\n")

    restarted = ask(lab, "jupyter_kernel_action", kernelId=kernel, action="restart")
    assert settled(lab, restarted)["success"] is True

    lost = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    assert (lost["success"], lost["isError"]) == (False, True)
    assert (lost["status"], lost["code"]) == ("error", "KERNEL_RESTARTED")
    assert lost["outputs"][0]["text"].startswith("0\n1\n2\n")

    widget = lab.js("pywebmcp.tokens.tracker.currentWidget.id")
    asks = ask(
        lab,
        "jupyter_execute_command",
        command_id="notebook:restart-kernel",
        args={"semanticWidget": widget, "activate": False},
    )
    assert (asks["status"], asks["tool"]) == ("pending", "jupyter_execute_command")
    assert "jupyter_answer_dialog" in asks["message"]
    dialog = asks["dialog"]
    assert dialog["title"] == "Restart Kernel?"
    assert "Do you want to restart the kernel" in dialog["body"]
    assert PATH in dialog["body"]
    assert dialog["buttons"] == ["Cancel", "Restart"]
    assert dialog["shown"] is True

    answered = settled(lab, ask(lab, "jupyter_answer_dialog", button="Restart"))
    assert answered == {
        "success": True,
        "result": True,
        "answered": {"dialogId": dialog["id"], "button": "Restart"},
    }

    wrong = ask(lab, "jupyter_run_cells", notebook=PATH, cellIds=["x"])
    assert (wrong["success"], wrong["isError"]) == (False, True)
    assert wrong["code"] == "UNKNOWN_ARGUMENT"
    assert '"notebook"' in wrong["error"]
    assert '"notebookPath"' in wrong["error"]

    long = settled(lab, ask(lab, "jupyter_run_code", kernelId=kernel, code="print('x' * 100000)"))
    assert (long["success"], long["status"], long["truncated"]) == (True, "ok", True)
    assert long["truncation"] == [{"path": "outputs[0].text", "omittedCharacters": 80001}]
    assert '"truncation"' in long["truncationNote"]
    [output] = long["outputs"]
    assert output["text"].startswith("xxx")
    assert "\n[... 80001 characters omitted ...]\n" in output["text"]


def test_a_long_cell_is_pending_with_its_outputs_and_its_result_comes_later(lab: Lab) -> None:
    cells(lab, at_gate(lab))
    waits = started_by(lab, "a")
    assert "after 1 second" in waits["message"]
    so_far = [{"id": "a", "status": "running", "outputs": [stream("so far\n")]}]
    assert waits["cells"] == so_far
    listed = pending(lab)[waits["pendingId"]]
    assert (listed["tool"], listed["status"]) == ("jupyter_run_cells", "working")
    again = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"], timeout=0)
    assert (again["status"], again["pendingId"]) == ("pending", waits["pendingId"])
    assert again["cells"] == so_far
    later = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    open_gates(lab)
    [cell] = later.answer()["cells"]
    assert (cell["status"], cell["outputs"]) == ("ok", [stream("so far\nend\n")])
    # Its result stays there for those who ask again; the context lists it no longer.
    assert waits["pendingId"] not in pending(lab)
    assert result(lab, waits["pendingId"])["cells"] == [cell]


def test_of_two_calls_the_second_waits_behind_the_first_and_says_so(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    with settings(lab, executionTimeout=1):
        first = begin(lab, "jupyter_run_cells", cellIds=["a"])
        second = begin(lab, "jupyter_run_cells", cellIds=["b"])
        waits, behind = first.answer(), second.answer()
    assert "queuedBehind" not in waits
    assert behind["queuedBehind"] == waits["pendingId"]
    assert waits["pendingId"] in behind["message"]
    assert pending(lab)[behind["pendingId"]]["queuedBehind"] == waits["pendingId"]
    assert outputs(lab, 1) == []
    open_gates(lab)
    [one] = result(lab, waits["pendingId"])["cells"]
    [two] = result(lab, behind["pendingId"])["cells"]
    assert two["executionCount"] == one["executionCount"] + 1
    assert two["outputs"] == [stream("next\n")]


def test_code_outside_cells_is_pending_with_its_outputs_too(lab: Lab) -> None:
    with settings(lab, executionTimeout=1):
        waits = ask(lab, "jupyter_run_code", code=at_gate(lab))
    assert waits["outputs"] == [stream("so far\n")]
    open_gates(lab)
    assert result(lab, waits["pendingId"])["outputs"] == [stream("so far\nend\n")]


def test_a_time_limit_changed_meanwhile_holds_for_the_next_call(lab: Lab) -> None:
    cells(lab, at_gate(lab))
    patient = begin(lab, "jupyter_run_cells", cellIds=["a"])
    arrived(lab, "gate")
    with settings(lab, executionTimeout=0.2):
        [listed] = pending(lab).values()
        waits = ask(lab, "jupyter_wait_for_result", pendingId=listed["pendingId"], timeout=60)
    assert "after 0.2 seconds" in waits["message"]
    assert not patient.settled
    open_gates(lab)
    [cell] = settled(lab, patient.answer())["cells"]
    assert cell["status"] == "ok"


def test_a_restart_ends_what_runs_and_what_waits_behind_it_at_once(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    waits = started_by(lab, "a", "b")
    with settings(lab, executionTimeout=2):
        behind = ask(lab, "jupyter_run_code", code="print('behind')")
    begun = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    restarted = ask(lab, "jupyter_kernel_action", action="restart")
    assert settled(lab, restarted)["success"] is True
    lost = begun.answer()
    assert (lost["success"], lost["isError"]) == (False, True)
    assert (lost["code"], lost["status"]) == ("KERNEL_RESTARTED", "error")
    assert lost["cells"] == [{"id": "a", "status": "restarted", "outputs": [stream("so far\n")]}]
    assert lost["notRun"] == ["b"]
    assert behind["queuedBehind"] == waits["pendingId"]
    unrun = ask(lab, "jupyter_wait_for_result", pendingId=behind["pendingId"], timeout=0)
    assert unrun["code"] == "KERNEL_RESTARTED"
    assert "outputs" not in unrun
    assert pending(lab) == {}
    [cell] = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["b"]))["cells"]
    assert (cell["executionCount"], cell["outputs"]) == (1, [stream("next\n")])


def test_a_restart_by_the_person_ends_the_call_too(lab: Lab) -> None:
    cells(lab, at_gate(lab))
    waits = begin(lab, "jupyter_run_cells", cellIds=["a"])
    lab.until("pywebmcp.tokens.tracker.currentWidget.node.innerText.includes('so far\\n')")
    lab.js("void nb.parent.sessionContext.restartKernel()")
    lost = waits.answer()
    assert lost["code"] == "KERNEL_RESTARTED"
    assert lost["cells"] == [{"id": "a", "status": "restarted", "outputs": [stream("so far\n")]}]


def test_a_kernel_that_ends_itself_leaves_the_call_pending_until_a_restart(lab: Lab) -> None:
    # Nothing tells the page of the end of a kernel that ends itself, so nothing is claimed.
    cells(lab, "print('so far')\nimport os\nos._exit(1)", NEXT)
    with settings(lab, executionTimeout=2):
        waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
        assert waits["status"] == "pending"
        assert "restart" in waits["message"]
    restarted = ask(lab, "jupyter_kernel_action", action="restart")
    assert settled(lab, restarted)["success"] is True
    lost = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"], timeout=0)
    assert lost["code"] == "KERNEL_RESTARTED"
    [cell] = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["b"]))["cells"]
    assert cell["outputs"] == [stream("next\n")]


def test_a_kernel_shut_down_elsewhere_ends_the_call_and_opening_starts_another(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    waits = started_by(lab, "a", "b")
    kernel = lab.must("jupyter_get_context")["notebook"]["kernel"]["id"]
    lab.js("pywebmcp.app.serviceManager.kernels.shutdown(argument)", kernel)
    lost = result(lab, waits["pendingId"])
    assert (lost["code"], lost["status"]) == ("KERNEL_DIED", "error")
    assert lost["cells"] == [{"id": "a", "status": "died", "outputs": [stream("so far\n")]}]
    assert lost["notRun"] == ["b"]
    assert pending(lab) == {}
    assert ask(lab, "jupyter_run_cells", cellIds=["b"])["code"] == "KERNEL_UNAVAILABLE"
    opened = ask(lab, "jupyter_open_notebook", path=PATH, kernel="python")
    assert settled(lab, opened)["success"] is True
    [cell] = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["b"]))["cells"]
    assert cell["outputs"] == [stream("next\n")]


def test_a_notebook_renamed_meanwhile_gives_its_result(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    waits = started_by(lab, "a", "b")
    lab.js("pywebmcp.app.serviceManager.contents.rename(argument, 'renamed.ipynb')", PATH)
    lab.until("pywebmcp.tokens.tracker.currentWidget.context.path === 'renamed.ipynb'")
    open_gates(lab)
    done = result(lab, waits["pendingId"])
    assert [cell["status"] for cell in done["cells"]] == ["ok", "ok"]
    assert done["cells"][0]["outputs"] == [stream("so far\nend\n")]
    assert ask(lab, "jupyter_get_cells", notebookPath="renamed.ipynb")["success"] is True
    lab.js("pywebmcp.app.serviceManager.contents.rename('renamed.ipynb', argument)", PATH)
    lab.until(f"pywebmcp.tokens.tracker.currentWidget.context.path === '{PATH}'")


def test_a_notebook_reverted_meanwhile_ends_the_call_with_what_is_left_of_it(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    lab.must("jupyter_save_notebook")
    waits = started_by(lab, "a", "b")
    lab.js("nb.parent.context.revert()")
    open_gates(lab)
    done = result(lab, waits["pendingId"])
    # JupyterLab makes the cells anew: what the kernel still says of the first one goes nowhere.
    lost, ran = done["cells"]
    assert lost == {"id": "a", "status": "lost"}
    assert (ran["id"], ran["status"], ran["outputs"]) == ("b", "ok", [stream("next\n")])
    assert outputs(lab, 0) == []


def test_a_notebook_closed_meanwhile_ends_the_call_with_a_reason(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    waits = started_by(lab, "a", "b")
    close_all(lab)
    lost = result(lab, waits["pendingId"])
    assert (lost["success"], lost["isError"]) == (False, True)
    assert lost["code"] == "NOTEBOOK_NOT_FOUND"
    assert "jupyter_open_notebook" in lost["error"]
    assert lost["notRun"] == ["a", "b"]
    open_gates(lab)
    put_and_open(lab, PATH, notebook("1"))


def test_a_page_loaded_anew_knows_nothing_of_the_calls_before(lab: Lab) -> None:
    cells(lab, at_gate(lab), NEXT)
    lab.must("jupyter_save_notebook")
    waits = started_by(lab, "a")
    configure(lab, executionTimeout=19)
    lab.reload()
    assert configure(lab) == 19
    configure(lab, executionTimeout=None)
    assert pending(lab) == {}
    failed = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    assert failed["code"] == "PENDING_NOT_FOUND"
    assert "jupyter_get_context" in failed["error"]
    opened = ask(lab, "jupyter_open_notebook", path=PATH)
    assert settled(lab, opened)["success"] is True
    [cell] = settled(lab, ask(lab, "jupyter_run_cells", cellIds=["b"]))["cells"]
    assert (cell["executionCount"], cell["outputs"]) == (1, [stream("next\n")])
