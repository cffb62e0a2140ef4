"""Threads of comments as elements, from values alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pywebmcp.browser.ui.access_tab import first_line
from pywebmcp.browser.ui.elements import Node, button, h, name
from pywebmcp.browser.ui.spots import Spot
from pywebmcp.comments import Anchor, CellAnchor, Comment, OutputAnchor, Place, RangeAnchor, Thread
from pywebmcp.toolset.threads import Book

_QUOTE = 60
_BEGINNING = 160
_STATES = {"moved": "moved", "orphaned": "its place is gone"}


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the elements of a thread are made of."""

    thread: Thread
    title: str
    marks: tuple[str, ...]
    there: bool
    """Whether there is a cell to go to."""
    opened: bool
    reply: str = ""
    failed: str = ""
    deleting: bool = False


def marks(thread: Thread, place: Place) -> tuple[str, ...]:
    """What is to be known of a thread beside its text."""
    found = (
        _STATES.get(place.state),
        "its output has changed" if place.output == "changed" else None,
        "resolved" if thread.status == "resolved" else None,
    )
    return tuple(filter(None, found))


@dataclass(slots=True)
class Draft:
    """What a person writes and has not sent: a new thread on a spot, and replies."""

    spot: Spot | None = None
    path: str = ""
    quote: str = ""
    message: str = ""
    wrong: str = ""
    replies: dict[str, str] = field(default_factory=dict)


def composer(draft: Draft) -> Node | None:
    """The form for a new thread, when there is one to write."""
    if draft.spot is None:
        if not draft.wrong:
            return None
        return h("div", draft.wrong, role="alert", cls="pywebmcp-failure", key="wrong")
    return h(
        "form",
        h("label", "Comment on ", h("code", draft.quote), for_=identifier("message")),
        h(
            "textarea",
            rows="3",
            id=identifier("message"),
            value=draft.message,
            on={"input": ["write_message"]},
        ),
        h("div", draft.wrong, role="alert", cls="pywebmcp-failure"),
        h(
            "div",
            h("button", "Comment", type="submit", cls="pywebmcp-button pywebmcp-mod-accept"),
            button("Cancel", ["cancel_thread"]),
            cls="pywebmcp-buttons",
        ),
        on={
            "submit": ["send_thread"],
            "keydown": {"Control+Enter": ["send_thread"], "Escape": ["cancel_thread"]},
        },
        aria_label="New comment",
        cls="pywebmcp-composer",
        key="composer",
    )


def thread(key: str, shown: Shown) -> Node:
    """One thread of the list: its beginning, or where it is open all of it and what to do."""
    first, rest = shown.thread.comments[:1], shown.thread.comments[1:]
    opened = shown.opened
    return h(
        "li",
        h(
            "h3",
            h(
                "button",
                h("span", shown.title, cls="pywebmcp-cell"),
                type="button",
                id=identifier(key, "open"),
                cls="pywebmcp-disclosure",
                aria_expanded="true" if opened else "false",
                on={"click": ["open_thread", key]},
            ),
            key="head",
        ),
        h(
            "div",
            h("div", [h("span", each, cls="pywebmcp-mark") for each in shown.marks])
            if shown.marks
            else None,
            [_comment(each, None if opened else _BEGINNING) for each in first],
            [_comment(each, None) for each in rest]
            if opened
            else h("p", _replies(len(rest)), cls="pywebmcp-hint")
            if rest
            else None,
            _tools(key, shown) if opened else None,
            cls="pywebmcp-thread",
            key="body",
        ),
        _go_button(key, shown.title) if shown.there and not opened else None,
        key=key,
        cls="pywebmcp-comments",
    )


def _tools(key: str, shown: Shown) -> list[Node]:
    done = shown.thread.status == "resolved"
    return [
        h("div", shown.failed, role="alert", cls="pywebmcp-failure"),
        h(
            "textarea",
            rows="2",
            id=identifier(key, "reply"),
            value=shown.reply,
            placeholder="Reply",
            aria_label="Reply",
            on={
                "input": ["write_reply", key],
                "keydown": {"Control+Enter": ["reply", key]},
            },
        ),
        h(
            "div",
            button("Reply", ["reply", key], "pywebmcp-mod-accept"),
            button("Reopen", ["settle", key, "open"])
            if done
            else button("Resolve", ["settle", key, "resolved"]),
            _go_button(key, shown.title) if shown.there else None,
            button(
                "Attach here",
                ["tie", key],
                title="Tie this thread to the selected cell, or to the text selected in it",
            ),
            button(
                "Really delete?" if shown.deleting else "Delete",
                ["delete_thread", key],
                id=identifier(key, "delete"),
            ),
            cls="pywebmcp-buttons",
        ),
    ]


def _go_button(key: str, title: str) -> Node:
    return button("Go to cell", ["go_to_thread", key], aria_label=f"Go to cell: {title}", key="go")


def _comment(comment: Comment, length: int | None) -> Node:
    text = comment.message
    if length is not None and len(text) > length:
        text = text[:length] + "…"
    who = {"agent": "Agent", "person": "You"}.get(comment.author.kind, "Unknown")
    did = {"resolved": "resolved this", "open": "reopened this"}.get(comment.status or "")
    return h(
        "div",
        h(
            "div",
            h("strong", _named(comment.author.name, who)),
            h("span", did) if did else None,
            h("time", local_time(comment.created)) if comment.created else None,
            cls="pywebmcp-comment-head",
        ),
        h("p", text, cls="pywebmcp-message") if text else None,
        cls="pywebmcp-comment",
    )


def _named(name: str, who: str) -> str:
    """Who wrote a comment: a name that a file has for an agent does not make it a person."""
    return name or who if who == "You" else f"{name} ({who})" if name else who


def local_time(created: str) -> str:
    """A time of a file, in the person's own time zone; what is no time stays as it is, cut."""
    try:
        return datetime.fromisoformat(created).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return created[:20]


def _replies(count: int) -> str:
    return "1 reply" if count == 1 else f"{count} replies"


def unreadable(count: int) -> str:
    """What is said of entries that are no threads."""
    return f"{count} entries of the notebook's comments cannot be read; they are kept as they are."


def title(book: Book, anchor: Anchor | None, place: Place) -> str:
    """What a thread is about, in a line."""
    if isinstance(anchor, RangeAnchor):
        return f"“{_short(anchor.exact)}”"
    if place.index is not None:
        cell = _cell_name(book, place.index)
        return f"Output of {cell}" if isinstance(anchor, OutputAnchor) else cell
    if isinstance(anchor, CellAnchor):
        return _short(anchor.excerpt) or "A cell that is gone"
    return "An output that is gone" if anchor is not None else "Unknown place"


def about(book: Book, index: int, spot: Spot) -> str:
    """What a new thread will be about, in a line."""
    if spot.start is not None and spot.end is not None:
        return _short(book.places.sources[index][spot.start : spot.end])
    cell = _cell_name(book, index)
    return f"output {spot.output + 1} of {cell}" if spot.output is not None else cell


def _cell_name(book: Book, index: int) -> str:
    return first_line(book.places.sources[index]) or f"Cell {index + 1}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _QUOTE else text[:_QUOTE] + "…"


def identifier(*parts: str) -> str:
    """An id of the tab's elements."""
    return name("comments", *parts)
