"""An edit as Yjs applies it: offsets in UTF-16 code units, and no cut that Yjs would take amiss."""

from __future__ import annotations

from pywebmcp.edits import normalise_newlines, utf16_offset


def yjs_edit(source: str, start: int, end: int, text: str) -> tuple[int, int, str]:
    """``(first, last, text)`` for ``updateSource``, from an edit of characters ``start <= i < end``.

    Yjs cuts its strings at both ends. Behind a high surrogate it takes that for the middle of a
    character and makes U+FFFD of both neighbours, also where the surrogate stands alone; so the
    edit is widened by one character there.
    """
    end = min(end, len(source))
    start = min(start, end)
    text = normalise_newlines(text)
    while 0 < start < len(source) and _is_high(source[start - 1]):
        start -= 1
        text = source[start] + text
    while 0 < end < len(source) and _is_high(source[end - 1]):
        text += source[end]
        end += 1
    return utf16_offset(source, start), utf16_offset(source, end), text


def _is_high(character: str) -> bool:
    """Whether this is a high surrogate that stands alone: a pair is one character in Python."""
    return "\ud800" <= character <= "\udbff"
