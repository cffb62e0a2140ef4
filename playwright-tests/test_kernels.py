"""Restarting, losing and missing kernels: every call ends, and says how to go on."""

from __future__ import annotations

import pytest
from files import dialogs, kernels, outcome, put, put_and_open, settled
from lab import Lab
from pywebmcp.testing import code, notebook

PATH = "kernel.ipynb"
_SHUT_DOWN = """async () => {
    const { session } = pywebmcp.tokens.tracker.currentWidget.sessionContext;
    await pywebmcp.app.serviceManager.sessions.shutdown(session.id);
}"""


@pytest.fixture(scope="module", autouse=True)
def kernel_notebook(lab: Lab) -> None:
    put_and_open(
        lab,
        PATH,
        notebook(
            code("kept = 1", "sets"),
            code("print('begun')\nwhile True:\n    pass", "endless"),
            code("'kept' in globals()", "asks"),
            code("import asyncio\nprint('begun')\nawait asyncio.sleep(3600)", "sleeps"),
        ),
    )
    lab.until_kernel()


def begin(lab: Lab, *cells: str) -> None:
    """Start a run that does not end, and wait until its first output is there."""
    lab.start("jupyter_run_cells", cellIds=[*cells])
    lab.until("pywebmcp.tokens.tracker.currentWidget.node.innerText.includes('begun')")
    lab.until_kernel("busy")


def asked(lab: Lab) -> str:
    """Whether the kernel still has the variable, as its repr."""
    [cell] = outcome(lab, "jupyter_run_cells", cellIds=["asks"])["cells"]
    answer: str = cell["outputs"][0]["data"]["text/plain"]
    return answer


def clear(lab: Lab) -> None:
    lab.js("nb.model.sharedModel.cells.forEach((cell) => cell.setOutputs?.([]))")


@pytest.mark.parametrize("endless", ["endless", "sleeps"])
def test_a_restart_settles_what_was_running(lab: Lab, endless: str) -> None:
    clear(lab)
    assert outcome(lab, "jupyter_run_cells", cellIds=["sets"])["success"] is True
    before = lab.must("jupyter_get_context")["notebook"]["kernel"]["id"]
    begin(lab, endless, "asks")
    assert lab.must("jupyter_get_context")["notebook"]["kernel"]["status"] == "busy"
    restarted = outcome(lab, "jupyter_kernel_action", action="restart")
    assert restarted["success"] is True
    failed = settled(lab, lab.finish())
    assert (failed["success"], failed["isError"]) == (False, True)
    assert (failed["code"], failed["status"]) == ("KERNEL_RESTARTED", "error")
    [cell] = failed["cells"]
    assert (cell["id"], cell["status"]) == (endless, "restarted")
    assert cell["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "begun\n"}]
    assert failed["notRun"] == ["asks"]
    assert asked(lab) == "False"
    kernel = lab.must("jupyter_get_context")["notebook"]["kernel"]
    assert (kernel["id"], kernel["status"]) == (before, "idle")
    assert dialogs(lab) == []


def test_a_kernel_is_restarted_by_its_id(lab: Lab) -> None:
    kernel = lab.must("jupyter_get_context")["notebook"]["kernel"]
    assert kernel["canInterrupt"] is False
    outcome(lab, "jupyter_run_cells", cellIds=["sets"])
    assert outcome(lab, "jupyter_kernel_action", action="restart", kernelId=kernel["id"])["success"]
    assert asked(lab) == "False"


def test_an_interrupt_is_refused_and_names_the_restart(lab: Lab) -> None:
    outcome(lab, "jupyter_run_cells", cellIds=["sets"])
    failed = lab.call("jupyter_kernel_action", {"action": "interrupt"})
    assert failed["code"] == "INTERRUPT_UNSUPPORTED"
    assert "restart" in failed["error"]
    assert asked(lab) == "True"


def test_a_kernel_that_is_shut_down_ends_its_run(lab: Lab) -> None:
    clear(lab)
    begin(lab, "sleeps", "asks")
    lab.page.evaluate(_SHUT_DOWN)
    failed = settled(lab, lab.finish())
    assert failed["code"] == "KERNEL_DIED"
    [cell] = failed["cells"]
    assert (cell["id"], cell["status"]) == ("sleeps", "died")
    assert cell["outputs"][0]["text"] == "begun\n"
    assert failed["notRun"] == ["asks"]


def test_without_a_kernel_a_run_says_what_to_do(lab: Lab) -> None:
    # Left without one by the test before.
    for name, arguments in (
        ("jupyter_run_cells", {"cellIds": ["asks"]}),
        ("jupyter_kernel_action", {"action": "restart"}),
        ("jupyter_kernel_action", {"action": "interrupt"}),
    ):
        failed = lab.call(name, arguments)
        assert failed["code"] == "KERNEL_UNAVAILABLE", failed
    assert "jupyter_open_notebook" in lab.call("jupyter_run_cells", {"cellIds": ["asks"]})["error"]
    assert dialogs(lab) == []
    opened = lab.must("jupyter_open_notebook", path=PATH, kernel="python")
    assert opened["success"] is True
    assert asked(lab) == "False"


def test_opening_starts_no_kernel_that_the_notebook_does_not_want(lab: Lab) -> None:
    before = kernels(lab)
    content = notebook("x <- 1")
    content["metadata"] = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    put(lab, "r.ipynb", content)
    opened = lab.must("jupyter_open_notebook", path="r.ipynb")
    assert "kernel" not in opened
    failed = lab.call("jupyter_run_cells", {"cellIds": ["cell-0"]})
    assert failed["code"] == "KERNEL_UNAVAILABLE"
    assert kernels(lab) == before
    assert dialogs(lab) == []
