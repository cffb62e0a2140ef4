"""What an agent proposes, in the hands of a person: at the cell and in the panel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from background import begin, configure
from files import close_all, put_and_open, saved, sketch
from lab import Lab
from panel import DARK, LIGHT, flaws, overflowing, palette, show, theme
from playwright.sync_api import Locator, expect
from pywebmcp.edits import source_hash
from pywebmcp.testing import code

HTML = "<img src=x onerror='globalThis.hacked=1'>"


@pytest.fixture(autouse=True)
def asking(lab: Lab) -> Iterator[None]:
    """A fresh notebook, with the switch on, as a person turns it on."""
    close_all(lab)
    cells = [code(f"x = {index}\ny = 2", f"cell{index}") for index in range(120)]
    put_and_open(lab, "ask.ipynb", sketch(*cells))
    switch(lab, True)
    yield
    switch(lab, False)
    configure(lab, executionTimeout=None)


def switch(lab: Lab, on: bool) -> None:
    box = show(lab, "Activity").get_by_role("checkbox", name="Ask before edits")
    box.set_checked(on)
    expect(box).to_be_checked(checked=on)


def propose(lab: Lab, cell: str = "cell1", new: str = "x = 10") -> Any:
    index = cell.removeprefix("cell")
    edits = [{"oldText": f"x = {index}", "newText": new}]
    return begin(lab, "jupyter_update_cell", cellId=cell, edits=edits)


def banner(lab: Lab) -> Locator:
    return lab.page.get_by_role("region", name="The agent proposes:")


def waiting(lab: Lab) -> Locator:
    return show(lab, "Activity").get_by_role("list", name="Waiting for you")


def test_a_change_is_accepted_with_the_mouse_at_its_cell(lab: Lab) -> None:
    call = propose(lab)
    region = lab.cell(1).get_by_role("region", name="The agent proposes: Change the source")
    expect(region).to_be_visible()
    diff = region.get_by_role("region", name="Changes: Change the source")
    expect(diff.locator("del")).to_have_text("1")
    expect(diff.locator("ins")).to_have_text("10")
    assert lab.sources()[1] == "x = 1\ny = 2"
    region.get_by_role("button", name="Accept").click()
    expect(banner(lab)).to_have_count(0)
    assert call.answer()["success"] is True
    assert lab.sources()[1] == "x = 10\ny = 2"


def test_a_change_is_denied_with_a_reason_with_the_keyboard_alone(lab: Lab) -> None:
    lab.click(0, 0)
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    palette(lab, "Go to Next Proposed Change")
    expect(banner(lab)).to_be_focused()
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.press("Tab")
    expect(banner(lab).get_by_role("button", name="Accept")).to_be_focused()
    lab.page.keyboard.press("Tab")
    expect(banner(lab).get_by_role("button", name="Deny")).to_be_focused()
    lab.page.keyboard.press("Tab")
    # None of these keys is a command of the notebook: a, b, d d, x, z, m, y.
    lab.type("bad, a b dd xzmy")
    lab.page.keyboard.press("Enter")
    answer = call.answer()
    assert (answer["status"], answer["reason"]) == ("denied", "bad, a b dd xzmy")
    expect(banner(lab)).to_have_count(0)
    assert lab.sources() == [f"x = {index}\ny = 2" for index in range(120)]
    assert lab.js("document.activeElement.closest('.jp-Notebook') !== null")


def test_typing_a_reason_with_the_mouse_keeps_the_keys_in_the_field(lab: Lab) -> None:
    lab.click(1, 0)
    call = propose(lab, "cell2")
    field = banner(lab).get_by_role("textbox", name="Reason, if you deny")
    field.click()
    lab.type("no a")
    expect(field).to_have_value("no a")
    banner(lab).get_by_role("button", name="Deny").click()
    assert call.answer()["reason"] == "no a"
    assert lab.sources()[1] == "x = 1\ny = 2"


def test_several_wait_at_once_at_their_cells_and_in_the_panel(lab: Lab) -> None:
    calls = [propose(lab, f"cell{index}") for index in (1, 2)]
    calls.append(begin(lab, "jupyter_insert_cell", source=HTML, referenceCellId="cell0"))
    hashed = source_hash("x = 3\ny = 2")
    calls.append(begin(lab, "jupyter_delete_cell", cellId="cell3", expectedSourceHash=hashed))
    calls.append(begin(lab, "jupyter_write_file", path="ask.txt", content=HTML))
    expect(banner(lab)).to_have_count(4)
    items = waiting(lab).locator("> li")
    expect(items).to_have_count(5)
    expect(lab.cell(0).get_by_role("region", name="Insert a code cell at 2")).to_have_count(2)
    expect(waiting(lab)).to_contain_text(HTML)
    assert lab.js("globalThis.hacked === undefined")
    assert lab.page.locator(".pywebmcp-diff img").count() == 0
    # Two in the panel, the others at their cells.
    items.filter(has_text="ask.txt").get_by_role("button", name="Accept").click()
    items.filter(has_text="Insert").get_by_role("button", name="Deny").click()
    expect(items).to_have_count(3)
    lab.cell(3).get_by_role("button", name="Accept").click()
    lab.cell(2).get_by_role("button", name="Deny").click()
    lab.cell(1).get_by_role("button", name="Accept").click()
    expect(waiting(lab)).to_have_count(0)
    states = [call.answer().get("status", "made") for call in calls]
    assert states == ["made", "denied", "denied", "made", "made"]
    assert saved(lab, "ask.txt") == HTML
    assert lab.sources()[1:3] == ["x = 10\ny = 2", "x = 2\ny = 2"]
    assert len(lab.sources()) == 119


@pytest.mark.parametrize("mode", ["contentVisibility", "full"])
def test_it_is_there_again_after_scrolling_far_away(lab: Lab, mode: str) -> None:
    lab.js(f"nb.notebookConfig = {{ ...nb.notebookConfig, windowingMode: '{mode}' }}")
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    lab.must("jupyter_focus_cell", cellId="cell110")
    expect(banner(lab)).not_to_be_in_viewport()
    palette(lab, "Go to Next Proposed Change")
    expect(banner(lab)).to_be_focused()
    expect(banner(lab)).to_be_in_viewport()
    banner(lab).get_by_role("button", name="Accept").click()
    assert call.answer()["success"] is True


def test_it_survives_another_type_of_its_cell_and_a_move(lab: Lab) -> None:
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    lab.click(1, 0)
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("m")
    expect(lab.cell(1).get_by_role("button", name="Accept")).to_be_visible()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("Control+Shift+ArrowUp")
    expect(lab.cell(0).get_by_role("button", name="Accept")).to_be_visible()
    lab.cell(0).get_by_role("button", name="Accept").click()
    assert call.answer()["success"] is True
    assert lab.sources()[0] == "x = 10\ny = 2"


def test_a_persons_own_edit_wins(lab: Lab) -> None:
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    lab.click(1, 0)
    lab.type("# mine\n")
    lab.cell(1).get_by_role("button", name="Accept").click()
    answer = call.answer()
    assert answer["code"] == "STALE_CELL"
    expect(lab.page.locator(".pywebmcp-announcer")).to_contain_text("The change was not made")
    assert lab.sources()[1] == "# mine\nx = 1\ny = 2"


def test_closing_the_notebook_ends_it(lab: Lab) -> None:
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    close_all(lab)
    expect(waiting(lab)).to_have_count(0)
    assert call.answer()["code"] == "NOTEBOOK_NOT_FOUND"


def test_the_switch_is_in_the_palette_and_the_edit_menu(lab: Lab) -> None:
    box = show(lab, "Activity").get_by_role("checkbox", name="Ask before edits")
    palette(lab, "Ask Before Agent Edits")
    expect(box).not_to_be_checked()
    lab.page.get_by_role("menuitem", name="Edit", exact=True).click()
    lab.page.locator(".lm-Menu-item", has_text="Ask Before Agent Edits").click()
    expect(box).to_be_checked()


@pytest.mark.parametrize("name", [LIGHT, DARK])
def test_everybody_can_decide(lab: Lab, name: str) -> None:
    theme(lab, name)
    call = propose(lab)
    expect(banner(lab)).to_be_visible()
    expect(waiting(lab)).to_be_visible()
    assert flaws(lab, ".pywebmcp-proposal") == []
    assert flaws(lab, "#pywebmcp-agent-panel") == []
    assert overflowing(lab, "#pywebmcp-agent-panel") == []
    banner(lab).get_by_role("button", name="Deny").click()
    call.answer()
    theme(lab, LIGHT)
