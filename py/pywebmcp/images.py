"""Images for an agent: which ones a client takes as an image, whether one is whole, and the word
that stands for one in a result's text.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from pywebmcp import text
from pywebmcp.constants import MAX_IMAGE, MAX_IMAGES

TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The raster formats that MCP clients and the models behind them take as image content."""

Block = dict[str, str]
"""A content block ``{type: "image", data, mimeType}`` of an MCP result; ``data`` is base64."""


def block(mime_type: str, data: str) -> Block:
    """The image as a content block; ``data`` is base64."""
    return {"type": "image", "data": data, "mimeType": mime_type}


def decoded(value: Any) -> bytes | None:
    """The bytes of base64 data as a MIME bundle has it, line breaks allowed; None for anything else."""
    try:
        return base64.b64decode("".join(text.multiline(value).split()), validate=True)
    except (ValueError, binascii.Error):
        return None


def flaw(mime_type: str, data: bytes) -> str | None:
    """What keeps a client from showing an image, as far as its beginning and its end tell.

    Images of a run that was stopped, or of a file that was cut, are common, and a client that is
    handed one fails the whole answer. None for one that seems to be whole.
    """
    begins, ends = _SIGNS[mime_type]
    if not data:
        return "it is empty"
    if not data.startswith(begins):
        return f"its bytes are no {mime_type}"
    if mime_type == "image/webp":
        whole = data[8:12] == b"WEBP" and len(data) >= int.from_bytes(data[4:8], "little") + 8
    else:
        # JPEG files of cameras go on after their end marker, PNG files of some editors too.
        whole = ends in (data[-32:] if mime_type == "image/gif" else data)
    return None if whole else "it is incomplete"


# How files begin and what their end holds (PNG 12.1 IEND; JPEG EOI; GIF89a trailer).
_SIGNS: dict[str, tuple[tuple[bytes, ...], bytes]] = {
    "image/png": ((b"\x89PNG\r\n\x1a\n",), b"\0\0\0\0IEND"),
    "image/jpeg": ((b"\xff\xd8\xff",), b"\xff\xd9"),
    "image/gif": ((b"GIF87a", b"GIF89a"), b"\x3b"),
    "image/webp": ((b"RIFF",), b""),
}


def word(mime_type: str, size: int) -> str:
    """What stands for an image that comes as a content block; ``size`` in bytes."""
    return f"[{mime_type}, {size} bytes: in the image block]"


def omitted(mime_type: str, value: Any, path: tuple[str | int, ...]) -> str | None:
    """What stands for an image in the outputs of a cell, for `bounding.bound_text`.

    It names the tool that shows it. Code that runs outside cells keeps no outputs to read later.
    """
    if mime_type not in TYPES or "cells" not in path:
        return None
    size = sum(map(len, value)) if isinstance(value, list) else len(value)
    return f"[omitted {mime_type} data, {size} characters; jupyter_read_output shows it]"


def taken(payload: dict[str, Any]) -> tuple[dict[str, Any], list[Block]]:
    """The images of a run's outputs as content blocks, and the payload with a word for each.

    For doors whose clients take image blocks. The first `MAX_IMAGES` whole images of at most
    `MAX_IMAGE` bytes; the others stay in the payload, whose bounding says what they were.
    """
    blocks: list[Block] = []

    def output(value: Any) -> Any:
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            return value
        words = {}
        for mime_type in TYPES:
            found = decoded(data[mime_type]) if mime_type in data else None
            if found is None or len(found) > MAX_IMAGE or flaw(mime_type, found):
                continue
            if len(blocks) < MAX_IMAGES:
                blocks.append(block(mime_type, base64.b64encode(found).decode()))
                words[mime_type] = word(mime_type, len(found))
        return {**value, "data": {**data, **words}} if words else value

    def holder(value: Any) -> Any:
        found = value.get("outputs") if isinstance(value, dict) else None
        return {**value, "outputs": list(map(output, found))} if isinstance(found, list) else value

    result: dict[str, Any] = holder(payload)
    if isinstance(payload.get("cells"), list):
        result = {**result, "cells": list(map(holder, payload["cells"]))}
    return (result, blocks) if blocks else (payload, blocks)
