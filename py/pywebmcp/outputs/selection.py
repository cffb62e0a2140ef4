"""Which representation of a MIME bundle is answered: by the protocol's order, within what the
adapter can present, or exactly the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, shown
from pywebmcp.outputs.images import RASTER_TYPES

Kind = Literal["image", "json", "text"]

_TEXT_ORDER = ("text/html", "text/markdown", "text/plain")
_JSON = "application/json"
_SVG = "image/svg+xml"

_MAX_NAMES = 300  # characters of the MIME types that a message repeats


def kind_of(mime_type: str) -> Kind | None:
    """How a MIME type is answered; None when it is only listed. Names are compared as they are."""
    if mime_type in RASTER_TYPES:
        return "image"
    if mime_type == _JSON or mime_type.endswith("+json"):
        return "json"
    if mime_type == _SVG or mime_type.startswith("text/"):
        return "text"
    return None


def select(data: Mapping[str, Any], mime_type: Any, supported: Any) -> tuple[str, Kind]:
    """The MIME type to answer of a bundle, and how.

    Args:
        data: the bundle.
        mime_type: the type asked for, which is taken exactly or not at all; None for the best.
        supported: the types that the caller can present; None for all.

    Raises:
        OutputProtocolError: MIME_NOT_FOUND, MIME_NOT_SUPPORTED.
    """
    can_present = _capabilities(supported)
    if mime_type is None:
        return _best(data, can_present)
    if not isinstance(mime_type, str) or mime_type not in data:
        raise OutputProtocolError(
            Code.MIME_NOT_FOUND, f"The output has no {shown(mime_type)}; it has {_names(data)}"
        )
    kind = kind_of(mime_type)
    if kind is None:
        raise OutputProtocolError(
            Code.MIME_NOT_SUPPORTED, f"{mime_type} is listed, but its data cannot be read"
        )
    if can_present is not None and mime_type not in can_present:
        raise OutputProtocolError(
            Code.MIME_NOT_SUPPORTED, f"{mime_type} is not among the MIME types the caller supports"
        )
    return mime_type, kind


def _best(data: Mapping[str, Any], can_present: frozenset[Any] | None) -> tuple[str, Kind]:
    more_json = sorted(name for name in data if name.endswith("+json"))
    for name in (*RASTER_TYPES, *_TEXT_ORDER, _JSON, *more_json, _SVG):
        if name in data and (can_present is None or name in can_present):
            kind = kind_of(name)
            if kind is not None:
                return name, kind
    if any(kind_of(name) for name in data if can_present is not None and name not in can_present):
        problem = "The caller supports none of the MIME types that are chosen by themselves"
    else:
        problem = "The output has nothing that is chosen by itself"
    raise OutputProtocolError(
        Code.MIME_NOT_SUPPORTED,
        f"{problem}; it has {_names(data)}. A text/* type can be asked for by its name.",
    )


def _capabilities(supported: Any) -> frozenset[Any] | None:
    if supported is None:
        return None
    if isinstance(supported, str):
        return frozenset({supported})
    if not isinstance(supported, Iterable):
        return frozenset()
    return frozenset(each for each in supported if isinstance(each, str))


def _names(data: Mapping[str, Any]) -> str:
    names = ", ".join(data) or "no representation at all"
    return names if len(names) <= _MAX_NAMES else f"{names[:_MAX_NAMES]}…"
