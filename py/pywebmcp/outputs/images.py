"""Raster images: strict base64 and a look at the first bytes, so that nothing broken is passed on as
a picture. Nothing is decoded to pixels.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from pywebmcp.outputs.errors import invalid
from pywebmcp.outputs.windows import text_of

RASTER_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""The MIME types that are answered as base64, best first."""

_PNG = b"\x89PNG\r\n\x1a\n"
_IHDR = b"\x00\x00\x00\rIHDR"


def image_fields(mime_type: str, value: Any) -> dict[str, Any]:
    """A raster image as the fields of an answer: its size in bytes, and its base64 on one line.

    Raises:
        OutputProtocolError: OUTPUT_DATA_INVALID when it is not base64 or not such an image.
    """
    text = text_of(value, mime_type)
    # Kernels and nbformat wrap base64 as MIME (RFC 2045) does.
    text = text.replace("\n", "").replace("\r", "")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"The data of {mime_type} is not base64") from None
    if not data:
        raise invalid(f"The data of {mime_type} is empty")
    problem = _problem(mime_type, data)
    if problem:
        raise invalid(f"The data of {mime_type} {problem}")
    return {"encoding": "base64", "bytes": len(data), "data": text}


def _problem(mime_type: str, data: bytes) -> str | None:
    if mime_type == "image/png":
        if not data.startswith(_PNG):
            return "does not begin as a PNG does"
        return "is a PNG that breaks off" if _png_breaks_off(data) else None
    if mime_type == "image/jpeg":
        if not data.startswith(b"\xff\xd8\xff"):
            return "does not begin as a JPEG does"
        # Cameras write more after the marker for the end.
        return None if data.rfind(b"\xff\xd9") >= 2 else "is a JPEG that breaks off"
    if mime_type == "image/webp":
        return None if data[:4] + data[8:12] == b"RIFFWEBP" else "does not begin as a WebP does"
    return None if data.startswith((b"GIF87a", b"GIF89a")) else "does not begin as a GIF does"


def _png_breaks_off(data: bytes) -> bool:
    """Whether one of a PNG's chunks (length, type, data, CRC) is longer than what is there."""
    if not data.startswith(_IHDR, len(_PNG)):
        return False
    position = len(_PNG)
    while position < len(data):
        name = data[position + 4 : position + 8]
        position += 12 + int.from_bytes(data[position : position + 4], "big")
        if name == b"IEND":
            return False
    return position > len(data)
