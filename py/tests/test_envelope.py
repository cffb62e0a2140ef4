import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pywebmcp import envelope, jsontext
from pywebmcp.envelope import EnvelopeError, decode, encode

quick = settings(max_examples=40, derandomize=True, deadline=None, database=None)

PAYLOAD = {"success": True, "cells": [{"source": 'x = "😀\\n\u2028"\n'}]}
TEXT = jsontext.dumps(PAYLOAD)
IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def test_the_full_envelope_has_the_payload_as_text_and_as_structure():
    assert json.loads(encode(TEXT, False)) == {
        "content": [{"type": "text", "text": TEXT}],
        "structuredContent": PAYLOAD,
        "isError": False,
    }


def test_the_text_envelope_has_no_structured_content():
    assert json.loads(encode(TEXT, True, mode="text")) == {
        "content": [{"type": "text", "text": TEXT}],
        "isError": True,
    }


def test_the_structured_envelope_has_no_content():
    assert json.loads(encode(TEXT, False, mode="structured")) == {
        "content": [],
        "structuredContent": PAYLOAD,
        "isError": False,
    }


@pytest.mark.parametrize(("mode", "before"), [("full", 1), ("text", 1), ("structured", 0)])
def test_image_blocks_follow_the_text_in_every_mode(mode, before):
    content = json.loads(encode(TEXT, False, [IMAGE, IMAGE], mode))["content"]
    assert content[before:] == [IMAGE, IMAGE]


def test_lone_surrogates_stay_encodable():
    payload = {"text": "caf\udce9"}
    text = encode(jsontext.dumps(payload), False)
    text.encode("utf-8")
    assert decode(text) == payload
    assert decode({"content": json.loads(text)["content"]}) == payload


def test_layers_of_quoting_are_taken_off():
    text = encode(TEXT, False)
    for raw in (text, json.dumps(text), json.dumps(json.dumps(text)), text.encode()):
        assert decode(raw) == PAYLOAD


def test_a_parsed_envelope_and_a_bare_payload_are_read():
    assert decode(json.loads(encode(TEXT, False))) == PAYLOAD
    assert decode(PAYLOAD) == PAYLOAD
    assert decode(TEXT) == PAYLOAD


def test_a_payload_with_content_of_its_own_is_no_envelope():
    payload = {"success": True, "content": ["a"], "contentHash": "0"}
    assert decode(payload) == payload


def test_an_envelope_printed_into_the_text_of_another_is_read():
    bridge = {"content": [{"type": "text", "text": json.dumps(json.loads(encode(TEXT, False)))}]}
    assert decode(bridge) == PAYLOAD


def test_the_first_text_block_that_is_an_object_counts():
    content = [IMAGE, "odd", {"type": "text", "text": "### Result"}, {"type": "text", "text": TEXT}]
    assert decode({"content": content}) == PAYLOAD


@pytest.mark.parametrize("raw", ["Operation succeeded", "undefined", "null", "", None, '"null"'])
def test_a_browser_that_reports_nothing_is_named(raw):
    with pytest.raises(EnvelopeError, match="gave no result"):
        decode(raw)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("Error: boom", "not JSON"),
        ("[1]", r"not a JSON object but \[1\]"),
        (7, "not a JSON object but 7"),
        ('"' * 500, "not JSON"),
        ("[" * 100_000, "not JSON"),
        (json.dumps(json.dumps(json.dumps(TEXT))), "not a JSON object"),
        ({"content": [{"type": "text", "text": "hello"}]}, 'text is not a JSON object: "hello"'),
        ({"content": []}, "holds no payload"),
        ({"content": None, "isError": True}, "holds no payload"),
    ],
)
def test_what_is_no_result_says_what_it_is(raw, said):
    with pytest.raises(EnvelopeError, match=said) as caught:
        decode(raw)
    assert len(str(caught.value)) < 300


def test_arguments_go_as_string_or_object():
    arguments = {"cellIds": ["a", "\ud83d"], "limit": 3}
    as_string = envelope.encode_arguments(arguments, True)
    assert isinstance(as_string, str)
    assert json.loads(as_string) == arguments
    assert envelope.encode_arguments(arguments, False) == arguments


def test_the_schema_form_says_which_arguments_the_browser_takes():
    assert envelope.wants_string('{"type": "object"}')
    assert not envelope.wants_string({"type": "object"})


@quick
@given(
    st.dictionaries(st.text(st.characters()), st.text(st.characters()) | st.integers(-9, 9)),
    st.booleans(),
    st.sampled_from(["full", "text", "structured"]),
    st.integers(0, 2),
)
def test_round_trip(payload, is_error, mode, layers):
    payload["success"] = not is_error
    # JSON joins two surrogates that stand side by side into the character they spell.
    payload = json.loads(jsontext.dumps(payload))
    raw = encode(jsontext.dumps(payload), is_error, mode=mode)
    for _ in range(layers):
        raw = jsontext.dumps(raw)
    assert decode(raw) == payload
