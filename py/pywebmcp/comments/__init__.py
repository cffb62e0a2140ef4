"""Threads of comments on a notebook: kept in its metadata, tied to cells, text and outputs.

Pure: values in, values out. Whoever has a live notebook reads its metadata with `store.read`, asks
`places.Places` where a thread is now, and writes back what `store`'s functions answer.
"""

from __future__ import annotations

from pywebmcp.comments.model import (
    AGENT,
    Anchor,
    Author,
    CellAnchor,
    Comment,
    OutputAnchor,
    RangeAnchor,
    Status,
    Thread,
)
from pywebmcp.comments.places import Place, Places
from pywebmcp.comments.store import Review, read

__all__ = [
    "AGENT",
    "Anchor",
    "Author",
    "CellAnchor",
    "Comment",
    "OutputAnchor",
    "Place",
    "Places",
    "RangeAnchor",
    "Review",
    "Status",
    "Thread",
    "read",
]
