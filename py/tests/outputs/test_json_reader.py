import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.outputs import json_reader
from pywebmcp.outputs.json_reader import JsonReader, NotJsonError

words = st.text(st.sampled_from('ab"\\\n[]{},:é😀\udc00 '), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(json_reader, "BLOCK", 3)


def consume(data, method):
    source = JsonReader(io.BytesIO(data).read)
    method(source)
    source.end()


@given(st.lists(values, max_size=3), st.sampled_from([None, 1]), st.booleans())
def test_values_are_what_json_has_whatever_lies_between_and_wherever_blocks_end(
    things, indent, ascii_only
):
    text = json.dumps(
        things, indent=indent, ensure_ascii=ascii_only or "\\ud" in json.dumps(things)
    )
    for wanted in range(len(things)):
        source = JsonReader(io.BytesIO(text.encode()).read)
        found = [source.value() if at == wanted else source.skip() for at in source.items()]
        source.end()
        assert len(found) == len(things)
        assert found[wanted] == things[wanted]


@given(st.dictionaries(words, values, max_size=4))
def test_members_are_the_keys_in_their_order(thing):
    source = JsonReader(io.BytesIO(json.dumps(thing).encode()).read)
    assert {key: source.value() for key in source.members()} == thing
    source.end()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[",
        "[1",
        "[1 2]",
        "[1,]",
        '["a]',
        '["a\\"]',
        '["a\\\\\\"]',
        "[}",
        "[[}]",
        '[{"a": [1}]]',
        '{"a" 1}',
        "{1: 2}",
        "{,}",
        '{"a": }',
        "[tru]",
        "[1] 2",
        "[]]",
        '["\n"]',
        "[01]",
        "[" * 600 + "]" * 600,
        b'["\xff"]',
        b'["\xed\xb0\x80"]',
        '["é"]'.encode("utf-16"),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_what_is_no_json_is_told(text):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(NotJsonError):
        consume(data, JsonReader.value)


@pytest.mark.parametrize("text", ["[[}]", '[{"a": 1]]', '["a', "[", '[{"a": "b}]', b'["\xff", 1]'])
def test_brackets_strings_and_utf8_are_checked_in_what_is_passed_over(text):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(NotJsonError):
        consume(data, JsonReader.skip)


def test_what_is_passed_over_may_be_nested_as_deep_as_it_likes():
    source = JsonReader(io.BytesIO(b"[" * 50_000 + b"]" * 50_000).read)
    source.skip()
    source.end()


def test_a_long_string_is_passed_over_in_a_small_buffer(monkeypatch):
    monkeypatch.setattr(json_reader, "BLOCK", 1000)
    asked = []
    data = io.BytesIO(b'["' + b'\\\\\\"x' * 100_000 + b'", 1]')

    def read(size):
        asked.append(size)
        return data.read(size)

    source = JsonReader(read)
    source.skip()
    source.end()
    assert max(asked) < 3000


def test_numbers_beyond_what_python_has_are_infinite():
    text = f"[1e999, -1e999, NaN, {'9' * 5000}, -{'9' * 5000}, 7]"
    found = JsonReader(io.BytesIO(text.encode()).read).value()
    assert math.isnan(found.pop(2))
    assert found == [math.inf, -math.inf, math.inf, -math.inf, 7]


def test_a_byte_order_mark_is_no_part_of_the_json():
    source = JsonReader(io.BytesIO(b"\xef\xbb\xbf[1]").read)
    assert source.value() == [1]
