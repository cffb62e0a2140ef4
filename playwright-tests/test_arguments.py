"""Whatever an agent hands over, a tool answers: with a code and a sentence, never with a throw."""

from __future__ import annotations

import json
from typing import Any

import pytest
from files import put_and_open, sketch
from lab import Lab
from playwright.sync_api import Page
from pywebmcp.errors import Code
from pywebmcp.toolset import TOOLS

# What the browser calls is not reachable from the page, so that a call in the form of another
# version of Chromium, which hands over JSON text, has to be noted on its way in.
_NOTE_TOOLS = """if (document.modelContext) {
    const owner = Object.getPrototypeOf(document.modelContext);
    const register = owner.registerTool;
    globalThis.registered = {};
    owner.registerTool = function (tool, options) {
        registered[tool.name] = tool;
        return register.call(this, tool, options);
    };
}"""
# JSON text both ways: an answer may hold what Playwright's own encoding does not carry.
_EXECUTE = """async ([name, input]) => {
    return JSON.stringify(await registered[name].execute(input, {}));
}"""
# What has no JSON is made in the page.
_ODD = """async (name) => {
    const deep = {};
    let inner = deep;
    for (let depth = 0; depth < 5000; depth += 1) inner = inner.cellIds = {};
    const bottomless = {};
    inner = bottomless;
    for (let depth = 0; depth < 100_000; depth += 1) inner = inner.cellIds = {};
    const cycle = {};
    cycle.cellIds = [cycle];
    const inputs = {
        nothing: undefined,
        null: null,
        number: 3,
        NaN: NaN,
        true: true,
        array: [1, [2]],
        map: new Map([["cellId", "a"]]),
        function: () => 1,
        values: { cellId: NaN, source: undefined, notebookPath: Infinity },
        date: { cellId: new Date(0) },
        prototype: JSON.parse('{"__proto__": {"cellId": "a"}, "constructor": 1}'),
        surrogate: { "\\ud800": "\\udfff", cellId: "\\ud83d" },
        deep,
        bottomless,
        cycle,
        bigint: { startIndex: 1n },
        long: { cellId: "x".repeat(1_000_000), path: "y".repeat(1_000_000) },
        emptyText: "",
        blankText: "  ",
        noJson: "{cellId: 1}",
        cutJson: '{"cellId": "a"',
        listJson: "[1, 2]",
        textJson: '"text"',
        nullJson: "null",
        numberJson: "1e999",
        deepJson: "[".repeat(100_000),
        nulCharacter: { path: "a\\u0000.ipynb", notebookPath: "a\\u0000" },
    };
    const answers = {};
    for (const [key, input] of Object.entries(inputs)) {
        answers[key] = await registered[name].execute(input, {});
    }
    answers.noClient = await registered[name].execute({ unknown: 1 });
    return JSON.stringify(answers);
}"""


@pytest.fixture(scope="module")
def lab(shared_page: Page, site: str) -> Lab:
    shared_page.add_init_script(_NOTE_TOOLS)
    lab = Lab(shared_page, site).open()
    put_and_open(lab, "given.ipynb", sketch("a = 1", "b = 2"))
    return lab


def execute(lab: Lab, name: str, given: Any) -> Any:
    """Call a tool's function as the browser does, with whatever input."""
    return json.loads(lab.page.evaluate(_EXECUTE, [name, given]))["structuredContent"]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("jupyter_open_notebook", {}, "INVALID_ARGUMENT", '"path" is missing'),
        ("jupyter_open_notebook", {"path": 3}, "INVALID_ARGUMENT", "a string, not a number"),
        ("jupyter_open_notebook", {"path": "../a.ipynb"}, "INVALID_PATH", '".."'),
        ("jupyter_open_notebook", {"path": "given.txt"}, "INVALID_PATH", ".ipynb"),
        ("jupyter_open_notebook", {"path": "none.ipynb"}, "FILE_NOT_FOUND", "none.ipynb"),
        (
            "jupyter_open_notebook",
            {"path": "given.ipynb", "kernel": "julia"},
            "INVALID_ARGUMENT",
            "python",
        ),
        ("jupyter_get_context", {"path": "a"}, "UNKNOWN_ARGUMENT", "no arguments"),
        ("jupyter_get_cells", {"cellId": "cell-0"}, "UNKNOWN_ARGUMENT", '"cellIds"?'),
        ("jupyter_get_cells", {"startIndex": -1}, "INVALID_ARGUMENT", "at least 0"),
        ("jupyter_get_cells", {"startIndex": 1.5}, "INVALID_ARGUMENT", "an integer"),
        ("jupyter_get_cells", {"startIndex": True}, "INVALID_ARGUMENT", "true or false"),
        ("jupyter_get_cells", {"startIndex": 2}, "INVALID_ARGUMENT", "2 cells"),
        ("jupyter_get_cells", {"only": "raw"}, "INVALID_ARGUMENT", '"error"'),
        ("jupyter_get_cells", {"cellIds": ["gone"]}, "CELL_NOT_FOUND", "gone"),
        ("jupyter_get_cells", {"cellIds": "cell-0"}, "INVALID_ARGUMENT", "an array"),
        ("jupyter_insert_cell", {"cellType": "heading"}, "INVALID_ARGUMENT", "one of"),
        ("jupyter_insert_cell", {"position": "left"}, "INVALID_ARGUMENT", '"above"'),
        ("jupyter_insert_cell", {"referenceCellId": "gone"}, "CELL_NOT_FOUND", "gone"),
        ("jupyter_update_cell", {"cellId": "cell-0"}, "INVALID_ARGUMENT", "Nothing to change"),
        (
            "jupyter_update_cell",
            {"cellId": "cell-0", "source": "x"},
            "INVALID_ARGUMENT",
            "expectedSourceHash",
        ),
        (
            "jupyter_update_cell",
            {"cellId": "cell-0", "edits": [{"oldText": "a", "newtext": "b"}]},
            "UNKNOWN_ARGUMENT",
            '"newText"?',
        ),
        ("jupyter_update_cell", {"cellId": "cell-0", "index": 2}, "INVALID_ARGUMENT", "2"),
        ("jupyter_delete_cell", {"cellId": "cell-0"}, "INVALID_ARGUMENT", "expectedSourceHash"),
        (
            "jupyter_focus_cell",
            {"cellId": "cell-0", "cursor": {"line": 0}},
            "INVALID_ARGUMENT",
            "column",
        ),
        ("jupyter_run_cells", {"cellIds": []}, "INVALID_ARGUMENT", "at least 1"),
        ("jupyter_run_cells", {"cellIds": ["cell-0"]}, "KERNEL_UNAVAILABLE", "no kernel"),
        ("jupyter_kernel_action", {"action": "stop"}, "INVALID_ARGUMENT", '"restart"'),
        ("jupyter_kernel_action", {"action": "restart"}, "KERNEL_UNAVAILABLE", "no kernel"),
        (
            "jupyter_kernel_action",
            {"action": "restart", "kernelId": "none"},
            "KERNEL_UNAVAILABLE",
            "none",
        ),
        ("jupyter_save_notebook", {"notebookPath": "none.ipynb"}, "FILE_NOT_FOUND", "none.ipynb"),
        ("jupyter_save_notebook", {"notebookPath": "fix-me.ipynb"}, "NOTEBOOK_NOT_FOUND", "open"),
    ],
)
def test_a_wrong_argument_is_explained(
    lab: Lab, name: str, arguments: dict[str, Any], code: str, words: str
) -> None:
    failed = lab.call(name, arguments)
    assert (failed["success"], failed["isError"], failed["code"]) == (False, True, code), failed
    assert words in failed["error"]
    assert lab.sources() == ["a = 1", "b = 2"]


def test_null_counts_as_absent(lab: Lab) -> None:
    nulls = {"notebookPath": None, "cellIds": None, "startIndex": 1, "endIndex": None}
    [cell] = lab.must("jupyter_get_cells", **nulls, search=None, only=None, format=None)["cells"]
    assert cell["source"] == "b = 2"
    failed = lab.call("jupyter_delete_cell", {"cellId": None, "expectedSourceHash": None})
    assert failed["code"] == "INVALID_ARGUMENT"


def test_whole_numbers_may_come_as_floats(lab: Lab) -> None:
    [cell] = lab.must("jupyter_get_cells", startIndex=1.0)["cells"]
    assert cell["source"] == "b = 2"


@pytest.mark.parametrize("layers", [1, 2])
def test_arguments_may_come_as_json_text(lab: Lab, layers: int) -> None:
    given: Any = {"startIndex": 0, "endIndex": 1, "search": "😀", "only": None}
    for _ in range(layers):
        given = json.dumps(given)
    assert execute(lab, "jupyter_get_cells", given) == {"success": True, "cells": []}


@pytest.mark.parametrize("text", ["{", "[]", "3", "null and void", '"{"'])
def test_json_text_of_no_object_is_refused(lab: Lab, text: str) -> None:
    assert execute(lab, "jupyter_get_cells", text)["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS])
def test_nothing_that_is_handed_over_makes_a_tool_throw(lab: Lab, name: str) -> None:
    put_and_open(lab, "odd.ipynb", sketch("1"))
    answers = json.loads(lab.page.evaluate(_ODD, name))
    assert len(answers) == 28
    for key, envelope in answers.items():
        payload = envelope["structuredContent"]
        assert envelope["isError"] is not payload["success"], (key, payload)
        if not payload["success"]:
            assert payload["code"] in set(Code) - {Code.INTERNAL_ERROR}, (key, payload)
