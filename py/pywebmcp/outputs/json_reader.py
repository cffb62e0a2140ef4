"""A pull parser for JSON files of any size: what is not asked for is passed over by C code and never
becomes a Python object, and no more of the file is in memory than a block and the value being read.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from pywebmcp.jsontext import MAX_PARSE_DEPTH

BLOCK = 1 << 20
"""Bytes that are read at once: small beside an interpreter, and enough that reading costs nothing."""

# A short string with at most single backslashes before quotes; the rest is for `_pass_string`. It
# is written as runs of "no quote", which the engine is ten times faster at than at any other set.
_STRING = rb'"[^"]{0,2000}+"(?:(?<=[^\\]\\")[^"]{0,2000}+")*+(?<!\\")'
# A small container without others in it. Limited, because what does not end in the buffer is gone
# over in vain.
_SMALL = rb'[^][{}"]{0,99}+(?:"[^"\\]{0,99}+"[^][{}"]{0,99}+){0,20}+'
_LEVELS = 1

_run = re.compile(
    rb'[^][{}"]*+(?:(?:' + _STRING + rb"|\[" + _SMALL + rb"\]|\{" + _SMALL + rb'\})[^][{}"]*+)*+'
)
_blank = re.compile(rb"[ \t\n\r]*+")
_scalar = re.compile(rb"[-+.0-9A-Za-z]++")
_CLOSING = {ord("["): ord("]"), ord("{"): ord("}")}

_decode = json.JSONDecoder().decode


class NotJsonError(ValueError):
    """The file is no JSON, as far as it was looked at."""


class JsonReader:
    """A JSON file, value after value from the front.

    At each value the caller decides: `value` parses it, `skip` passes over it, `members` and
    `items` go into it. Every value has to be consumed before the next one is asked for.

    Args:
        read: gives at most as many bytes of UTF-8 as it is asked for, and none at the end.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._buffer = b""
        self._position = 0
        self._kept: int | None = None
        self._levels = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._more()
        if self._buffer.startswith(codecs.BOM_UTF8):
            self._position = len(codecs.BOM_UTF8)

    def peek(self) -> str:
        """The first character of the next value; of a container its bracket."""
        return chr(self._next())

    def skip(self) -> None:
        """Pass over the next value. Its brackets and strings are checked, other words are not."""
        first = self._next()
        if first == ord('"'):
            self._pass_string()
        elif first in _CLOSING:
            self._pass_container()
        else:
            self._pass_scalar()

    def value(self) -> Any:
        """Parse the next value; NaN and infinities become floats.

        Raises:
            NotJsonError: when it is no JSON, or is nested deeper than ``MAX_PARSE_DEPTH``.
        """
        self._next()
        self._kept = self._position
        self._levels = 0
        self.skip()
        text, self._kept = self._buffer[self._kept : self._position], None
        if self._levels + _LEVELS > MAX_PARSE_DEPTH:
            raise NotJsonError(f"nested deeper than {MAX_PARSE_DEPTH} levels")
        return loads(text)

    def members(self) -> Iterator[str]:
        """The keys of the next value, an object; after each one its value is to be consumed."""
        self._expect("{")
        if self._next() == ord("}"):
            self._position += 1
            return
        while True:
            key = self.value() if self._next() == ord('"') else None
            if not isinstance(key, str):
                raise NotJsonError("a key is missing")
            self._expect(":")
            yield key
            if not self._goes_on("}"):
                return

    def items(self) -> Iterator[int]:
        """The indices of the next value, an array; after each one its value is to be consumed."""
        self._expect("[")
        if self._next() == ord("]"):
            self._position += 1
            return
        index = 0
        while True:
            yield index
            index += 1
            if not self._goes_on("]"):
                return

    def end(self) -> None:
        """Make sure that nothing follows."""
        while True:
            self._pass(_blank)
            if self._position < len(self._buffer):
                raise NotJsonError("something follows the end of the JSON")
            if not self._more():
                return

    def _more(self) -> bool:
        """Have more of the file in the buffer, from its present position or the kept one on.

        As much again as is there: a string of many blocks would be gone over for each of them.
        """
        start = self._position if self._kept is None else self._kept
        rest = self._buffer[start:]
        new = self._read(max(BLOCK, len(rest)))
        try:
            # For the check alone: what is passed over is never decoded otherwise.
            if not new.isascii() or self._decoder.getstate()[0]:
                self._decoder.decode(new, not new)
        except UnicodeDecodeError as error:
            raise NotJsonError(f"not UTF-8: {error.reason}") from None
        self._buffer = rest + new if rest else new
        self._position -= start
        if self._kept is not None:
            self._kept = 0
        return bool(new)

    def _need_more(self) -> None:
        if not self._more():
            raise NotJsonError("the file ends too early")

    def _pass(self, pattern: re.Pattern[bytes]) -> bool:
        found = pattern.match(self._buffer, self._position)
        if found is None:
            return False
        self._position = found.end()
        return True

    def _next(self) -> int:
        """Go to the next character that is no blank, and give it."""
        while True:
            self._pass(_blank)
            if self._position < len(self._buffer):
                return self._buffer[self._position]
            self._need_more()

    def _expect(self, character: str) -> None:
        if self._next() != ord(character):
            raise NotJsonError(f"{character} is missing")
        self._position += 1

    def _goes_on(self, closing: str) -> bool:
        found = self._next()
        if found not in (ord(","), ord(closing)):
            raise NotJsonError(f", or {closing} is missing")
        self._position += 1
        return found == ord(",")

    def _pass_string(self) -> None:
        self._position += 1
        while True:
            quote = self._buffer.find(b'"', self._position)
            end = len(self._buffer) if quote < 0 else quote
            slashes = 0
            if end > self._position and self._buffer[end - 1] == ord("\\"):
                passed = self._buffer[self._position : end]
                slashes = len(passed) - len(passed.rstrip(b"\\"))
            if quote < 0:
                # What was looked at need not stay in the buffer.
                self._position = end - slashes
                self._need_more()
            else:
                self._position = quote + 1
                if slashes % 2 == 0:
                    return

    def _pass_scalar(self) -> None:
        if not self._pass(_scalar):
            raise NotJsonError("a value is missing")
        while self._position == len(self._buffer) and self._more():
            self._pass(_scalar)

    def _pass_container(self) -> None:
        closing = bytearray()
        while True:
            if self._position == len(self._buffer):
                self._need_more()
            elif self._buffer[self._position] == ord('"'):
                self._pass_string()
            else:
                character = self._buffer[self._position]
                self._position += 1
                if character in _CLOSING:
                    closing.append(_CLOSING[character])
                    self._levels = max(self._levels, len(closing))
                elif character != closing.pop():
                    raise NotJsonError("brackets do not match")
                if not closing:
                    return
            self._pass(_run)


def loads(text: bytes) -> Any:
    """The value of a JSON text that is known not to be nested too deep.

    NaN and infinities become floats; so do integers of more digits than Python converts.

    Raises:
        NotJsonError: when it is no JSON or not UTF-8.
    """
    try:
        decoded = text.decode("utf-8")
        try:
            return _decode(decoded)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return json.loads(decoded, parse_int=_integer)
    except RecursionError:
        raise NotJsonError("nested too deep") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return -math.inf if digits.startswith("-") else math.inf
