"""Who is told what a call does to which cells, at the one place that every call goes through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Touch = Literal["read", "edit", "run"]
"""What a call does to a cell."""


class Observer(Protocol):
    """What one call touches; called in the turn in which it happens."""

    def touched(self, path: str, cell_ids: Sequence[str], kind: Touch) -> None:
        """The call reads, edits or runs these cells of an open notebook."""
        ...

    def left(self, path: str, cell_id: str) -> None:
        """A cell that was run has ended."""
        ...

    def used(self, kernel_id: str) -> None:
        """The call runs code on this kernel."""
        ...


class Unobserved:
    """Nobody is told."""

    def touched(self, path: str, cell_ids: Sequence[str], kind: Touch) -> None:
        """Nothing."""

    def left(self, path: str, cell_id: str) -> None:
        """Nothing."""

    def used(self, kernel_id: str) -> None:
        """Nothing."""
