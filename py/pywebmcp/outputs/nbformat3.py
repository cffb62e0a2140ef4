"""Cells of notebooks older than nbformat 4 (2015), read as if they had been converted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pywebmcp import jsontext

# nbformat 3's short names for what a display shows.
_MIME_TYPES = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}


def upgraded_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell of nbformat 2 or 3 with the names of nbformat 4; its outputs may be what they like."""
    new = dict(cell)
    if "input" in new:
        new["source"] = new.pop("input")
    if "prompt_number" in new:
        new["execution_count"] = new.pop("prompt_number")
    if new.get("cell_type") == "heading":
        new["cell_type"] = "markdown"
    if isinstance(new.get("outputs"), list):
        new["outputs"] = [
            _upgraded_output(each) if isinstance(each, dict) else each for each in new["outputs"]
        ]
    return new


def _upgraded_output(output: dict[str, Any]) -> dict[str, Any]:
    kind = output.get("output_type")
    if kind == "stream":
        return {"output_type": kind, "name": output.get("stream"), "text": output.get("text", "")}
    if kind == "pyerr":
        return {**output, "output_type": "error"}
    if kind not in ("pyout", "display_data"):
        return output
    bundle = {
        _MIME_TYPES.get(key, key): _json(value) if key == "json" else value
        for key, value in output.items()
        if key in _MIME_TYPES or "/" in key
    }
    new: dict[str, Any] = {"output_type": kind, "data": bundle, "metadata": _metadata(output)}
    if kind == "pyout":
        new |= {
            "output_type": "execute_result",
            "execution_count": output.get("prompt_number"),
        }
    return new


def _metadata(output: dict[str, Any]) -> Any:
    metadata = output.get("metadata", {})
    if not isinstance(metadata, dict):
        return metadata
    return {_MIME_TYPES.get(key, key): value for key, value in metadata.items()}


def _json(value: Any) -> Any:
    """The value of a JSON text, which nbformat 3 stored as such; what is none stays a text."""
    pieces = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in pieces):
        return value
    text = "".join(pieces)
    try:
        return jsontext.loads(text)
    except ValueError:
        return text
