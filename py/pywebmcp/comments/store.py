"""Threads in a notebook's metadata: read as untrusted input, written by the smallest change.

Every function takes and answers the value of one key of the notebook's metadata,
``constants.METADATA_KEY``, and never changes what it was given: other fields, fields of a newer
version and entries that cannot be read stay as they are, in content and order.

The notebook's metadata and not the cells', because merging cells throws all their metadata but
one away, copying and splitting them doubles it, and a deleted cell would take the talk about it
along. So a thread stays when its cell goes, and is at its cell again when undo brings that back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pywebmcp import jsontext
from pywebmcp.comments.entries import anchor_entry, comment_entry, read_thread, thread_entry
from pywebmcp.comments.model import (
    MAX_COMMENTS,
    MAX_MESSAGE,
    MAX_STORED,
    MAX_THREADS,
    VERSION,
    Anchor,
    Comment,
    Thread,
)
from pywebmcp.edits import normalise_newlines
from pywebmcp.errors import Code, ToolError

_FIELD = "comments"


@dataclass(frozen=True, slots=True)
class Review:
    """The threads of a notebook by their ids, in the order of the file.

    ``unreadable`` counts entries that are no threads and those beyond the first 1,000. ``at`` says
    at which index of the file's list each thread is.
    """

    threads: Mapping[str, Thread]
    at: Mapping[str, int]
    unreadable: int = 0

    def thread(self, thread_id: str) -> Thread:
        """A thread by its id. Raises ``ToolError`` COMMENT_NOT_FOUND."""
        thread = self.threads.get(thread_id)
        if thread is None:
            raise ToolError(
                Code.COMMENT_NOT_FOUND,
                f'There is no thread "{thread_id}" in this notebook: jupyter_list_comments has '
                "their ids.",
            )
        return thread


def read(own: Any) -> Review:
    """The threads in the value of our key; none where there is anything else. Never raises.

    Where two threads have the same id, as after a merge of two versions of a file, the second one
    is called ``id~2``.
    """
    entries = _entries(own)
    threads: dict[str, Thread] = {}
    at: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if len(threads) == MAX_THREADS:
            break
        thread = read_thread(entry)
        if thread is None:
            continue
        name, count = thread.id, 1
        while name in threads:
            count += 1
            name = f"{thread.id}~{count}"
        threads[name], at[name] = thread, index
    return Review(threads, at, len(entries) - len(threads))


def counts(own: Any) -> dict[str, int]:
    """How many threads are open and how many are resolved."""
    found = {"open": 0, "resolved": 0}
    for thread in read(own).threads.values():
        found[thread.status] += 1
    return found


def message(text: str) -> str:
    """A message as it is stored. Raises ``ToolError`` INVALID_ARGUMENT when empty or too long."""
    text = normalise_newlines(text).strip()
    if not text:
        raise ToolError(Code.INVALID_ARGUMENT, 'Argument "message" must not be empty.')
    if len(text) > MAX_MESSAGE:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The message has {len(text)} characters, and a comment can have {MAX_MESSAGE}: "
            "put long texts into a cell.",
        )
    return text


def with_thread(own: Any, thread: Thread) -> dict[str, Any]:
    """With one more thread, at the end.

    Raises ``ToolError`` INVALID_ARGUMENT when there are too many, NOTEBOOK_ACCESS_DENIED when the
    key holds what we must not touch.
    """
    _require_writable(own)
    entries = _entries(own)
    entries = [*entries, thread_entry(thread)]
    require_room(entries)
    return _with_entries(own, entries)


def require_room(entries: list[Any]) -> None:
    """Raise ``ToolError`` INVALID_ARGUMENT when these threads are more than a notebook can have."""
    if len(entries) > MAX_THREADS:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The notebook has too many threads, {MAX_THREADS} is the limit: ask the person to "
            "delete some.",
        )
    _require_size(entries)


def _require_size(entries: list[Any]) -> None:
    if len(jsontext.dumps(entries)) > MAX_STORED:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The notebook's comments are too long, {MAX_STORED} characters together is the limit: "
            "ask the person to delete some.",
        )


def with_comment(own: Any, thread_id: str, comment: Comment) -> dict[str, Any]:
    """With one more comment at the end of a thread.

    Raises ``ToolError`` COMMENT_NOT_FOUND, INVALID_ARGUMENT when there are too many,
    NOTEBOOK_ACCESS_DENIED when the key holds what we must not touch.
    """
    at, entry = _find(own, thread_id)
    comments = entry["comments"]
    if len(comments) >= MAX_COMMENTS:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The thread has {len(comments)} comments, and {MAX_COMMENTS} is the limit: start a "
            "new one.",
        )
    changed = _replaced(own, at, {**entry, "comments": [*comments, comment_entry(comment)]})
    # A thread can be resolved however many there are.
    if comment.message:
        _require_size(_entries(changed))
    return changed


def with_anchor(own: Any, thread_id: str, anchor: Anchor) -> dict[str, Any]:
    """With a thread tied to another place; raises as `with_comment` does."""
    at, entry = _find(own, thread_id)
    return _replaced(own, at, {**entry, "anchor": anchor_entry(anchor)})


def without_thread(own: Any, thread_id: str) -> dict[str, Any] | None:
    """Without a thread; None when nothing is left to keep. Raises as `with_comment` does."""
    at, _ = _find(own, thread_id)
    entries = _entries(own)
    rest = [*entries[:at], *entries[at + 1 :]]
    if rest or set(own[_FIELD]) - {"version", "threads"}:
        return _with_entries(own, rest)
    kept = {key: value for key, value in own.items() if key != _FIELD}
    return kept or None


def _entries(own: Any) -> list[Any]:
    """The file's list of threads, readable or not."""
    held = own.get(_FIELD) if isinstance(own, dict) else None
    entries = held.get("threads") if isinstance(held, dict) else None
    return entries if isinstance(entries, list) else []


def _find(own: Any, thread_id: str) -> tuple[int, dict[str, Any]]:
    """A thread's index in the list, and its entry, to be replaced by a changed copy."""
    _require_writable(own)
    review = read(own)
    review.thread(thread_id)
    at = review.at[thread_id]
    return at, _entries(own)[at]


def _replaced(own: Any, at: int, entry: dict[str, Any]) -> dict[str, Any]:
    entries = list(_entries(own))
    entries[at] = entry
    return _with_entries(own, entries)


def _with_entries(own: Any, entries: list[Any]) -> dict[str, Any]:
    kept = {} if own is None else own
    held = kept.get(_FIELD, {"version": VERSION})
    return {**kept, _FIELD: {**held, "threads": entries}}


def _require_writable(own: Any) -> None:
    held = own.get(_FIELD, {}) if isinstance(own, dict) else ({} if own is None else own)
    if not isinstance(held, dict) or not isinstance(held.get("threads", []), list):
        raise ToolError(
            Code.NOTEBOOK_ACCESS_DENIED,
            "The notebook's metadata has something else in the place of comments: ask the person "
            "to look at it (Property Inspector, Notebook Metadata).",
        )
    version = held.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise ToolError(
            Code.NOTEBOOK_ACCESS_DENIED,
            f"The comments of this notebook have the format {str(version)[:20]}, and only format "
            f"{VERSION} can be written: ask the person to update this site.",
        )
