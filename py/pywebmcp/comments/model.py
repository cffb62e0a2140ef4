"""What a thread is made of, as values, and the bounds that they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["open", "resolved"]

VERSION = 1
"""The version of the format; it grows when an older reader would misread a newer notebook."""

MAX_THREADS = 1000
"""Threads of a notebook: every reader of its file carries them along."""

MAX_COMMENTS = 200
"""Comments of a thread."""

MAX_MESSAGE = 10_000
"""Characters of a message; what is longer belongs into a cell."""

MAX_STORED = 5_000_000
"""Characters of all threads of a notebook as JSON text: each of them is saved with every save."""

MAX_TEXT = 2000
"""Characters of a cell's text that a thread can be tied to; it is kept in the thread."""

CONTEXT = 32
"""Characters on each side of such a text that are kept with it, to know it again."""

MAX_NAME = 200
"""Characters of an id, a name or a time that are read."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a comment; ``kind`` is ``agent``, ``person``, or ``unknown`` in a foreign file."""

    kind: Literal["agent", "person", "unknown"]
    name: str = ""


AGENT = Author("agent")


@dataclass(frozen=True, slots=True)
class Comment:
    """One entry of a thread: a message, a new status of the thread, or both.

    ``created`` is ISO 8601 in UTC, empty when the file does not say.
    """

    author: Author
    created: str
    message: str = ""
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class CellAnchor:
    """A whole cell: its id, and its source in case that the id goes (a copy, a merge).

    ``source_hash`` and ``length`` (characters) are those of the source when the thread was made;
    ``excerpt`` is how it began. ``shared``: another cell had the same source then, so that the
    source does not tell which cell was meant.
    """

    cell_id: str
    source_hash: str = ""
    length: int = 0
    excerpt: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class RangeAnchor:
    """A part of a cell's source: the exact text, what was around it, and where it began.

    ``exact``, ``prefix`` and ``suffix`` as in a TextQuoteSelector (W3C Web Annotation). ``line``
    and ``column`` are 0-based and count characters.

    Twins are other occurrences of the text that there were when the thread was made.
    ``shared_before`` and ``shared_after``: how many characters before and behind it one in the
    same cell had in common with this one, at most; -1 without twins. ``shared_elsewhere``: the
    same for both sides together and for other cells. No more than that must not convince. Where a
    twin had all of one side in common, only the whole source can tell: ``source_hash``.
    """

    cell_id: str
    exact: str
    prefix: str = ""
    suffix: str = ""
    line: int = 0
    column: int = 0
    shared_before: int = -1
    shared_after: int = -1
    shared_elsewhere: int = -1
    source_hash: str = ""


@dataclass(frozen=True, slots=True)
class OutputAnchor:
    """One output of a cell: its index, a fingerprint of its content, its MIME type."""

    cell: CellAnchor
    index: int
    fingerprint: str
    mime_type: str


Anchor = CellAnchor | RangeAnchor | OutputAnchor


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation about one place. ``anchor`` is None where the file's cannot be read."""

    id: str
    anchor: Anchor | None
    comments: tuple[Comment, ...]

    @property
    def status(self) -> Status:
        """What its last entry with a status says; a thread begins open."""
        for comment in reversed(self.comments):
            if comment.status is not None:
                return comment.status
        return "open"
