"""Results are bounded as ``docs/results.md`` says, in the order of the steps."""

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pywebmcp import jsontext
from pywebmcp.bounding import (
    MIN_LIMIT,
    bound,
    bound_text,
    cut_text,
    shorten_bundles,
    surely_longer,
)

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)

LIMIT = 40_000
PNG = "iVBORw0KGgo" + "A" * 52_089


def stream(text, **more):
    return {"output_type": "stream", "name": "stdout", "text": text, **more}


def display(data, **more):
    return {"output_type": "display_data", "data": data, **more}


def ran(*outputs, **more):
    return {"success": True, "status": "ok", "outputs": list(outputs), **more}


def marker(count):
    return f"\n[... {count} characters omitted ...]\n"


def characters(value):
    return jsontext.length(jsontext.dumps(value))


# The limit


def test_a_result_that_fits_is_left_as_it_is():
    payload = ran(stream("hi\n"), cells=[{"source": "x = 1\x1b\r\n"}], rows=list(range(500)))
    assert bound(payload, LIMIT) == payload


def test_a_result_fits_within_the_limit_and_is_cut_only_when_the_whole_would_not():
    """The limit is kept to the character: one more and something is cut."""
    frame = characters(ran(stream("")))
    for count in range(LIMIT - frame - 150, LIMIT - frame + 150):
        bounded = bound(ran(stream("y" * count)), LIMIT)
        assert characters(bounded) <= LIMIT
        assert ("truncated" in bounded) == (frame + count > LIMIT), count


def test_the_length_is_that_of_the_json_text():
    """25,000 quotes are 50,000 characters of JSON."""
    bounded = bound(ran(stream('"' * 25_000)), LIMIT)
    assert characters(bounded) <= LIMIT
    assert bounded["truncation"] == [{"path": "outputs[0].text", "omittedCharacters": 23_000}]
    assert "truncated" not in bound(ran(stream('"' * 19_900)), LIMIT)


def test_the_length_is_counted_in_utf16_code_units():
    frame = characters(ran(stream("")))
    fits = (LIMIT - frame) // 2
    assert "truncated" not in bound(ran(stream("😀" * fits)), LIMIT)
    bounded = bound(ran(stream("😀" * (fits + 1))), LIMIT)
    assert bounded["truncated"] is True
    assert characters(bounded) <= LIMIT


def test_lone_surrogates_count_as_their_escapes():
    payload = ran(stream("\udcff" * 7000))
    bounded = bound(payload, LIMIT)
    assert bounded["truncated"] is True
    jsontext.dumps(bounded).encode("utf-8")


def test_the_text_is_that_of_the_result():
    for payload in (
        ran(stream("a")),
        ran(stream("a" * 99_999)),
        {"k": {str(n): 1 for n in range(9999)}},
    ):
        bounded, text = bound_text(payload, LIMIT)
        assert json.loads(text) == bounded == bound(payload, LIMIT)
        assert text == jsontext.dumps(bounded)


def test_the_payload_is_not_changed():
    payload = ran(
        stream("\x1b[1mx" * 30_000),
        display({"image/png": PNG, "text/plain": ["a"]}, metadata={}),
        traceback=["\x1b[31ma"],
    )
    before = copy.deepcopy(payload)
    bound(payload, LIMIT)
    assert payload == before


# 1. Always, in MIME bundles


@pytest.mark.parametrize(
    "mime_type",
    [
        "image/png",
        "image/JPEG",
        "audio/wav",
        "video/mp4",
        "application/pdf",
        "application/octet-stream",
        "application/pdf; version=1.7",
    ],
)
def test_binary_data_is_replaced_by_a_placeholder(mime_type):
    """Base64 tells an agent nothing: its type and length stay."""
    bounded = bound(ran(display({mime_type: PNG, "text/plain": "<Figure>"})), LIMIT)
    data = bounded["outputs"][0]["data"]
    assert data == {
        mime_type: f"[omitted {mime_type} data, 52100 characters; see text/plain]",
        "text/plain": "<Figure>",
    }
    assert "truncated" not in bounded


@pytest.mark.parametrize(
    "more", [{}, {"text/plain": ""}, {"text/plain": [" \n"]}, {"text/html": "a"}]
)
def test_the_placeholder_names_the_plain_text_only_when_there_is_some(more):
    bounded = bound(ran(display({"image/png": "AAAA", **more})), LIMIT)
    placeholder = bounded["outputs"][0]["data"]["image/png"]
    assert placeholder == "[omitted image/png data, 4 characters]"


def test_base64_in_lines_and_bytes_count_joined():
    data = {"image/png": ["AAAA\n", "BBBB\n"], "image/gif": b"abc"}
    shown = bound({"data": data}, LIMIT)["data"]
    assert shown["image/png"] == "[omitted image/png data, 10 characters]"
    assert shown["image/gif"] == "[omitted image/gif data, 4 characters]"


def test_empty_binary_data_stays_empty():
    assert bound({"data": {"image/png": "", "image/gif": None}}, LIMIT) == {
        "data": {"image/png": "", "image/gif": None}
    }


def test_svg_is_no_binary_data():
    """It is text, and an agent can read it."""
    payload = {"data": {"image/svg+xml": "<svg/>" * 1000}}
    assert bound(payload, LIMIT) == payload


@pytest.mark.parametrize(
    ("mime_type", "long", "size"),
    [
        ("text/html", "<b>" * 667, 2001),
        ("image/svg+xml", "x" * 2001, 2001),
        ("application/vnd.plotly.v1+json", {"x": [1] * 1000}, 2007),
        ("application/json", ["a"] * 600, 2401),
        ("text/latex", ["a" * 1500, "b" * 1500], 3000),
    ],
)
def test_long_rich_data_is_replaced_beside_plain_text(mime_type, long, size):
    """Beside plain text, HTML and the like stay only while they are short."""
    both = {mime_type: long, "text/plain": "plain"}
    placeholder = f"[omitted {mime_type} data, {size} characters; see text/plain]"
    assert bound({"data": both}, LIMIT)["data"] == {**both, mime_type: placeholder}
    alone = {mime_type: long}
    assert bound({"data": alone}, LIMIT)["data"] == alone


def test_a_chart_too_large_to_measure_is_replaced_unmeasured():
    chart = {"x": [0.5] * 60_000}
    data = {"application/vnd.plotly.v1+json": chart, "text/plain": "Figure"}
    shown = bound({"data": data}, LIMIT)["data"]["application/vnd.plotly.v1+json"]
    assert shown == (
        "[omitted application/vnd.plotly.v1+json data, more than 100000 characters; see text/plain]"
    )


def test_rich_data_of_2000_characters_stays():
    data = {"text/html": "x" * 2000, "text/plain": "y" * 3000}
    assert bound({"data": data}, LIMIT)["data"] == data


def test_only_objects_whose_keys_are_all_mime_types_are_bundles():
    """One key that is no MIME type, and it is some other object."""
    for value in ({"image/png": PNG[:99], "note": "a"}, {}, {"png": PNG[:99]}, {"a/b/c": "x"}):
        assert bound({"value": value}, LIMIT) == {"value": value}


def test_bundles_are_found_wherever_they_are():
    attachments = {"plot.png": {"image/png": "AAAA"}}
    shown = bound({"cells": [{"attachments": attachments}]}, LIMIT)
    placeholder = {"image/png": "[omitted image/png data, 4 characters]"}
    assert shown == {"cells": [{"attachments": {"plot.png": placeholder}}]}


def test_values_under_metadata_are_kept():
    """Metadata may use MIME types as keys too, and holds no data of theirs."""
    metadata = {"image/png": {"width": 320}, "a": {"image/png": "AAAA"}, "b": ["\x1b[1m"]}
    payload = ran(display({"text/plain": "a"}, metadata=metadata), metadata={"image/png": "AAAA"})
    assert bound(payload, LIMIT) == payload


def test_a_caller_can_say_what_stands_for_omitted_data():
    seen = []

    def placeholder(mime_type, value, path):
        seen.append((mime_type, value, path))
        return None if mime_type == "text/html" else f"[{mime_type}: jupyter_read_output]"

    html = "x" * 3000
    payload = ran(stream("a"), display({"image/png": "AAAA", "text/html": html, "text/plain": "a"}))
    data = bound(payload, LIMIT, placeholder)["outputs"][1]["data"]
    assert data["image/png"] == "[image/png: jupyter_read_output]"
    assert data["text/html"] == "[omitted text/html data, 3000 characters; see text/plain]"
    assert seen == [
        ("image/png", "AAAA", ("outputs", 1, "data", "image/png")),
        ("text/html", html, ("outputs", 1, "data", "text/html")),
    ]
    again = bound({"outputs": [display(data)]}, LIMIT)
    assert again["outputs"][0]["data"] == data


def test_escape_codes_are_removed_from_outputs():
    """Colours of a terminal go where plain text is shown; sources keep what they have."""
    red = "\x1b[31mred\x1b[0m"
    payload = ran(
        stream(red),
        {"output_type": "error", "ename": red, "evalue": red, "traceback": [red]},
        display({"text/plain": red, "text/markdown": red}),
        traceback=[red],
        source=red,
    )
    assert bound(payload, LIMIT) == ran(
        stream("red"),
        {"output_type": "error", "ename": "red", "evalue": "red", "traceback": ["red"]},
        display({"text/plain": "red", "text/markdown": red}),
        traceback=["red"],
        source=red,
    )


def test_outputs_of_another_form_lose_their_escape_codes_too():
    payload = {"outputs": ["\x1b[1mbold", {"page": "\x1b[1mbold"}, ["\x1b[1mbold"]]}
    assert bound(payload, LIMIT) == {"outputs": ["bold", {"page": "bold"}, ["bold"]]}
    assert bound({"outputs": "\x1b[1mbold"}, LIMIT) == {"outputs": "bold"}


def test_pieces_of_a_stream_are_one_text():
    payload = ran(*[stream(f"{n}\n") for n in range(6000)])
    bounded = bound(payload, LIMIT)
    assert bounded == ran(stream("".join(f"{n}\n" for n in range(6000))))


# 2. The steps


def test_step_1_keeps_a_quarter_of_the_limit_at_each_end_of_texts_in_outputs():
    """Of a long output, both ends stay: together half of the limit."""
    bounded = bound(ran(stream("x" * 100_000 + "\n")), LIMIT)
    note = bounded.pop("truncationNote")
    assert isinstance(note, str)
    assert bounded == ran(
        stream("x" * 10_000 + marker(80_001) + "x" * 9_999 + "\n"),
        truncated=True,
        truncation=[{"path": "outputs[0].text", "omittedCharacters": 80_001}],
    )


def test_the_first_step_that_fits_is_taken_even_when_it_just_does():
    """Nothing is cut further than need be."""
    payload = ran(stream("x" * 30_000), source="")
    room = LIMIT - characters(bound(ran(stream("x" * 60_000), source=""), LIMIT))
    fits = bound({**payload, "source": "s" * room}, LIMIT)
    assert characters(fits) == LIMIT
    assert fits["truncation"] == [{"path": "outputs[0].text", "omittedCharacters": 10_000}]
    less = bound({**payload, "source": "s" * (room + 1)}, LIMIT)
    assert less["truncation"] == [{"path": "outputs[0].text", "omittedCharacters": 28_000}]


def test_step_1_leaves_strings_elsewhere():
    payload = ran(stream("x" * 30_000), source="s" * 15_000)
    bounded = bound(payload, LIMIT)
    assert bounded["source"] == payload["source"]
    assert [cut["path"] for cut in bounded["truncation"]] == ["outputs[0].text"]


def test_step_2_keeps_1000_characters_at_each_end():
    """Several long outputs: each keeps its first and last thousand."""
    payload = ran(*[stream("x" * 19_000, n=n) for n in range(3)], traceback=["t" * 3_000])
    payload["outputs"] = [display({"text/plain": "x" * 19_000}) for _ in range(3)]
    bounded = bound(payload, LIMIT)
    text = "x" * 1000 + marker(17_000) + "x" * 1000
    assert [output["data"]["text/plain"] for output in bounded["outputs"]] == [text] * 3
    assert bounded["traceback"] == ["t" * 1000 + marker(1000) + "t" * 1000]
    assert [cut["path"] for cut in bounded["truncation"]] == [
        'outputs[0].data["text/plain"]',
        'outputs[1].data["text/plain"]',
        'outputs[2].data["text/plain"]',
        "traceback[0]",
    ]


def test_step_3_keeps_500_characters_of_all_strings_and_50_items():
    """Now texts outside of outputs are cut as well, and lists."""
    bounded = bound({"source": "s" * 50_000, "rows": list(range(1000))}, LIMIT)
    assert bounded["source"] == "s" * 500 + marker(49_000) + "s" * 500
    assert bounded["rows"] == list(range(50))
    assert bounded["truncation"] == [
        {"path": "source", "omittedCharacters": 49_000},
        {"path": "rows", "omittedItems": 950},
    ]


def test_step_4_keeps_150_characters_and_10_items():
    """The hardest cut that still keeps every field."""
    cells = [{"source": "s" * 900} for _ in range(60)]
    bounded = bound({"cells": cells}, LIMIT)
    assert bounded["cells"] == [{"source": "s" * 150 + marker(600) + "s" * 150}] * 10
    assert bounded["truncation"][0] == {"path": "cells", "omittedItems": 50}


def test_tracebacks_keep_their_last_items():
    """The innermost frames, which say what failed, stand at the end."""
    frames = [f"frame {n} " + "f" * 1000 for n in range(60)]
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": list(frames)}
    bounded = bound(ran(error, traceback=frames), LIMIT)
    for shown in (bounded["traceback"], bounded["outputs"][0]["traceback"]):
        assert len(shown) == 10
        assert shown[-1].startswith("frame 59 ")
    assert {"path": "traceback", "omittedItems": 50} in bounded["truncation"]


def test_a_string_is_cut_only_when_longer_than_twice_the_kept_length_plus_40():
    """A cut that would save next to nothing is not made."""
    assert cut_text("x" * 1040, 500) == ("x" * 1040, 0)
    assert cut_text("x" * 1041, 500) == ("x" * 500 + marker(41) + "x" * 500, 41)
    texts = {"a": "x" * 1040, "b": "x" * 1041, "c": "x" * 50_000}
    bounded = bound(texts, LIMIT)
    assert bounded["a"] == texts["a"]
    assert bounded["b"] == "x" * 500 + marker(41) + "x" * 500


def test_each_step_starts_from_the_original():
    """No text carries the mark of two cuts."""
    bounded = bound(ran(*[display({"text/plain": f"{n}" * 30_000}) for n in range(9)]), LIMIT)
    for output in bounded["outputs"]:
        assert output["data"]["text/plain"].count("omitted") == 1
        assert marker(28_000) in output["data"]["text/plain"]


# 3. What is said about it


def test_a_shortened_result_keeps_its_fields():
    """Short values are untouched, and three fields tell of the cuts."""
    payload = ran(stream("x" * 99_999), kernel="k", count=3, none=None, dialogs=[{"id": "d"}])
    bounded = bound(payload, LIMIT)
    added = {"truncated", "truncationNote", "truncation"}
    assert bounded.keys() == payload.keys() | added
    assert all(bounded[key] == payload[key] for key in payload if key != "outputs")


def test_the_first_20_cuts_are_listed_and_the_others_counted():
    """The list of cuts must not grow long itself."""
    twenty = bound({"texts": {f"k{n}": "x" * 2100 for n in range(20)}}, LIMIT)
    assert len(twenty["truncation"]) == 20
    assert "truncationCount" not in twenty
    more = bound({"texts": {f"k{n}": "x" * 2100 for n in range(21)}}, LIMIT)
    assert [cut["path"] for cut in more["truncation"]] == [f"texts.k{n}" for n in range(20)]
    assert more["truncationCount"] == 21


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        (["a", "b_$1"], "a.b_$1"),
        (["a", "1b"], 'a["1b"]'),
        (["é", 'x"y'], '["é"]["x\\"y"]'),
        (["", "a"], '[""].a'),
        (["k" * 100, "a"], "k" * 60 + "….a"),
    ],
)
def test_paths_are_as_javascript_writes_them(keys, path):
    outer, inner = keys
    bounded = bound({outer: {inner: "x" * 50_000}}, LIMIT)
    assert bounded["truncation"][0]["path"] == path


def test_paths_lead_to_the_place_in_the_shortened_result():
    frames = ["a" * 60_000] * 60
    bounded = bound({"traceback": frames, "cells": [{"outputs": [stream("x" * 9_000)]}] * 3}, LIMIT)
    for cut in bounded["truncation"]:
        value = bounded
        for name, index in re.findall(r"(\w+)|\[(\d+)\]", cut["path"]):
            value = value[name] if name and isinstance(value, dict) else value[int(name or index)]
        assert ("omittedItems" in cut) == isinstance(value, list)


# Characters


@pytest.mark.parametrize("unit", ["e\u0301", "👍🏽", "👩\u200d👩\u200d👧", "\ud83d\ude00", "\r\n"])
def test_nothing_is_cut_inside_a_character(unit):
    for shift in range(len(unit)):
        text = "." * shift + unit * 400
        shown, omitted = cut_text(text, 101)
        head, tail = shown.split(marker(omitted))
        assert len(head) + len(tail) + omitted == len(text)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert (len(head) - shift) % len(unit) == 0
        assert len(tail) % len(unit) == 0
        assert 101 - len(unit) < len(head) <= 101
        assert 101 - len(unit) < len(tail) <= 101


def test_nothing_at_all_can_be_kept():
    assert cut_text("x" * 99, 0) == (marker(99), 99)


def test_endless_marks_do_not_stop_a_cut():
    text = "a" + "\u0301" * 1000
    assert 0 < cut_text(text, 100)[1] < len(text)
    # Not even then are the halves of a pair separated.
    text = "a" * 67 + "\ud83d\ude00" + "\u0301" * 1000
    assert cut_text(text, 100)[0].startswith("a" * 67 + "\n")


def test_fields_of_the_payload_by_the_names_of_ours_give_way():
    ours = {"truncated": "x" * 9999, "truncationCount": 7, "truncation": [1], "truncationNote": 0}
    bounded = bound({**ours, "text": "x" * 50_000}, LIMIT)
    assert bounded["truncated"] is True
    assert bounded["truncation"] == [{"path": "text", "omittedCharacters": 49_000}]
    assert "truncationCount" not in bounded
    assert bound(ours, LIMIT) == ours


# 4. The last resort


def wide(**more):
    return {**more, "rows": {f"key {n}": n for n in range(9000)}}


def test_the_last_resort_keeps_what_tells_the_outcome():
    """Whatever else is lost, an agent learns how its call went."""
    kept = {
        "success": False,
        "isError": True,
        "status": "error",
        "pendingId": "call-1",
        "error": "KeyError: 'a'",
        "code": "EXECUTION_ERROR",
    }
    bounded = bound(wide(**kept, other="x"), LIMIT)
    assert bounded.keys() == kept.keys() | {"truncated", "message", "preview"}
    assert {key: bounded[key] for key in kept} == kept
    assert bounded["truncated"] is True


def test_the_last_resort_has_only_the_fields_that_there_are():
    assert bound(wide(success=True), LIMIT).keys() == {"success", "truncated", "message", "preview"}


def test_the_last_resort_gives_the_original_length_and_the_beginning():
    """An agent can judge how much is missing, and sees what it was."""
    payload = wide(success=True, text='"é😀\udcff' * 50)
    text = jsontext.dumps(payload)
    bounded = bound(payload, LIMIT)
    assert str(jsontext.length(text)) in bounded["message"]
    assert len(bounded["preview"]) > 15_000
    assert text.startswith(bounded["preview"])
    assert characters(bounded) <= LIMIT


def test_the_preview_has_no_binary_data():
    bounded = bound(wide(data={"image/png": PNG}), LIMIT)
    assert "AAAA" not in bounded["preview"]


@pytest.mark.parametrize("fill", ["x", "\x01", '"', "😀", "\udcff", "e\u0301"])
@pytest.mark.parametrize("limit", [MIN_LIMIT, MIN_LIMIT + 1, 1500, 2000, 5000])
def test_the_last_resort_fits_whatever_its_fields_hold(fill, limit):
    rows = {f"key {n}": n for n in range(500)}
    for size in (10, 40, 339, 5000):
        fields = ("success", "isError", "status", "pendingId", "error", "code")
        payload = {**dict.fromkeys(fields, fill * size), "rows": rows}
        bounded = bound(payload, limit)
        assert characters(bounded) <= limit
        assert bounded["truncated"] is True


def test_odd_values_in_the_kept_fields_become_short_text():
    bounded = bound(wide(success=None, status={"a": [1] * 999}, error=[1], code=7), LIMIT)
    assert bounded["success"] is None
    assert bounded["code"] == 7
    assert bounded["error"] == "[1]"
    assert len(bounded["status"]) < 400


def test_a_limit_below_the_smallest_is_taken_as_the_smallest():
    payload = ran(stream("x" * 100_000))
    assert bound(payload, 10) == bound(payload, MIN_LIMIT)


def test_values_that_json_lacks_are_bounded_as_what_they_become():
    payload = {"big": 2**60, "nan": [float("nan")] * 30_000, "set": {1}, "bytes": b"a" * 60_000}
    bounded = bound(payload, LIMIT)
    assert bounded["big"] == str(2**60)
    assert bounded["nan"] == [None] * 50
    assert marker(79_000) in bounded["bytes"]
    assert characters(bounded) <= LIMIT


def test_deep_nesting_is_bounded():
    value = "x" * 99_999
    for _ in range(300):
        value = {"a": [value]}
    assert characters(bound({"value": value}, LIMIT)) <= LIMIT


def test_bundles_alone_can_be_shortened():
    entry = {"outputs": [stream("\x1b[1ma\r"), stream("b"), display({"image/png": "AAAA"})]}
    shown = shorten_bundles(entry)
    assert shown == {
        "outputs": [stream("b"), display({"image/png": "[omitted image/png data, 4 characters]"})]
    }
    assert shorten_bundles(shown) == shown
    plain = {"a": [1, {"b": "\x1b"}]}
    assert shorten_bundles(plain) is plain


# All of it, for any JSON

short = st.sampled_from(
    ["", "a", "é", "😀", "\udcff", '"', "\x01", "\x1b[1m", "\r", "\n", "e\u0301"]
)
strings = st.builds(
    lambda text, count: text * count, short, st.sampled_from([1, 2, 350, 1500, 4000])
)
keys = st.sampled_from(
    [
        "outputs",
        "traceback",
        "metadata",
        "data",
        "success",
        "status",
        "error",
        "code",
        "truncated",
        "text/plain",
        "text/html",
        "image/png",
        "output_type",
        "text",
        "name",
        "k" * 300,
    ]
)
values = st.recursive(
    strings | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: st.one_of(
        st.builds(
            lambda items, count: items * count,
            st.lists(inner, max_size=3),
            st.sampled_from([1, 9, 60]),
        ),
        st.dictionaries(keys, inner, max_size=5),
        st.builds(lambda item: [{"output_type": "stream", "text": item}], inner),
    ),
    max_leaves=8,
)


def leaves(value):
    if isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, str):
        yield value


@quick
@given(st.dictionaries(keys, values, max_size=6), st.sampled_from([MIN_LIMIT, 3000, 12_000, LIMIT]))
def test_any_result_fits_is_valid_and_says_what_was_cut(payload, limit):
    bounded, text = bound_text(payload, limit)
    text.encode("utf-8")
    assert len(text.encode("utf-16-le")) // 2 <= limit
    assert jsontext.dumps(json.loads(text, parse_constant=pytest.fail)) == text
    assert bound_text(bounded, limit) == (bounded, text)
    always = shorten_bundles(jsontext.plain(payload))
    fits = characters(always) <= limit
    assert (bounded == always) == fits
    marked = [leaf for leaf in leaves(bounded) if "characters omitted ...]" in leaf]
    assert all(leaf.count("characters omitted ...]") == 1 for leaf in marked)
    if fits:
        assert not marked
    elif "preview" in bounded:
        assert jsontext.dumps(always).startswith(bounded["preview"])
    else:
        cuts = bounded["truncation"]
        assert bounded["truncated"] is True
        assert bounded.keys() >= always.keys() - {"truncationCount"}
        assert len(cuts) == min(bounded.get("truncationCount", len(cuts)), 20)
        said = [marker(cut["omittedCharacters"]) for cut in cuts if "omittedCharacters" in cut]
        assert len(said) == len(marked) or (len(cuts) == 20 and len(said) <= len(marked))
        assert all(note in leaf for note, leaf in zip(said, marked, strict=False))


def test_a_text_of_megabytes_is_not_written_to_see_that_it_is_too_long(monkeypatch):
    written = []
    encode = jsontext.encode

    def counted(value):
        text = encode(value)
        written.append(len(text))
        return text

    monkeypatch.setattr(jsontext, "encode", counted)
    assert bound(ran(stream("x" * 5_000_000)), LIMIT)["truncated"] is True
    assert max(written) < 2 * LIMIT


def test_a_look_at_the_length_ends_after_so_many_values():
    values = ["x" * 10] * 100
    assert surely_longer(values, 500)
    assert not surely_longer(values, 500, 10)
