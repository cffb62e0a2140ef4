"""What the agent is told of a dialog, and how it names the button it means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from background import ask, pending
from files import put_and_open, sketch
from lab import Lab
from screen import close_dialogs, dialogs, gone, on_screen, persons

SECRET = "correct horse battery"


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, "texts.ipynb", sketch("1"))


@pytest.fixture(autouse=True)
def nothing_left(lab: Lab) -> Iterator[None]:
    """No dialog is open when the next test begins."""
    yield
    close_dialogs(lab)
    gone(lab)


def test_a_dialog_of_the_persons_is_news_once_and_in_the_context_always(lab: Lab) -> None:
    persons(lab, "Of the person", "Sure?", "No", "Yes")
    on_screen(lab, "Of the person")
    news = ask(lab, "jupyter_get_cells")
    assert news["success"] is True
    [told] = news["dialogs"]
    assert told == {
        "id": told["id"],
        "title": "Of the person",
        "body": "Sure?",
        "buttons": ["No", "Yes"],
        "shown": True,
    }
    assert "dialogs" not in ask(lab, "jupyter_get_cells")
    assert dialogs(lab) == dialogs(lab) == [told]


def test_a_dialog_that_the_person_closes_leaves_no_trace(lab: Lab) -> None:
    persons(lab, "Of the person", "", "Go")
    on_screen(lab, "Of the person")
    lab.page.keyboard.press("Escape")
    gone(lab)
    assert dialogs(lab) == []
    assert pending(lab) == {}
    assert "dialogs" not in ask(lab, "jupyter_get_cells")
    failed = ask(lab, "jupyter_answer_dialog", button="Go")
    assert failed["code"] == "DIALOG_NOT_FOUND"


@pytest.mark.parametrize("button", ["yes", "YES", " Yes ", 1, "1"])
def test_a_button_is_named_by_its_label_or_its_index(lab: Lab, button: Any) -> None:
    persons(lab, "Sure?", "", "No", "Yes", "Maybe")
    on_screen(lab, "Sure?")
    answered = ask(lab, "jupyter_answer_dialog", button=button)["answered"]
    assert answered["button"] == "Yes"
    gone(lab)


@pytest.mark.parametrize("button", ["Y", "", 3, -1])
def test_a_button_that_is_not_there_clicks_nothing(lab: Lab, button: Any) -> None:
    persons(lab, "Sure?", "", "No", "Yes", "Maybe")
    on_screen(lab, "Sure?")
    failed = ask(lab, "jupyter_answer_dialog", button=button)
    assert failed["code"] == "BUTTON_NOT_FOUND"
    assert failed["dialog"]["buttons"] == ["No", "Yes", "Maybe"]
    assert lab.page.locator(".jp-Dialog").count() == 1


def test_texts_keep_their_words_and_lines_also_of_a_dialog_that_waits(lab: Lab) -> None:
    body = "<p>First line</p><p>second<br>third <b>wo</b>rd</p><ul><li>one</li><li>two</li></ul>"
    persons(lab, "In front", body, "OK")
    persons(lab, "Behind", body, "OK")
    on_screen(lab, "In front")
    told = dialogs(lab)
    assert [(dialog["title"], dialog["shown"]) for dialog in told] == [
        ("In front", True),
        ("Behind", False),
    ]
    for dialog in told:
        assert dialog["body"] == "First line\nsecond\nthird word\none\ntwo"
    lab.page.keyboard.press("Escape")
    on_screen(lab, "Behind")
    [dialog] = dialogs(lab)
    assert dialog == {**told[1], "shown": True}


def test_the_first_field_is_told_as_it_is_and_answering_keeps_it(lab: Lab) -> None:
    lab.js(
        "void pywebmcp.modules.apputils.InputDialog.getText({ title: 'Name', text: 'old' })"
        ".then((result) => { globalThis.given = result.value; })"
    )
    on_screen(lab, "Name")
    assert dialogs(lab)[0]["input"] == "old"
    lab.page.locator(".jp-Dialog input").fill("new")
    assert dialogs(lab)[0]["input"] == "new"
    ask(lab, "jupyter_answer_dialog", button="OK")
    lab.until("globalThis.given === 'new'")


def test_a_checkbox_is_told_as_true_or_false(lab: Lab) -> None:
    lab.js("void pywebmcp.modules.apputils.InputDialog.getBoolean({ title: 'Sure', value: true })")
    on_screen(lab, "Sure")
    assert dialogs(lab)[0]["input"] is True


def test_a_password_is_never_told(lab: Lab) -> None:
    lab.js("void pywebmcp.modules.apputils.InputDialog.getPassword({ title: 'Key' })")
    on_screen(lab, "Key")
    lab.page.locator(".jp-Dialog input").fill(SECRET)
    seen = [dialogs(lab), ask(lab, "jupyter_get_cells")]
    assert "input" not in seen[0][0]
    seen.append(ask(lab, "jupyter_answer_dialog", button="OK"))
    assert SECRET not in json.dumps(seen)
    assert seen[-1]["success"] is True
