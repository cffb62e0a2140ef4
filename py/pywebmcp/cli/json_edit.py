"""One member of an object within a JSON text, put in or taken out; the rest of the text stays as it
was written. A program that parses and writes anew would lose a person's layout and numbers.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from pywebmcp import jsontext

_BLANKS = " \t\r\n"


class NotEditableError(ValueError):
    """The text is no JSON of the expected shape; the message says where."""


class _Member(NamedTuple):
    name: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    """``open`` is the place after the brace; ``close`` that of the closing one."""

    open: int
    members: list[_Member]
    close: int


def read(text: str) -> dict[str, Any]:
    """The object that a text holds; an empty text is an empty object.

    Raises:
        NotEditableError: when it is none.
    """
    if not text.strip():
        return {}
    try:
        value = jsontext.loads(text)
    except ValueError as error:
        raise NotEditableError(f"it is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise NotEditableError("it is not a JSON object")
    return value


def put(text: str, section: str, name: str, value: Any) -> str:
    """The text with ``value`` as the member ``name`` of the object ``section``.

    Args:
        text: a JSON object, or nothing.
        section: a member of it, an object; made when it is not there.
        name: a member of that.
        value: what it is to be, replaced when it is something else.

    Raises:
        NotEditableError: when the text has another shape.
    """
    data = read(text)
    if not data and not text.strip():
        return json.dumps({section: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    root = _scan(text, _start(text))
    unit = _unit(text, root)
    outer = _member(root, section)
    if outer is None:
        return _insert(text, root, section, {name: value}, unit)
    inner = _section(text, data, outer)
    old = _member(inner, name)
    if old is None:
        return _insert(text, inner, name, value, unit)
    if data[section][name] == value:
        return text
    blanks = _blanks_before(text, old.start)
    return text[: old.value] + _written(value, blanks, unit) + text[old.end :]


def take(text: str, section: str, name: str) -> str:
    """The text without that member; empty when nothing is left but what `put` had made.

    Raises:
        NotEditableError: as `put`.
    """
    data = read(text)
    members = data.get(section)
    if not isinstance(members, dict) or name not in members:
        return text
    root = _scan(text, _start(text))
    outer = _member(root, section)
    assert outer is not None
    inner = _section(text, data, outer)
    # An object that was there and empty got its member without blanks (see _insert).
    made = len(inner.members) == 1 and inner.members[0].start > inner.open
    if not made:
        return _remove(text, inner, name)
    if len(root.members) == 1 and root.members[0].start > root.open:
        return ""
    return _remove(text, root, section)


def _insert(text: str, place: _Object, name: str, value: Any, unit: str) -> str:
    key = json.dumps(name, ensure_ascii=False) + ": "
    if not place.members:
        written = _written(value, _line_blanks(text, place.open), unit)
        return text[: place.open] + key + written + text[place.open :]
    last = place.members[-1]
    blanks = _blanks_before(text, last.start) if _is_multiline(text, last) else " "
    written = _written(value, blanks, unit)
    return text[: last.end] + "," + blanks + key + written + text[last.end :]


def _remove(text: str, place: _Object, name: str) -> str:
    index = next(index for index, each in enumerate(place.members) if each.name == name)
    member = place.members[index]
    if index > 0:
        return text[: place.members[index - 1].end] + text[member.end :]
    if len(place.members) > 1:
        return text[: member.start] + text[place.members[1].start :]
    return text[: member.start] + text[member.end :]


def _written(value: Any, blanks: str, unit: str) -> str:
    """A value as the lines around it are: on lines of its own, or on theirs."""
    if "\n" in blanks:
        return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", blanks)
    if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
        # With blanks inside, by which `take` knows an object that `put` has made.
        return "{ " + json.dumps(value, ensure_ascii=False)[1:-1] + " }"
    return json.dumps(value, ensure_ascii=False)


def _is_multiline(text: str, member: _Member) -> bool:
    return "\n" in _blanks_before(text, member.start)


def _blanks_before(text: str, position: int) -> str:
    start = position
    while start > 0 and text[start - 1] in _BLANKS:
        start -= 1
    blanks = text[start:position]
    # Of empty lines between members only the last line end counts.
    head, newline, indent = blanks.rpartition("\n")
    return ("\r" if head.endswith("\r") else "") + newline + indent


def _line_blanks(text: str, position: int) -> str:
    """A line end with the indentation of the line at a position; nothing in a text of one line."""
    if "\n" not in text.strip():
        return ""
    start = text.rfind("\n", 0, position) + 1
    line = text[start:]
    newline = "\r\n" if "\r\n" in text else "\n"
    return newline + line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, root: _Object) -> str:
    if root.members:
        indent = _blanks_before(text, root.members[0].start).rpartition("\n")[2]
        if indent:
            return indent
    return "  "


def _member(place: _Object, name: str) -> _Member | None:
    found = [each for each in place.members if each.name == name]
    if len(found) > 1:
        raise NotEditableError(f'it has "{name}" more than once')
    return found[0] if found else None


def _section(text: str, data: dict[str, Any], member: _Member) -> _Object:
    if not isinstance(data[member.name], dict):
        raise NotEditableError(f'its "{member.name}" is not an object')
    return _scan(text, member.value)


def _start(text: str) -> int:
    return _skip(text, 0)


def _scan(text: str, position: int) -> _Object:
    """Where the members of an object are; the text has been parsed before, so it is JSON."""
    decode = json.JSONDecoder().raw_decode
    opened = position + 1
    members: list[_Member] = []
    position = _skip(text, opened)
    while text[position] != "}":
        start = position
        name, position = decode(text, start)
        value = _skip(text, _skip(text, position) + 1)
        _, end = decode(text, value)
        members.append(_Member(name, start, value, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return _Object(opened, members, position)


def _skip(text: str, position: int) -> int:
    while text[position] in _BLANKS:
        position += 1
    return position
