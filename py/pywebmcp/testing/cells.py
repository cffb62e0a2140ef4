"""One cell of a notebook in memory: source, outputs, undo steps, and the person's selection in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pywebmcp.edits import normalise_newlines
from pywebmcp.testing.notebooks import crossed, joined
from pywebmcp.types import CellData, Position, Selection

TYPING = 0.5
"""Seconds within which a person's keystrokes are one undo step, as in JupyterLab."""


@dataclass(slots=True)
class Step:
    """One undo step: the source before it, and when it began (None: never merged)."""

    before: str
    since: float | None


@dataclass(slots=True, eq=False)
class MemoryCell:
    """A cell of the live model.

    ``source`` may hold carriage returns until it is first written to; ``text`` is how everyone
    reads it. ``anchor`` and ``head`` are the person's selection, in characters of ``text``;
    ``extra`` are the cell's other keys (``attachments``).
    """

    id: str
    cell_type: str
    source: str
    metadata: dict[str, Any] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    anchor: int = 0
    head: int = 0
    undo: list[Step] = field(default_factory=list)
    redo: list[Step] = field(default_factory=list)
    running: bool = False
    clearing: bool = False
    ran: str | None = None
    """The source that the outputs are of, once it is known."""

    @classmethod
    def read(cls, cell: dict[str, Any], cell_id: str) -> MemoryCell:
        """A cell of a file or of an insertion."""
        known = {"id", "cell_type", "source", "metadata", "outputs", "execution_count"}
        is_code = cell["cell_type"] == "code"
        was_run = is_code and cell.get("execution_count") is not None
        return cls(
            ran=normalise_newlines(joined(cell["source"])) if was_run else None,
            id=cell_id,
            cell_type=cell["cell_type"],
            source=joined(cell["source"]),
            metadata=cell.get("metadata", {}),
            outputs=cell.get("outputs", []) if is_code else [],
            execution_count=cell.get("execution_count") if is_code else None,
            extra={key: value for key, value in cell.items() if key not in known},
        )

    @property
    def text(self) -> str:
        """The source with line feeds as its only line ends, as an editor shows it."""
        return normalise_newlines(self.source)

    @property
    def changed(self) -> bool:
        """Whether the source is another one than that which made the outputs."""
        return self.ran is not None and self.ran.strip() != self.text.strip()

    def data(self, *, outputs: bool) -> CellData:
        """The cell as ``Notebook.cells`` gives it."""
        data = CellData(
            id=self.id,
            cell_type=self.cell_type,
            source=self.text,
            metadata=crossed(self.metadata),
        )
        if self.cell_type == "code":
            data["execution_count"] = self.execution_count
            if outputs:
                data["outputs"] = crossed(self.outputs)
        return data

    def saved(self, *, with_id: bool) -> dict[str, Any]:
        """The cell as its file has it."""
        cell: dict[str, Any] = {"id": self.id} if with_id else {}
        cell |= {
            "cell_type": self.cell_type,
            "source": self.source,
            "metadata": self.metadata,
            **self.extra,
        }
        if self.cell_type == "code":
            cell |= {"execution_count": self.execution_count, "outputs": self.outputs}
        return cell

    def replace(self, start: int, end: int, text: str, *, since: float | None = None) -> None:
        """Replace a range and move the person's selection as CodeMirror does.

        With ``since`` (a person's keystroke at that time) it may join the undo step before it.
        """
        before = self.text
        began = self.undo[-1].since if self.undo else None
        if since is None or began is None or since - began > TYPING:
            self.undo.append(Step(before, since))
        self.redo.clear()
        text = crossed(normalise_newlines(text))
        self.source = crossed(before[:start] + text + before[end:])
        self._map_selection(start, end, len(text))

    def step_back(self) -> bool:
        """Undo one step; answers whether there was one."""
        return self._step(self.undo, self.redo)

    def step_forward(self) -> bool:
        """Redo one step; answers whether there was one."""
        return self._step(self.redo, self.undo)

    def add_output(self, output: dict[str, Any]) -> None:
        """Take an output as JupyterLab's output area does: streams join, ``clear_output`` clears."""
        output = crossed(output)
        if output["output_type"] == "clear_output":
            self.clearing = output["wait"]
            if not self.clearing:
                self.outputs.clear()
            return
        if self.clearing:
            self.outputs.clear()
            self.clearing = False
        last = self.outputs[-1] if self.outputs else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] = joined(last["text"]) + output["text"]
        else:
            self.outputs.append(output)

    def selection(self) -> Selection:
        """The person's selection as positions."""
        start, end = sorted((self.anchor, self.head))
        return Selection(start=position(self.text, start), end=position(self.text, end))

    def select(self, selection: Selection) -> None:
        """Set the person's selection."""
        self.anchor = offset(self.text, selection["start"])
        self.head = offset(self.text, selection["end"])

    def selected_text(self) -> str:
        """What the person has selected."""
        start, end = sorted((self.anchor, self.head))
        return self.text[start:end]

    def _step(self, take: list[Step], give: list[Step]) -> bool:
        if not take:
            return False
        step = take.pop()
        give.append(Step(self.text, None))
        self.source = step.before
        self.anchor = self.head = min(self.head, len(self.source))
        return True

    def _map_selection(self, start: int, end: int, length: int) -> None:
        def moved(place: int, after: bool) -> int:
            if place < start or (place == start and not after):
                return place
            if place > end or (place == end and (after or end > start)):
                return place + length - (end - start)
            return start + length if after else start

        if self.anchor == self.head:
            self.anchor = self.head = moved(self.head, after=False)
        else:
            forward = self.anchor < self.head
            self.anchor = moved(self.anchor, after=forward)
            self.head = moved(self.head, after=not forward)


def position(text: str, place: int) -> Position:
    """The line and column of an offset."""
    line = text.count("\n", 0, place)
    return Position(line=line, column=place - (text.rfind("\n", 0, place) + 1))


def offset(text: str, place: Position) -> int:
    """The offset of a line and column, which must be inside the text."""
    lines = text.split("\n")
    if not (0 <= place["line"] < len(lines) and 0 <= place["column"] <= len(lines[place["line"]])):
        raise ValueError(f"{place} is outside the text")
    return sum(len(line) + 1 for line in lines[: place["line"]]) + place["column"]
