"""Notebooks in which hidden cells carry a marker wherever a cell can carry text."""

from __future__ import annotations

from typing import Any

from pywebmcp.access import Level, marked
from pywebmcp.comments import Comment, Places, Thread
from pywebmcp.comments.model import Author
from pywebmcp.comments.store import with_thread
from pywebmcp.constants import METADATA_KEY
from pywebmcp.testing import code, error, markdown, notebook, raw, result, stream

MARK = "zqx"
"""What must be in no result."""

_PERSON = Author("person", "Ada")


def cell(index: int, kind: str, secret: bool, cell_id: str | None = None) -> dict[str, Any]:
    """A cell with text in all of its places; ``secret`` puts the marker into each of them."""
    word = MARK if secret else "plain"
    name = cell_id or f"{word}-{index}"
    metadata = {"tags": [f"{word}-tag"], "note": f"{word} metadata"}
    if kind == "code":
        outputs = [
            stream(f"{word} out {index}\n"),
            result({"text/plain": f"{word} plain", "text/html": f"<b>{word}</b>"}),
            result({"image/png": "aGVsbG8=", "text/plain": f"{word} figure"}),
            error("ValueError", f"{word} failed", f"{word} traceback"),
        ]
        source = f"print('{word} {index}')\nneedle = {index}"
        return code(source, name, outputs=outputs, execution_count=index, metadata=metadata)
    make = markdown if kind == "markdown" else raw
    made = make(f"# {word} {index}\nneedle and text enough to be evidence {word}", name)
    made["metadata"] = metadata
    made["attachments"] = {f"{word}.png": {"image/png": "aGVsbG8="}}
    return made


def book(
    cells: list[dict[str, Any]],
    levels: list[Level],
    *,
    level: Level = "write",
    minor: int = 5,
    threads: bool = True,
) -> dict[str, Any]:
    """A notebook of these cells and levels; each cell has threads of all kinds about it."""
    made = notebook(*cells, minor=minor)
    own: Any = None
    if threads:
        ids = [each["id"] for each in cells]
        places = Places(ids, [each["source"] for each in cells], lambda at: cells[at]["outputs"])
        for index, each in enumerate(cells):
            hidden = levels[index] == "none"
            word = MARK if hidden else "plain"
            anchors: list[Any] = [
                places.cell_anchor(each["id"], index),
                places.range_anchor(each["id"], index, 0, 12),
            ]
            if each.get("outputs"):
                anchors.append(places.output_anchor(each["id"], index, 0))
            for number, anchor in enumerate(anchors):
                talk = Comment(_PERSON, "2026-01-01T00:00:00Z", f"{word} comment")
                own = with_thread(own, Thread(f"{word}-t{index}-{number}", anchor, (talk,)))
    metadata = {"kernelspec": {"name": "python"}, **({METADATA_KEY: own} if own else {})}
    made["metadata"] = marked(metadata, level)
    for each, each_level in zip(made["cells"], levels, strict=True):
        each["metadata"] = marked(each["metadata"], each_level)
    return made


LEVELS: list[Level] = ["write", "none", "read", "none", "write", "write", "none"]
KINDS = ["code", "code", "code", "markdown", "markdown", "raw", "raw"]


def mixed(**options: Any) -> dict[str, Any]:
    """Visible, read-only and hidden cells of every type; the hidden ones all have the marker."""
    cells = [cell(at, kind, LEVELS[at] == "none") for at, kind in enumerate(KINDS)]
    return book(cells, LEVELS, **options)
