import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pywebmcp.edits import (
    EditError,
    PositionError,
    apply_replacements,
    from_utf16_offset,
    normalise_newlines,
    offset_at,
    position_at,
    smallest_edit,
    smallest_edits,
    source_hash,
    utf16_offset,
    yjs_edit,
)

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)

# Few letters, so that prefixes and suffixes are common; halves of pairs, so that they meet.
texts = st.text(st.sampled_from("ab\n😀é\ud83d\ude00"), max_size=12)

CRLF = "%time x = 1\r\ny = 2\r\nprint(x + y)\r\n"


def utf16(text):
    return text.encode("utf-16-le", "surrogatepass")


def test_newlines_become_line_feeds_and_nothing_else_does():
    assert normalise_newlines("a\r\nb\rc\n\r\nd") == "a\nb\nc\n\nd"
    separators = "a\fb\vc\x1cd\x85e\u2028f"
    assert normalise_newlines(separators) == separators


def test_the_hash_is_of_the_normalised_source():
    assert source_hash("a\r\nb") == source_hash("a\nb")
    assert source_hash("a\nb") == hashlib.sha256(b"a\nb").hexdigest()[:10]
    assert source_hash("x\udcff") != source_hash("x\udcfe")


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("abc", "abc", None),
        ("", "x", (0, 0, "x")),
        ("x", "", (0, 1, "")),
        ("abcdef", "abXdef", (2, 3, "X")),
        ("aa", "aaa", (2, 2, "a")),
        ("aaa", "aa", (2, 3, "")),
        ("a😀b", "a😁b", (1, 2, "😁")),
    ],
)
def test_the_edit_is_the_smallest(old, new, edit):
    assert smallest_edit(old, new) == edit


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        # The low half changes: the high half before it is the same, but goes along.
        ("x\ud83d\ude00", "x\ud83d\ude01", (1, 3, "\ud83d\ude01")),
        ("\ud83d\ude00y", "\ud83c\ude00y", (0, 2, "\ud83c\ude00")),
        # The halves meet only in the new text.
        ("\ud83d.", "\ud83d\ude00", (0, 2, "\ud83d\ude00")),
        (".\ude00", "\ud83d\ude00", (0, 2, "\ud83d\ude00")),
        # A half on its own is a character like any other.
        ("\ude00a", "\ude00b", (1, 2, "b")),
    ],
)
def test_an_edit_never_splits_what_javascript_takes_for_one_character(old, new, edit):
    assert smallest_edit(old, new) == edit


def test_long_texts_are_compared_in_few_steps():
    old = "x" * 1_000_000
    middle = 600_000
    assert smallest_edit(old, old[:middle] + "y" + old[middle:]) == (middle, middle, "y")


@quick
@given(texts, texts)
def test_applying_the_edit_gives_the_new_text(old, new):
    edit = smallest_edit(old, new)
    if edit is None:
        assert old == new
        return
    start, end, text = edit
    assert old[:start] + text + old[end:] == new
    # The same holds in JavaScript's code units, with no boundary inside a character of either.
    units = utf16(old)
    low, high = 2 * utf16_offset(old, start), 2 * utf16_offset(old, end)
    assert units[:low] + utf16(text) + units[high:] == utf16(new)
    for whole, at in ((units, low), (units, high), (utf16(new), low)):
        pair = whole[max(at - 2, 0) : at + 2].decode("utf-16-le", "surrogatepass")
        assert not (0 < at < len(whole) and len(pair) == 1)


@quick
@given(texts)
def test_utf16_offsets_and_back(text):
    for index in range(len(text) + 1):
        offset = utf16_offset(text, index)
        assert offset == len(utf16(text[:index])) // 2
        assert from_utf16_offset(text, offset) == index


def test_an_offset_inside_a_character_gives_that_character():
    assert from_utf16_offset("a😀b", 2) == 1
    assert from_utf16_offset("😀😀", 3) == 1


def test_utf16_offsets_out_of_range_are_refused():
    with pytest.raises(PositionError, match="0 to 2"):
        utf16_offset("a😀", 3)
    with pytest.raises(PositionError, match="0 to 3 UTF-16"):
        from_utf16_offset("a😀", 4)
    with pytest.raises(PositionError):
        from_utf16_offset("a😀", -1)


def test_replacements_are_matched_against_the_original():
    assert apply_replacements("a b", [("a", "b"), ("b", "a")]) == "b a"
    assert apply_replacements("a b", [("b", "a"), ("a", "b")]) == "b a"
    assert apply_replacements("a b", []) == "a b"


def test_neighbouring_replacements_do_not_overlap():
    assert apply_replacements("abcd", [("ab", "1"), ("cd", "2")]) == "12"


def test_every_other_character_stays():
    source = "text = 'a\fb\vc\u2028d\x1ce\udcff'"
    assert apply_replacements(source, [("text =", "text2 =")]) == "text2" + source[4:]


def test_an_lf_pattern_matches_a_crlf_source_once():
    edits = [("%time x = 1\ny = 2", "%time x = 1\r\ny = 5")]
    assert apply_replacements(CRLF, edits) == "%time x = 1\ny = 5\nprint(x + y)\n"


def refused(source, edits):
    with pytest.raises(EditError) as caught:
        apply_replacements(source, edits)
    return caught.value


def test_a_text_that_is_missing_is_refused():
    error = refused("a = 1", [("a", "b"), ("c", "d")])
    assert (error.index, error.count, error.other_whitespace) == (1, 0, False)
    assert error.message == str(error) == "edits[1]: the text to replace was not found."


@pytest.mark.parametrize("old", ["if x:\n  y()", "if  x: y()", "if x:y()", "\tif x:\n\ty()\n"])
def test_a_text_that_differs_in_white_space_says_where_it_is(old):
    error = refused("a = 1\n\nif x:\n    y()\nz()\n", [(old, "")])
    assert (error.count, error.other_whitespace) == (0, True)
    assert "line 2" in error.message


def test_white_space_alone_that_is_missing_is_just_missing():
    assert not refused("a", [("  ", "")]).other_whitespace


@pytest.mark.parametrize(("source", "old", "count"), [("aXaXa", "a", 3), ("aaa", "aa", 2)])
def test_a_text_that_occurs_more_than_once_is_counted(source, old, count):
    error = refused(source, [(old, "")])
    assert (error.index, error.count) == (0, count)
    assert f"{count} times" in error.message


def test_an_empty_text_is_refused():
    assert "empty" in refused("a", [("", "b")]).message


@pytest.mark.parametrize("edits", [[("abc", ""), ("cd", "")], [("cd", ""), ("abc", "")]])
def test_overlapping_replacements_are_refused(edits):
    error = refused("abcd", edits)
    assert error.message.startswith("edits[1] overlaps edits[0]")
    assert (error.index, error.count) == (1, 1)


def test_the_same_replacement_twice_overlaps():
    assert refused("abcd", [("b", "x"), ("b", "x")]).index == 1


def test_lines_and_columns_count_characters_and_break_at_line_feeds_only():
    text = "a😀b\n\x0c\u2028é\r\n"
    assert offset_at(text, 0, 2) == 2
    assert offset_at(text, 1, 3) == 7
    assert offset_at(text, 2, 0) == len(text)
    assert position_at(text, 2) == (0, 2)
    assert position_at(text, len(text)) == (2, 0)
    assert offset_at("", 0, 0) == 0


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        (99, 0, "Line 99 is out of range: 0 to 1"),
        (-1, 0, "Line -1 is out of range"),
        (0, 3, "Column 3 is out of range: line 0 has 0 to 2"),
        (1, -1, "Column -1 is out of range: line 1 has 0 to 1"),
    ],
)
def test_positions_out_of_range_give_the_range(line, column, said):
    with pytest.raises(PositionError, match=said):
        offset_at("ab\nc", line, column)


def test_offsets_out_of_range_give_the_range():
    with pytest.raises(PositionError, match="0 to 1"):
        position_at("a", 2)


@quick
@given(texts)
def test_positions_and_back(text):
    for offset in range(len(text) + 1):
        assert offset_at(text, *position_at(text, offset)) == offset


@given(
    st.lists(st.sampled_from(["a", "b", "x = 1", "", "y 😀"])),
    st.lists(st.sampled_from(["a", "b", "x = 2", "", "y"])),
)
def test_the_smallest_edits_make_the_new_text(before, after):
    old, new = "\n".join(before), "\n".join(after)
    made, end = old, len(old) + 1
    for start, stop, text in reversed(smallest_edits(old, new)):
        assert start <= stop <= end
        end = start
        made = made[:start] + text + made[stop:]
    assert made == new


def test_lines_that_stay_are_in_no_edit():
    assert smallest_edits("a\nb\nc", "A\nb\nC") == [(0, 1, "A"), (4, 5, "C")]
    assert smallest_edits("same", "same") == []


def test_a_long_change_is_one_edit():
    old, new = "\n".join(f"{n}" for n in range(3000)), "\n".join(f"{n}!" for n in range(3000))
    assert len(smallest_edits(old, new)) == 1


@pytest.mark.parametrize(
    ("source", "edit", "expected"),
    [
        ("abc", (1, 2, "x"), (1, 2, "x")),
        ("a😀b", (1, 2, "x"), (1, 3, "x")),
        ("a😀b", (2, 3, "x"), (3, 4, "x")),
        ("\ud83da", (1, 1, "x"), (0, 2, "\ud83dxa")),
        ("\ud83dab", (1, 2, "x"), (0, 2, "\ud83dx")),
        ("a\ud83db", (0, 2, "x"), (0, 3, "xb")),
        ("abc", (1, 99, "x\r\ny"), (1, 3, "x\ny")),
    ],
)
def test_an_edit_as_yjs_applies_it(source, edit, expected):
    assert yjs_edit(source, *edit) == expected
