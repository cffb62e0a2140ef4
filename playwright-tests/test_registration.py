"""What the page offers to an agent: the tools as reviewed, each once, whatever happens in the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from files import close_all, put_and_open, sketch
from lab import Lab

DESCRIPTORS = Path(__file__).resolve().parent.parent / "py" / "tests" / "descriptors.json"
REVIEWED: list[dict[str, Any]] = json.loads(DESCRIPTORS.read_text("utf-8"))

# Up to Chrome 154 the schema comes back as text. Hints that a tool does not have are false.
_TOOLS = """async () => {
    const tools = await document.modelContext.getTools();
    return JSON.stringify(tools.map(({ name, title, description, inputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema: typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema,
        annotations: Object.fromEntries(
            ["readOnlyHint", "untrustedContentHint", "consequentialHint"]
                .filter((hint) => annotations[hint])
                .map((hint) => [hint, true])
        ),
    })));
}"""


def offered(lab: Lab) -> list[dict[str, Any]]:
    """The page's tools in the order of their names (the browser has an order of its own)."""
    return by_name(json.loads(lab.page.evaluate(_TOOLS)))


def by_name(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(tools, key=lambda tool: str(tool["name"]))


def test_the_tools_are_the_reviewed_ones_each_once(lab: Lab) -> None:
    assert offered(lab) == by_name(REVIEWED)


def test_playwright_sees_the_same_tools(lab: Lab) -> None:
    found = [
        {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
            "annotations": {f"{hint}Hint": on for hint, on in tool.get("annotations", {}).items()},
        }
        for tool in lab.page.webmcp.tools()
    ]
    expected = [{key: value for key, value in tool.items() if key != "title"} for tool in REVIEWED]
    assert by_name(found) == by_name(expected)


def test_opening_and_closing_notebooks_leaves_the_tools_alone(lab: Lab) -> None:
    lab.js("document.modelContext.ontoolchange = () => { globalThis.changed = true; }")
    for path in ("one.ipynb", "two.ipynb"):
        put_and_open(lab, path, sketch("1"))
        assert offered(lab) == by_name(REVIEWED)
    close_all(lab)
    assert offered(lab) == by_name(REVIEWED)
    assert lab.js("globalThis.changed ?? false") is False
