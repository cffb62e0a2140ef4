"""Elements as data: what a view shows, before it crosses into the page (lite/extension/static/dom.mjs).

>>> h("button", "Stop", on={"click": ["stop", "call-1"]}, aria_label="Stop Run cells")
('button', {'on': {'click': ['stop', 'call-1']}, 'aria-label': 'Stop Run cells'}, ['Stop'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

_odd = re.compile("[^0-9A-Za-z]")
# Controls but for tab and line feed; what is not seen and has no use within a word; what turns the
# order of the letters around it: with those a line can look like another one.
_unseen = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)

Node = Any
"""A text, a tuple ``(tag, attributes, children)``, or ``{"keep": key}``."""

Report = list[Any]
"""What an event tells the view: the name of an action and its JSON-safe arguments."""


def h(
    tag: str,
    *children: Node | Iterable[Node] | None,
    cls: str = "",
    key: str | None = None,
    on: dict[str, Any] | None = None,
    **attributes: Any,
) -> Node:
    """An element. Attributes that are None or False are left out; children that are None too.

    ``key`` tells it from its siblings, ``on`` is ``{event: report}`` or for ``keydown``
    ``{key: report}``. Names are Python's: ``aria_label``, ``for_``.
    """
    found: dict[str, Any] = {}
    if key is not None:
        found["key"] = key
    if cls:
        found["class"] = cls
    if on:
        found["on"] = on
    for name, value in attributes.items():
        # What a person checked is unchecked only by a word.
        if value is not None and (value is not False or name == "checked"):
            found[_NAMES.get(name) or name.rstrip("_").replace("_", "-")] = value
    return tag, found, list(_flat(children))


# Properties of the DOM that are no attributes; False says something there.
_NAMES = {"read_only": "readOnly"}


def _flat(children: Iterable[Any]) -> Iterable[Node]:
    for child in children:
        if isinstance(child, str | tuple | dict):
            yield child
        elif child is not None:
            yield from _flat(child)


def button(label: str, report: Report, cls: str = "", **attributes: Any) -> Node:
    """A push button that reports its click."""
    return h(
        "button",
        label,
        cls=f"pywebmcp-button {cls}".rstrip(),
        type="button",
        on={"click": report},
        **attributes,
    )


def visible(text: str) -> str:
    """A text that a person decides about, with what could make it look like another one spelt out.

    >>> visible("a\\u202eb")
    'a‹U+202E›b'
    """
    return _unseen.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text)


def name(*parts: str) -> str:
    """An id for the document, of parts that may be anything (ids of cells, names of arguments)."""
    # A space would end an id; whatever else a person has put into one is kept apart as well.
    return "pywebmcp-" + "-".join(
        _odd.sub(lambda odd: f"_{ord(odd[0]):x}_", part) for part in parts
    )


class Kept:
    """The items of a long list, each made anew only when what it shows has changed."""

    def __init__(self) -> None:
        self._shown: dict[str, Any] = {}

    def items(
        self, wanted: Iterable[tuple[str, Any]], make: Callable[[str, Any], Node]
    ) -> list[Node]:
        """The nodes of ``(key, data)`` in order; unchanged ones as ``{"keep": key}``.

        ``make(key, data)`` gives a node with that key. Keys are unique.
        """
        before, self._shown = self._shown, dict(wanted)
        return [
            {"keep": key} if key in before and before[key] == data else make(key, data)
            for key, data in self._shown.items()
        ]

    def forget(self) -> None:
        """The list is no longer on the page."""
        self._shown = {}
