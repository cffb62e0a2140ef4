"""The Agent panel and its tab Tools, by mouse and keyboard, in both themes and both apps."""

from __future__ import annotations

import pytest
from background import settings
from files import put_and_open, sketch
from lab import Lab
from panel import DARK, LIGHT, flaws, overflowing, palette, payload, show, theme
from playwright.sync_api import expect
from pywebmcp.testing import code
from pywebmcp.toolset import TOOLS

TABS = 'role=tablist[name="Agent"] >> role=tab'
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HTML = "<img src=x onerror='globalThis.hacked=1'><script>globalThis.hacked=1</script>"


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    image = {"output_type": "display_data", "data": {"image/png": PNG}, "metadata": {}}
    put_and_open(lab, "panel.ipynb", sketch(code(HTML, "html"), code("x", "plot", outputs=[image])))


@pytest.fixture(autouse=True)
def _all_tools(lab: Lab) -> None:
    search = lab.page.get_by_role("searchbox", name="Find a tool")
    if search.is_visible():
        search.fill("")


def test_the_panel_is_in_the_right_sidebar_with_its_name(lab: Lab) -> None:
    lab.page.get_by_role("tab", name="Agent", exact=True).click()
    expect(lab.page.get_by_role("region", name="Agent", exact=True)).to_be_visible()
    assert lab.js(
        "[...pywebmcp.app.shell.widgets('right')].some(({ id }) => id === 'pywebmcp-agent-panel')"
    )


def test_the_palette_and_the_view_menu_open_it(lab: Lab) -> None:
    region = lab.page.get_by_role("region", name="Agent", exact=True)
    for way in ("palette", "menu"):
        lab.js("pywebmcp.app.shell.collapseRight()")
        expect(region).to_be_hidden()
        if way == "palette":
            palette(lab, "Show Agent Panel")
        else:
            lab.page.get_by_role("menuitem", name="View", exact=True).click()
            lab.page.get_by_role("menuitem", name="Show Agent Panel").click()
        expect(region).to_be_visible()


def test_arrow_keys_home_and_end_go_through_the_tabs(lab: Lab) -> None:
    show(lab, "Tools")
    tabs = lab.page.locator(TABS)
    names = tabs.all_inner_texts()
    at = names.index("Tools")
    steps = {"ArrowRight": (at + 1) % len(names), "Home": 0, "ArrowLeft": -1, "End": -1}
    for key, place in steps.items():
        lab.page.keyboard.press(key)
        name = names[place]
        expect(lab.page.locator(f"{TABS} >> text={name}")).to_be_focused()
        expect(lab.page.get_by_role("tab", name=name, selected=True)).to_be_visible()
        expect(lab.page.get_by_role("tabpanel", name=name, exact=True)).to_be_visible()
    assert tabs.evaluate_all("(all) => all.filter((each) => each.tabIndex === 0).length") == 1


def test_a_tool_is_tried_with_the_keyboard_alone(lab: Lab) -> None:
    tab = show(lab, "Tools")
    search = tab.get_by_role("searchbox", name="Find a tool")
    search.focus()
    lab.type("jupyter_get_cells source hashes")
    expect(tab.get_by_role("listitem")).to_have_count(1)
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.press("Enter")
    field = tab.get_by_role("spinbutton", name="startIndex")
    field.focus()
    lab.type("1")
    lab.page.keyboard.press("Control+Enter")
    expect(tab.get_by_role("status").filter(has_text="Done.")).to_be_visible()
    [cell] = payload(tab, "Read cells")["cells"]
    assert cell["id"] == "plot"
    expect(field).to_be_focused()
    field.fill("")
    search.fill("")
    expect(tab.get_by_role("status").first).to_have_text(f"{len(TOOLS)} tools")


def test_a_list_of_objects_is_entered_with_the_mouse(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Update cell").click()
    tab.get_by_role("textbox", name="cellId required").fill("plot")
    tab.get_by_role("button", name="Add to edits").click()
    expect(tab.get_by_role("textbox", name="oldText required")).to_be_visible()
    tab.get_by_role("button", name="Add to edits").click()
    tab.get_by_role("button", name="Remove edits 2").click()
    expect(tab.get_by_role("textbox", name="oldText required")).to_have_count(1)
    tab.get_by_role("textbox", name="oldText required").fill("x")
    tab.get_by_role("textbox", name="newText required").fill("xyz")
    tab.get_by_role("button", name="Run Update cell").click()
    expect(tab.get_by_role("status").filter(has_text="Done.")).to_be_visible()
    assert lab.sources()[1] == "xyz"


def test_what_is_wrong_is_announced(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Delete cell").click()
    tab.get_by_role("button", name="Run Delete cell").click()
    expect(tab.get_by_role("alert")).to_contain_text('Argument "cellId" is missing')


def test_what_was_entered_stays_while_a_person_is_elsewhere(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Run code").click()
    field = tab.get_by_role("textbox", name="code required")
    field.fill("1 + 1")
    lab.page.locator(TABS).first.click()
    show(lab, "Tools")
    expect(field).to_have_value("1 + 1")
    put_and_open(lab, "other.ipynb", sketch("x"))
    lab.js("pywebmcp.app.shell.collapseRight()")
    show(lab, "Tools")
    expect(field).to_have_value("1 + 1")
    lab.must("jupyter_open_notebook", path="panel.ipynb")


def test_an_image_is_shown_with_words_for_it(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="jupyter_read_output").click()
    tab.get_by_role("textbox", name="cellId").fill("plot")
    tab.get_by_role("spinbutton", name="outputIndex").fill("0")
    tab.get_by_title("Run (Ctrl+Enter)").click()
    image = tab.get_by_role("img")
    expect(image).to_be_visible()
    assert image.evaluate("(each) => each.naturalWidth") == 1


def test_html_stays_text(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Read cells").click()
    tab.get_by_role("button", name="Run Read cells").click()
    expect(tab.get_by_role("region", name="Result of Read cells")).to_contain_text(HTML[:40])
    assert tab.locator("img").count() == 0
    assert lab.js("globalThis.hacked === undefined")
    for bad in ('["script",{},[]]', '["div",{"onclick":"x"},[]]', '["img",{"src":"x"},[]]'):
        message = lab.page.evaluate(
            """(text) => { try {
                pywebmcp.modules.dom.view(document.createElement("div"), () => {}).show(`[${text}]`);
            } catch (error) { return error.message; } }""",
            bad,
        )
        assert message.startswith("no such"), bad


def test_a_disabled_tool_says_so(lab: Lab) -> None:
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Save notebook").click()
    with settings(lab, disabledTools=["jupyter_save_notebook"]):
        expect(tab.get_by_text("This tool is disabled in the settings")).to_be_visible()
        expect(tab.get_by_role("button", name="Run Save notebook")).to_be_disabled()
    expect(tab.get_by_role("button", name="Run Save notebook")).to_be_enabled()


@pytest.mark.parametrize("name", [LIGHT, DARK])
def test_everybody_can_use_it(lab: Lab, name: str) -> None:
    theme(lab, name)
    tab = show(lab, "Tools")
    for tool in TOOLS:
        tab.get_by_role("button", name=tool.name).click()
        assert flaws(lab, "#pywebmcp-agent-panel") == []
        assert overflowing(lab, "#pywebmcp-agent-panel") == []
    theme(lab, LIGHT)
