"""The page of all tools for people, made of what agents are told, so that the two never differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pywebmcp.tools import Tool

_HEAD = """# Tools

Made by `scripts/make_tools_page` from the descriptions that an agent gets.
What a call answers is in [results.md](results.md).
"""


def page(tools: Iterable[Tool]) -> str:
    """Markdown: a section for each tool, with a table of its arguments."""
    return "\n".join([_HEAD, *map(_section, tools)])


def _section(tool: Tool) -> str:
    described = tool.descriptor()
    hints = ", ".join(f"`{hint}`" for hint in described["annotations"]) or "none"
    lines = [f"## {tool.name}", "", tool.description, "", f"Hints: {hints}.", ""]
    schema = described["inputSchema"]
    if schema["properties"]:
        lines += ["| argument | type | |", "|---|---|---|"]
        required = schema.get("required", [])
        for name, part in schema["properties"].items():
            needed = "required" if name in required else ""
            note = ". ".join(text for text in (needed, part.get("description", "")) if text)
            lines.append(f"| `{name}` | {_kind(part)} | {note} |")
        lines.append("")
    return "\n".join(lines)


def _kind(part: dict[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(f"`{choice}`" for choice in part["enum"])
    if isinstance(part["type"], list):
        return " or ".join(part["type"])
    if part["type"] == "array":
        return f"list of {_kind(part['items'])}"
    if part["type"] == "object" and "properties" in part:
        inner = ", ".join(f"{name}: {_kind(each)}" for name, each in part["properties"].items())
        return f"{{{inner}}}"
    return str(part["type"])
