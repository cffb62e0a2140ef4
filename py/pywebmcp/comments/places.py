"""Where threads are in a notebook as it is now: at their place, at another one, or nowhere.

A cell's id says which cell is meant. Where no cell has it (a copy took its place, it was merged,
or the notebook's format saves no ids), its text decides, if that can be only one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import Literal

from pywebmcp.comments import outputs, ranges
from pywebmcp.comments.model import CONTEXT, Anchor, CellAnchor, OutputAnchor, RangeAnchor
from pywebmcp.comments.outputs import Output, OutputState
from pywebmcp.edits import position_at, source_hash
from pywebmcp.types import Position, Selection

State = Literal["anchored", "moved", "orphaned"]

EXCERPT = 80
"""Characters of a cell's beginning that are kept with a thread about the whole cell."""

# Between sources that are searched as one text. No text can reach from one cell into the next: it
# would have to hold this.
_BETWEEN = "\n\0\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thread is now.

    ``index`` is the cell's, None when it is gone; an orphaned thread has one where its text is
    gone and its cell is not. ``start`` and ``end`` are offsets of a range in the source.
    """

    state: State
    index: int | None = None
    start: int | None = None
    end: int | None = None
    output_index: int | None = None
    output: OutputState | None = None


NOWHERE = Place("orphaned")


class Places:
    """The cells of a notebook, in which anchors are made and found.

    ``sources`` are LF-normalised; ``outputs`` gives a cell's nbformat outputs and is asked only
    for threads about an output.
    """

    def __init__(
        self,
        ids: Sequence[str | None],
        sources: Sequence[str],
        outputs: Callable[[int], Sequence[Output]],
    ) -> None:
        self.sources = sources
        self._outputs = outputs
        self._ids: dict[str, list[int]] = {}
        for index, cell_id in enumerate(ids):
            if cell_id is not None:
                self._ids.setdefault(cell_id, []).append(index)
        self._corpus: _Corpus | None = None

    # Making anchors

    def cell_anchor(self, cell_id: str, index: int) -> CellAnchor:
        """The anchor of a whole cell."""
        source = self.sources[index]
        anchor = CellAnchor(cell_id, source_hash(source), len(source), source[:EXCERPT])
        whole, part = self._all().cells_like(anchor)
        return replace(anchor, shared=(whole | part) != {index})

    def range_anchor(self, cell_id: str, index: int, start: int, end: int) -> RangeAnchor:
        """The anchor of a part of a cell's source, in offsets."""
        anchor = ranges.make(cell_id, self.sources[index], start, end)
        cells = self._all().cells_with(anchor)
        if cells is None:
            return replace(anchor, shared_elsewhere=2 * CONTEXT)
        like = (ranges.likeness(self.sources[other], anchor) for other in cells - {index})
        return replace(anchor, shared_elsewhere=max(like, default=-1))

    def output_anchor(self, cell_id: str, index: int, output_index: int) -> OutputAnchor:
        """The anchor of one of a cell's outputs."""
        output = self._outputs(index)[output_index]
        return OutputAnchor(
            self.cell_anchor(cell_id, index),
            output_index,
            outputs.fingerprint(output),
            outputs.mime_type(output),
        )

    # Finding them

    def place(self, anchor: Anchor | None) -> Place:
        """Where an anchor is now."""
        if anchor is None:
            return NOWHERE
        if isinstance(anchor, CellAnchor):
            return self._cell(anchor)
        if isinstance(anchor, RangeAnchor):
            return self._range(anchor)
        place = self._cell(anchor.cell)
        if place.index is None:
            return place
        index, state = outputs.find(self._outputs(place.index), anchor)
        if state == "gone":
            return Place("orphaned", place.index, output=state)
        moved = place.state == "moved" or index != anchor.index
        return Place(
            "moved" if moved else "anchored", place.index, output_index=index, output=state
        )

    def selection(self, place: Place) -> Selection | None:
        """A place's range as lines and columns."""
        if place.index is None or place.start is None or place.end is None:
            return None
        source = self.sources[place.index]
        return Selection(start=_position(source, place.start), end=_position(source, place.end))

    def _cell(self, anchor: CellAnchor) -> Place:
        own = self._ids.get(anchor.cell_id, [])
        if len(own) == 1:
            return Place("anchored", own[0])
        if own:
            # Copies with one id: the one with the text, if it is one.
            same = [at for at in own if source_hash(self.sources[at]) == anchor.source_hash]
            return Place("anchored", same[0]) if len(same) == 1 else NOWHERE
        if anchor.shared or not anchor.source_hash:
            return NOWHERE
        whole, part = self._all().cells_like(anchor)
        if not whole and anchor.length >= ranges.EVIDENCE:
            # Merged: all of it is lines of another cell.
            whole = part
        return Place("moved", next(iter(whole))) if len(whole) == 1 else NOWHERE

    def _range(self, anchor: RangeAnchor) -> Place:
        own = self._ids.get(anchor.cell_id, [])
        found = [(at, ranges.within(self.sources[at], anchor)) for at in own]
        hits = [(at, start) for at, start in found if start is not None]
        if not hits:
            hits = self._elsewhere(anchor, own)
        if len(hits) != 1:
            return Place("orphaned", own[0]) if len(own) == 1 else NOWHERE
        [(at, start)] = hits
        stays = at in own and start == ranges.stored_offset(self.sources[at], anchor)
        state: State = "anchored" if stays else "moved"
        return Place(state, at, start, start + len(anchor.exact))

    def _elsewhere(self, anchor: RangeAnchor, own: Iterable[int]) -> list[tuple[int, int]]:
        hits = self._all().ranges_like(anchor)
        return [(at, start) for at, start in hits if at not in own]

    def _all(self) -> _Corpus:
        if self._corpus is None:
            self._corpus = _corpus(tuple(self.sources))
        return self._corpus


class _Corpus:
    """All sources as one text: one search for each thread, however many cells there are.

    What was found is kept, for as long as no source changes: see `_corpus`.
    """

    def __init__(self, sources: tuple[str, ...]) -> None:
        self._sources = sources
        self._text = "\n" + _BETWEEN.join(sources) + "\n"
        widths = (len(source) + len(_BETWEEN) for source in sources)
        self._starts = list(accumulate(widths, initial=1))[:-1]
        self._cells: dict[CellAnchor, tuple[set[int], set[int]]] = {}
        self._ranges: dict[RangeAnchor, list[tuple[int, int]]] = {}

    def cells_with(self, anchor: RangeAnchor) -> set[int] | None:
        """The cells that have an anchor's text and one side of what was around it.

        None for too many to compare.
        """
        found: set[int] = set()
        for needle, _ in ranges.needles(anchor):
            hits = [at for at, _ in islice(self._hits(needle), ranges.MAX_OCCURRENCES)]
            if len(hits) == ranges.MAX_OCCURRENCES:
                return None
            found.update(hits)
        return found

    def cells_like(self, anchor: CellAnchor) -> tuple[set[int], set[int]]:
        """The cells that are what a cell was, and those that have all of it as lines of theirs."""
        if anchor not in self._cells:
            self._cells[anchor] = self._cells_like(anchor)
        return self._cells[anchor]

    def ranges_like(self, anchor: RangeAnchor) -> list[tuple[int, int]]:
        """Cells and offsets where an anchor's text is, with what was around it."""
        if anchor not in self._ranges:
            cells = sorted(self.cells_with(anchor) or ())
            found = [(at, ranges.elsewhere(self._sources[at], anchor)) for at in cells]
            self._ranges[anchor] = [(at, start) for at, start in found if start is not None]
        return self._ranges[anchor]

    def _cells_like(self, anchor: CellAnchor) -> tuple[set[int], set[int]]:
        whole: set[int] = set()
        part: set[int] = set()
        if not anchor.excerpt.strip():
            return whole, part
        hits = self._hits("\n" + anchor.excerpt, skip=1)
        for at, start in islice(hits, ranges.MAX_OCCURRENCES):
            source, end = self._sources[at], start + anchor.length
            if len(source) < end or source[end : end + 1] not in ("", "\n"):
                continue
            if source_hash(source[start:end]) == anchor.source_hash:
                (whole if anchor.length == len(source) else part).add(at)
        return whole, part

    def _hits(self, text: str, *, skip: int = 0) -> Iterable[tuple[int, int]]:
        """Cell and offset of every occurrence of a text, less its first ``skip`` characters."""
        for place in ranges.occurrences(self._text, text):
            start = place + skip
            at = max(bisect_right(self._starts, start) - 1, 0)
            yield at, start - self._starts[at]


@lru_cache(maxsize=4)
def _corpus(sources: tuple[str, ...]) -> _Corpus:
    """Kept for the notebooks that were looked at last, by their sources."""
    return _Corpus(sources)


def _position(source: str, offset: int) -> Position:
    line, column = position_at(source, offset)
    return Position(line=line, column=column)
