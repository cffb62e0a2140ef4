"""How an answer is written, and what is refused because it could not be written: one serialisation
for the limit that counts it, for the shell and for every adapter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pywebmcp import jsontext
from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, invalid

MAX_TRANSPORT_BYTES = 32 * 1024 * 1024
"""Bytes of compact UTF-8 JSON that one answer may have."""

# Python refuses to write integers of more decimal digits (sys.set_int_max_str_digits).
_MAX_INTEGER_BITS = 14_000

_JSON_TYPES = (str, int, float, dict, list, tuple, type(None))


def dumps(value: Any) -> str:
    """Compact JSON text as the transport limit counts it: ``,`` and ``:`` without blanks, not ASCII.

    Always encodable as UTF-8: a lone surrogate is written as its escape, ``\\udXXX``.
    """
    return jsontext.encode(value)


def utf8_length(text: str) -> int:
    """Bytes of a text in UTF-8; a lone surrogate counts as the three bytes of its code point."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


def checked_json(value: Any, what: str) -> Any:
    """The value itself, when JSON has a form for all of it.

    Raises:
        OutputProtocolError: OUTPUT_DATA_INVALID for NaN, infinities and numbers out of reach, for
            what is no JSON type, for keys that are not strings, for cycles and deep nesting.
    """
    if not _writable(value):
        where, reason = next(
            _faults(value), ("", f"nested deeper than {jsontext.MAX_DEPTH} levels")
        )
        raise invalid(f"{what} cannot be written as JSON: {reason}{where and ' at ' + where}")
    return value


def within_limit(answer: dict[str, Any], max_transport_bytes: Any) -> dict[str, Any]:
    """The answer itself, when its JSON text has at most as many bytes.

    Raises:
        OutputProtocolError: INVALID_TRANSPORT_LIMIT, OUTPUT_TOO_LARGE.
    """
    limit = max_transport_bytes
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit > 0:
        raise OutputProtocolError(
            Code.INVALID_TRANSPORT_LIMIT, "max_transport_bytes has to be a positive number"
        )
    size = utf8_length(dumps(answer))
    if size > limit:
        raise OutputProtocolError(
            Code.OUTPUT_TOO_LARGE,
            f"The answer has {size} bytes and the limit is {limit:.0f}. "
            "Of a text a smaller page can be read; images and JSON come whole or not at all.",
        )
    return answer


def _writable(value: Any) -> bool:
    """Whether JSON can say the value: level by level, so that no stack ends and C does the passes."""
    level: list[Any] = [value]
    for _ in range(jsontext.MAX_DEPTH + 1):
        kinds = set(map(type, level))
        if not all(issubclass(kind, _JSON_TYPES) for kind in kinds):
            return False
        if float in kinds and not all(map(math.isfinite, _of(level, float))):
            return False
        if int in kinds and any(
            number.bit_length() > _MAX_INTEGER_BITS for number in _of(level, int)
        ):
            return False
        # By id: a list that holds itself twice would double with every level.
        objects = list({id(each): each for each in _of(level, dict)}.values())
        arrays = list({id(each): each for each in _of(level, (list, tuple))}.values())
        if not objects and not arrays:
            return True
        if not all(issubclass(kind, str) for kind in set(map(type, chain.from_iterable(objects)))):
            return False
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(arrays)]
    return False


def _of(level: list[Any], kinds: Any) -> list[Any]:
    return [each for each in level if isinstance(each, kinds)]


def _faults(value: Any) -> Iterator[tuple[str, str]]:
    """Where a value cannot be written and why; only for messages, so it may take its time."""
    seen: set[int] = set()
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        each, where = waiting.pop()
        if isinstance(each, float) and not math.isfinite(each):
            yield where, f"the number {_token(each)}"
        elif isinstance(each, int) and each.bit_length() > _MAX_INTEGER_BITS:
            yield where, "a number of too many digits"
        elif not isinstance(each, _JSON_TYPES):
            yield where, f"a value of the type {type(each).__name__}"
        elif isinstance(each, (dict, list, tuple)) and id(each) not in seen:
            seen.add(id(each))
            pairs = each.items() if isinstance(each, dict) else enumerate(each)
            for key, item in pairs:
                if isinstance(each, dict) and not isinstance(key, str):
                    yield where, f"a key of the type {type(key).__name__}"
                    return
                waiting.append((item, f"{where}/{key}"))


def _token(number: float) -> str:
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
