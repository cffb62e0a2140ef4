"""Pages of text: which window was asked for, and what of a text lies in it, in Unicode characters."""

from __future__ import annotations

from typing import Any, NamedTuple

from pywebmcp.errors import Code
from pywebmcp.jsontext import MAX_SAFE_INTEGER
from pywebmcp.outputs.errors import OutputProtocolError, invalid
from pywebmcp.outputs.transport import utf8_length

DEFAULT_TEXT_LIMIT = 100_000
"""Unicode characters of a page when the caller does not say."""


class Window(NamedTuple):
    """A page of text: characters to skip, and characters at most (None: all that follow)."""

    offset: int
    limit: int | None

    def refuse_for(self, what: str) -> None:
        """Raise WINDOW_NOT_SUPPORTED when a page was asked for of what has no pages."""
        if self.offset or self.limit not in (None, DEFAULT_TEXT_LIMIT):
            raise OutputProtocolError(
                Code.WINDOW_NOT_SUPPORTED,
                f"There are no pages of {what}: leave out offset and limit",
            )

    def cut(self, text: str) -> dict[str, Any]:
        """The page of a text as the fields of an answer (``bytes`` is its size in UTF-8)."""
        page = text[self.offset : None if self.limit is None else self.offset + self.limit]
        end = self.offset + len(page)
        fields: dict[str, Any] = {
            "bytes": utf8_length(page),
            "data": page,
            "offset": self.offset,
            "returned_characters": len(page),
            "total_characters": len(text),
            # An offset tells that something was passed over, whatever the text has become since.
            "truncated": self.offset > 0 or end < len(text),
        }
        if page and end < len(text):
            fields["next_offset"] = end
        return fields


def window(offset: Any, limit: Any) -> Window:
    """The window that a caller asks for.

    Raises:
        OutputProtocolError: INVALID_WINDOW unless the offset is an integer of 0 or more (as far as
            every JSON parser reads it exactly, since the answer repeats it) and the limit one of
            1 or more, or None.
    """
    if not _integer(offset) or not 0 <= offset <= MAX_SAFE_INTEGER:
        raise OutputProtocolError(Code.INVALID_WINDOW, "offset has to be an integer of 0 or more")
    if limit is not None and (not _integer(limit) or limit < 1):
        raise OutputProtocolError(Code.INVALID_WINDOW, "limit has to be an integer of 1 or more")
    return Window(int(offset), None if limit is None else int(limit))


def text_of(value: Any, what: str) -> str:
    """An nbformat multiline string (a string, or a list of strings) as one text.

    Halves of one character that were saved in two pieces are one character again.

    Raises:
        OutputProtocolError: OUTPUT_DATA_INVALID for anything else.
    """
    pieces = (value,) if isinstance(value, str) else value
    if not isinstance(pieces, (list, tuple)) or not all(isinstance(each, str) for each in pieces):
        raise invalid(f"{what} has to be text")
    text = "".join(pieces)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
