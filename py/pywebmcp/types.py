"""Names for the shapes that pass between the layers, so that signatures read as what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Protocol, TypedDict

Json = None | bool | int | float | str | list[Any] | dict[str, Any]
"""A JSON value, as ``json.loads`` gives it."""

Payload = dict[str, Any]
"""The one JSON object that a tool answers (see ``docs/results.md``)."""

EnvelopeMode = Literal["full", "text", "structured"]
"""Which copies of the payload an envelope carries."""

CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True, slots=True)
class Arg:
    """What an ``Annotated`` argument says beyond its type: description, JSON name, bounds."""

    description: str = ""
    name: str | None = None
    ge: int | None = None
    min_items: int | None = None
    min_length: int | None = None


class Position(TypedDict):
    """A place in a cell's source: 0-based line and column, in Unicode characters."""

    line: Annotated[int, Arg(ge=0)]
    column: Annotated[int, Arg(ge=0)]


class Selection(TypedDict):
    """A range of a cell's source; ``end`` is exclusive and not before ``start``."""

    start: Position
    end: Position


class CellData(TypedDict):
    """One cell as nbformat 4 has it, its ``source`` joined to one string.

    ``id`` is the live model's id, or what the file holds; it is absent in files below
    nbformat 4.5. ``outputs`` is present only when it was asked for (code cells).
    """

    cell_type: str
    source: str
    metadata: dict[str, Any]
    id: NotRequired[str]
    execution_count: NotRequired[int | None]
    outputs: NotRequired[list[dict[str, Any]]]


class AbortSignal(Protocol):
    """What we use of the DOM's ``AbortSignal``: the caller's word that it no longer waits."""

    @property
    def aborted(self) -> bool:
        """Whether the caller gave up."""
        ...

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once when the caller gives up; answers the way to undo that."""
        ...


class NeverAborted:
    """The signal of a caller that cannot abort."""

    aborted = False

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Nothing to wait for."""
        return lambda: None
