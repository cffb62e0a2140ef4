"""What differs between two sources, line by line and within lines, as values to draw.

Line numbers are 0-based; only a line feed breaks lines. An empty text has no lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["equal", "insert", "delete", "replace"]

MAX_COMPARED = 400
"""Lines that are compared one by one: the comparison is quadratic at worst."""

MAX_LINE = 2000
"""Characters of a line within which words are compared; of a longer one only its ends are."""

ALIKE = 0.4
"""Share of its characters that two lines have in common to be one line that was changed."""

_tokens = re.compile(r"\w+|\s+|.", re.DOTALL)

_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a line: the same on both sides, deleted from the old or inserted in the new one."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a diff.

    ``old`` and ``new`` are its numbers on the two sides, None where it is not; so are ``before``
    and ``after``, its segments. A ``replace`` row has both sides, an ``equal`` one the same twice.
    """

    kind: Kind
    old: int | None
    new: int | None
    before: tuple[Segment, ...] | None
    after: tuple[Segment, ...] | None


@dataclass(frozen=True, slots=True)
class Diff:
    """The rows of two whole texts, and how many lines were added and removed."""

    rows: tuple[Row, ...]
    added: int
    removed: int

    def hunks(self, context: int = 3) -> list[tuple[Row, ...]]:
        """The changed rows with up to ``context`` equal ones around them, in groups.

        What is between two groups is left out.
        """
        groups: list[tuple[int, int]] = []
        for index, row in enumerate(self.rows):
            if row.kind == "equal":
                continue
            start, stop = max(0, index - context), min(len(self.rows), index + context + 1)
            if groups and start <= groups[-1][1]:
                groups[-1] = groups[-1][0], stop
            else:
                groups.append((start, stop))
        return [self.rows[start:stop] for start, stop in groups]


def diff(before: str | None, after: str | None) -> Diff:
    """The diff of two sources; None is a cell or file that is not there."""
    old, new = _lines(before), _lines(after)
    rows: list[Row] = []
    for tag, first, last, new_first, new_last in _opcodes(old, new):
        if tag == "equal":
            rows += [
                _equal(first + offset, new_first + offset, old[first + offset])
                for offset in range(last - first)
            ]
        else:
            rows += _changed(old, first, last, new, new_first, new_last)
    return Diff(
        tuple(rows),
        added=sum(row.kind in ("insert", "replace") for row in rows),
        removed=sum(row.kind in ("delete", "replace") for row in rows),
    )


def counts(before: str | None, after: str | None) -> tuple[int, int]:
    """How many lines were added and how many removed, without a look inside the lines."""
    added = removed = 0
    for tag, first, last, new_first, new_last in _opcodes(_lines(before), _lines(after)):
        if tag != "equal":
            added += new_last - new_first
            removed += last - first
    return added, removed


def _lines(text: str | None) -> list[str]:
    return text.split("\n") if text else []


def _equal(old: int, new: int, line: str) -> Row:
    segments = (Segment("equal", line),)
    return Row("equal", old, new, segments, segments)


def _changed(
    old: Sequence[str], first: int, last: int, new: Sequence[str], new_first: int, new_last: int
) -> Iterator[Row]:
    """A block of changed lines: those that are alike in pairs, the others deleted or inserted."""
    paired = min(last - first, new_last - new_first)
    for offset in range(paired):
        at, to = first + offset, new_first + offset
        sides = within(old[at], new[to])
        if sides is None:
            yield Row("delete", at, None, (Segment("delete", old[at]),), None)
            yield Row("insert", None, to, None, (Segment("insert", new[to]),))
        else:
            yield Row("replace", at, to, *sides)
    for at in range(first + paired, last):
        yield Row("delete", at, None, (Segment("delete", old[at]),), None)
    for to in range(new_first + paired, new_last):
        yield Row("insert", None, to, None, (Segment("insert", new[to]),))


def within(old: str, new: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]] | None:
    """The segments of the two sides of a changed line; None when the two are not alike."""
    if max(len(old), len(new)) > MAX_LINE:
        start = _common(old, new)
        tail = _common(old[start:][::-1], new[start:][::-1])
        parts: list[tuple[str, str, str]] = [
            ("equal", old[:start], new[:start]),
            ("replace", old[start : len(old) - tail], new[start : len(new) - tail]),
            ("equal", old[len(old) - tail :], new[len(new) - tail :]),
        ]
    else:
        words, others = _tokens.findall(old), _tokens.findall(new)
        matcher = SequenceMatcher(None, words, others, autojunk=False)
        parts = [
            (tag, "".join(words[first:last]), "".join(others[new_first:new_last]))
            for tag, first, last, new_first, new_last in matcher.get_opcodes()
        ]
    same = sum(len(text.strip()) for tag, text, _ in parts if tag == "equal")
    if same < ALIKE * max(len(old.strip()), len(new.strip())) / 2:
        return None
    before = [_segment(tag, text, "delete") for tag, text, _ in parts if text]
    after = [_segment(tag, text, "insert") for tag, _, text in parts if text]
    return tuple(before), tuple(after)


def _segment(tag: str, text: str, changed: Kind) -> Segment:
    return Segment("equal" if tag == "equal" else changed, text)


def _common(old: str, new: str) -> int:
    """Length of the common beginning, by halving, so that slices compare in C."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    """As ``SequenceMatcher.get_opcodes``, without what is equal at both ends being compared."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
    found += _middle(old, start, len(old) - tail, new, start, len(new) - tail)
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _middle(
    old: Sequence[str], first: int, last: int, new: Sequence[str], new_first: int, new_last: int
) -> Iterator[_Opcode]:
    if first == last and new_first == new_last:
        return
    if first == last or new_first == new_last:
        yield ("insert" if first == last else "delete"), first, last, new_first, new_last
        return
    if max(last - first, new_last - new_first) <= MAX_COMPARED:
        matcher = SequenceMatcher(None, old[first:last], new[new_first:new_last], autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            yield tag, first + a, first + b, new_first + c, new_first + d
        return
    # Too long to compare all with all: lines that are there once on each side hold it together.
    at, to = first, new_first
    for anchor, twin in [*_anchors(old, first, last, new, new_first, new_last), (last, new_last)]:
        if (anchor, twin) == (last, new_last) and (at, to) == (first, new_first):
            yield "replace", first, last, new_first, new_last
            return
        yield from _middle(old, at, anchor, new, to, twin)
        if anchor < last:
            yield "equal", anchor, anchor + 1, twin, twin + 1
        at, to = anchor + 1, twin + 1


def _anchors(
    old: Sequence[str], first: int, last: int, new: Sequence[str], new_first: int, new_last: int
) -> list[tuple[int, int]]:
    """Pairs of equal lines, unique on each side, in the longest rising order."""
    here, there = Counter(old[first:last]), Counter(new[new_first:new_last])
    places = {new[to]: to for to in range(new_first, new_last)}
    pairs = [
        (at, places[old[at]])
        for at in range(first, last)
        if here[old[at]] == 1 and there[old[at]] == 1
    ]
    ends: list[int] = []
    tops: list[int] = []
    back: list[int | None] = []
    for index, (_, to) in enumerate(pairs):
        place = bisect_left(ends, to)
        back.append(tops[place - 1] if place else None)
        if place == len(ends):
            ends.append(to)
            tops.append(index)
        else:
            ends[place], tops[place] = to, index
    chain: list[tuple[int, int]] = []
    current = tops[-1] if tops else None
    while current is not None:
        chain.append(pairs[current])
        current = back[current]
    return chain[::-1]
