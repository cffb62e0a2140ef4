"""One member put into a JSON text and taken out: the rest stays byte for byte."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("click")

from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.cli.json_edit import NotEditableError, put, take

VALUE = {"command": "x", "args": ["a", "b"]}

TEXTS = {
    "other members": '{\n  "theme": "dark",\n  "n": 1.0\n}\n',
    "other servers": '{\n\t"mcpServers": {\n\t\t"git": {"command": "g"}\n\t},\n\t"z": 1e2\n}',
    "servers, empty": '{\n  "mcpServers": {},\n  "z": null\n}\n',
    "servers with blanks": '{"mcpServers": {  }, "a": "\\u00e9"}',
    "one line": '{"a": [1, {"b": "}"}]}',
    "one line, other servers": '{"mcpServers": {"git": {}}}',
    "empty object": "{}",
    "empty object on lines": "{\n}\n",
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "windows, servers empty": '{\r\n  "mcpServers": {}\r\n}\r\n',
    "empty lines": '{\n\n  "a": 1,\n\n  "b": 2\n\n}\n',
    "braces in strings": '{"a": "{\\"mcpServers\\": {", "mcpServers": {"x": {"y": "}"}}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_what_is_put_in_is_taken_out_without_a_trace(text: str) -> None:
    edited = put(text, "mcpServers", "ours", VALUE)
    expected = json.loads(text)
    expected.setdefault("mcpServers", {})["ours"] = VALUE
    assert json.loads(edited) == expected
    assert put(edited, "mcpServers", "ours", VALUE) == edited
    assert take(edited, "mcpServers", "ours") == text


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_file_of_ours_alone_becomes_nothing(text: str) -> None:
    edited = put(text, "mcpServers", "ours", VALUE)
    assert json.loads(edited) == {"mcpServers": {"ours": VALUE}}
    assert edited.endswith("}\n")
    assert take(edited, "mcpServers", "ours") == ""


def test_another_value_replaces_the_old_one_alone() -> None:
    text = '{\n  "mcpServers": {\n    "ours": {"command": "old"},\n    "x": 1\n  }\n}\n'
    edited = put(text, "mcpServers", "ours", VALUE)
    assert json.loads(edited)["mcpServers"] == {"ours": VALUE, "x": 1}
    assert edited.startswith('{\n  "mcpServers": {\n    "ours": {\n      "command": "x"')
    assert edited.endswith(',\n    "x": 1\n  }\n}\n')


def test_the_lines_put_in_are_indented_as_the_others() -> None:
    edited = put('{\n    "a": 1\n}\n', "mcpServers", "ours", {"command": "x"})
    assert edited == (
        '{\n    "a": 1,\n    "mcpServers": {\n        "ours": {\n            "command": "x"\n'
        "        }\n    }\n}\n"
    )


def test_ours_is_taken_out_from_between_others() -> None:
    text = '{"mcpServers": {"a": 1, "ours": {}, "b": 2}}'
    assert take(text, "mcpServers", "ours") == '{"mcpServers": {"a": 1, "b": 2}}'
    text = '{"mcpServers": {"ours": {}, "b": 2}}'
    assert take(text, "mcpServers", "ours") == '{"mcpServers": {"b": 2}}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        "{}",
        "",
        '{"mcpServers": {"x": 1}}',
        *(f'{{"mcpServers": {value}}}' for value in ("1", "true", "null", '"ours"', '["ours"]')),
    ],
)
def test_taking_out_what_is_not_there_changes_nothing(text: str) -> None:
    assert take(text, "mcpServers", "ours") == text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "1",
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        '{"mcpServers": {}, "mcpServers": {}}',
        '{"mcpServers": {"ours": 1, "ours": 2}}',
        "// a comment\n{}",
        "[" * 10_000,
    ],
)
def test_what_has_another_shape_is_refused(text: str) -> None:
    with pytest.raises(NotEditableError):
        put(text, "mcpServers", "ours", VALUE)


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), _json, max_size=4),
    st.none() | st.dictionaries(st.text(max_size=4), _json, max_size=3),
    st.sampled_from([None, 0, 1, 2, "\t"]),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
def test_any_object_comes_back_as_it_was(
    data: dict, servers: dict | None, indent: object, separators: tuple[str, str]
) -> None:
    if servers is not None:
        data["mcpServers"] = servers
    text = json.dumps(data, indent=indent, separators=separators)
    edited = put(text, "mcpServers", "ours!", VALUE)
    assert json.loads(edited)["mcpServers"] == {**(servers or {}), "ours!": VALUE}
    assert take(edited, "mcpServers", "ours!") == text
