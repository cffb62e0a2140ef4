"""What is left of cells, files and comments when what an agent must not know is taken out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pywebmcp import access, cells
from pywebmcp.access import Levels
from pywebmcp.comments import OutputAnchor, Places
from pywebmcp.comments.entries import read_thread
from pywebmcp.constants import METADATA_KEY
from pywebmcp.edits import normalise_newlines
from pywebmcp.errors import ToolError
from pywebmcp.types import CellData

_COMMENTS = "comments"
_THREADS = "threads"


def stand_in() -> CellData:
    """What is in the place of a hidden cell, so that the indexes stay the real ones."""
    return CellData(cell_type="raw", source="", metadata=access.marked({}, "none"))


def cell(data: CellData, index: int, levels: Levels) -> CellData:
    """A cell with its effective level, or the stand-in for a hidden one."""
    level = levels.cell(index)
    if level == "none":
        return stand_in()
    if level == "read":
        return CellData(**{**data, "metadata": access.marked(data["metadata"], level)})
    return data


def file(content: dict[str, Any], levels: Levels) -> dict[str, Any]:
    """A notebook file's JSON without its hidden cells and what is said of them."""
    if levels.open or not isinstance(content.get("cells"), list):
        return content
    shown: list[Any] = []
    index = 0
    for raw in content["cells"]:
        if not isinstance(raw, dict):
            shown.append(raw)
            continue
        level = levels.cell(index)
        index += 1
        if level == "none":
            shown.append(dict(stand_in()))
        elif level == "read":
            shown.append({**raw, "metadata": access.marked(raw.get("metadata"), level)})
        else:
            shown.append(raw)
    found = content.get("metadata")
    metadata = found if isinstance(found, dict) else {}
    if METADATA_KEY in metadata:
        own = _own_of_file(metadata[METADATA_KEY], content, levels)
        metadata = {**metadata, METADATA_KEY: own}
    return {**content, "metadata": metadata, "cells": shown}


def _own_of_file(own: Any, content: dict[str, Any], levels: Levels) -> Any:
    if not levels.hidden:
        return own
    found = [each for each in content["cells"] if isinstance(each, dict)]
    try:
        real = cells.from_file({**content, "cells": found})
    except ToolError:
        # What cannot be read as cells is not shown as cells either.
        return without_threads(own)
    return discreet(own, real, levels.hidden)


def discreet(own: Any, real: Sequence[CellData], hidden: Collection[int]) -> Any:
    """The value of our metadata key without the threads that are about hidden cells."""
    kept, _ = split(own, real, hidden)
    return with_entries(own, kept)


def split(
    own: Any, real: Sequence[CellData], hidden: Collection[int]
) -> tuple[list[Any], list[bool]]:
    """The threads' entries that an agent may see, and for each entry whether it is one of them.

    Where cells are hidden, a thread that has lost its cell is not shown either: its text may be
    that of a cell that is hidden.
    """
    entries = entries_of(own)
    if not entries or not hidden:
        return list(entries), [True] * len(entries)
    ids = [each.get("id") for each in real]
    sources = [normalise_newlines(each["source"]) for each in real]
    places = Places(ids, sources, lambda _: ())
    concealed = {cell_id for index, cell_id in enumerate(ids) if index in hidden}
    shown = [_visible(entry, places, hidden, concealed) for entry in entries]
    return [entry for entry, seen in zip(entries, shown, strict=True) if seen], shown


def _visible(
    entry: Any, places: Places, hidden: Collection[int], concealed: Collection[str | None]
) -> bool:
    thread = read_thread(entry)
    if thread is None or thread.anchor is None:
        return False
    anchor = thread.anchor
    cell_id = anchor.cell.cell_id if isinstance(anchor, OutputAnchor) else anchor.cell_id
    index = places.place(anchor).index
    return cell_id not in concealed and index is not None and index not in hidden


def entries_of(own: Any) -> list[Any]:
    """The list of threads in the value of our key, readable or not."""
    held = own.get(_COMMENTS) if isinstance(own, dict) else None
    entries = held.get(_THREADS) if isinstance(held, dict) else None
    return entries if isinstance(entries, list) else []


def with_entries(own: Any, entries: list[Any]) -> Any:
    """The value of our key with these threads, where it has any."""
    if not entries_of(own):
        return own
    return {**own, _COMMENTS: {**own[_COMMENTS], _THREADS: entries}}


def without_threads(own: Any) -> Any:
    """The value of our key without any thread."""
    return with_entries(own, [])


def merged(own: Any, shown: Sequence[bool], written: Any) -> Any:
    """What an agent wrote to our key, with what it did not see put back, in its place.

    Of our key an agent writes the comments; everything else stays as it is.
    """
    fresh = iter(entries_of(written))
    threads: list[Any] = []
    for entry, seen in zip(entries_of(own), shown, strict=True):
        if not seen:
            threads.append(entry)
        else:
            # Where it wrote fewer, those it left out are gone.
            threads += [entry for entry in [next(fresh, None)] if entry is not None]
    threads += fresh
    kept = dict(own) if isinstance(own, dict) else {}
    if isinstance(written, dict) and isinstance(written.get(_COMMENTS), dict):
        kept[_COMMENTS] = {**written[_COMMENTS], _THREADS: threads}
    return kept or None
