r"""Finding a piece of text again by what was around it, or not at all: never a guess.

An occurrence of the text convinces when all that was kept of one side agrees, and the other side
agrees better than it did at any other occurrence when the text was marked. So a twin does not
inherit what was tied to its deleted sibling: where a text is deleted up to its twin, that has the
one side of it, and its own other side.

A source is looked at as if a line feed were before and behind it, which makes the beginning and
the end of a cell those of a line: a line stays what it was when lines come before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from pywebmcp.comments.model import CONTEXT, RangeAnchor
from pywebmcp.edits import PositionError, offset_at, position_at, source_hash

EVIDENCE = 12
"""Characters that have to agree, the text and a whole side of it, where the other side does not."""

NEAR = 20
"""The same for the text and all around it that agrees, where a whole side of it is too short."""

MAX_OCCURRENCES = 1000
"""Occurrences that are compared; of a text that is there more often, none is told from the rest."""


@dataclass(frozen=True, slots=True)
class Match:
    """An occurrence of a text: where, and how many characters before and behind it agree.

    ``whole_*``: all that was kept of that side agrees. ``edge_*``: all that there is on that side
    up to the edge of the cell agrees.
    """

    at: int
    before: int
    after: int
    whole_before: bool
    whole_after: bool
    edge_before: bool
    edge_after: bool

    @property
    def whole(self) -> bool:
        """Whether both sides agree."""
        return self.whole_before and self.whole_after


def make(cell_id: str, source: str, start: int, end: int) -> RangeAnchor:
    """The anchor of ``source[start:end]``, not yet compared with other cells."""
    line, column = position_at(source, start)
    anchor = RangeAnchor(
        cell_id,
        source[start:end],
        source[max(0, start - CONTEXT) : start],
        source[end : end + CONTEXT],
        line,
        column,
    )
    twins = [at for at in islice(occurrences(source, anchor.exact), MAX_OCCURRENCES) if at != start]
    if not twins:
        return anchor
    prefix, suffix = _context(anchor)
    if len(twins) >= MAX_OCCURRENCES - 1:
        before, after = len(prefix), len(suffix)
    else:
        others = [_match(source, anchor.exact, at, prefix, suffix) for at in twins]
        before, after = max(each.before for each in others), max(each.after for each in others)
    told_apart = before < len(prefix) and after < len(suffix)
    return replace(
        anchor,
        shared_before=before,
        shared_after=after,
        source_hash="" if told_apart else source_hash(source),
    )


def needles(anchor: RangeAnchor) -> tuple[tuple[str, int], tuple[str, int]]:
    """What has to be found: the text with one side of it, and where in that the text begins.

    Every occurrence that can convince has one of the two.
    """
    prefix, suffix = _context(anchor)
    return (prefix + anchor.exact, len(prefix)), (anchor.exact + suffix, 0)


def occurrences(source: str, text: str) -> Iterator[int]:
    """Where a text begins in a source, overlapping occurrences too."""
    at = source.find(text)
    while at >= 0:
        yield at
        at = source.find(text, at + 1)


def matches(source: str, anchor: RangeAnchor) -> list[Match] | None:
    """The occurrences of an anchor's text that agree on one side; None for too many to compare."""
    padded = f"\n{source}\n"
    places: set[int] = set()
    for needle, skip in needles(anchor):
        places.update(
            place + skip - 1 for place in islice(occurrences(padded, needle), MAX_OCCURRENCES)
        )
    if len(places) >= MAX_OCCURRENCES:
        return None
    prefix, suffix = _context(anchor)
    last = len(source) - len(anchor.exact)
    return [
        _match(source, anchor.exact, at, prefix, suffix) for at in sorted(places) if 0 <= at <= last
    ]


def within(source: str, anchor: RangeAnchor) -> int | None:
    """Where the text is now in its own cell, or None: when it is at no place, or may be at two."""
    at = stored_offset(source, anchor)
    if at is not None and source.startswith(anchor.exact, at):
        match = _match(source, anchor.exact, at, *_context(anchor))
        if match.whole and (
            _is_no_twin(match, anchor) or source_hash(source) == anchor.source_hash
        ):
            return at
    found = matches(source, anchor) or []
    return _best([match for match in found if _convinces(match, anchor)])


def elsewhere(source: str, anchor: RangeAnchor) -> int | None:
    """Where the text is in a cell that is not its own (any more), or None.

    A cell that was split ends at the cut, so one side may be short of what was kept of it.
    """
    return _best(
        [
            match
            for match in matches(source, anchor) or []
            if match.before + match.after > anchor.shared_elsewhere
            and len(anchor.exact) + match.before + match.after >= EVIDENCE
            and (match.whole_before or match.edge_before)
            and (match.whole_after or match.edge_after)
            and _is_no_twin(match, anchor)
        ]
    )


def likeness(source: str, anchor: RangeAnchor) -> int:
    """How many characters around an occurrence in another cell agree, at most; -1 without one."""
    found = matches(source, anchor)
    if found is None:
        return 2 * CONTEXT
    return max((match.before + match.after for match in found), default=-1)


def stored_offset(source: str, anchor: RangeAnchor) -> int | None:
    """The offset of the line and column that an anchor has, if there are such."""
    try:
        return offset_at(source, anchor.line, anchor.column)
    except PositionError:
        return None


def _convinces(match: Match, anchor: RangeAnchor) -> bool:
    side = max(match.before if match.whole_before else 0, match.after if match.whole_after else 0)
    size = len(anchor.exact)
    enough = match.whole or size + side >= EVIDENCE or size + match.before + match.after >= NEAR
    return enough and _is_no_twin(match, anchor)


def _is_no_twin(match: Match, anchor: RangeAnchor) -> bool:
    return (match.whole_before and match.after > anchor.shared_after) or (
        match.whole_after and match.before > anchor.shared_before
    )


def _best(found: list[Match]) -> int | None:
    """The only match, or the only one that agrees on both sides."""
    if len(found) > 1:
        found = [match for match in found if match.whole]
    return found[0].at if len(found) == 1 else None


def _context(anchor: RangeAnchor) -> tuple[str, str]:
    """Both sides; what is shorter than what is kept ended at the edge of the cell."""
    prefix, suffix = anchor.prefix, anchor.suffix
    return (
        prefix if len(prefix) >= CONTEXT else "\n" + prefix,
        suffix if len(suffix) >= CONTEXT else suffix + "\n",
    )


def _match(source: str, text: str, at: int, prefix: str, suffix: str) -> Match:
    end = at + len(text)
    left = source[max(0, at - len(prefix)) : at]
    right = source[end : end + len(suffix)]
    if len(left) < len(prefix):
        left = "\n" + left
    if len(right) < len(suffix):
        right += "\n"
    before, after = _agreeing(left[::-1], prefix[::-1]), _agreeing(right, suffix)
    return Match(
        at,
        before,
        after,
        before == len(prefix),
        after == len(suffix),
        before >= at,
        after >= len(source) - end,
    )


def _agreeing(one: str, other: str) -> int:
    """The length of the common beginning."""
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))
