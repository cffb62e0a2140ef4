"""Telling whether an output is still the one that a thread was about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pywebmcp import jsontext
from pywebmcp.comments.model import OutputAnchor
from pywebmcp.edits import digest
from pywebmcp.text import multiline

OutputState = Literal["unchanged", "changed", "gone"]

Output = Mapping[str, Any]


def fingerprint(output: Output) -> str:
    """A hash of what an nbformat output shows.

    Neither the execution count nor the metadata count, nor how a file breaks texts into lines.
    """
    kind = output.get("output_type")
    essence: Any
    if kind == "stream":
        essence = [output.get("name"), multiline(output.get("text"))]
    elif kind == "error":
        lines = output.get("traceback")
        essence = [output.get("ename"), output.get("evalue"), multiline(lines)]
    else:
        data = output.get("data")
        data = data if isinstance(data, Mapping) else {}
        essence = [[str(mime), _joined(data[mime])] for mime in sorted(data, key=str)]
    return digest(jsontext.dumps(essence))


def mime_type(output: Output) -> str:
    """The richest MIME type of an output; JupyterLab's own for streams and errors."""
    kind = output.get("output_type")
    if kind == "stream":
        return f"application/vnd.jupyter.{output.get('name') or 'stdout'}"
    if kind == "error":
        return "application/vnd.jupyter.error"
    data = output.get("data")
    found = [str(mime) for mime in data] if isinstance(data, Mapping) else []
    return next((mime for mime in found if mime != "text/plain"), "text/plain")


def find(outputs: Sequence[Output], anchor: OutputAnchor) -> tuple[int | None, OutputState]:
    """Where an output is now and whether it changed.

    Unchanged at another index only where that is the one output of this content; else what is at
    its index now is another output of the same cell: changed.
    """
    prints = [fingerprint(output) for output in outputs]
    if anchor.index < len(prints) and prints[anchor.index] == anchor.fingerprint:
        return anchor.index, "unchanged"
    if prints.count(anchor.fingerprint) == 1:
        return prints.index(anchor.fingerprint), "unchanged"
    if anchor.index < len(prints):
        return anchor.index, "changed"
    return None, "gone"


def _joined(value: Any) -> Any:
    """A text that a file may have as a list of lines; other JSON as it is."""
    if isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value
