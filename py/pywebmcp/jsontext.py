"""The one way from Python values to JSON text and its length, so that what is measured, what is
sent and what JavaScript's ``JSON.stringify`` would write are the same text.

What JSON cannot say has a stated form here:

=============================  ==============================================================
value                          becomes
=============================  ==============================================================
NaN, Infinity                  ``null``, as ``JSON.stringify`` has it
integers beyond 2**53 - 1      a string of their digits (JavaScript would round the number)
bytes                          a base64 string, as Jupyter messaging sends binary data
tuples, sets                   arrays; sets in the order of their JSON texts
keys that are not strings      strings: ``1`` "1", ``None`` "null", ``True`` "true", else repr
keys that clash after that     the later one is named with its type: "1 (int)"
a lone surrogate               its escape ``\\udXXX``, as well-formed ``JSON.stringify`` has it
a cycle, too deep nesting      a string in square brackets that says so
anything else                  a string with its repr
=============================  ==============================================================
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from itertools import accumulate, chain
from typing import Any

MAX_SAFE_INTEGER = 2**53 - 1
"""JavaScript's ``Number.MAX_SAFE_INTEGER``: integers beyond it are rounded by ``JSON.parse``."""

MAX_DEPTH = 200
"""Containers within containers that are written. Python's encoders and parsers recurse, and the
page's stack is small; real notebooks stay under 50."""

MAX_PARSE_DEPTH = 500
"""Containers within containers that are read. Beyond some 3,000 the parser exhausts the stack of
the page, which no Python exception tells: it ends the interpreter, and a file must not do that."""

_CYCLE = "[circular reference]"
_TOO_DEEP = f"[nested deeper than {MAX_DEPTH} levels]"

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode
_surrogates = re.compile("[\ud800-\udfff]")

_NO_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_DELTAS = [(byte in b"[{") - (byte in b"]}") for byte in range(256)]
_PLAIN = frozenset({str, bool, type(None), int, float, dict, list})


def dumps(value: Any) -> str:
    """Compact JSON text of any value, always encodable as UTF-8; never raises."""
    return encode(value if type(value) is str else plain(value))


def encode(value: Any) -> str:
    """The same of a value that `plain` gave or that was read from JSON, without a look at it.

    Only an integer beyond `MAX_SAFE_INTEGER` is written as it is.
    """
    try:
        text = _encode(value)
    except ValueError:
        # JSON has 1e999, which Python reads as infinity.
        return encode(plain(value))
    except RecursionError:
        # The caller's own stack left no room for the levels of the value.
        return f'"{_TOO_DEEP}"'
    if text.isascii():
        return text
    try:
        # Sees lone surrogates in a tenth of the time of a search.
        text.encode()
    except UnicodeEncodeError:
        return _surrogates.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


def loads(text: str | bytes) -> Any:
    """The value of a JSON text from outside, which ``json.loads`` is not safe for in the page.

    Raises:
        ValueError: when it is not JSON or nested deeper than `MAX_PARSE_DEPTH`.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    if _nesting(text) > MAX_PARSE_DEPTH:
        raise ValueError(f"nested deeper than {MAX_PARSE_DEPTH} levels")
    try:
        return _decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _no_constant(token: str) -> Any:
    raise ValueError(f"{token} is no JSON")


# Made once: json.loads makes a decoder for every call that names a parse_constant.
_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def length(value: Any) -> int:
    """The length of a JSON text in UTF-16 code units, which is how JavaScript counts a string.

    A ``str`` is taken as the text itself; of any other value the text is made with `dumps`.
    """
    text = value if isinstance(value, str) else dumps(value)
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain(value: Any) -> Any:
    """The value in JSON's own types (dict with str keys, list, str, int, float, bool, None).

    A value that is made of them already is returned as it is, not copied. Never raises.
    """
    return weighed(value)[0]


def weighed(value: Any) -> tuple[Any, int]:
    """What `plain` gives, and a length that its JSON text has at the least, counted on the way."""
    weight = _weight(value)
    if weight is not None:
        return value, weight
    try:
        value = _plain(value, 0, set())
    except Exception as error:
        value = f"[not readable: {type(error).__name__}]"
    return value, _weight(value) or 0


def _nesting(text: str) -> int:
    """How deep a JSON text is nested, exact beyond `MAX_PARSE_DEPTH`: brackets outside strings.

    A quarter of the time of parsing, because all passes are in C.
    """
    if text.count("[") + text.count("{") <= MAX_PARSE_DEPTH:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    # Without escaped backslashes and quotes, every other part between quotes is a string.
    data = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_STRUCTURE)
    brackets = left = b"".join(data.split(b'"')[::2])
    for _ in range(20):
        if not left:
            return 0
        left = left.replace(b"[]", b"").replace(b"{}", b"")
    return max(accumulate(map(_DELTAS.__getitem__, brackets)))


def _weight(value: Any) -> int | None:
    """Whether the C encoder writes the value rightly as it is (else None): characters at the least.

    Goes level by level, because that needs no recursion, ends for cycles, and leaves the passes
    over the values to C.
    """
    values = [value]
    weight = 0
    for _ in range(MAX_DEPTH + 1):
        kinds = set(map(type, values))
        if not kinds <= _PLAIN:
            return None
        if int in kinds:
            integers = [each for each in values if type(each) is int]
            if min(integers) < -MAX_SAFE_INTEGER or max(integers) > MAX_SAFE_INTEGER:
                return None
        if float in kinds:
            reals = [each for each in values if type(each) is float]
            if not all(map(math.isfinite, reals)):
                return None
        # By id, or a list that holds itself twice would double with every level.
        objects = {id(each): each for each in values if type(each) is dict}.values()
        arrays = {id(each): each for each in values if type(each) is list}.values()
        if str in kinds:
            weight += sum([len(each) for each in values if type(each) is str])
        weight += len(values)
        if not objects and not arrays:
            return weight
        keys = [*chain.from_iterable(objects)]
        if set(map(type, keys)) - {str}:
            return None
        weight += sum(map(len, keys)) + 3 * len(keys)
        values = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(arrays)]
    return None


def _plain(value: Any, depth: int, path: set[int]) -> Any:
    """The recursive walk behind `plain`: ``path`` holds the ids of the containers around it."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        return number if abs(number) <= MAX_SAFE_INTEGER else _digits(number)
    if isinstance(value, float):
        real = float.__float__(value)
        return real if math.isfinite(real) else None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _base64(value)
    if not isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return _repr(value)
    if id(value) in path:
        return _CYCLE
    if depth >= MAX_DEPTH:
        return _TOO_DEEP
    path.add(id(value))
    try:
        if isinstance(value, Mapping):
            return {key: _plain(each, depth + 1, path) for key, each in _keys(value.items())}
        items = [_plain(each, depth + 1, path) for each in value]
        if isinstance(value, (set, frozenset)):
            items.sort(key=dumps)
        return items
    except RecursionError:
        return _TOO_DEEP
    except Exception:
        # A mapping or sequence of someone's own, whose methods fail.
        return _repr(value)
    finally:
        path.discard(id(value))


def _keys(items: Iterable[tuple[Any, Any]]) -> list[tuple[str, Any]]:
    """Items with keys as JSON has them; of clashing keys the string one keeps its name."""
    pairs = list(items)
    taken = {str.__str__(key) for key, _ in pairs if isinstance(key, str)}
    result = []
    for key, value in pairs:
        if isinstance(key, str):
            name = str.__str__(key)
        else:
            wish = name = _key(key)
            number = 1
            while name in taken:
                kind = type(key).__name__
                name = f"{wish} ({kind})" if number == 1 else f"{wish} ({kind} {number})"
                number += 1
            taken.add(name)
        result.append((name, value))
    return result


def _key(key: Any) -> str:
    """A key that is not a string, as a string; numbers as ``json.dumps`` writes them."""
    if key is None:
        return "null"
    if key is True or key is False:
        return "true" if key else "false"
    if isinstance(key, int):
        return _digits(int.__int__(key))
    if isinstance(key, float):
        return float.__repr__(key)
    return _repr(key)


def _digits(number: int) -> str:
    try:
        return int.__repr__(number)
    except ValueError:
        # Python refuses decimal digits beyond sys.get_int_max_str_digits().
        return hex(number)


def _base64(value: bytes | bytearray | memoryview) -> str:
    try:
        return base64.b64encode(bytes(value)).decode("ascii")
    except ValueError:
        # A memoryview that was released.
        return _repr(value)


def _repr(value: Any) -> str:
    try:
        return str.__str__(repr(value))
    except Exception as error:
        return f"[{type(value).__name__}: its repr raised {type(error).__name__}]"
