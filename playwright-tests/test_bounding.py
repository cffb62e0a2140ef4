"""Ten megabytes of output: what the agent gets fits, and the page hardly stands still for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from files import put_and_open, sketch
from lab import Lab
from pywebmcp.testing import code, stream

LIMIT = 40_000
TEXT = "The quick brown fox jumps over the lazy dog, 0123456789.\n" * 180_000
TIMES = 14
"""How much longer than for writing and parsing its JSON the page may stand still for an output. It
is about six times; ten megabytes of plain text take 25 ms so, and a fifth of a second is allowed."""

# The longest stretch for which the page stood still, in ms, and how long JavaScript takes to write
# the same outputs as JSON text and to parse that: of the best of some rounds, in turns, because
# what else the machine does only ever adds.
_MEASURE = """async ([name, input, index]) => {
    const { model } = pywebmcp.tokens.tracker.currentWidget.content;
    const tool = (await document.modelContext.getTools()).find((tool) => tool.name === name);
    const given = typeof tool.inputSchema === "string" ? JSON.stringify(input) : input;
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ type: "longtask" });
    const found = { stood: Infinity, plain: Infinity };
    for (let round = 0; round < 5; round += 1) {
        const start = performance.now();
        found.raw = await document.modelContext.executeTool(tool, given);
        const end = performance.now();
        // A task is told of when it is over.
        await new Promise((resolve) => requestIdleCallback(resolve));
        tasks.push(...observer.takeRecords());
        const within = tasks.filter((task) => task.startTime < end && task.startTime + task.duration > start);
        found.stood = Math.min(found.stood, Math.max(0, ...within.map((task) => task.duration)));
        const before = performance.now();
        JSON.parse(JSON.stringify(model.sharedModel.getCell(index).getOutputs()));
        found.plain = Math.min(found.plain, performance.now() - before);
    }
    observer.disconnect();
    return found;
}"""


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    # Far below what is in view, so that JupyterLab does not draw ten megabytes.
    above = [f"# {number}" for number in range(300)]
    put_and_open(lab, "large.ipynb", sketch(*above, code("x", "large", outputs=[stream(TEXT)])))


def test_ten_megabytes_fit_and_say_what_is_missing(lab: Lab) -> None:
    raw = lab.raw("jupyter_get_cells", {"cellIds": ["large"], "includeOutputs": True})
    payload = json.loads(raw)["structuredContent"]
    assert len(json.loads(raw)["content"][0]["text"]) <= LIMIT
    [output] = payload["cells"][0]["outputs"]
    keep = LIMIT // 4
    assert output["text"].startswith(TEXT[:keep])
    assert output["text"].endswith(TEXT[-keep:])
    assert payload["truncation"] == [
        {"path": "cells[0].outputs[0].text", "omittedCharacters": len(TEXT) - 2 * keep}
    ]


def test_the_page_hardly_stands_still_for_ten_megabytes(lab: Lab, record_property: Any) -> None:
    arguments = {"cellIds": ["large"], "includeOutputs": True}
    found = lab.page.evaluate(_MEASURE, ["jupyter_get_cells", arguments, 300])
    assert json.loads(found["raw"])["structuredContent"]["truncated"] is True
    times = found["stood"] / found["plain"]
    told = f"{found['stood']:.0f} ms, {times:.1f} times {found['plain']:.0f} ms"
    record_property("the page stood still for", told)
    print(told)
    assert times < TIMES, told
