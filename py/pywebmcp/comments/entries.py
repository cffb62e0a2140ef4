"""Threads as the JSON that a notebook's file holds, and back, where the file may hold anything.

Reading answers None for what is no thread, and never raises.
"""

from __future__ import annotations

from typing import Any, get_args

from pywebmcp.comments.model import (
    CONTEXT,
    MAX_COMMENTS,
    MAX_MESSAGE,
    MAX_NAME,
    MAX_TEXT,
    Anchor,
    Author,
    CellAnchor,
    Comment,
    OutputAnchor,
    RangeAnchor,
    Status,
    Thread,
)

Entry = dict[str, Any]

_STATUSES = get_args(Status)


def thread_entry(thread: Thread) -> Entry:
    """A thread as JSON."""
    entry: Entry = {"id": thread.id}
    if thread.anchor is not None:
        entry["anchor"] = anchor_entry(thread.anchor)
    entry["comments"] = [comment_entry(comment) for comment in thread.comments]
    return entry


def comment_entry(comment: Comment) -> Entry:
    """A comment as JSON; what it does not have is left out."""
    author = {"kind": comment.author.kind, "name": comment.author.name}
    entry: Entry = {
        "author": {key: value for key, value in author.items() if value},
        "created": comment.created,
    }
    if comment.message:
        entry["message"] = comment.message
    if comment.status is not None:
        entry["status"] = comment.status
    return entry


def anchor_entry(anchor: Anchor) -> Entry:
    """An anchor as JSON; zeros and what is empty are left out."""
    entry: Entry
    match anchor:
        case CellAnchor():
            entry = {"kind": "cell", **_cell_entry(anchor)}
        case OutputAnchor():
            entry = {
                "kind": "output",
                **_cell_entry(anchor.cell),
                "outputIndex": anchor.index,
                "fingerprint": anchor.fingerprint,
                "mimeType": anchor.mime_type,
            }
        case RangeAnchor():
            entry = {
                "kind": "source-range",
                "cellId": anchor.cell_id,
                "exact": anchor.exact,
                "prefix": anchor.prefix,
                "suffix": anchor.suffix,
                "start": {"line": anchor.line, "column": anchor.column},
            }
            twins = {
                "before": anchor.shared_before,
                "after": anchor.shared_after,
                "elsewhere": anchor.shared_elsewhere,
            }
            twins = {name: count for name, count in twins.items() if count >= 0}
            if twins:
                entry["twins"] = twins
            if anchor.source_hash:
                entry["sourceHash"] = anchor.source_hash
    return entry


def _cell_entry(anchor: CellAnchor) -> Entry:
    entry: Entry = {
        "cellId": anchor.cell_id,
        "sourceHash": anchor.source_hash,
        "length": anchor.length,
        "excerpt": anchor.excerpt,
    }
    if anchor.shared:
        entry["shared"] = True
    return entry


def read_thread(entry: Any) -> Thread | None:
    """A thread, if it has an id and at least one comment that can be read."""
    if not isinstance(entry, dict):
        return None
    thread_id, comments = _name(entry.get("id")), entry.get("comments")
    if not thread_id or not isinstance(comments, list):
        return None
    found = [read_comment(each) for each in comments[: 2 * MAX_COMMENTS]]
    readable = tuple(comment for comment in found if comment is not None)
    if not readable:
        return None
    return Thread(thread_id, read_anchor(entry.get("anchor")), readable)


def read_comment(entry: Any) -> Comment | None:
    """A comment, if it says anything; a message that is too long is cut."""
    if not isinstance(entry, dict):
        return None
    message, status, created = entry.get("message"), entry.get("status"), entry.get("created")
    if not isinstance(message, str):
        message = ""
    if status not in _STATUSES:
        status = None
    if not message.strip() and status is None:
        return None
    return Comment(
        _author(entry.get("author")),
        _name(created),
        message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "…",
        status,
    )


def read_anchor(entry: Any) -> Anchor | None:
    """An anchor of a kind that we know, if all is there that it takes to find its place."""
    if not isinstance(entry, dict) or not _name(entry.get("cellId")):
        return None
    kind = entry.get("kind")
    if kind == "cell":
        return _read_cell(entry)
    if kind == "source-range":
        return _read_range(entry)
    fingerprint = _name(entry.get("fingerprint"))
    if kind == "output" and fingerprint:
        index = _count(entry.get("outputIndex"))
        return OutputAnchor(_read_cell(entry), index, fingerprint, _name(entry.get("mimeType")))
    return None


def _read_cell(entry: Entry) -> CellAnchor:
    return CellAnchor(
        entry["cellId"],
        _name(entry.get("sourceHash")),
        _count(entry.get("length")),
        _text(entry.get("excerpt")),
        entry.get("shared") is True,
    )


def _read_range(entry: Entry) -> RangeAnchor | None:
    exact, start = _text(entry.get("exact")), entry.get("start")
    if not exact.strip():
        return None
    start, twins = (
        value if isinstance(value, dict) else {} for value in (start, entry.get("twins"))
    )
    return RangeAnchor(
        entry["cellId"],
        exact,
        _text(entry.get("prefix"))[-CONTEXT:],
        _text(entry.get("suffix"))[:CONTEXT],
        _count(start.get("line")),
        _count(start.get("column")),
        _count(twins.get("before"), -1),
        _count(twins.get("after"), -1),
        _count(twins.get("elsewhere"), -1),
        _name(entry.get("sourceHash")),
    )


def _author(entry: Any) -> Author:
    if not isinstance(entry, dict):
        return Author("unknown")
    kind = entry.get("kind")
    return Author(kind if kind in ("agent", "person") else "unknown", _name(entry.get("name")))


def _text(value: Any) -> str:
    """A text of a bounded length, else none."""
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else ""


def _name(value: Any) -> str:
    """An id, a name or a time, else none."""
    return value if isinstance(value, str) and len(value) <= MAX_NAME else ""


def _count(value: Any, instead: int = 0) -> int:
    """A number of characters, lines or the like, else what is given instead."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 2**53 else instead
