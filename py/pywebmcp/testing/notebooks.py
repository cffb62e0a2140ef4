"""Builders of nbformat dicts, so that a test shows the cells it is about and nothing else."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any


def notebook(
    *cells: dict[str, Any] | str, minor: int = 5, metadata: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An nbformat 4 notebook; a string is a code cell.

    Cells without an id get ``cell-0``, ``cell-1``, ... by position, unless ``minor`` is below 5,
    where the format knows no ids.
    """
    made = [code(cell) if isinstance(cell, str) else dict(cell) for cell in cells]
    for index, cell in enumerate(made):
        if minor >= 5:
            cell.setdefault("id", f"cell-{index}")
        else:
            cell.pop("id", None)
    return {
        "nbformat": 4,
        "nbformat_minor": minor,
        "metadata": {} if metadata is None else metadata,
        "cells": made,
    }


def code(
    source: str,
    id: str | None = None,  # noqa: A002 (the field's name in nbformat)
    *,
    outputs: list[dict[str, Any]] | None = None,
    execution_count: int | None = None,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A code cell."""
    cell = _cell("code", source, id, metadata)
    return cell | {"outputs": outputs or [], "execution_count": execution_count}


def markdown(
    source: str,
    id: str | None = None,  # noqa: A002
    *,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A markdown cell."""
    return _cell("markdown", source, id, metadata)


def raw(
    source: str,
    id: str | None = None,  # noqa: A002
    *,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A raw cell."""
    return _cell("raw", source, id, metadata)


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    """A stream output."""
    return {"output_type": "stream", "name": name, "text": text}


def result(data: dict[str, Any], execution_count: int = 1) -> dict[str, Any]:
    """An ``execute_result`` with a MIME bundle."""
    return {
        "output_type": "execute_result",
        "data": data,
        "metadata": {},
        "execution_count": execution_count,
    }


def error(ename: str, evalue: str, *traceback: str) -> dict[str, Any]:
    """An error output."""
    lines = list(traceback) or [f"{ename}: {evalue}"]
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": lines}


def counter(prefix: str = "id") -> Callable[[], str]:
    """Ids in place of random ones: ``id-1``, ``id-2``, ..."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}-{next(numbers)}"


def crossed(value: Any) -> Any:
    """A value as it arrives after crossing to JavaScript and back as JSON text.

    A deep copy in which two halves of a surrogate pair have become one character.
    """
    return json.loads(json.dumps(value))


def set_key(metadata: dict[str, Any], key: str, value: Any) -> bool:
    """Set a key, or with None take it away; answers whether that changed anything."""
    if metadata.get(key) == value:
        return False
    if value is None:
        del metadata[key]
    else:
        metadata[key] = crossed(value)
    return True


def joined(source: Any) -> str:
    """A multi-line string of nbformat, which may be a list of lines, as one string."""
    return source if isinstance(source, str) else "".join(source)


def _cell(
    cell_type: str, source: str, cell_id: str | None, metadata: dict[str, Any] | None
) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": cell_type, "source": source, "metadata": metadata or {}}
    return cell if cell_id is None else {"id": cell_id} | cell
