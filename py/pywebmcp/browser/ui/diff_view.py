"""A diff as elements: lines with their signs, and within lines what was taken out and put in."""

from __future__ import annotations

from collections.abc import Iterable

from pywebmcp.browser.ui.elements import Node, h, visible
from pywebmcp.diffs import Row, Segment, diff

MAX_ROWS = 300
"""Lines that are drawn; of a longer diff the rest is counted."""

_MAX_PART = 2000
"""Characters of a part of a line that are drawn, of its two ends together."""


def diff_nodes(before: str | None, after: str | None, label: str) -> Node:
    """The changed lines of two sources with some around them, in a region with this name."""
    compared = diff(before, after)
    lines: list[Node] = []
    total = 0
    for place, hunk in enumerate(compared.hunks(2)):
        if place:
            lines.append(_line("gap", " ", ["⋯"]))
        total += len(hunk)
        lines += _hunk(hunk[: max(0, MAX_ROWS - total + len(hunk))])
    if not lines:
        lines.append(_line("gap", " ", ["No line differs."]))
    if total > MAX_ROWS:
        lines.append(_line("gap", " ", [f"⋯ {total - MAX_ROWS} more lines"]))
    return h("div", lines, cls="pywebmcp-diff", role="region", aria_label=label, tabindex="0")


def _hunk(rows: Iterable[Row]) -> Iterable[Node]:
    """The lines of a hunk; of changed ones the old lines first, as in every diff."""
    new: list[Node] = []
    for row in rows:
        if row.kind == "equal":
            yield from new
            new.clear()
            yield _line("equal", " ", _segments(row.after))
            continue
        if row.before is not None:
            yield _line("delete", "−", _segments(row.before))
        if row.after is not None:
            new.append(_line("insert", "+", _segments(row.after)))
    yield from new


def _line(kind: str, sign: str, parts: list[Node]) -> Node:
    return h("div", h("span", sign, cls="pywebmcp-sign"), parts, cls=f"pywebmcp-line-{kind}")


def _segments(segments: tuple[Segment, ...] | None) -> list[Node]:
    """The parts of a line; one that is new or gone as a whole needs no marks within."""
    parts = segments or ()
    if len(parts) == 1:
        return [_shown(parts[0].text)]
    tags = {"delete": "del", "insert": "ins"}
    return [
        h(tags[part.kind], _shown(part.text)) if part.kind in tags else _shown(part.text)
        for part in parts
        if part.text
    ]


def _shown(text: str) -> str:
    left_out = len(text) - _MAX_PART
    if left_out > 0:
        end = _MAX_PART // 2
        text = f"{text[:end]} ⋯ {left_out} more characters ⋯ {text[-end:]}"
    return visible(text)


def counts(added: int, removed: int) -> list[Node]:
    """How many lines were added and removed, in words for those who cannot see the signs."""
    words = f"{added} lines added, {removed} removed"
    return [h("span", f"+{added} −{removed}", cls="pywebmcp-counts", title=words)]
