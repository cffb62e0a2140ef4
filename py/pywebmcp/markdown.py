"""A notebook as one Markdown text that keeps every cell's id, for agents that read rather than parse."""

from __future__ import annotations

import re
from typing import Any

from pywebmcp.text import multiline

_FENCES = re.compile(r"`{3,}")


def cell(shown: dict[str, Any], language: str = "python") -> str:
    """One cell, from its view (see ``cells.view``): a comment with its id, source, outputs."""
    # An id from a file can be anything; it must not end the comment.
    facts = [f"id={shown['id'].replace('>', '&gt;')}", shown["type"], f"hash={shown['sourceHash']}"]
    if "executionCount" in shown:
        facts.append(f"run={shown['executionCount']}")
    if shown.get("access", "write") != "write":
        facts.append(f"access={shown['access']}")
    if "duplicateId" in shown:
        facts.append(f"duplicateId={shown['duplicateId'].replace('>', '&gt;')}")
    if "sourceHidden" in shown:
        facts.append("source hidden")
    parts = [f"<!-- {' '.join(facts)} -->"]
    source = shown.get("source")
    if source is not None:
        parts.append(
            source if shown["type"] == "markdown" else fenced(source, _info(shown, language))
        )
    if "error" in shown:
        parts.append(fenced(shown["error"], "error"))
    parts.extend(
        fenced(text, "output") for text in map(output_text, shown.get("outputs", ())) if text
    )
    return "\n".join(parts)


def _info(shown: dict[str, Any], language: str) -> str:
    return language if shown["type"] == "code" else "raw"


def output_text(output: dict[str, Any]) -> str:
    """The best plain text of one cleaned output; names what has no text."""
    kind = output.get("output_type")
    if kind == "stream":
        return multiline(output.get("text", "")).rstrip("\n")
    if kind == "error":
        lines = [multiline(line) for line in output.get("traceback") or []]
        return "\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    if not isinstance(data, dict) or not data:
        return ""
    for mime in ("text/markdown", "text/plain", "text/latex"):
        if mime in data:
            text = multiline(data[mime])
            others = [name for name in data if name != mime and name != "text/plain"]
            return text + (f"\n[also {', '.join(others)}]" if others else "")
    return f"[{', '.join(data)}]"


def fenced(text: str, info: str) -> str:
    """A fenced block whose fence is longer than any run of backticks inside (CommonMark)."""
    longest = max((len(run) for run in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{info}\n{text}\n{fence}"
