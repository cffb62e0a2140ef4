"""What is done to every result: data in MIME bundles that an agent cannot read as text gives way
to a word on what was there, and outputs are cleaned of what is meant for a screen.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

from pywebmcp import jsontext, text
from pywebmcp.bounding.cutting import surely_longer

RICH_LIMIT = 2000
"""Characters that rich data (HTML, SVG, a chart's JSON) may have beside a text/plain form."""

MEASURED_LIMIT = 100_000
"""Characters beyond which a structured value is not measured: writing a chart of a million points
as text, only to say how long it would be, would freeze the page for seconds."""

# How long a placeholder, also a caller's own, can be; see _is_placeholder.
_PLACEHOLDER_LIMIT = 1000

Path = tuple[str | int, ...]
Placeholder = Callable[[str, Any, Path], str | None]
"""``(mime_type, value, path) -> text or None``: the caller's word on omitted data.

``value`` is the data as the bundle has it (base64 text or a list of its lines), ``path`` the keys
and indices that lead to it. The text is to stand in square brackets and be short; None takes
`default_placeholder`.
"""

# RFC 2045: type "/" subtype, parameters after a semicolon.
_mime_type = re.compile(r"[\w.+*!#$&^-]+/[\w.+*!#$&^-]+\s*(?:;.*)?", re.ASCII | re.DOTALL)
_SCREEN = frozenset({"outputs", "traceback"})


def shorten_bundles(value: Any, placeholder: Placeholder | None = None) -> Any:
    """A JSON value in which MIME bundles hold what an agent can read; the input is not changed.

    A MIME bundle is an object whose keys are all MIME types. In it binary data (images other than
    SVG, audio, video, PDF, octet streams) is replaced by a placeholder, and so is other data of
    more than 2000 characters when there is a ``text/plain`` to see. Values under a key
    ``metadata`` are kept. nbformat outputs under a key ``outputs`` are made readable by
    `text.clean_outputs`; escape sequences go from every other string under ``outputs`` and
    ``traceback``. Doing it again changes nothing.
    """
    return _Shortener(placeholder).any(value, False)


def default_placeholder(mime_type: str, characters: float, see: bool) -> str:
    """``[omitted image/png data, 48216 characters; see text/plain]``, the end only if ``see``.

    An infinite number of characters is more than was measured.
    """
    size = f"more than {MEASURED_LIMIT}" if characters == math.inf else characters
    return f"[omitted {mime_type} data, {size} characters{'; see text/plain' if see else ''}]"


class _Shortener:
    """One walk; containers that do not change are given back as they are, not copied."""

    def __init__(self, placeholder: Placeholder | None) -> None:
        self._placeholder = placeholder
        self._path: list[str | int] = []

    def any(self, value: Any, screen: bool) -> Any:
        """The value shortened; ``screen`` says whether it was written for one."""
        if isinstance(value, dict):
            return self._object(value, screen)
        if isinstance(value, list):
            return self._array(value, screen)
        return text.clean(value) if screen and isinstance(value, str) and "\x1b" in value else value

    def _object(self, value: dict[str, Any], screen: bool) -> dict[str, Any]:
        if value and all(map(_mime_type.fullmatch, value)):
            value = self._bundle(value)
            # Its texts are formats of their own: outputs had their text/plain cleaned.
            screen = False
        changes = {}
        for key, each in value.items():
            written = screen or key in _SCREEN
            if isinstance(each, (dict, list)):
                if key == "metadata":
                    continue
                new = each
                if key == "outputs" and _are_outputs(each):
                    new = text.clean_outputs(each)
                self._path.append(key)
                new = self.any(new, written)
                self._path.pop()
                if new is not each:
                    changes[key] = new
            elif written and isinstance(each, str) and "\x1b" in each:
                changes[key] = text.clean(each)
        return {**value, **changes} if changes else value

    def _array(self, value: list[Any], screen: bool) -> list[Any]:
        kinds = set(map(type, value))
        if not (dict in kinds or list in kinds or (screen and str in kinds)):
            return value
        items = []
        for index, each in enumerate(value):
            self._path.append(index)
            items.append(self.any(each, screen))
            self._path.pop()
        return value if all(map(operator.is_, items, value)) else items

    def _bundle(self, bundle: dict[str, Any]) -> dict[str, Any]:
        see = bool(text.multiline(bundle.get("text/plain")).strip())
        changes = {}
        for mime_type, value in bundle.items():
            if mime_type == "text/plain":
                continue
            binary = _is_binary(mime_type)
            if not (binary or see):
                continue
            data, size = _measure(mime_type, value)
            if (binary and data and not _is_placeholder(data)) or (see and size > RICH_LIMIT):
                word = None
                if self._placeholder is not None:
                    word = self._placeholder(mime_type, value, (*self._path, mime_type))
                changes[mime_type] = word or default_placeholder(mime_type, size, see)
        return {**bundle, **changes} if changes else bundle


def _is_binary(mime_type: str) -> bool:
    essence = mime_type.partition(";")[0].strip().lower()
    return (
        essence.startswith(("image/", "audio/", "video/")) and essence != "image/svg+xml"
    ) or essence in ("application/pdf", "application/octet-stream")


def _is_placeholder(data: str) -> bool:
    """Whether this stands in the place of binary data already: base64 has no brackets."""
    return data[0] == "[" and data[-1] == "]" and len(data) <= _PLACEHOLDER_LIMIT


def _measure(mime_type: str, value: Any) -> tuple[str, float]:
    """The text whose length counts, and its length.

    Of JSON that is its JSON text, of a multiline string its lines joined. Of JSON that is surely
    longer than `MEASURED_LIMIT` the text is not made; its length is infinite then.
    """
    if isinstance(value, str):
        return value, jsontext.length(value)
    if not text.is_json_mime(mime_type):
        joined = text.multiline(value)
        return joined, jsontext.length(joined)
    if surely_longer(value, MEASURED_LIMIT):
        return "", math.inf
    dumped = jsontext.dumps(value)
    return dumped, jsontext.length(dumped)


def _are_outputs(value: Any) -> bool:
    """Whether a value is a list of nbformat outputs, not something else of that name.

    A directory of the outputs protocol has ``output_index`` in its entries, and no data.
    """
    return isinstance(value, list) and all(
        isinstance(output, dict) and "output_type" in output and "output_index" not in output
        for output in value
    )
