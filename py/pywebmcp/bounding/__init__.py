"""Fits a tool's result into the length that an agent's context has for it, in steps that keep what
matters: first what no agent can read goes, then middles of long texts, then the ends of lists.
"""

from __future__ import annotations

import re
from typing import Any

from pywebmcp import jsontext
from pywebmcp.bounding.bundles import Placeholder, default_placeholder, shorten_bundles
from pywebmcp.bounding.cutting import NoRoom, Step, cut, cut_text, surely_longer

__all__ = [
    "MIN_LIMIT",
    "Placeholder",
    "bound",
    "bound_text",
    "cut_text",
    "default_placeholder",
    "shorten_bundles",
    "surely_longer",
]

MIN_LIMIT = 1000
"""The smallest limit that is kept, in characters: the last resort fits into it whatever comes."""

CUTS_LISTED = 20

_ADDED = frozenset({"truncated", "truncationNote", "truncation", "truncationCount"})
_KEPT = frozenset({"success", "isError", "status", "pendingId", "error", "code"})


# A key with a slash, as MIME types have.
_slashed_key = re.compile(r'/[^"\\/]*":')


def _worth_a_walk(text: str) -> bool:
    """Whether there may be anything for `shorten_bundles` in a JSON text.

    That has outputs, an escape, or a MIME type for a key. Most results have none, and looking for
    the words is a hundredth of a walk.
    """
    return (
        '"outputs":' in text
        or '"traceback":' in text
        or "\\u001b" in text
        or ("/" in text and _slashed_key.search(text) is not None)
    )


def bound(
    payload: dict[str, Any], limit: int, placeholder: Placeholder | None = None
) -> dict[str, Any]:
    """The payload, shortened so that its JSON text has at most ``limit`` characters.

    1. Always: `shorten_bundles` (binary data, long rich data beside plain text, escapes).
    2. When the JSON text is still longer than the limit, the first of these that fits:

       ======  ===========================  ================================  ==============
       step    strings                      characters kept at each end       items kept
       ======  ===========================  ================================  ==============
       1       in outputs and traceback     a quarter of the limit            all
       2       in outputs and traceback     1000                              all
       3       all                          500                               50
       4       all                          150                               10
       ======  ===========================  ================================  ==============

       Arrays keep their first items, a ``traceback`` its last ones. Each step begins with the
       original, so nothing is cut twice. The result gets ``truncated: true``, ``truncationNote``
       and ``truncation``: of at most 20 cuts the ``path`` with ``omittedCharacters`` (Unicode
       characters) or ``omittedItems``; if there were more, their number in ``truncationCount``. A path gives the
       place in the shortened result, as JavaScript would write it: ``outputs[0].text``.
    3. When no step is enough: ``success``, ``isError``, ``status``, ``pendingId``, ``error`` and
       ``code`` stay, with ``truncated``, a ``message`` with the original length, and ``preview``,
       the beginning of the original's JSON text.

    The payload is not changed; values that JSON lacks get the form `jsontext` states.

    Args:
        payload: a tool's result.
        limit: the greatest length, as `jsontext.length` counts it; at least `MIN_LIMIT`.
        placeholder: what to write in the place of omitted MIME data, see `shorten_bundles`.
    """
    return bound_text(payload, limit, placeholder)[0]


def bound_text(
    payload: dict[str, Any], limit: int, placeholder: Placeholder | None = None
) -> tuple[dict[str, Any], str]:
    """What `bound` gives, and its JSON text, which was made to measure it."""
    limit = max(limit, MIN_LIMIT)
    plain, least = jsontext.weighed(payload)
    # A text of megabytes is not made to see that it is too long.
    if least <= limit:
        text = jsontext.encode(plain)
        if jsontext.length(text) <= limit and not _worth_a_walk(text):
            return plain, text
    whole: dict[str, Any] = shorten_bundles(plain, placeholder)
    if not surely_longer(whole, limit):
        text = jsontext.dumps(whole)
        if jsontext.length(text) <= limit:
            return whole, text
    # A field of the payload by such a name gives way to ours: it must not be noted as cut.
    original = {key: value for key, value in whole.items() if key not in _ADDED}
    for step in (Step(limit // 4), Step(1000), Step(500, 50), Step(150, 10)):
        try:
            shortened, cuts = cut(original, step, limit)
        except NoRoom:
            continue
        if not cuts:
            continue
        shortened["truncated"] = True
        shortened["truncationNote"] = (
            f'Long values were shortened to fit {limit} characters; "truncation" lists them. '
            "Ask for less at a time, or for the value in pages, to see the rest."
        )
        shortened["truncation"] = cuts[:CUTS_LISTED]
        if len(cuts) > CUTS_LISTED:
            shortened["truncationCount"] = len(cuts)
        text = jsontext.dumps(shortened)
        if jsontext.length(text) <= limit:
            return shortened, text
    return _last_resort(whole, limit)


def _last_resort(whole: dict[str, Any], limit: int) -> tuple[dict[str, Any], str]:
    original = jsontext.dumps(whole)
    message = (
        f"The result has {jsontext.length(original)} characters of JSON and could not be shortened "
        f"to {limit}: preview is how it begins. Ask for less at a time."
    )
    # The kept fields are short unless something went wrong; then a part of each must do.
    kept = {key: value for key, value in whole.items() if key in _KEPT}
    for keep in (150, 50, 10):
        result = {key: _short(value, keep) for key, value in kept.items()}
        result.update(truncated=True, message=message, preview="")
        if jsontext.length(result) <= limit:
            break
    else:
        small = {key: value for key, value in kept.items() if jsontext.length([value]) <= 60}
        result = {**small, "truncated": True, "message": message, "preview": ""}
    room = limit - jsontext.length(result)
    # Half of the limit: what does not parse is worth a look, not a whole context.
    result["preview"] = _beginning(original, min(room, limit // 2))
    return result, jsontext.dumps(result)


def _short(value: Any, keep: int) -> Any:
    """A field of the last resort: a number or bool as it is, text with little of its ends."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = value if isinstance(value, str) else jsontext.dumps(value)
    return cut_text(text, keep)[0]


def _beginning(text: str, room: int) -> str:
    """The longest beginning whose JSON text, without its quotes, has at most ``room`` characters."""
    low, high = 0, min(room, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if jsontext.length(jsontext.dumps(text[:middle])) - 2 <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
