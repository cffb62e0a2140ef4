"""Code that asks with ``input()``: the agent hears of the question, and only the person answers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from background import ask, begin, cells, outputs, pending, result, settings
from files import put_and_open, saved, settled
from lab import Lab
from playwright.sync_api import Locator
from pywebmcp.testing import notebook, stream

PATH = "input.ipynb"
NAME = "name = input('Name? ')\nprint('Hello', name)"
SECRET = "correct horse battery"


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, PATH, notebook("1"))
    lab.until_kernel()


@pytest.fixture(autouse=True)
def nothing_left(lab: Lab) -> Iterator[None]:
    """No question is open when the next test begins."""
    yield
    if pending(lab):
        lab.page.keyboard.press("Escape")
        settled(lab, ask(lab, "jupyter_kernel_action", action="restart"))
        for pending_id in pending(lab):
            result(lab, pending_id)


def box(lab: Lab) -> Locator:
    """The field below the cell in which a person answers, once that of the last answer is gone."""
    lab.until("document.querySelectorAll('.jp-Stdin-input').length === 1")
    return lab.page.locator(".jp-Stdin-input")


def answer(lab: Lab, text: str) -> None:
    """Answer as the person does, with the keyboard."""
    box(lab).click()
    lab.type(text)
    lab.page.keyboard.press("Enter")


def dialog(lab: Lab) -> Locator:
    return lab.page.locator(".jp-Dialog")


def test_a_cell_that_asks_is_pending_with_its_question_until_the_person_answers(lab: Lab) -> None:
    cells(lab, NAME)
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    question = {"prompt": "Name? ", "password": False}
    assert waits["status"] == "pending"
    assert waits["input"] == question
    assert "person" in waits["message"]
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["kernel"]["input"] == question
    [listed] = context["pending"]
    assert (listed["status"], listed["input"]) == ("input_required", question)
    assert context["dialogs"] == []
    # Reported once: who waits on hears of the result, not of the question again.
    wait = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    answer(lab, "Ada")
    [cell] = wait.answer()["cells"]
    assert cell["status"] == "ok"
    assert "Hello Ada" in cell["outputs"][-1]["text"]
    context = lab.must("jupyter_get_context")
    assert "input" not in context["notebook"]["kernel"]
    assert context["pending"] == []


def test_two_questions_are_told_one_after_the_other(lab: Lab) -> None:
    cells(lab, "a = input('One? ')\nb = input('Two? ')\nprint(a + b)")
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    assert waits["input"]["prompt"] == "One? "
    wait = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    answer(lab, "x")
    second = wait.answer()
    assert (second["status"], second["input"]["prompt"]) == ("pending", "Two? ")
    assert second["pendingId"] == waits["pendingId"]
    answer(lab, "y")
    [cell] = result(lab, waits["pendingId"])["cells"]
    assert cell["outputs"][-1]["text"].endswith("xy\n")


def test_the_same_question_twice_is_told_twice(lab: Lab) -> None:
    cells(lab, "for _ in range(2):\n    input('Again? ')")
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    for _ in range(2):
        assert waits["input"]["prompt"] == "Again? "
        wait = begin(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
        answer(lab, "x")
        waits = wait.answer()
    assert waits["cells"][0]["status"] == "ok"


def test_a_question_that_stays_open_lets_a_wait_end_at_the_time_limit(lab: Lab) -> None:
    cells(lab, NAME)
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    with settings(lab, executionTimeout=0.5):
        again = ask(lab, "jupyter_wait_for_result", pendingId=waits["pendingId"])
    assert (again["status"], again["input"]["prompt"]) == ("pending", "Name? ")
    # What is called behind the question says what it waits for.
    with settings(lab, executionTimeout=2):
        behind = ask(lab, "jupyter_run_code", code="print('behind')")
    assert behind["queuedBehind"] == waits["pendingId"]
    answer(lab, "Ada")
    assert result(lab, waits["pendingId"])["success"] is True
    assert result(lab, behind["pendingId"])["outputs"] == [stream("behind\n")]


def test_a_question_of_the_persons_own_cell_is_in_the_context(lab: Lab) -> None:
    cells(lab, NAME, "print('agent')")
    lab.click(0, 0)
    lab.page.keyboard.press("Control+Enter")
    box(lab).wait_for()
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["kernel"]["input"] == {"prompt": "Name? ", "password": False}
    assert context["pending"] == []
    with settings(lab, executionTimeout=2):
        waits = ask(lab, "jupyter_run_cells", cellIds=["b"])
    assert waits["status"] == "pending"
    assert waits["kernelInput"] == {"prompt": "Name? ", "password": False}
    assert "person" in waits["message"]
    answer(lab, "Ada")
    assert result(lab, waits["pendingId"])["cells"][0]["outputs"] == [stream("agent\n")]
    assert "Hello Ada" in outputs(lab, 0)[-1]["text"]


def test_a_password_is_flagged_and_its_value_is_in_no_result_and_no_file(lab: Lab) -> None:
    cells(lab, "import getpass\nword = getpass.getpass('Key? ')\nprint(len(word))")
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    assert waits["input"] == {"prompt": "Key? ", "password": True}
    assert box(lab).get_attribute("type") == "password"
    box(lab).click()
    lab.type(SECRET)
    while_typing = lab.must("jupyter_get_context")
    lab.page.keyboard.press("Enter")
    done = result(lab, waits["pendingId"])
    assert f"{len(SECRET)}\n" in done["cells"][0]["outputs"][-1]["text"]
    lab.must("jupyter_save_notebook")
    seen = [
        waits,
        while_typing,
        done,
        lab.must("jupyter_get_context"),
        lab.must("jupyter_get_cells", includeOutputs=True),
        saved(lab, PATH),
    ]
    assert SECRET not in json.dumps(seen)


def test_a_restart_takes_the_question_away(lab: Lab) -> None:
    cells(lab, NAME)
    waits = ask(lab, "jupyter_run_cells", cellIds=["a"])
    assert settled(lab, ask(lab, "jupyter_kernel_action", action="restart"))["success"] is True
    assert result(lab, waits["pendingId"])["code"] == "KERNEL_RESTARTED"
    context = lab.must("jupyter_get_context")
    assert "input" not in context["notebook"]["kernel"]
    assert context["pending"] == []


def test_code_outside_cells_asks_the_person_in_a_dialog_that_is_not_the_agents(lab: Lab) -> None:
    before = saved(lab, PATH)
    waits = ask(lab, "jupyter_run_code", code=NAME)
    assert waits["status"] == "pending"
    assert waits["input"] == {"prompt": "Name? ", "password": False}
    assert "dialog" not in waits
    dialog(lab).wait_for()
    assert "Name?" in dialog(lab).inner_text()
    context = lab.must("jupyter_get_context")
    assert context["dialogs"] == []
    assert context["pending"][0]["status"] == "input_required"
    refused = ask(lab, "jupyter_answer_dialog", button=1)
    assert refused["code"] == "DIALOG_NOT_FOUND"
    assert dialog(lab).count() == 1
    dialog(lab).locator("input").fill("Ada")
    lab.page.keyboard.press("Enter")
    done = result(lab, waits["pendingId"])
    assert "Hello Ada" in done["outputs"][-1]["text"]
    dialog(lab).wait_for(state="detached")
    assert saved(lab, PATH) == before


def test_a_password_for_code_outside_cells_is_hidden(lab: Lab) -> None:
    waits = ask(
        lab,
        "jupyter_run_code",
        code="import getpass\nword = getpass.getpass('Key? ')\nprint(len(word))",
    )
    assert waits["input"] == {"prompt": "Key? ", "password": True}
    field = dialog(lab).locator("input")
    assert field.get_attribute("type") == "password"
    field.fill(SECRET)
    while_typing = lab.must("jupyter_get_context")
    lab.page.keyboard.press("Enter")
    done = result(lab, waits["pendingId"])
    assert f"{len(SECRET)}\n" in done["outputs"][-1]["text"]
    assert SECRET not in json.dumps([waits, while_typing, done])


def test_a_person_who_cancels_answers_nothing(lab: Lab) -> None:
    waits = ask(lab, "jupyter_run_code", code="print(repr(input('Name? ')))")
    dialog(lab).wait_for()
    lab.page.keyboard.press("Escape")
    done = result(lab, waits["pendingId"])
    assert done["outputs"][-1]["text"].endswith("''\n")


def test_a_restart_closes_the_dialog_of_the_code_that_asked(lab: Lab) -> None:
    waits = ask(lab, "jupyter_run_code", code=NAME)
    dialog(lab).wait_for()
    assert settled(lab, ask(lab, "jupyter_kernel_action", action="restart"))["success"] is True
    assert result(lab, waits["pendingId"])["code"] == "KERNEL_RESTARTED"
    assert pending(lab) == {}
    dialog(lab).wait_for(state="detached")
