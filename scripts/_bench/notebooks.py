"""The notebooks the bench works on: the same cells in every run, so that figures can be compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

SMALL, LARGE = 20, 1000

# What a data person's notebook is made of, about a third of it prose; `{i}` makes each cell its own.
_PATTERN: tuple[tuple[str, str], ...] = (
    ("markdown", "## Part {i}: what the readings say"),
    ("code", "import csv\nimport statistics\n\nrows_{i} = [(n, n * {i} % 17) for n in range(40)]"),
    ("code", "mean_{i} = statistics.fmean(value for _, value in rows_{i})\nround(mean_{i}, 3)"),
    (
        "markdown",
        "The mean alone hides the spread, so we look at both before going on to part {i}.",
    ),
    (
        "code",
        "def scale_{i}(value: float, low: float = 0.0, high: float = 17.0) -> float:\n"
        '    """Map a reading to the unit interval."""\n'
        "    return (value - low) / (high - low)",
    ),
    ("code", "scaled_{i} = [scale_{i}(value) for _, value in rows_{i}]\nmax(scaled_{i})"),
    ("code", "spread_{i} = statistics.pstdev(scaled_{i})\nprint(f'part {i}: {{spread_{i}:.3f}}')"),
)


@dataclass(frozen=True, slots=True)
class Notebook:
    """A bench notebook and the three cells in its middle that the rows touch."""

    path: str
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    content: bytes

    @property
    def middle(self) -> str:
        """The id of the cell that insertions in the middle go below."""
        return self.ids[len(self.ids) // 2]

    @property
    def last(self) -> str:
        """The id of the last cell."""
        return self.ids[-1]

    @property
    def to_update(self) -> str:
        """The id of the code cell that is updated."""
        return self.ids[_update_index(len(self.ids))]

    @property
    def to_run(self) -> str:
        """The id of the code cell with the source `1`."""
        return self.ids[_run_index(len(self.ids))]


def _update_index(count: int) -> int:
    return count // 2 + 2


def _run_index(count: int) -> int:
    return count // 2 + 4


def notebook(count: int) -> Notebook:
    """The bench notebook of so many cells: nbformat 4.5, ids of 8 hexadecimal digits, no outputs."""
    cells: list[dict[str, Any]] = []
    for index in range(count):
        kind, template = _PATTERN[index % len(_PATTERN)]
        source = template.format(i=index // len(_PATTERN))
        if index == _run_index(count):
            kind, source = "code", "1"
        elif index == _update_index(count):
            kind, source = "code", "answer = 0\nprint(answer)"
        cell_id = hashlib.sha256(f"cell {index}".encode()).hexdigest()[:8]
        cell: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python (Pyodide)",
                "language": "python",
                "name": "python",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return Notebook(
        path=f"bench-{count}.ipynb",
        ids=tuple(cell["id"] for cell in cells),
        sources=tuple(cell["source"] for cell in cells),
        content=json.dumps(document, indent=1).encode(),
    )
