import base64
import struct
import zlib

import pytest
from pywebmcp.outputs import OutputProtocolError
from pywebmcp.outputs.images import image_fields

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name, data=b""):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


WHOLE = SIGNATURE + chunk(b"IHDR", bytes(13)) + chunk(b"IDAT", bytes(40)) + chunk(b"IEND")


def encoded(data):
    return base64.b64encode(data).decode()


def fields(mime_type, data):
    return image_fields(mime_type, encoded(data))


@pytest.mark.parametrize(
    ("mime_type", "data"),
    [
        ("image/png", SIGNATURE),
        ("image/png", WHOLE),
        ("image/png", WHOLE + b"what a program left behind"),
        ("image/png", SIGNATURE + b"no header follows"),
        ("image/jpeg", b"\xff\xd8\xff\xe0\x00\xff\xd9"),
        ("image/jpeg", b"\xff\xd8\xff\xe0\x00\xff\xd9 camera notes"),
        ("image/gif", b"GIF87a\x01"),
        ("image/gif", b"GIF89a\x01"),
        ("image/webp", b"RIFF\x04\x00\x00\x00WEBP"),
    ],
)
def test_an_image_comes_with_its_size_and_its_base64(mime_type, data):
    assert fields(mime_type, data) == {
        "encoding": "base64",
        "bytes": len(data),
        "data": encoded(data),
    }


@pytest.mark.parametrize(
    ("mime_type", "data"),
    [
        ("image/png", b""),
        ("image/png", SIGNATURE[:4]),
        ("image/png", b"<html>404</html>"),
        ("image/png", WHOLE[:-5]),
        ("image/png", WHOLE[:60]),
        ("image/png", SIGNATURE + chunk(b"IHDR", bytes(13)) + b"\x00\x00"),
        ("image/jpeg", b"\xff\xd8\xff\xe0\x00"),
        ("image/jpeg", b"\xff\xd9\xff\xd8"),
        ("image/gif", b"GIF90a"),
        ("image/webp", b"RIFF"),
        ("image/webp", b"RIFF\x04\x00\x00\x00WAVE"),
    ],
)
def test_what_is_no_such_image_is_invalid_data(mime_type, data):
    with pytest.raises(OutputProtocolError) as caught:
        fields(mime_type, data)
    assert caught.value.code == "OUTPUT_DATA_INVALID"
    assert mime_type in caught.value.message


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_base64_in_lines_is_answered_on_one(ending):
    text = encoded(WHOLE)
    lines = [text[at : at + 20] + ending for at in range(0, len(text), 20)]
    assert image_fields("image/png", lines)["data"] == text
    assert image_fields("image/png", "".join(lines))["data"] == text


@pytest.mark.parametrize(
    "text",
    [
        "iVBORw0KGg*=",
        "iVBORw0KGgo",
        "iVBORw0KGgo=AAAA",
        "iVBORw0KGgoé",
        "iVBORw0KGgo\udc00",
        "iVBORw0KGgo_",
        "iVBO Rw0KGgo=",
        "data:image/png;base64,iVBORw0KGgo=",
    ],
)
def test_base64_is_taken_strictly(text):
    with pytest.raises(OutputProtocolError, match="is not base64"):
        image_fields("image/png", text)
