"""The log of what happens, and what a person does about it: diff, undo, stop."""

from __future__ import annotations

import pytest
from background import arrived, at_gate, begin, cells, open_gates
from files import put_and_open, sketch
from lab import Lab
from panel import DARK, LIGHT, flaws, overflowing, show, theme
from playwright.sync_api import Locator, expect
from pywebmcp.testing import code


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, "log.ipynb", sketch(code("x = 1", "one"), code("y = 2", "two")))


def first(lab: Lab) -> Locator:
    """The newest entry of the log."""
    return show(lab, "Activity").get_by_role("list", name="Activity").locator("> li").first


def test_a_call_is_told_with_who_what_and_how_it_ended(lab: Lab) -> None:
    lab.must("jupyter_get_cells", search="x")
    for text in ("Agent", "Read cells", "search", "x", "done"):
        expect(first(lab)).to_contain_text(text)
    lab.call("jupyter_get_cells", {"notebookPath": "<b>gone</b>.ipynb"})
    expect(first(lab)).to_contain_text("failed")
    expect(first(lab)).to_contain_text("<b>gone</b>.ipynb")
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Get context").click()
    tab.get_by_role("button", name="Run Get context").click()
    expect(tab.get_by_role("status").filter(has_text="Done.")).to_be_visible()
    expect(first(lab)).to_contain_text("You")


def test_an_edit_is_compared_and_taken_back(lab: Lab) -> None:
    lab.must("jupyter_update_cell", cellId="one", edits=[{"oldText": "x = 1", "newText": "x = 10"}])
    expect(first(lab)).to_contain_text("+1 −1")
    first(lab).get_by_role("button", name="Diff of Update cell").click()
    diff = first(lab).get_by_role("region", name="Changes of Update cell")
    expect(diff.locator("ins")).to_have_text("10")
    first(lab).get_by_role("button", name="Undo Update cell").click()
    expect(first(lab)).to_contain_text("Undo: Update cell")
    assert lab.sources()[0] == "x = 1"
    edited = show(lab, "Activity").get_by_role("listitem").filter(has_text="Taken back.")
    expect(edited.get_by_role("button", name="Undo Update cell")).to_have_count(0)


def test_there_is_no_undo_over_a_persons_edit(lab: Lab) -> None:
    lab.must("jupyter_update_cell", cellId="two", edits=[{"oldText": "y = 2", "newText": "y = 20"}])
    undo = first(lab).get_by_role("button", name="Undo Update cell")
    expect(undo).to_be_visible()
    lab.click(1, 0)
    lab.type("# mine ")
    expect(undo).to_have_count(0)


def test_the_cell_is_marked_while_an_agent_is_at_it(lab: Lab) -> None:
    lab.must("jupyter_get_cells", cellIds=["two"])
    lab.until("document.querySelector('.jp-Cell.pywebmcp-mod-read')")
    lab.must("jupyter_update_cell", cellId="one", edits=[{"oldText": "x = 1", "newText": "x = 3"}])
    lab.until("document.querySelector('.jp-Cell.pywebmcp-mod-edit')")
    lab.until("!document.querySelector('.jp-Cell.pywebmcp-mod-edit')")


def test_the_status_bar_says_what_an_agent_does(lab: Lab) -> None:
    status = lab.page.locator(".jp-StatusBar-TextItem[role=status]")
    expect(status).to_have_text("WebMCP ready")
    box = show(lab, "Activity").get_by_role("checkbox", name="Ask before edits")
    box.check()
    call = begin(lab, "jupyter_insert_cell", source="x")
    expect(status).to_have_text("Agent waits for you: Insert cell")
    lab.page.get_by_role("region", name="The agent proposes:").get_by_role(
        "button", name="Deny"
    ).click()
    call.answer()
    expect(status).to_have_text("WebMCP ready")
    box.uncheck()


@pytest.mark.parametrize("name", [LIGHT, DARK])
def test_everybody_can_read_it(lab: Lab, name: str) -> None:
    theme(lab, name)
    show(lab, "Activity")
    assert flaws(lab, "#pywebmcp-agent-panel") == []
    assert overflowing(lab, "#pywebmcp-agent-panel") == []
    theme(lab, LIGHT)


def test_a_run_is_stopped(jl: Lab) -> None:
    jl.open("fix-me.ipynb", kernel=True)
    cells(jl, at_gate(jl), "1")
    call = begin(jl, "jupyter_run_cells", startIndex=0, endIndex=2)
    arrived(jl, "gate")
    expect(first(jl)).to_contain_text("runs")
    jl.until("document.querySelector('.jp-Cell.pywebmcp-mod-run')")
    first(jl).get_by_role("button", name="Stop Run cells").click()
    restart = first(jl).get_by_role("button", name="Restart kernel")
    expect(restart).to_be_focused()
    answer = call.answer()
    assert answer["status"] == "pending"
    restart.click()
    expect(first(jl)).to_contain_text("failed")
    open_gates(jl)
