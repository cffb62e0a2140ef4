"""Changes of a source as values: hashes that guard them, replacements by text, the smallest edit
between two texts, and the offsets in which editors count.

Sources are LF-normalised first, because a carriage return in a cell makes JupyterLab's editor and
its shared model diverge. Indices, lines and columns are 0-based and count Unicode code points;
only a line feed breaks lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate

from pywebmcp.constants import HASH_LENGTH

MAX_DIFFED_LINES = 300
"""Changed lines up to which they are compared one by one: the comparison is quadratic at worst."""

_after_feeds = re.compile(r"(?<=\n)")
_astral = re.compile("[\U00010000-\U0010ffff]")


class EditError(ValueError):
    """A replacement that cannot be applied.

    Attributes:
        index: which of the edits, 0-based.
        count: how many times its old text occurs in the source.
        other_whitespace: whether it would be found if white space were ignored.
    """

    def __init__(
        self, message: str, index: int, count: int, *, other_whitespace: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.index = index
        self.count = count
        self.other_whitespace = other_whitespace


class PositionError(ValueError):
    """A line, column or offset outside the text; the message gives the valid range."""


def normalise_newlines(text: str) -> str:
    r"""The text with ``\r\n`` and lone ``\r`` as ``\n``."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


# As many cells as a very long notebook has: every answer carries the hashes of the cells it shows.
@lru_cache(maxsize=2048)
def source_hash(text: str) -> str:
    """The first 10 hexadecimal digits of the SHA-256 of the LF-normalised source in UTF-8."""
    return digest(normalise_newlines(text))


def digest(text: str) -> str:
    """The first 10 hexadecimal digits of the SHA-256 of a text in UTF-8."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]


def smallest_edit(old: str, new: str) -> tuple[int, int, str] | None:
    """The one replacement ``(start, end, text)`` with ``old[:start] + text + old[end:] == new``.

    ``None`` when the texts are equal. The edit never begins or ends between two surrogates that
    JavaScript would take as one character, in either text: an editor makes U+FFFD of the halves.
    """
    if old == new:
        return None
    start = _common_prefix(old, new, min(len(old), len(new)))
    tail = _common_suffix(old, new, min(len(old), len(new)) - start)
    if _splits_pair(old, start) or _splits_pair(new, start):
        start -= 1
    if _splits_pair(old, len(old) - tail) or _splits_pair(new, len(new) - tail):
        tail -= 1
    return start, len(old) - tail, new[start : len(new) - tail]


def smallest_edits(old: str, new: str) -> list[tuple[int, int, str]]:
    """Edits ``(start, end, text)`` that make ``new`` of ``old``, in order and apart from each other.

    Offsets count characters of ``old``. Lines that stay between two changes are in none of them, so
    that a cursor there stays where it is; each edit is as small as `smallest_edit` makes it.
    """
    whole = smallest_edit(old, new)
    if whole is None:
        return []
    start, end, text = whole
    # Lines with their line feeds, so that joining them gives the text again.
    before, after = _after_feeds.split(old[start:end]), _after_feeds.split(text)
    if min(len(before), len(after)) < 3 or max(len(before), len(after)) > MAX_DIFFED_LINES:
        return [whole]
    offsets = list(accumulate(map(len, before), initial=start))
    edits: list[tuple[int, int, str]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        begin = offsets[first]
        part = smallest_edit(old[begin : offsets[last]], "".join(after[new_first:new_last]))
        if part is not None:
            edits.append((begin + part[0], begin + part[1], part[2]))
    return edits


def apply_replacements(source: str, edits: Sequence[tuple[str, str]]) -> str:
    """The source with each ``(old, new)`` of the edits replaced.

    Every old text is matched against the source as it was given, must occur there exactly once
    (occurrences that overlap count) and must not be empty; the matches may not overlap. Source
    and edits are LF-normalised first.

    Raises:
        EditError: for the first edit that does not fit.
    """
    source = normalise_newlines(source)
    found: list[tuple[int, int, int, str]] = []
    for index, (old, new) in enumerate(edits):
        old = normalise_newlines(old)
        start = _find_once(source, old, index)
        found.append((start, start + len(old), index, normalise_newlines(new)))
    found.sort()
    pieces: list[str] = []
    position, before = 0, -1
    for start, end, index, new in found:
        if start < position:
            first, second = sorted((before, index))
            raise EditError(f"edits[{second}] overlaps edits[{first}]: join them.", second, 1)
        pieces += source[position:start], new
        position, before = end, index
    return "".join([*pieces, source[position:]])


def utf16_offset(text: str, index: int) -> int:
    """The offset in UTF-16 code units, as JavaScript counts, of a code point index.

    Raises:
        PositionError: when the index is not within ``0 .. len(text)``.
    """
    if not 0 <= index <= len(text):
        raise PositionError(f"Offset {index} is out of range: 0 to {len(text)}.")
    if text.isascii():
        return index
    return len(text[:index].encode("utf-16-le", "surrogatepass")) // 2


def from_utf16_offset(text: str, offset: int) -> int:
    """The code point index of an offset in UTF-16 code units; inverse of `utf16_offset`.

    An offset inside a character outside the Basic Multilingual Plane gives that character.

    Raises:
        PositionError: when the offset is outside the text.
    """
    index = offset
    if not text.isascii():
        for match in _astral.finditer(text):
            if match.start() >= index:
                break
            index -= 1
    if not 0 <= index <= len(text):
        size = utf16_offset(text, len(text))
        raise PositionError(f"Offset {offset} is out of range: 0 to {size} UTF-16 code units.")
    return index


def offset_at(text: str, line: int, column: int) -> int:
    """The index in the text of a 0-based line and column.

    Raises:
        PositionError: when there is no such line, or the line has no such column (its end is one).
    """
    last = text.count("\n")
    if not 0 <= line <= last:
        raise PositionError(f"Line {line} is out of range: 0 to {last}.")
    start = 0
    for _ in range(line):
        start = text.index("\n", start) + 1
    end = text.find("\n", start)
    width = (len(text) if end < 0 else end) - start
    if not 0 <= column <= width:
        raise PositionError(f"Column {column} is out of range: line {line} has 0 to {width}.")
    return start + column


def position_at(text: str, offset: int) -> tuple[int, int]:
    """The 0-based line and column of an index in the text; inverse of `offset_at`.

    Raises:
        PositionError: when the index is not within ``0 .. len(text)``.
    """
    if not 0 <= offset <= len(text):
        raise PositionError(f"Offset {offset} is out of range: 0 to {len(text)}.")
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


def _common_prefix(old: str, new: str, limit: int) -> int:
    """Length of the common prefix, at most ``limit``: halving, so that slices compare in C."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(old: str, new: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _splits_pair(text: str, index: int) -> bool:
    """Whether the index lies between a high and a low surrogate."""
    return (
        0 < index < len(text)
        and "\ud800" <= text[index - 1] <= "\udbff"
        and "\udc00" <= text[index] <= "\udfff"
    )


def _find_once(source: str, old: str, index: int) -> int:
    if not old:
        raise EditError(f"edits[{index}]: the text to replace is empty.", index, 0)
    start = source.find(old)
    if start < 0:
        line = _line_ignoring_whitespace(source, old)
        if line is None:
            raise EditError(f"edits[{index}]: the text to replace was not found.", index, 0)
        raise EditError(
            f"edits[{index}]: the text to replace was not found as given, but with other white "
            f"space it is at line {line} (0-based): copy it exactly.",
            index,
            0,
            other_whitespace=True,
        )
    if source.find(old, start + 1) >= 0:
        # count() leaves out overlapping occurrences, but there are two at least.
        count = max(source.count(old), 2)
        raise EditError(
            f"edits[{index}]: the text to replace was found {count} times: "
            "add text around it until it occurs once.",
            index,
            count,
        )
    return start


def _line_ignoring_whitespace(source: str, old: str) -> int | None:
    """The line on which ``old`` begins when white space is ignored, or None."""
    wanted = "".join(old.split())
    lines = ["".join(line.split()) for line in source.split("\n")]
    position = "".join(lines).find(wanted) if wanted else -1
    if position < 0:
        return None
    ends = accumulate(map(len, lines))
    return next(number for number, end in enumerate(ends) if end > position)


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
