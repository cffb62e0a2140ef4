"""JupyterLab's own dialogs: reported to the agent as the person reads them, answered when it asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from background import arrived, ask, at_gate, begin, cells, open_gates, pending, result, settings
from files import close_all, listing, put, put_and_open, saved, settled, sketch
from lab import Lab
from pywebmcp.testing import notebook, stream
from screen import click, close_dialogs, command, dialogs, gone, on_screen, persons

_COMMANDS = """() => {
    const { commands } = pywebmcp.app;
    const { showDialog, showErrorMessage } = pywebmcp.modules.apputils;
    const add = (id, execute) => commands.hasCommand(id) || commands.addCommand(id, { execute });
    add("test:two-questions", async () => {
        const first = await showDialog({ title: "First?" });
        const second = await showDialog({ title: "Second?" });
        return [first.button.label, second.button.label];
    });
    add("test:error", async () => {
        void showErrorMessage("It failed", "For a reason.");
        await new Promise((settle) => { globalThis.settleError = settle; });
    });
    add("test:note", async () => {
        void showDialog({ title: "Note" });
        await new Promise((settle) => { globalThis.settleNote = settle; });
        return "done";
    });
}"""


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    lab.page.evaluate(_COMMANDS)
    put_and_open(lab, "dialogs.ipynb", notebook("1"))
    lab.until_kernel()


@pytest.fixture(autouse=True)
def nothing_left(lab: Lab) -> Iterator[None]:
    """No dialog is open and no call is under way when the next test begins."""
    yield
    open_gates(lab)
    close_dialogs(lab)
    lab.js("(globalThis.settleError?.(), globalThis.settleNote?.(), null)")
    for pending_id in pending(lab):
        result(lab, pending_id)


def only_the_first(lab: Lab) -> None:
    """Close what the test opened, without a question."""
    close_all(lab)
    lab.must("jupyter_open_notebook", path="dialogs.ipynb")
    lab.until_kernel()


# --- JupyterLab's own


@pytest.mark.parametrize("kernelspec", ["unknown", "none"])
def test_select_kernel_is_reported_and_can_be_answered(lab: Lab, kernelspec: str) -> None:
    path = f"{kernelspec}.ipynb"
    content = notebook("1")
    content["metadata"] = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    if kernelspec == "none":
        del content["metadata"]["kernelspec"]
    put(lab, path, content)
    lab.js("void pywebmcp.app.commands.execute('docmanager:open', { path: argument })", path)
    on_screen(lab, "Select Kernel")
    [dialog] = dialogs(lab)
    assert dialog["title"] == "Select Kernel"
    assert dialog["body"].split("\n")[0] == f'Select kernel for: "{path}"'
    assert dialog["buttons"] == ["No Kernel", "Select"]
    assert dialog["shown"] is True
    # No call waits for it: reading goes on, and running says what is missing.
    assert "dialogs" not in ask(lab, "jupyter_get_cells", notebookPath=path)
    failed = ask(lab, "jupyter_run_cells", notebookPath=path, cellIds=["cell-0"])
    assert failed["code"] == "KERNEL_UNAVAILABLE"
    assert "Select Kernel" in failed["error"]
    answered = ask(lab, "jupyter_answer_dialog", button="no kernel", dialogId=dialog["id"])
    assert answered == {
        "success": True,
        "answered": {"dialogId": dialog["id"], "button": "No Kernel"},
    }
    gone(lab)
    assert dialogs(lab) == []
    only_the_first(lab)


def test_restart_kernel_asks_and_the_answer_decides(lab: Lab) -> None:
    before = lab.must("jupyter_get_context")["notebook"]["kernel"]
    waits = command(lab, "notebook:restart-kernel")
    assert waits["dialog"]["title"] == "Restart Kernel?"
    assert waits["dialog"]["shown"] is True
    assert ask(lab, "jupyter_answer_dialog", button=0) == {
        "success": True,
        "result": False,
        "answered": {"dialogId": waits["dialog"]["id"], "button": "Cancel"},
    }
    assert lab.must("jupyter_get_context")["notebook"]["kernel"] == before


@pytest.mark.parametrize("button", ["Overwrite", "Revert", "Cancel"])
def test_file_changed_is_told_and_its_answer_is_the_end_of_the_save(lab: Lab, button: str) -> None:
    put_and_open(lab, "changed.ipynb", sketch("opened"))
    lab.js("nb.model.sharedModel.getCell(0).setSource('mine')")
    # JupyterLab overwrites without a question what changed less than half a second before.
    lab.until(
        "Date.now() - Date.parse(pywebmcp.tokens.tracker.currentWidget.context.contentsModel"
        ".last_modified) > 1000"
    )
    put(lab, "changed.ipynb", sketch("theirs"))
    waits = command(lab, "docmanager:save")
    dialog = waits["dialog"]
    assert dialog["title"] == "File Changed"
    assert "changed.ipynb" in dialog["body"]
    assert button in dialog["buttons"]
    answer = ask(lab, "jupyter_answer_dialog", button=button, dialogId=dialog["id"])
    answer = settled(lab, answer)
    expected = {"Overwrite": "mine", "Revert": "theirs", "Cancel": "theirs"}[button]
    assert saved(lab, "changed.ipynb")["cells"][0]["source"] == expected
    shown = {"Overwrite": "mine", "Revert": "theirs", "Cancel": "mine"}[button]
    assert lab.sources() == [shown]
    assert answer["answered"] == {"dialogId": dialog["id"], "button": button}
    assert dialogs(lab) == []
    only_the_first(lab)


def test_closing_unsaved_changes_asks_and_nothing_is_lost_unasked(lab: Lab) -> None:
    put_and_open(lab, "unsaved.ipynb", sketch("saved"))
    lab.js("nb.model.sharedModel.getCell(0).setSource('unsaved')")
    closing = command(lab, "application:close")
    on_screen(lab, "Save")
    [dialog] = dialogs(lab)
    assert "unsaved.ipynb" in dialog["body"]
    assert closing.get("dialog", dialog)["id"] == dialog["id"]
    for label in ("Cancel", "Discard", "Save"):
        assert label in dialog["buttons"]
    settled(lab, ask(lab, "jupyter_answer_dialog", button="Cancel"))
    gone(lab)
    assert lab.sources() == ["unsaved"]
    command(lab, "application:close")
    on_screen(lab, "Save")
    settled(lab, ask(lab, "jupyter_answer_dialog", button="Discard"))
    lab.until("pywebmcp.tokens.tracker.currentWidget.context.path === 'dialogs.ipynb'")
    assert saved(lab, "unsaved.ipynb")["cells"][0]["source"] == "saved"


def test_an_error_dialog_of_a_command_is_told_once_and_closed_by_the_agent(lab: Lab) -> None:
    before = listing(lab)
    waits = command(lab, "filebrowser:open-path", path="missing.txt")
    assert waits["status"] == "pending"
    assert "probably failed" in waits["message"]
    dialog = waits["dialog"]
    assert dialog["title"] == "Cannot open"
    assert dialog["body"] == "Could not find path: missing.txt"
    assert len(dialog["buttons"]) == 1
    answer = ask(lab, "jupyter_answer_dialog", button=dialog["buttons"][0])
    assert answer["answered"]["dialogId"] == dialog["id"]
    assert pending(lab) == {}
    assert dialogs(lab) == []
    assert listing(lab) == before


def test_a_notebook_that_cannot_be_read_opens_an_error_dialog_of_no_call(lab: Lab) -> None:
    put(lab, "list.ipynb", "[]")
    command(lab, "docmanager:open", path="list.ipynb")
    on_screen(lab, "Error")
    told = dialogs(lab)
    assert "list.ipynb" in told[0]["title"] + told[0]["body"]
    settled(lab, ask(lab, "jupyter_answer_dialog", button=0, dialogId=told[0]["id"]))
    only_the_first(lab)


# --- what belongs to a call


def test_an_error_dialog_is_reported_once_and_then_waited_behind(lab: Lab) -> None:
    waits = command(lab, "test:error")
    assert waits["dialog"]["title"] == "It failed"
    assert waits["dialog"]["body"] == "For a reason."
    with settings(lab, executionTimeout=0.5):
        again = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    # It waited for its time, and still has the dialog.
    assert again["status"] == "pending"
    assert again["dialog"]["id"] == waits["dialog"]["id"]
    answer = ask(lab, "jupyter_answer_dialog", button=0)
    assert (answer["status"], answer["pendingId"]) == ("pending", waits["pendingId"])
    assert "dialog" not in answer
    assert "not settled" in answer["message"]
    assert answer["answered"]["dialogId"] == waits["dialog"]["id"]
    assert list(pending(lab)) == [waits["pendingId"]]
    lab.js("settleError()")
    assert result(lab, waits["pendingId"]) == {"success": True}


def test_waiting_for_a_call_with_an_open_dialog_answers_at_once(lab: Lab) -> None:
    waits = command(lab, "test:note")
    # With the full time limit: neither of them waits for it to pass.
    for _ in range(2):
        again = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
        assert (again["status"], again["dialog"]) == ("pending", waits["dialog"])
    [listed] = pending(lab).values()
    assert (listed["status"], listed["dialogs"]) == ("input_required", [waits["dialog"]["id"]])
    # A result is the outcome of the command; its dialog stays open.
    lab.js("settleNote()")
    done = result(lab, waits["pendingId"])
    assert (done["success"], done["result"]) == (True, "done")
    assert [dialog["title"] for dialog in dialogs(lab)] == ["Note"]
    assert ask(lab, "jupyter_answer_dialog", button="OK")["success"] is True


def test_one_dialog_after_the_other_is_answered(lab: Lab) -> None:
    waits = command(lab, "test:two-questions")
    assert waits["dialog"]["title"] == "First?"
    second = ask(lab, "jupyter_answer_dialog", button="ok")
    assert (second["status"], second["dialog"]["title"]) == ("pending", "Second?")
    assert second["dialog"]["shown"] is True
    assert second["answered"]["dialogId"] == waits["dialog"]["id"]
    done = ask(lab, "jupyter_answer_dialog", button=0)
    assert done["result"] == ["Ok", "Cancel"]


def test_a_dialog_behind_the_persons_waits_for_the_person(lab: Lab) -> None:
    persons(lab, "Of the person", "Theirs")
    on_screen(lab, "Of the person")
    waits = command(lab, "notebook:restart-kernel")
    assert (waits["dialog"]["title"], waits["dialog"]["shown"]) == ("Restart Kernel?", False)
    assert "dialogs.ipynb" in waits["dialog"]["body"]
    assert waits["shownDialog"]["title"] == "Of the person"
    mine, theirs = waits["dialog"]["id"], waits["shownDialog"]["id"]
    ambiguous = ask(lab, "jupyter_answer_dialog", button="Cancel")
    assert ambiguous["code"] == "DIALOG_AMBIGUOUS"
    assert [dialog["id"] for dialog in ambiguous["dialogs"]] == [theirs, mine]
    queued = ask(lab, "jupyter_answer_dialog", button="Cancel", dialogId=mine)
    assert (queued["code"], queued["dialog"]["id"]) == ("DIALOG_QUEUED", theirs)
    assert lab.page.locator(".jp-Dialog").count() == 1
    click(lab, "OK")
    on_screen(lab, "Restart Kernel?")
    again = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    assert (again["dialog"]["id"], again["dialog"]["shown"]) == (mine, True)
    done = ask(lab, "jupyter_answer_dialog", button="Cancel")
    assert (done["success"], done["result"]) == (True, False)


# --- the person's


def test_a_dialog_of_the_persons_while_code_runs_is_told_and_does_not_stop_it(lab: Lab) -> None:
    cells(lab, at_gate(lab))
    call = begin(lab, "jupyter_run_cells", cellIds=["a"])
    arrived(lab, "gate")
    persons(lab, "Of the person")
    waits = call.answer()
    assert (waits["status"], waits["dialog"]["title"]) == ("pending", "Of the person")
    on_screen(lab, "Of the person")
    click(lab, "Cancel")
    gone(lab)
    wait = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    open_gates(lab)
    done = wait.answer()
    assert done["cells"][0]["outputs"] == [stream("so far\nend\n")]
    assert "dialogs" not in done


def test_a_calls_dialog_that_the_person_answers_settles_the_call(lab: Lab) -> None:
    waits = command(lab, "test:two-questions")
    on_screen(lab, "First?")
    click(lab, "Ok")
    on_screen(lab, "Second?")
    click(lab, "Cancel")
    gone(lab)
    assert result(lab, waits["pendingId"]) == {"success": True, "result": ["Ok", "Cancel"]}
