"""Text of files on a terminal: without the characters by which a file could command it."""

from __future__ import annotations

import re
from typing import TextIO

from pywebmcp import text

# ECMA-48's C0 and C1 sets but for the tab and the line break. Terminals obey C1 in UTF-8 as well.
_controls = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(words: str, stream: TextIO | None) -> str:
    """The words as ``stream`` may have them: all of them, but for a terminal what it can show."""
    if stream is None or not stream.isatty():
        return words
    return _controls.sub("", text.clean(words))
