import copy
import json
import pickle

import pytest
from pywebmcp.outputs import (
    DEFAULT_TEXT_LIMIT,
    MAX_TRANSPORT_BYTES,
    OutputProtocolError,
    dumps,
    list_outputs,
    read_output,
)

SOURCE = {"kind": "notebook", "path": "/data/a.ipynb", "cell_index": 2}
PNG = "iVBORw0KGgo="


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def bundle(data, **more):
    return {"output_type": "display_data", "data": data, "metadata": {}, **more}


def read(output, **wishes):
    return read_output([output], 0, source=SOURCE, **wishes)


def code_of(call, *args, **kwargs):
    with pytest.raises(OutputProtocolError) as caught:
        call(*args, **kwargs)
    assert caught.value.message
    assert type(caught.value.code) is str
    return caught.value.code


def test_a_directory_names_every_output_and_holds_no_payload():
    outputs = [
        stream("x" * 1000),
        bundle({"text/plain": "y" * 1000, "image/png": PNG}, metadata={"a": 1}),
        {"output_type": "execute_result", "data": {"text/plain": "1"}, "execution_count": 5},
        {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["z" * 1000]},
    ]
    answer = list_outputs(outputs, source=SOURCE)
    assert answer == {
        "schema_version": 1,
        "status": "ok",
        "source": SOURCE,
        "outputs": [
            {
                "output_index": 0,
                "output_type": "stream",
                "available_mime_types": [],
                "name": "stdout",
            },
            {
                "output_index": 1,
                "output_type": "display_data",
                "available_mime_types": ["text/plain", "image/png"],
                "metadata": {"a": 1},
            },
            {
                "output_index": 2,
                "output_type": "execute_result",
                "available_mime_types": ["text/plain"],
                "metadata": {},
                "execution_count": 5,
            },
            {
                "output_index": 3,
                "output_type": "error",
                "available_mime_types": [],
                "ename": "KeyError",
                "evalue": "'x'",
            },
        ],
    }


def test_pages_of_a_text_join_to_the_text_and_count_characters():
    text = "aé😀\U0010ffff\n" * 7
    offset, pages = 0, []
    while offset is not None:
        page = read(stream(text), offset=offset, limit=4)["stream"]
        assert page["returned_characters"] == len(page["data"]) <= 4
        assert page["bytes"] == len(page["data"].encode())
        assert page["total_characters"] == len(text)
        assert page["truncated"] is True
        pages.append(page["data"])
        offset = page.get("next_offset")
    assert "".join(pages) == text


def test_a_text_that_fits_has_no_next_page():
    page = read(stream(["a\n", "b"]))["stream"]
    assert page["data"] == "a\nb"
    assert page["truncated"] is False
    assert "next_offset" not in page
    assert "next_offset" not in read(stream("abc"), offset=99)["stream"]
    for text in ("", "abc"):
        assert read(stream(text), offset=3)["stream"]["truncated"] is True
        assert read(stream(text))["stream"]["truncated"] is False


@pytest.mark.parametrize(
    "wishes",
    [
        {"offset": -1},
        {"offset": 2**53},
        {"offset": None},
        {"offset": 1.0},
        {"offset": True},
        {"limit": 0},
        {"limit": -1},
        {"limit": "5"},
        {"limit": 2.5},
        {"limit": True},
    ],
)
def test_a_window_that_is_none_is_refused(wishes):
    assert code_of(read, stream("abc"), **wishes) == "INVALID_WINDOW"


def test_no_limit_is_all_that_follows():
    text = "x" * (DEFAULT_TEXT_LIMIT + 5)
    assert read(stream(text))["stream"]["next_offset"] == DEFAULT_TEXT_LIMIT
    assert read(stream(text), limit=None, offset=2)["stream"]["data"] == text[2:]


@pytest.mark.parametrize("output", [bundle({"image/png": PNG}), bundle({"application/json": [1]})])
def test_what_has_no_pages_refuses_a_window_but_not_its_absence(output):
    assert code_of(read, output, limit=5) == "WINDOW_NOT_SUPPORTED"
    assert code_of(read, output, offset=1) == "WINDOW_NOT_SUPPORTED"
    assert read(output, limit=None)["selected"]["data"] in (PNG, [1])


def test_a_lone_surrogate_survives_and_every_answer_is_utf8():
    answer = read(stream("caf\udce9 menu"))
    assert answer["stream"]["data"] == "caf\udce9 menu"
    assert answer["stream"]["total_characters"] == 9
    assert answer["stream"]["bytes"] == 11
    text = dumps(answer)
    assert "caf\\udce9 menu" in text
    assert json.loads(text.encode("utf-8")) == answer
    error = {"output_type": "error", "ename": "E", "evalue": "\udcff", "traceback": ["\udcff"]}
    assert json.loads(dumps(read(error)).encode()) == read(error)
    assert json.loads(dumps(list_outputs([error], source=SOURCE)).encode())


def test_halves_of_a_character_in_two_pieces_are_one_character():
    page = read(stream(["\ufeffa\ud83d", "\ude00b\ud83d"]))["stream"]
    assert page["data"] == "\ufeffa😀b\ud83d"
    assert page["total_characters"] == 5


EVERYTHING = {
    "image/svg+xml": "<svg/>",
    "application/vnd.b+json": 2,
    "application/geo+json": 1,
    "application/json": 0,
    "text/plain": "p",
    "text/markdown": "m",
    "text/html": "h",
    "image/gif": "R0lGODlhAQ==",
    "image/webp": "UklGRgQAAABXRUJQ",
    "image/jpeg": "/9j/4AD/2Q==",
    "image/png": PNG,
    "application/x-unknown": "?",
    "text/latex": "$x$",
}
ORDER = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/gif",
    "text/html",
    "text/markdown",
    "text/plain",
    "application/json",
    "application/geo+json",
    "application/vnd.b+json",
    "image/svg+xml",
]


def test_without_a_wish_the_order_of_the_protocol_decides():
    left = dict(EVERYTHING)
    for name in ORDER:
        answer = read(bundle(left))
        assert answer["selected"]["mime_type"] == name
        assert answer["available_mime_types"] == list(left)
        del left[name]
    assert code_of(read, bundle(left)) == "MIME_NOT_SUPPORTED"


@pytest.mark.parametrize("supported", [["text/plain", "image/gif"], {"image/gif", "text/plain"}])
def test_capabilities_filter_but_do_not_order(supported):
    answer = read(bundle(EVERYTHING), supported_mime_types=supported)
    assert answer["selected"]["mime_type"] == "image/gif"


@pytest.mark.parametrize(
    ("wish", "supported", "code"),
    [
        ("text/csv", None, "MIME_NOT_FOUND"),
        ("", None, "MIME_NOT_FOUND"),
        (5, None, "MIME_NOT_FOUND"),
        ([], None, "MIME_NOT_FOUND"),
        ("image/png", ["text/plain"], "MIME_NOT_SUPPORTED"),
        ("image/png", [], "MIME_NOT_SUPPORTED"),
        ("image/png", 7, "MIME_NOT_SUPPORTED"),
        ("application/x-unknown", ["application/x-unknown"], "MIME_NOT_SUPPORTED"),
        (None, ["application/x-unknown"], "MIME_NOT_SUPPORTED"),
    ],
)
def test_a_wish_is_met_exactly_or_fails(wish, supported, code):
    wishes = {"mime_type": wish, "supported_mime_types": supported}
    assert code_of(read, bundle(EVERYTHING), **wishes) == code


@pytest.mark.parametrize(
    ("supported", "word"), [(None, "nothing"), (["x/y"], "nothing"), (["text/html"], "nothing")]
)
def test_a_message_says_when_the_output_has_nothing_to_choose(supported, word):
    with pytest.raises(OutputProtocolError, match=word):
        read(bundle({"x/y": 1}), supported_mime_types=supported)
    with pytest.raises(OutputProtocolError, match="caller supports none"):
        read(bundle({"x/y": 1, "text/plain": "a"}), supported_mime_types=["x/y"])


def test_any_text_type_can_be_asked_for_by_name():
    selected = read(bundle(EVERYTHING), mime_type="text/latex")["selected"]
    assert selected["data"] == "$x$"
    assert selected["encoding"] == "utf-8"


def test_json_stays_structured_and_its_size_is_that_of_its_text():
    value = {"é": [1, None, True, 0.5, "\udc00"]}
    selected = read(bundle({"application/json": value}))["selected"]
    assert selected["data"] == value
    assert selected["encoding"] == "json"
    assert selected["bytes"] == len('{"é":[1,null,true,0.5,"\\udc00"]}'.encode())


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def cycle():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        {"a": [1, float("-inf")]},
        10**5000,
        {1: "a"},
        {"a": {None: 1}},
        b"bytes",
        {"a"},
        object(),
        deep(100_000),
        cycle(),
    ],
    ids=["nan", "infinity", "digits", "key", "key2", "bytes", "set", "object", "deep", "cycle"],
)
def test_what_json_cannot_say_is_invalid_data_wherever_it_is(value):
    assert code_of(read, bundle({"application/json": value})) == "OUTPUT_DATA_INVALID"
    assert code_of(read, bundle({"text/plain": "p"}, metadata=value)) == "OUTPUT_DATA_INVALID"
    listed = [bundle({}, metadata=value)]
    assert code_of(list_outputs, listed, source=SOURCE) == "OUTPUT_DATA_INVALID"
    assert code_of(list_outputs, [], source={"a": value}) == "OUTPUT_DATA_INVALID"


def test_a_bad_number_is_named_with_its_place():
    value = {"encoding": {"y": [0, float("nan")]}}
    with pytest.raises(OutputProtocolError, match="NaN at /encoding/y/1"):
        read(bundle({"application/vnd.vegalite.v5+json": value}))


def test_a_shared_value_is_no_cycle_and_costs_no_more_than_once_a_level():
    value = []
    for _ in range(100):
        value = [value, value]
    with pytest.raises(OutputProtocolError) as caught:
        # Its text would have 2**100 brackets, so the check has to be over before it is written.
        list_outputs([bundle({}, metadata={"a": float("nan"), "b": value})], source={})
    assert caught.value.code == "OUTPUT_DATA_INVALID"


@pytest.mark.parametrize("outputs", [None, 5, "text", {"a": 1}, [None], ["oops"], [[]], [5]])
def test_outputs_that_are_none_are_invalid_data(outputs):
    assert code_of(list_outputs, outputs, source=SOURCE) == "OUTPUT_DATA_INVALID"
    assert code_of(read_output, outputs, 0, source=SOURCE) == "OUTPUT_DATA_INVALID"


@pytest.mark.parametrize(
    "output",
    [
        stream(5),
        stream(None),
        stream(["a", 1]),
        stream("a", name=["a", 1]),
        stream("a", name={}),
        {"output_type": {"a": 1}},
        {"output_type": "error", "traceback": "text"},
        {"output_type": "error", "traceback": None},
        {"output_type": "error", "traceback": ["a", None]},
        {"output_type": "error", "ename": {}},
        bundle(None),
        bundle([]),
        bundle({5: "a"}),
        bundle({"text/plain": 5}),
        bundle({"text/plain": None}),
        bundle({"text/html": ["<b>", 1], "text/plain": "p"}),
        bundle({"image/svg+xml": {"a": 1}}),
        bundle({"image/png": None, "text/plain": "p"}),
    ],
    ids=repr,
)
def test_odd_types_are_invalid_data_and_nothing_is_read_instead(output):
    assert code_of(read, output) == "OUTPUT_DATA_INVALID"


def test_words_that_kernels_left_out_or_wrote_as_numbers_are_read():
    assert read({"output_type": "stream", "name": None})["stream"]["name"] == "stdout"
    error = read({"output_type": "error", "evalue": 12})["error"]
    assert error == {"ename": "", "evalue": "12", "traceback": []}


@pytest.mark.parametrize("kind", ["pyout", "", None, "update_display_data", 5])
def test_an_unknown_type_is_listed_but_not_read(kind):
    listed = list_outputs([{"output_type": kind, "data": 5}], source=SOURCE)["outputs"]
    assert listed == [
        {
            "output_index": 0,
            "output_type": "" if kind is None else str(kind),
            "available_mime_types": [],
        }
    ]
    assert code_of(read, {"output_type": kind}) == "OUTPUT_TYPE_UNSUPPORTED"


@pytest.mark.parametrize(
    "index",
    [-1, 1, 10**30, None, "0", 0.0, True, [0], pytest.param(10**5000, id="of too many digits")],
)
def test_an_index_that_is_none_finds_no_output(index):
    assert code_of(read_output, [stream("a")], index, source=SOURCE) == "OUTPUT_NOT_FOUND"


def test_mistakes_are_told_in_a_fixed_order():
    broken = bundle({"image/png": "!!"})
    no_limit = {"max_transport_bytes": 0}
    assert (
        code_of(read_output, [], 0, source=SOURCE, limit=0, mime_type="x", **no_limit)
        == "OUTPUT_NOT_FOUND"
    )
    assert code_of(read, {"output_type": "pyout"}, limit=0) == "INVALID_WINDOW"
    assert code_of(read, {"output_type": "pyout"}, mime_type="x") == "OUTPUT_TYPE_UNSUPPORTED"
    assert code_of(read, stream(5), mime_type="text/plain") == "MIME_NOT_APPLICABLE"
    assert code_of(read, broken, mime_type="x", limit=1) == "MIME_NOT_FOUND"
    assert code_of(read, broken, limit=1) == "WINDOW_NOT_SUPPORTED"
    assert code_of(read, broken, **no_limit) == "OUTPUT_DATA_INVALID"
    assert code_of(read, bundle({"image/png": PNG}), **no_limit) == "INVALID_TRANSPORT_LIMIT"


@pytest.mark.parametrize("limit", [0, -1, None, "5", True, float("nan"), [], -0.5])
def test_a_transport_limit_that_is_none_is_refused(limit):
    assert (
        code_of(read, stream("a"), max_transport_bytes=limit)
        == code_of(list_outputs, [], source={}, max_transport_bytes=limit)
        == "INVALID_TRANSPORT_LIMIT"
    )


@pytest.mark.parametrize(
    "output",
    [
        stream('é\n"\\\udc00😀\x00'),
        bundle({"image/png": PNG}),
        bundle({"application/json": {"é": [1.5]}}),
        {"output_type": "error", "ename": "é", "evalue": "", "traceback": ["\x1b[0m"]},
    ],
    ids=lambda output: output["output_type"],
)
def test_an_answer_of_exactly_the_limit_passes_and_one_byte_more_does_not(output):
    for call in (read, lambda each, **limit: list_outputs([each], source=SOURCE, **limit)):
        answer = call(output)
        size = len(dumps(answer).encode())
        assert size == len(
            json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
            .encode("utf-8", "surrogatepass")
            .replace(b"\xed\xb0\x80", b"\\udc00")
        )
        assert call(output, max_transport_bytes=size) == answer
        assert code_of(call, output, max_transport_bytes=size - 1) == "OUTPUT_TOO_LARGE"


def test_the_default_limit_holds_for_images_and_a_smaller_page_of_a_text_fits():
    big = "R0lGODlh" * (MAX_TRANSPORT_BYTES // 8)
    assert code_of(read, bundle({"image/gif": big})) == "OUTPUT_TOO_LARGE"
    assert code_of(read, stream(big), limit=None) == "OUTPUT_TOO_LARGE"
    assert read(stream(big), limit=10)["stream"]["next_offset"] == 10


def test_the_input_is_not_changed_and_the_source_is_not_shared():
    outputs = [bundle(dict(EVERYTHING)), stream(["a", "b"])]
    source = {"kind": "inline", "output_index": 99}
    before = copy.deepcopy((outputs, source))
    answer = read_output(outputs, 1, source=source)
    assert answer["source"] == {"kind": "inline", "output_index": 1}
    list_outputs(outputs, source=source)["source"]["kind"] = "changed"
    assert (outputs, source) == before


@pytest.mark.parametrize("source", [None, [], "x", {1: 2}])
def test_a_source_that_is_no_mapping_is_invalid_data(source):
    assert code_of(list_outputs, [], source=source) == "OUTPUT_DATA_INVALID"
    assert code_of(read_output, [stream("a")], 0, source=source) == "OUTPUT_DATA_INVALID"


def test_an_error_crosses_processes():
    error = pickle.loads(pickle.dumps(OutputProtocolError("OUTPUT_NOT_FOUND", "There is none")))
    assert (error.code, error.message) == ("OUTPUT_NOT_FOUND", "There is none")
