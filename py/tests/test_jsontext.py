import collections
import enum
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pywebmcp import jsontext

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)


def strict(text):
    """Parse as JavaScript does: no NaN, no duplicate keys, no bytes that UTF-8 cannot say."""

    def refuse(token):
        raise AssertionError(f"bare token {token}")

    def unique(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), "duplicate keys"
        return dict(pairs)

    text.encode("utf-8")
    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def test_plain_json_is_compact_and_not_escaped():
    value = {"a": [1, 2.5, True, None, "é😀\u2028"], "b": {}}
    assert jsontext.dumps(value) == '{"a":[1,2.5,true,null,"é😀\u2028"],"b":{}}'


def test_plain_json_is_not_copied():
    value = {"a": [{"b": [1, 2, 3]}]}
    assert jsontext.plain(value) is value


def test_lone_surrogates_are_escapes_and_the_rest_stays():
    text = jsontext.dumps({"caf\udce9": "x\ud83dé\\"})
    assert text == '{"caf\\udce9":"x\\ud83dé\\\\"}'
    assert strict(text) == {"caf\udce9": "x\ud83dé\\"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_null(number):
    assert jsontext.dumps([number, {"x": number}, 1.5]) == '[null,{"x":null},1.5]'
    assert jsontext.dumps(number) == "null"


def test_integers_that_javascript_rounds_are_strings_of_digits():
    largest = 2**53 - 1
    assert jsontext.dumps([largest, -largest]) == f"[{largest},-{largest}]"
    assert jsontext.dumps([largest + 1, -largest - 1]) == f'["{largest + 1}","-{largest + 1}"]'
    assert jsontext.dumps(2**60) == '"1152921504606846976"'


def test_integers_too_long_for_decimal_digits_are_hexadecimal():
    assert strict(jsontext.dumps([10**5000]))[0].startswith("0x")


def test_bytes_sets_tuples_and_objects_have_a_form():
    class Point:
        def __repr__(self):
            return "Point(1)"

    value = {"b": b"\x00\xff", "m": memoryview(b"a"), "s": {3, 1}, "t": (1, (2,)), "o": Point()}
    assert strict(jsontext.dumps(value)) == {
        "b": "AP8=",
        "m": "YQ==",
        "s": [1, 3],
        "t": [1, [2]],
        "o": "Point(1)",
    }


def test_a_set_of_mixed_types_is_in_the_order_of_its_json():
    assert jsontext.dumps({None, "b", "a", 1, (2,)}) == '["a","b",1,[2],null]'


def test_keys_become_strings_and_clashing_ones_keep_their_values_apart():
    value = {1: "int", "1": "str", (2, 3): "tuple", None: "none", "null": "text", 1.5: "float"}
    assert strict(jsontext.dumps(value)) == {
        "1 (int)": "int",
        "1": "str",
        "(2, 3)": "tuple",
        "null (NoneType)": "none",
        "null": "text",
        "1.5": "float",
    }
    assert strict(jsontext.dumps({True: 1, False: 2, math.nan: 3, 10**5000: 4}))["true"] == 1


def test_keys_that_clash_more_than_once_are_numbered():
    assert strict(jsontext.dumps({"1": 0, "1 (int)": 1, 1: 2})) == {
        "1": 0,
        "1 (int)": 1,
        "1 (int 2)": 2,
    }


def test_subclasses_are_what_they_look_like():
    class Color(enum.StrEnum):
        RED = "red"

    class Level(enum.IntEnum):
        LOW = 1

    class Ratio(float):
        def __repr__(self):
            return "ratio"

    pair = collections.namedtuple("Pair", "x y")(1, 2)
    value = {Color.RED: Color.RED, "l": Level.LOW, Level.LOW: 0, "r": Ratio(0.5), "p": pair}
    expected = {"red": "red", "l": 1, "1": 0, "r": 0.5, "p": [1, 2]}
    assert strict(jsontext.dumps(value)) == expected


def test_a_dict_subclass_gives_what_its_items_say():
    class Odd(collections.ChainMap, dict):
        pass

    assert jsontext.dumps(Odd({"k": "v"})) == '{"k":"v"}'


def test_cycles_end():
    value = {"list": [1]}
    value["list"].append(value)
    assert strict(jsontext.dumps(value)) == {"list": [1, "[circular reference]"]}
    both = []
    both += [both, both]
    assert strict(jsontext.dumps(both)) == ["[circular reference]"] * 2


def test_the_same_object_twice_is_no_cycle():
    shared = [1, 2**60]
    assert strict(jsontext.dumps([shared, shared])) == [[1, str(2**60)]] * 2


@pytest.mark.parametrize("depth", [jsontext.MAX_DEPTH + 1, 2_000])
def test_deep_nesting_is_cut_off_and_says_so(depth):
    value = []
    for _ in range(depth):
        value = [value]
    assert f"nested deeper than {jsontext.MAX_DEPTH}" in jsontext.dumps(value)


def test_nesting_up_to_the_limit_is_written_whole():
    value = 7
    for _ in range(jsontext.MAX_DEPTH):
        value = {"a": value}
    assert jsontext.plain(value) is value
    assert strict(jsontext.dumps(value)) == value
    assert "nested deeper" in jsontext.dumps([value])
    # The same in the walk that a value which is not plain takes.
    tuples = 7
    for _ in range(jsontext.MAX_DEPTH):
        tuples = (tuples,)
    assert jsontext.dumps(tuples) == "[" * jsontext.MAX_DEPTH + "7" + "]" * jsontext.MAX_DEPTH
    assert "nested deeper" in jsontext.dumps((tuples,))


def test_no_room_on_the_stack_gives_text_all_the_same(monkeypatch):
    def full(value):
        raise RecursionError

    monkeypatch.setattr(jsontext, "_encode", full)
    assert "nested deeper" in strict(jsontext.dumps([1]))


def test_objects_that_fail_are_named():
    class Bad:
        def __repr__(self):
            raise RuntimeError

    class BadMapping(collections.UserDict):
        def items(self):
            raise RuntimeError

        def __repr__(self):
            return "BadMapping"

    assert "its repr raised RuntimeError" in jsontext.dumps({"x": Bad()})
    assert strict(jsontext.dumps({"x": BadMapping()})) == {"x": "BadMapping"}
    assert "its repr raised RuntimeError" in jsontext.dumps({Bad(): 1})


def test_a_value_that_fails_takes_nothing_beside_it_with_it():
    class Endless(collections.UserDict):
        def items(self):
            raise RecursionError

    class Liar:
        @property
        def __class__(self):
            raise RuntimeError

    released = memoryview(b"a")
    released.release()
    value = strict(jsontext.dumps({"r": released, "e": Endless(), "s": memoryview(b"abc")[::2]}))
    assert value["r"].startswith("<released memory")
    assert "nested deeper" in value["e"]
    assert value["s"] == "YWM="
    assert strict(jsontext.dumps(Liar())) == "[not readable: RuntimeError]"


def test_a_python_result_with_all_of_it_keeps_every_value():
    result = {
        1: "int",
        "1": "str",
        (2, 3): "tuple",
        None: "none",
        "nested": {"list": [{"a": 1}], "big": 2**60, "nan": math.nan, "bytes": b"\x00\xff"},
        "set": {1},
    }
    assert strict(jsontext.dumps(result)) == {
        "1 (int)": "int",
        "1": "str",
        "(2, 3)": "tuple",
        "null": "none",
        "nested": {"list": [{"a": 1}], "big": "1152921504606846976", "nan": None, "bytes": "AP8="},
        "set": [1],
    }


def test_reading_gives_the_value():
    value = {"a": [1, 2.5, None, True, "é😀\udcff"], "b": {}}
    assert jsontext.loads(jsontext.dumps(value)) == value
    assert jsontext.loads(jsontext.dumps(value).encode()) == value


@pytest.mark.parametrize("text", ["", "{", "[1,]", "\ufeff1", b"\xff", '"a'])
def test_reading_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        jsontext.loads(text)


@pytest.mark.parametrize("depth", [jsontext.MAX_PARSE_DEPTH + 1, 20_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"a":', "}"), ('[ "]]]\\\\",', "]"), ('["\\"]", {"[": ', "}]"), ("[", "")],
)
def test_reading_what_is_nested_too_deep_is_refused_before_it_is_parsed(depth, opening, closing):
    with pytest.raises(ValueError, match="nested deeper than 500"):
        jsontext.loads(opening * depth + "1" + closing * depth)


@pytest.mark.parametrize("text", ["[", '"[', '\\"{[', "]", "[]{}", "\\"])
def test_brackets_in_strings_nest_nothing(text):
    value = [text * 2000, [text] * 2000, {text * 2: [[text]]}]
    assert jsontext.loads(jsontext.dumps(value)) == value


def test_reading_goes_as_deep_as_it_says():
    depth = jsontext.MAX_PARSE_DEPTH
    value = jsontext.loads("[" * depth + "]" * depth)
    for _ in range(depth - 1):
        [value] = value
    assert value == []


def test_no_room_on_the_stack_is_a_value_error_when_reading(monkeypatch):
    def full(text):
        raise RecursionError

    monkeypatch.setattr(jsontext, "_decode", full)
    with pytest.raises(ValueError, match="too deep"):
        jsontext.loads("[]")


def test_length_counts_utf16_code_units():
    assert jsontext.length("abc") == 3
    assert jsontext.length("é") == 1
    assert jsontext.length("a😀") == 3
    assert jsontext.length("\ud83d") == 1
    assert jsontext.length({"a": "😀"}) == len('{"a":""}') + 2
    assert jsontext.length(["\ud83d"]) == len('["\\ud83d"]')


anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters()),
        st.binary(max_size=4),
        st.complex_numbers(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner),
        st.dictionaries(
            st.one_of(st.text(max_size=2), st.integers(), st.none(), st.floats(), st.booleans()),
            inner,
            max_size=4,
        ),
        st.frozensets(st.integers() | st.text(max_size=2), max_size=4),
    ),
    max_leaves=12,
)


@quick
@given(anything)
def test_any_value_gives_strict_json(value):
    text = jsontext.dumps(value)
    parsed = strict(text)
    assert jsontext.dumps(parsed) == jsontext.dumps(jsontext.plain(value)) == text


def test_encode_writes_what_was_read_from_json_even_when_it_is_infinite():
    assert jsontext.encode(jsontext.loads('[1e999, {"a": -1e999}]')) == '[null,{"a":null}]'
