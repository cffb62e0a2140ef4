"""Images for an agent: whole ones only, within limits, and a word where they were."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from pywebmcp import constants, images

PNG = b"\x89PNG\r\n\x1a\n" + b"....IHDR" + b"x" * 50 + b"\0\0\0\0IEND\xaeB\x60\x82"
JPEG = b"\xff\xd8\xff\xe0" + b"." * 20 + b"\xff\xd9"
GIF = b"GIF89a......\x3b"
WEBP = b"RIFF" + (16).to_bytes(4, "little") + b"WEBPVP8 " + b"x" * 8


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def cell(*bundles: dict[str, Any]) -> dict[str, Any]:
    return {"outputs": [{"output_type": "display_data", "data": each} for each in bundles]}


@pytest.mark.parametrize(
    ("mime_type", "data"),
    [("image/png", PNG), ("image/jpeg", JPEG), ("image/gif", GIF), ("image/webp", WEBP)],
)
def test_a_whole_image_has_no_flaw_and_a_part_of_it_has(mime_type: str, data: bytes) -> None:
    assert images.flaw(mime_type, data) is None
    assert images.flaw(mime_type, data[:12]) == "it is incomplete"
    assert images.flaw(mime_type, b"<html>") == f"its bytes are no {mime_type}"
    assert images.flaw(mime_type, b"") == "it is empty"


def test_a_jpeg_may_go_on_after_its_end() -> None:
    assert images.flaw("image/jpeg", JPEG + b"camera") is None
    assert images.flaw("image/png", PNG + b"editor" * 100) is None


@pytest.mark.parametrize("value", ["***", "iVBO*", None, 7, {"a": 1}, "é"])
def test_what_is_no_base64_has_no_bytes(value: Any) -> None:
    assert images.decoded(value) in (None, b"")


def test_images_of_a_run_come_as_blocks_with_a_word_in_their_place() -> None:
    payload = {
        "success": True,
        "cells": [cell({"image/png": b64(PNG), "text/plain": "<Figure>"}), {"id": "b"}],
        "outputs": [{"output_type": "display_data", "data": {"image/gif": b64(GIF)}}],
    }
    before = repr(payload)
    shown, blocks = images.taken(payload)
    assert repr(payload) == before
    assert blocks == [
        {"type": "image", "data": b64(GIF), "mimeType": "image/gif"},
        {"type": "image", "data": b64(PNG), "mimeType": "image/png"},
    ]
    assert shown["cells"][0]["outputs"][0]["data"] == {
        "image/png": f"[image/png, {len(PNG)} bytes: in the image block]",
        "text/plain": "<Figure>",
    }
    assert shown["cells"][1] == {"id": "b"}


def test_no_more_images_than_a_result_may_have() -> None:
    payload = {"cells": [cell(*[{"image/png": b64(PNG)}] * (constants.MAX_IMAGES + 3))]}
    shown, blocks = images.taken(payload)
    assert len(blocks) == constants.MAX_IMAGES
    left = [each["data"]["image/png"] for each in shown["cells"][0]["outputs"]][-3:]
    assert left == [b64(PNG)] * 3


@pytest.mark.parametrize("data", ["***", b64(PNG[:30]), b64(b"x"), 7, None])
def test_a_broken_image_stays_where_it_is(data: Any) -> None:
    payload = {"cells": [cell({"image/png": data})]}
    assert images.taken(payload) == (payload, [])


@pytest.mark.parametrize(
    "payload",
    [{}, {"outputs": 1}, {"cells": {}}, {"cells": [1]}, {"outputs": [1, {"data": []}]}],
)
def test_any_shape_is_taken(payload: dict[str, Any]) -> None:
    assert images.taken(payload) == (payload, [])


def test_the_word_for_an_image_of_a_cell_names_the_tool_that_shows_it() -> None:
    path = ("cells", 0, "outputs", 0, "data", "image/png")
    assert images.omitted("image/png", ["ab", "c"], path) == (
        "[omitted image/png data, 3 characters; jupyter_read_output shows it]"
    )
    assert images.omitted("image/png", "abc", ("outputs", 0, "data")) is None
    assert images.omitted("audio/wav", "abc", path) is None
