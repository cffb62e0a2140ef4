"""A person at a real keyboard and an agent in the same notebook: no character is lost or moved."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

import pytest
from files import close_all, put_and_open, sketch
from lab import Lab
from pywebmcp.constants import INSERT_FAR
from pywebmcp.testing import code, markdown

# Calls tools again and again while the person types; the test ends it.
_AGENT = """([insert, update, neighbour]) => {
    const call = async (name, input) => {
        const tool = (await document.modelContext.getTools()).find((tool) => tool.name === name);
        const text = typeof tool.inputSchema === "string";
        const raw = await document.modelContext.executeTool(tool, text ? JSON.stringify(input) : input);
        const answer = JSON.parse(raw).structuredContent;
        if (!answer.success) throw new Error(answer.error);
    };
    globalThis.typingOver = false;
    globalThis.agent = (async () => {
        let round = 0;
        for (; !globalThis.typingOver; round += 1) {
            globalThis.rounds = round;
            await call("jupyter_insert_cell", insert);
            for (const cellId of [update, neighbour]) {
                const edits = [{ oldText: `round = ${round}`, newText: `round = ${round + 1}` }];
                await call("jupyter_update_cell", { cellId, edits });
            }
        }
        return round;
    })();
}"""
_EDITOR = "nb.activeCell.editor.editor.state.doc.toString()"


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> None:
    close_all(lab)


def press(lab: Lab, text: str) -> None:
    """Type slowly enough for the agent to come between any two keys."""
    for key in text:
        lab.page.keyboard.press(key)


def others(lab: Lab, index: int) -> list[str]:
    """The sources of all cells but one."""
    found = lab.sources()
    del found[index]
    return found


def test_typing_goes_on_while_the_agent_inserts_and_updates_around_it(lab: Lab) -> None:
    put_and_open(
        lab,
        "around.ipynb",
        sketch(
            code("round = 0", "b"),
            code("start\n# between\nend", "a"),
            code("round = 0", "neighbour"),
        ),
    )
    lab.click(1, 0)
    lab.page.evaluate(_AGENT, [{"source": "above", "referenceCellId": "b"}, "b", "neighbour"])
    text = ""
    while lab.page.evaluate("rounds") < 5:
        press(lab, ascii_lowercase)
        text += ascii_lowercase
    rounds = lab.page.evaluate("() => { globalThis.typingOver = true; return globalThis.agent; }")
    updated = f"round = {rounds}"
    typed = f"{text}start\n# between\nend"
    assert lab.sources() == [updated, *["above"] * rounds, typed, updated]
    assert lab.js(_EDITOR) == typed


def test_typing_goes_on_while_the_agent_updates_the_same_cell(lab: Lab) -> None:
    put_and_open(lab, "same.ipynb", sketch(code("first\nround = 0", "a")))
    lab.click(0, 5)
    for number, key in enumerate("abcdefgh"):
        press(lab, key)
        edits = [
            {"oldText": f"round = {number}", "newText": f"round = {number + 1}"},
            {"oldText": "first", "newText": "first"},
        ]
        lab.must("jupyter_update_cell", cellId="a", edits=edits)
    assert lab.sources() == ["firstabcdefgh\nround = 8"]
    # The person's undo takes back one of the two hands at a time, and in the right order.
    lab.page.keyboard.press("Control+z")
    assert lab.sources() == ["firstabcdefgh\nround = 7"]
    lab.page.keyboard.press("Control+z")
    assert lab.sources() == ["firstabcdefg\nround = 7"]


def test_what_is_selected_stays_selected(lab: Lab) -> None:
    put_and_open(lab, "selection.ipynb", sketch(code("one two three", "a"), code("", "b")))
    lab.click(0, 4)
    for _ in "two":
        lab.page.keyboard.press("Shift+ArrowRight")
    lab.must("jupyter_update_cell", cellId="a", edits=[{"oldText": "one", "newText": "eleven"}])
    lab.must("jupyter_insert_cell", source="new", referenceCellId="a", position="above")
    assert lab.must("jupyter_get_context")["focus"]["selectedText"] == "two"
    press(lab, "2")
    assert lab.sources() == ["new", "eleven 2 three", ""]


def test_a_cell_made_active_by_the_agent_gets_none_of_the_persons_keys(lab: Lab) -> None:
    put_and_open(lab, "active.ipynb", sketch(code("a", "a"), code("b", "b")))
    lab.click(0, 1)
    press(lab, "x")
    made = lab.must("jupyter_insert_cell", source="new", activate=True)
    focus = lab.must("jupyter_get_context")["focus"]
    assert focus["activeCellId"] == made["id"]
    # "y" and "dd" are shortcuts, too.
    press(lab, "yddx")
    assert lab.sources() == ["ax", "b", "new"]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_cell_whose_type_changes_keeps_the_caret(lab: Lab, kind: str) -> None:
    put_and_open(
        lab, f"{kind}.ipynb", sketch(markdown("# A", "m"), code("ab", "a"), code("c", "c"))
    )
    lab.click(1, 1)
    press(lab, "1")
    lab.must("jupyter_update_cell", cellId="a", cellType=kind)
    press(lab, "2")
    lab.must("jupyter_update_cell", cellId="a", cellType="code")
    press(lab, "3")
    assert lab.sources() == ["# A", "a123b", "c"]
    assert lab.js("nb.widgets[0].rendered") is True


def test_keys_for_a_cell_that_was_moved_far_away_reach_no_other(lab: Lab) -> None:
    count = INSERT_FAR + 10
    put_and_open(lab, "far.ipynb", sketch(*(code(f"# {n}", f"c{n}") for n in range(count))))
    lab.click(0, 3)
    press(lab, "x")
    lab.must("jupyter_update_cell", cellId="c0", index=count - 1)
    press(lab, "dddd")
    assert lab.sources() == [*(f"# {n}" for n in range(1, count)), "# 0x"]


def test_carriage_returns_in_the_cell_being_typed_in_do_no_harm(lab: Lab) -> None:
    put_and_open(lab, "cr.ipynb", sketch(code("one\r\ntwo\rthree\r\nfour", "a")))
    lab.click(0, 0)
    lab.must("jupyter_update_cell", cellId="a", edits=[{"oldText": "three", "newText": "3"}])
    press(lab, "x")
    lab.must("jupyter_update_cell", cellId="a", edits=[{"oldText": "four", "newText": "4"}])
    press(lab, "y")
    expected = "xyone\ntwo\n3\n4"
    assert (lab.sources(), lab.js(_EDITOR)) == ([expected], expected)
    for _ in range(4):
        lab.page.keyboard.press("Control+z")
    expected = "one\ntwo\nthree\nfour"
    assert (lab.sources(), lab.js(_EDITOR)) == ([expected], expected)


def focused(lab: Lab, **arguments: Any) -> Any:
    lab.must("jupyter_focus_cell", **arguments)
    return lab.must("jupyter_get_context")["focus"]


def test_a_far_cell_is_shown_with_its_selection_and_takes_the_keys(lab: Lab) -> None:
    cells = [code(f"x = '\U0001f600' # {n}", f"c{n}") for n in range(1000)]
    put_and_open(lab, "long.ipynb", sketch(*cells))
    start, end = {"line": 0, "column": 5}, {"line": 0, "column": 6}
    focus = focused(lab, cellId="c990", selection={"start": start, "end": end})
    assert (focus["activeCellId"], focus["mode"]) == ("c990", "edit")
    assert (focus["selectedText"], focus["cursor"]) == ("\U0001f600", end)
    lab.cell(990).locator(".cm-content").wait_for(state="visible")
    press(lab, "z")
    assert lab.sources()[990] == "x = 'z' # 990"
    focus = focused(lab, cellId="c3")
    assert (focus["activeCellId"], focus["mode"]) == ("c3", "command")
    lab.cell(3).wait_for(state="visible")
