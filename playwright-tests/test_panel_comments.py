"""Talking on the notebook, by mouse and keyboard: in the panel, at cells and from the menus."""

from __future__ import annotations

from typing import Any

import pytest
from files import close_all, put_and_open, saved, sketch
from lab import Lab
from panel import DARK, LIGHT, flaws, menu, overflowing, palette, show, theme
from playwright.sync_api import Locator, expect
from pywebmcp.testing import code, stream

HTML = "<img src=x onerror='globalThis.hacked=1'>"


@pytest.fixture(autouse=True)
def _notebook(lab: Lab) -> None:
    close_all(lab)
    cells = [code("x = one + two", "a", outputs=[stream("first\n")]), code("y = 2", "b")]
    put_and_open(lab, "talk.ipynb", sketch(*cells, *[code(f"z = {i}", f"z{i}") for i in range(40)]))
    show(lab, "Comments").get_by_label("Show").select_option("open")


def threads(lab: Lab) -> list[Any]:
    found: list[Any] = lab.must("jupyter_list_comments", status="all")["threads"]
    return found


def item(lab: Lab, text: str) -> Locator:
    return show(lab, "Comments").get_by_role("listitem").filter(has_text=text)


def send(lab: Lab, message: str) -> None:
    """Write into the form that a command has opened and put the focus into."""
    field = show(lab, "Comments").get_by_role("textbox", name="Comment on")
    expect(field).to_be_focused()
    lab.type(message)
    lab.page.keyboard.press("Control+Enter")
    expect(field).to_have_count(0)


def test_a_cell_is_commented_on_with_the_keyboard(lab: Lab) -> None:
    lab.click(1, 0)
    palette(lab, "Comment on Cell")
    send(lab, HTML)
    expect(item(lab, HTML)).to_contain_text("You")
    [thread] = threads(lab)
    assert (thread["cellId"], thread["comments"][0]["by"]) == ("b", "person")
    assert lab.js("globalThis.hacked === undefined")
    lab.must("jupyter_save_notebook")
    kept = saved(lab, "talk.ipynb")["metadata"]["pywebmcp"]["comments"]["threads"]
    assert len(kept) == 1
    assert lab.sources()[1] == "y = 2"


def test_selected_text_is_commented_on_from_the_context_menu(lab: Lab) -> None:
    lab.click(0, 4)
    for _ in range(3):
        lab.page.keyboard.press("Shift+ArrowRight")
    menu(lab, lab.cell(0).locator(".cm-content"), "Comment on Selected Text")
    send(lab, "which one?")
    [thread] = threads(lab)
    assert thread["text"] == "one"
    expect(item(lab, "which one?")).to_contain_text("“one”")


def test_the_output_under_the_pointer_is_commented_on(lab: Lab) -> None:
    menu(lab, lab.cell(0).get_by_text("first"), "Comment on Output")
    send(lab, "why first?")
    [thread] = threads(lab)
    assert (thread["cellId"], thread["outputIndex"]) == ("a", 0)


def test_the_cell_under_the_pointer_is_commented_on(lab: Lab) -> None:
    lab.click(0, 0)
    menu(lab, lab.cell(1).locator(".cm-content"), "Comment on Cell")
    send(lab, "this cell")
    assert threads(lab)[0]["cellId"] == "b"


def test_an_agents_thread_is_answered_settled_and_opened_again(lab: Lab) -> None:
    anchor = {"kind": "cell", "cellId": "b"}
    lab.must("jupyter_create_comment", anchor=anchor, message="Shall I?")
    item(lab, "Shall I?").get_by_role("button", name="y = 2", exact=True).click()
    lab.page.get_by_role("textbox", name="Reply").fill("Yes")
    item(lab, "Shall I?").get_by_role("button", name="Reply").click()
    expect(item(lab, "Shall I?")).to_contain_text("Yes")
    item(lab, "Shall I?").get_by_role("button", name="Resolve").click()
    expect(item(lab, "Shall I?")).to_have_count(0)
    tab = show(lab, "Comments")
    tab.get_by_label("Show").select_option("resolved")
    item(lab, "Shall I?").get_by_role("button", name="Reopen").click()
    tab.get_by_label("Show").select_option("open")
    expect(item(lab, "Shall I?")).to_contain_text("reopened this")
    [thread] = threads(lab)
    assert [each["by"] for each in thread["comments"]] == ["agent", "person", "person", "person"]


def test_a_cell_shows_its_open_comments_and_leads_to_them(lab: Lab) -> None:
    mark = lab.cell(1).get_by_role("button", name="1 comment")
    expect(mark).to_have_count(0)
    anchor = {"kind": "cell", "cellId": "b"}
    thread = lab.must("jupyter_create_comment", anchor=anchor, message="Look")["threadId"]
    show(lab, "Tools")
    mark.click()
    expect(item(lab, "Look").get_by_role("button", name="y = 2", exact=True)).to_be_focused()
    lab.must("jupyter_reply_comment", threadId=thread, status="resolved")
    expect(mark).to_have_count(0)


def test_a_thread_leads_to_its_cell(lab: Lab) -> None:
    anchor = {"kind": "source-range", "cellId": "z35", "text": "35"}
    lab.must("jupyter_create_comment", anchor=anchor, message="There")
    item(lab, "There").get_by_role("button", name="Go to cell: “35”").click()
    lab.until("pywebmcp.tokens.tracker.currentWidget.content.activeCell.model.id === 'z35'")
    expect(lab.cell(37)).to_be_in_viewport()


def test_a_thread_whose_text_is_gone_is_tied_anew(lab: Lab) -> None:
    anchor = {"kind": "source-range", "cellId": "a", "text": "two"}
    lab.must("jupyter_create_comment", anchor=anchor, message="Number")
    lab.must("jupyter_update_cell", cellId="a", edits=[{"oldText": "two", "newText": "2"}])
    expect(item(lab, "Number")).to_contain_text("its place is gone")
    lab.click(1, 0)
    item(lab, "Number").get_by_role("button", name="“two”", exact=True).click()
    item(lab, "Number").get_by_role("button", name="Attach here").click()
    expect(item(lab, "Number")).not_to_contain_text("its place is gone")
    assert threads(lab)[0]["cellId"] == "b"


def test_what_is_written_stays_while_a_person_is_elsewhere(lab: Lab) -> None:
    lab.click(1, 0)
    tab = show(lab, "Comments")
    tab.get_by_role("button", name="New comment").click()
    field = tab.get_by_role("textbox", name="Comment on")
    field.fill("not yet")
    show(lab, "Access")
    show(lab, "Comments")
    expect(field).to_have_value("not yet")
    field.press("Escape")
    expect(field).to_have_count(0)
    assert threads(lab) == []


@pytest.mark.parametrize("name", [LIGHT, DARK])
def test_everybody_can_talk(lab: Lab, name: str) -> None:
    theme(lab, name)
    for number in range(3):
        anchor = {"kind": "source-range", "cellId": "a", "text": "x = one"}
        lab.must("jupyter_create_comment", anchor=anchor, message=f"{number} {'long' * 40}")
    tab = show(lab, "Comments")
    tab.get_by_role("button", name="“x = one”", exact=True).first.click()
    tab.get_by_role("button", name="New comment").click()
    expect(lab.cell(0).get_by_role("button", name="3 comments")).to_be_visible()
    assert flaws(lab, "#pywebmcp-agent-panel") == []
    assert flaws(lab, ".pywebmcp-comment-mark") == []
    assert overflowing(lab, "#pywebmcp-agent-panel") == []
    tab.get_by_role("button", name="Cancel").click()
    theme(lab, LIGHT)
