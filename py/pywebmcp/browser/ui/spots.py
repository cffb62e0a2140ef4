"""What a comment can be about, before it has an anchor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A cell, and in it a range of the source (offsets) or an output, by its index."""

    cell_id: str
    start: int | None = None
    end: int | None = None
    output: int | None = None
