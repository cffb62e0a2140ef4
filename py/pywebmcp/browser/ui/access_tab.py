"""The tab Access: what an agent may do with the notebook and with each of its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pywebmcp import access
from pywebmcp.access import Level
from pywebmcp.browser.ui.elements import Kept, Node, h, name
from pywebmcp.browser.ui.host import Host
from pywebmcp.edits import normalise_newlines
from pywebmcp.frontend import Frontend, Notebook

LEVELS: dict[Level, str] = {"write": "May edit", "read": "May read", "none": "Hidden"}
"""The levels in a person's words, the most open one first."""

_LINE = 80
"""Characters of a cell's first line that are shown; the panel is narrower than that."""


class AccessTab:
    """Levels of the current notebook: its own, the current cell's, and those of all cells."""

    id = "access"
    label = "Access"

    def __init__(self, frontend: Frontend, host: Host) -> None:
        """``frontend`` is the real one: people see and set what is hidden from an agent."""
        self._frontend = frontend
        self._host = host
        self._kept = Kept()
        self._read: tuple[tuple[str, int], list[tuple[str, str]]] | None = None
        self._known: dict[str, str] = {}
        """First lines, by what the cells begin with."""
        self.actions: dict[str, Callable[..., None]] = {
            "set_notebook_access": self._set_notebook,
            "set_cell_access": self._set_cell,
        }

    def _set_notebook(self, level: Level) -> None:
        notebook = self._frontend.notebook()
        if notebook is not None:
            access.set_level(notebook, None, level)
        self._host.changed()

    def _set_cell(self, key: str, level: Level) -> None:
        notebook = self._frontend.notebook()
        if notebook is not None:
            keys = keys_of(notebook.ids())
            if key in keys:
                access.set_level(notebook, keys.index(key), level)
        self._host.changed()

    # --- what is shown

    def nodes(self) -> list[Node]:
        """The notebook's level, the current cell's, then every cell's."""
        notebook = self._frontend.notebook()
        if notebook is None:
            self._kept.forget()
            return [h("p", "No notebook is open.", cls="pywebmcp-note", key="none")]
        levels = access.levels(notebook)
        lines = self._lines(notebook)
        keys = keys_of(notebook.ids())
        shown = {
            key: (kind, line, levels.cells.get(index, "write"))
            for index, (key, (kind, line)) in enumerate(zip(keys, lines, strict=True))
        }
        return [
            h("h2", "Notebook", key="notebook"),
            h(
                "div",
                h("label", notebook.state()["path"], for_=_id("notebook"), cls="pywebmcp-cell"),
                _choice(levels.notebook, _id("notebook"), ["set_notebook_access"]),
                cls="pywebmcp-access",
                key="level",
            ),
            h("p", _consequence(levels.notebook), cls="pywebmcp-explained", key="consequence"),
            *self._current(shown),
            h("h2", "All cells", key="all"),
            h(
                "ol",
                self._kept.items(shown.items(), _row),
                cls="pywebmcp-list pywebmcp-cells",
                aria_label="Cells",
                key="cells",
            ),
            h(
                "p",
                "Levels limit what the tools tell and change. Code that runs in the kernel is not "
                "limited by them.",
                cls="pywebmcp-explained",
                key="limits",
            ),
        ]

    def _current(self, shown: dict[str, tuple[str, str, Level]]) -> list[Node]:
        focus = self._frontend.workspace()["focus"] or {}
        active = focus.get("activeCellId")
        if active not in shown:
            return []
        return [
            h("h2", "Current cell", key="here"),
            h("div", _parts("here", active, shown[active]), cls="pywebmcp-access", key="current"),
        ]

    def _lines(self, notebook: Notebook) -> list[tuple[str, str]]:
        """Type and first line of every cell; read anew only when the notebook changed."""
        state = notebook.state()
        revision = (state["path"], state["revision"])
        if self._read is None or self._read[0] != revision:
            known, self._known = self._known, {}
            lines = []
            for cell in notebook.beginnings():
                beginning = cell["beginning"]
                line = known.get(beginning)
                if line is None:
                    line = first_line(beginning)
                self._known[beginning] = line
                lines.append((cell["cell_type"], line))
            self._read = revision, lines
        return self._read[1]


def first_line(source: str) -> str:
    """What a cell is known by in a list: its first line that is not blank."""
    lines = (line.strip() for line in normalise_newlines(source[:2000]).split("\n"))
    line = next(filter(None, lines), "")
    return line if len(line) <= _LINE else line[:_LINE] + "…"


def keys_of(ids: Sequence[str]) -> list[str]:
    """A key for every cell: its id; of cells with the same id the later ones have a number more."""
    taken = set(ids)
    seen: Counter[str] = Counter()
    keys = []
    for cell_id in ids:
        key = cell_id
        seen[cell_id] += 1
        if seen[cell_id] > 1:
            # In a file that somebody made an id may look like such a key.
            while (key := f"{cell_id} {seen[cell_id]}") in taken:
                seen[cell_id] += 1
            taken.add(key)
        keys.append(key)
    return keys


def _row(key: str, cell: tuple[str, str, Level]) -> Node:
    return h("li", _parts("cell", key, cell), cls="pywebmcp-access", key=key)


def _parts(place: str, key: str, cell: tuple[str, str, Level]) -> list[Node]:
    kind, line, level = cell
    field = _id(place, key)
    return [
        h("label", line or f"empty {kind} cell", for_=field, cls="pywebmcp-cell", title=kind),
        _choice(level, field, ["set_cell_access", key]),
    ]


_OPTIONS = [h("option", words, value=each) for each, words in LEVELS.items()]


def _choice(level: Level, field: str, report: list[Any]) -> Node:
    # As the tuple that `h` would make: a thousand of them are drawn at once.
    attributes = {"id": field, "value": level, "on": {"change": report}, "data-level": level}
    return "select", attributes, _OPTIONS


def _consequence(level: Level) -> str:
    if level == "none":
        return "An agent does not know of this notebook."
    if level == "read":
        return "An agent changes and runs no cell, whatever its own level."
    return "An agent may do what each cell's own level allows."


def _id(*parts: str) -> str:
    return name("access", *parts)
