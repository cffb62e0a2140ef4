"""The cuts: middles of strings and ends of arrays, each noted with its place."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

SLACK = 40
"""Characters by which a string must be longer than what would be kept of it: less is not worth
the marker, which has about as many itself."""

# Combining marks on one letter beyond which a cut may separate them.
_MAX_MARKS = 32
_MAX_KEY = 60
_identifier = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_SHORTENED_FIRST = frozenset({"outputs", "traceback"})


class NoRoom(Exception):  # noqa: N818 - a way out of the walk, no error
    """What is left after this step's cuts is still longer than the limit."""


@dataclass(frozen=True, slots=True)
class Step:
    """How much one step keeps.

    ``keep`` is the characters at each end of a string, ``items`` the items of an array; without
    ``items`` only strings in outputs and traceback are cut.
    """

    keep: int
    items: int | None = None


def cut(
    value: dict[str, Any], step: Step, limit: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A copy of the value with one step's cuts, and these cuts in the order of the value.

    Raises:
        NoRoom: as soon as it is certain that the JSON text will be longer than ``limit``, so that
            a step that cannot be enough costs no more than the limit.
    """
    cutter = _Cutter(step, limit)
    return cutter.object(value, False), cutter.cuts


def cut_text(text: str, keep: int) -> tuple[str, int]:
    """The text with ``keep`` characters at each end, and how many were left out of its middle.

    A text of at most ``2 * keep + 40`` characters stays whole. Characters are Unicode code points;
    combining marks, joined emoji and surrogate pairs stay together with what they belong to, for
    which a few characters more are left out.
    """
    if len(text) <= 2 * keep + SLACK:
        return text, 0
    head = _boundary(text, keep, -1)
    tail = _boundary(text, len(text) - keep, 1)
    omitted = tail - head
    return f"{text[:head]}\n[... {omitted} characters omitted ...]\n{text[tail:]}", omitted


def surely_longer(value: Any, limit: float, items: float = math.inf) -> bool:
    """Whether the JSON text of a value is longer than the limit, by a quick look at least.

    Counts what the text has at the least, and stops once that is too much or ``items`` values were
    looked at; False says nothing.
    """
    stack = [value]
    while stack and items > 0:
        items -= 1
        item = stack.pop()
        kind = type(item)
        if kind is str:
            limit -= len(item) + 2
        elif kind is dict:
            limit -= 5 * len(item) + 1
            if limit >= 0:
                stack.extend(item.values())
        elif kind is list:
            limit -= len(item) + 1
            if limit >= 0:
                stack.extend(item)
        else:
            limit -= 1
        if limit < 0:
            return True
    return False


class _Cutter:
    def __init__(self, step: Step, limit: int) -> None:
        self.cuts: list[dict[str, Any]] = []
        self._step = step
        self._room = limit
        self._path: list[str | int] = []

    def object(self, value: dict[str, Any], first: bool) -> dict[str, Any]:
        """The object with its values cut; ``first``: it is within outputs or traceback."""
        self._use(1)
        result = {}
        for key, each in value.items():
            self._use(len(key) + 4)
            self._path.append(key)
            result[key] = self._any(each, first or key in _SHORTENED_FIRST, key == "traceback")
            self._path.pop()
        return result

    def _any(self, value: Any, first: bool, traceback: bool = False) -> Any:
        if isinstance(value, str):
            if first or self._step.items is not None:
                value, omitted = cut_text(value, self._step.keep)
                if omitted:
                    self._note("omittedCharacters", omitted)
            self._use(len(value) + 2)
            return value
        if isinstance(value, dict):
            return self.object(value, first)
        if isinstance(value, list):
            return self._array(value, first, traceback)
        self._use(1)
        return value

    def _array(self, value: list[Any], first: bool, traceback: bool) -> list[Any]:
        items = self._step.items
        if items is not None and len(value) > items:
            self._note("omittedItems", len(value) - items)
            # The error is at the end of a traceback.
            value = value[-items:] if traceback else value[:items]
        self._use(len(value) + 1)
        result = []
        for index, each in enumerate(value):
            self._path.append(index)
            result.append(self._any(each, first))
            self._path.pop()
        return result

    def _use(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise NoRoom

    def _note(self, kind: str, count: int) -> None:
        self.cuts.append({"path": _path_text(self._path), kind: count})


def _path_text(path: list[str | int]) -> str:
    """The path as JavaScript would write it: ``cells[2].outputs[0].data["text/html"]``."""
    pieces = []
    for key in path:
        if isinstance(key, int):
            pieces.append(f"[{key}]")
        elif _identifier.fullmatch(key):
            pieces.append(f".{_short(key)}")
        else:
            pieces.append(f"[{json.dumps(_short(key), ensure_ascii=False)}]")
    return "".join(pieces).removeprefix(".")


def _short(key: str) -> str:
    return key if len(key) <= _MAX_KEY else key[:_MAX_KEY] + "…"


def _boundary(text: str, index: int, direction: int) -> int:
    """The nearest index in a direction that does not separate what is shown as one character."""
    for _ in range(_MAX_MARKS):
        if not _joined(text, index):
            return index
        index += direction
    return index + direction if _pair(text, index) else index


def _joined(text: str, index: int) -> bool:
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if after < "\u0300":
        # Below combining marks: only an emoji's joiner binds, and line breaks of two.
        return before == "\u200d" or (before == "\r" and after == "\n")
    return (
        before == "\u200d"
        or after == "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or unicodedata.category(after)[0] == "M"
        or _pair(text, index)
    )


def _pair(text: str, index: int) -> bool:
    return (
        0 < index < len(text)
        and "\ud800" <= text[index - 1] <= "\udbff"
        and "\udc00" <= text[index] <= "\udfff"
    )
