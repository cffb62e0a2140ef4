"""Who may do what: set in the panel, in the menus and from the palette; the tools obey at once."""

from __future__ import annotations

import pytest
from files import close_all, put, put_and_open, saved, sketch
from lab import Lab
from panel import DARK, LIGHT, flaws, menu, overflowing, palette, show, theme
from playwright.sync_api import expect
from pywebmcp.testing import code


@pytest.fixture(autouse=True)
def _notebook(lab: Lab) -> None:
    close_all(lab)
    put_and_open(lab, "who.ipynb", sketch(code("# secret", "a"), code("open = 1", "b")))


def sources(lab: Lab) -> str:
    return str(lab.must("jupyter_get_cells"))


def test_a_cell_is_hidden_and_shown_in_the_panel(lab: Lab) -> None:
    choice = show(lab, "Access").get_by_role("list").get_by_label("# secret")
    choice.select_option("Hidden")
    assert "secret" not in sources(lab)
    expect(choice).to_have_value("none")
    choice.select_option("May read")
    assert "secret" in sources(lab)
    edits = [{"oldText": "secret", "newText": "x"}]
    failed = lab.call("jupyter_update_cell", {"cellId": "a", "edits": edits})
    assert failed["code"] == "CELL_ACCESS_DENIED"
    choice.select_option("May edit")
    assert lab.must("jupyter_update_cell", cellId="a", edits=edits)


def test_the_current_cell_comes_first(lab: Lab) -> None:
    lab.click(1, 0)
    tab = show(lab, "Access")
    expect(tab.get_by_label("open = 1").first).to_have_value("write")
    tab.get_by_label("open = 1").first.select_option("Hidden")
    assert "open = 1" not in sources(lab)
    expect(tab.get_by_role("list").get_by_label("open = 1")).to_have_value("none")


def test_the_notebook_is_made_read_only_with_the_keyboard(lab: Lab) -> None:
    choice = show(lab, "Access").get_by_label("who.ipynb")
    choice.focus()
    lab.page.keyboard.press("ArrowDown")
    expect(choice).to_have_value("read")
    failed = lab.call("jupyter_insert_cell", {"source": "x"})
    assert failed["code"] == "NOTEBOOK_ACCESS_DENIED"
    lab.must("jupyter_get_cells")


def test_the_level_of_a_cell_is_in_its_context_menu(lab: Lab) -> None:
    lab.click(1, 0)
    menu(lab, lab.cell(0).locator(".cm-content"), "Agent Access to Cells", "Hidden")
    assert "secret" not in sources(lab)
    assert "open = 1" in sources(lab)
    lab.cell(0).locator(".cm-content").click(button="right")
    lab.page.locator(".lm-Menu-item", has_text="Agent Access to Cells").hover()
    toggled = lab.page.locator(".lm-Menu-item.lm-mod-toggled", has_text="Hidden")
    expect(toggled).to_have_count(1)
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("Escape")


def test_the_levels_are_in_the_palette(lab: Lab) -> None:
    lab.click(0, 0)
    palette(lab, "Agent Access to Selected Cells: Hidden")
    assert "secret" not in sources(lab)
    palette(lab, "Agent Access to Notebook: May read")
    assert lab.call("jupyter_insert_cell", {"source": "x"})["code"] == "NOTEBOOK_ACCESS_DENIED"


def test_the_level_of_a_file_is_in_the_file_browsers_menu(lab: Lab) -> None:
    put(lab, "closed.ipynb", sketch(code("# secret", "a")))
    lab.js("pywebmcp.tokens.defaultFileBrowser.model.refresh()")
    entry = lab.page.locator(".jp-DirListing-item", has_text="closed.ipynb")
    menu(lab, entry, "Agent Access to Notebook", "Hidden")
    expect(lab.page.get_by_text("Agent access to closed.ipynb: Hidden.").first).to_be_visible()
    level = saved(lab, "closed.ipynb")["metadata"]["pywebmcp"]["access"]["level"]
    assert level == "none"
    failed = lab.call("jupyter_get_cells", {"notebookPath": "closed.ipynb"})
    assert failed["success"] is False
    assert "secret" not in str(failed)


@pytest.mark.parametrize("name", [LIGHT, DARK])
def test_everybody_can_set_it(lab: Lab, name: str) -> None:
    theme(lab, name)
    show(lab, "Access").get_by_role("list").get_by_label("# secret").select_option("Hidden")
    assert flaws(lab, "#pywebmcp-agent-panel") == []
    assert overflowing(lab, "#pywebmcp-agent-panel") == []
    theme(lab, LIGHT)
