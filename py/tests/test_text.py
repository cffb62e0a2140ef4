import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pywebmcp.text import clean, clean_outputs, is_json_mime, join_stream, multiline, split_lines

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        (" 10%\r 50%\r100%\n", "100%\n"),
        ("longer\rab", "abnger"),
        ("50%\r", "50%"),
        ("a\n12\r3\nb\r\n", "a\n32\nb\n"),
        ("abc\b\bX", "aXc"),
        ("\b\bab", "ab"),
        ("_\bN_\bA", "NA"),
        ("a\n\bb", "a\nb"),
        ("form\ffeed \x1c \x85 \u2028 \x00", "form\ffeed \x1c \x85 \u2028 \x00"),
        ("ding\x07", "ding"),
    ],
)
def test_carriage_returns_and_backspaces_are_as_a_terminal_shows_them(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m \x1b[38;5;208mmore\x1b[38:2::1:2:3m", "red more"),
        ("\x1b[2J\x1b[1;1H\x1b[?25lx\x1b[3A\x1b[10Cy\x1b[?25h", "xy"),
        ("\x1b]0;title\x07a\x1b]2;title\x1b\\b", "ab"),
        ("\x1b]8;;https://x.example/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0#0~~@@vv\n-\x1b\\x", "x"),
        ("\x1b_Gf=100;AAAA\x1b\\x\x1b^private\x1b\\y\x1bXstring\x1b\\z", "xyz"),
        ("\x1bPtmux;\x1b\x1b]52;c;xxx\x07\x1b\\x", "x"),
        ("\x1b(Ba\x1b7b\x1b8c\x1bMd\x1b=e\x1bcf\x1b#8g", "abcdefg"),
        ("\x9b31mred\x9bm \x9d0;title\x07x", "red x"),
        ("end\x1b", "end"),
        ("end\x1b[", "end"),
        ("a\x1b[3\nb", "a\nb"),
        ("\x1b\x1b[0mx", "x"),
    ],
)
def test_every_escape_sequence_is_removed(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title without end\nnext\nlast", "\nnext\nlast"),
        ("\x1bPdata without end\nnext\x1b[0m last", "\nnext last"),
        ("\x1b]0;title\x1b[31mnext", "next"),
        # UTF-8 read as Latin-1 holds C1 characters that are no escapes.
        ("â\x80\x9cquoted\nâ\x80\x9d x â\x80\x98y", "â\x80\x9cquoted\nâ\x80 x â\x80\x98y"),
        ("\x9bHello", "Hello"),
    ],
)
def test_a_sequence_that_does_not_end_takes_no_lines_with_it(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("downloading 50%\r\x1b[Kdone\n", "done\n"),
        ("downloading 50%\r\x1b[2Kdone", "done"),
        ("downloading 50%\x1b[2K\rdone", "done"),
        ("downloading\x1b[2K\x1b[1Gdone", "done"),
        ("downloading\x1b[2K\x1b[Gok", "ok"),
        ("abcdef\b\b\b\x1b[K", "abc"),
        ("abcdef\b\b\b\x1b[0Kx", "abcx"),
        ("abcdef\b\b\b\x1b[1K", "    ef"),
        ("abc\x1b[1Kd", "   d"),
        ("abc\x1b[2Kd", "   d"),
        ("abc\x1b[2K\nd", "\nd"),
        ("abcdef\rx\x1b[1Ky", " ycdef"),
        ("abc\x1b[K", "abc"),
        ("abc\r\x1b[31m\x1b[Kx", "x"),
    ],
)
def test_erasing_in_the_line_erases(text, shown):
    assert clean(text) == shown


def test_a_progress_bar_of_many_steps_leaves_its_last():
    text = "".join(f"\r\x1b[K{step:4}%|{'#' * step}" for step in range(101))
    assert clean(text + "\n") == f" 100%|{'#' * 100}\n"
    assert clean("x" * 5000 + "\x1b[1K\by" * 5000) == " " * 4999 + "y"


pieces = st.sampled_from(
    [
        "a",
        "bc",
        "😀",
        "\n",
        "\r",
        "\b",
        "\t",
        "\x1b",
        "[",
        "]",
        "2",
        "K",
        "m",
        "P",
        "\\",
        "\x07",
        "0;",
        "\x9b",
        "\x9d",
        "\x9c",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[2K",
        "\x1b[31m",
        "\x1b[G",
        "\x1bP",
    ]
)


@quick
@given(st.lists(pieces, max_size=30).map("".join))
def test_nothing_of_an_escape_is_left_and_cleaning_again_changes_nothing(text):
    shown = clean(text)
    assert not set("\x1b\r\b\x07\x9b\x9d") & set(shown)
    assert clean(shown) == shown


@quick
@given(st.lists(st.sampled_from(["ab", "c", "\r", "\n", "\b", "\x1b[K", "\x1b[1K"]), max_size=20))
def test_the_fast_ways_give_what_a_screen_would(tokens):
    """Against the plainest terminal: one cell at a time, nothing skipped."""
    screen, row, cursor = [[]], 0, 0
    for token in tokens:
        cells = screen[row]
        if token == "\n":
            screen.append([])
            row, cursor = row + 1, 0
        elif token == "\r":
            cursor = 0
        elif token == "\b":
            cursor = max(0, cursor - 1)
        elif token == "\x1b[K":
            del cells[cursor:]
        elif token == "\x1b[1K":
            for at in range(min(cursor + 1, len(cells))):
                cells[at] = None
        else:
            for char in token:
                cells[cursor : cursor + 1] = [char]
                cursor += 1
    for cells in screen:
        while cells and cells[-1] is None:
            cells.pop()
    shown = "\n".join("".join(cell or " " for cell in cells) for cells in screen)
    assert clean("".join(tokens)) == shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (["a\n", "b"], "a\nb"),
        ([], ""),
        (None, ""),
        (["a", None, 3, ["b"]], "a3b"),
        ({"a": 1}, '{"a":1}'),
        (1.5, "1.5"),
        ((), ""),
    ],
)
def test_multiline_strings_of_any_make_are_text(value, text):
    assert multiline(value) == text


def test_only_line_feeds_break_lines():
    text = "a\fb\vc\x1cd\x85e\u2028f\rg\nh\n\n"
    assert split_lines(text) == [text[:13], "h", ""]
    assert "".join(split_lines(text, keepends=True)) == text
    assert split_lines("") == []
    assert split_lines("a") == split_lines("a\n") == ["a"]
    assert split_lines("a\nb", keepends=True) == ["a\n", "b"]


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def test_adjacent_streams_of_the_same_name_are_joined():
    outputs = [stream("a"), stream(["b", "c"]), stream("x", "stderr"), stream("d"), stream("e")]
    assert join_stream(outputs) == [stream("abc"), stream("x", "stderr"), stream("de")]


def test_overwriting_works_across_pieces():
    outputs = [stream(" 10%"), stream("\r 5"), stream("0%\x1b["), stream("0m\r"), stream("done")]
    assert clean_outputs(outputs) == [stream("done")]


def test_thousands_of_pieces_become_one():
    assert clean_outputs([stream(f"{n}\n") for n in range(6000)]) == [
        stream("".join(f"{n}\n" for n in range(6000)))
    ]


def test_an_output_that_moved_can_carry_its_stored_index():
    data = {"output_type": "display_data", "data": {}}
    outputs = [stream("a"), stream("b"), data, stream("c"), stream("d"), data]
    cleaned = clean_outputs(outputs, index_key="outputIndex")
    assert [output.get("outputIndex") for output in cleaned] == [None, 2, 3, 5]


def test_a_result_keeps_its_data_and_loses_what_says_nothing():
    output = {
        "output_type": "execute_result",
        "execution_count": 3,
        "metadata": {},
        "transient": {"display_id": "x"},
        "data": {
            "text/plain": ["\x1b[1ma\x1b[0m\n", "b"],
            "text/html": ["<b>", "a</b>"],
            "application/json": ["a", "b"],
            "application/vnd.x+json; v=1": [1],
        },
    }
    assert clean_outputs([output]) == [
        {
            "output_type": "execute_result",
            "data": {
                "text/plain": "a\nb",
                "text/html": "<b>a</b>",
                "application/json": ["a", "b"],
                "application/vnd.x+json; v=1": [1],
            },
        }
    ]


def test_metadata_that_says_something_stays():
    output = {"output_type": "display_data", "data": {}, "metadata": {"image/png": {"width": 9}}}
    assert clean_outputs([output]) == [output]


def test_tracebacks_are_cleaned():
    output = {
        "output_type": "error",
        "ename": "\x1b[31mValueError\x1b[0m",
        "evalue": "\x1b[31mno\x1b[0m",
        "traceback": ["\x1b[0;31m---\x1b[0m", ["a", "b"]],
    }
    assert clean_outputs([output]) == [
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["---", "ab"]}
    ]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("text", {"output_type": "unknown", "value": "text"}),
        (None, {"output_type": "unknown", "value": None}),
        ({}, {}),
        ({"output_type": ["odd"], "data": 3}, {"output_type": ["odd"], "data": 3}),
        ({"output_type": "stream"}, {"output_type": "stream", "text": ""}),
        (stream({"a": 1}, None), stream('{"a":1}', None)),
        ({"output_type": "error"}, {"output_type": "error"}),
        (
            {"output_type": "error", "evalue": 3, "traceback": None},
            {"output_type": "error", "evalue": "3", "traceback": []},
        ),
        (
            {"output_type": "error", "traceback": "\x1b[0mone"},
            {"output_type": "error", "traceback": ["one"]},
        ),
        (
            {"output_type": "display_data", "data": None, "metadata": None},
            {"output_type": "display_data", "data": None},
        ),
        (
            {"output_type": "display_data", "data": {1: ["a"], "text/plain": None}},
            {"output_type": "display_data", "data": {1: "a", "text/plain": ""}},
        ),
    ],
)
def test_malformed_outputs_give_what_can_be_read(output, shown):
    assert clean_outputs([output]) == [shown]


@pytest.mark.parametrize("outputs", [None, 3, "text", {"a": 1}])
def test_outputs_that_are_no_list_are_none(outputs):
    assert clean_outputs(outputs) == []


def test_the_input_is_not_changed():
    outputs = [
        stream("a\r"),
        stream(["b"]),
        {"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": ["a"]}},
        {"output_type": "error", "traceback": ["\x1b[0m"]},
    ]
    before = copy.deepcopy(outputs)
    clean_outputs(outputs, index_key="i")
    assert outputs == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a\r", "\x1b[1mb", "c\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=5,
)
odd_outputs = st.fixed_dictionaries(
    {"output_type": st.sampled_from(["stream", "error", "display_data", "execute_result"])},
    optional={
        key: json_values | st.dictionaries(st.sampled_from(["text/plain", "a/b"]), json_values)
        for key in ("name", "text", "data", "metadata", "ename", "evalue", "traceback")
    },
)


@quick
@given(st.lists(odd_outputs | json_values, max_size=3))
def test_any_outputs_are_read_and_reading_again_changes_nothing(outputs):
    shown = clean_outputs(outputs)
    json.dumps(shown)
    assert clean_outputs(shown) == shown


def test_json_types_are_told_from_text():
    assert is_json_mime("application/json")
    assert is_json_mime("application/vnd.vegalite.v5+JSON; charset=utf-8")
    assert not is_json_mime("text/json-like")


@pytest.mark.parametrize(
    ("ename", "shown"),
    [
        ("<class 'ValueError'>", "ValueError"),
        ("<class 'json.decoder.JSONDecodeError'>", "JSONDecodeError"),
        ("ValueError", "ValueError"),
        ("<class 'odd", "<class 'odd"),
    ],
)
def test_an_exception_has_its_name_not_the_repr_of_its_class(ename: str, shown: str) -> None:
    output = {"output_type": "error", "ename": ename, "evalue": "", "traceback": []}
    assert clean_outputs([output])[0]["ename"] == shown
