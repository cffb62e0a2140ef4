"""Diffs to draw: complete, small where little changed, and quick on long sources."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.diffs import MAX_COMPARED, Diff, Row, Segment, counts, diff

texts = st.one_of(
    st.none(),
    st.lists(st.sampled_from(["a", "b", "x = 1", "x = 2", ""]), max_size=12).map("\n".join),
)


def side(made: Diff, name: str) -> str:
    """One of the two texts, put together again from the segments."""
    rows = [getattr(row, name) for row in made.rows]
    return "\n".join("".join(part.text for part in row) for row in rows if row is not None)


@given(texts, texts)
def test_both_texts_can_be_put_together_again(before: str | None, after: str | None) -> None:
    made = diff(before, after)
    assert side(made, "before") == (before or "")
    assert side(made, "after") == (after or "")
    old = [row.old for row in made.rows if row.old is not None]
    new = [row.new for row in made.rows if row.new is not None]
    assert old == list(range(len(old)))
    assert sorted(new) == list(range(len(new)))
    assert counts(before, after) == (made.added, made.removed)


@given(texts)
def test_equal_texts_have_no_changes(text: str | None) -> None:
    made = diff(text, text)
    assert (made.added, made.removed, made.hunks()) == (0, 0, [])


def test_a_changed_word_is_marked_within_its_line() -> None:
    [first, second] = diff("import os\nvalue = one + two", "import os\nvalue = one + three").rows
    assert first.kind == "equal"
    assert second == Row(
        "replace",
        1,
        1,
        (Segment("equal", "value = one + "), Segment("delete", "two")),
        (Segment("equal", "value = one + "), Segment("insert", "three")),
    )


def test_lines_that_have_nothing_in_common_are_not_one_changed_line() -> None:
    made = diff("alpha beta", "x[1] = {}")
    assert [row.kind for row in made.rows] == ["delete", "insert"]
    assert (made.added, made.removed) == (1, 1)


def test_a_new_or_deleted_cell_is_all_insertion_or_deletion() -> None:
    assert [row.kind for row in diff(None, "a\nb").rows] == ["insert", "insert"]
    assert [row.kind for row in diff("a\nb", None).rows] == ["delete", "delete"]
    assert counts(None, "a\nb") == (2, 0)
    assert counts("a\nb", None) == (0, 2)


def test_hunks_leave_out_what_is_far_from_a_change() -> None:
    lines = [str(number) for number in range(40)]
    changed = [*lines]
    changed[5] = changed[6] = changed[30] = "changed"
    hunks = diff("\n".join(lines), "\n".join(changed)).hunks(2)
    assert [[row.old for row in hunk if row.old is not None] for hunk in hunks] == [
        [3, 4, 5, 6, 7, 8],
        [28, 29, 30, 31, 32],
    ]


def test_a_long_source_is_not_compared_line_by_line() -> None:
    size = MAX_COMPARED * 20
    before = "\n".join(f"line {number % 97} of {number // 3}" for number in range(size))
    lines = before.split("\n")
    changed = [line if number % 50 else f"# {line}" for number, line in enumerate(lines)]
    made = diff(before, "\n".join(changed))
    assert made.added == made.removed == size // 50
    assert side(made, "after") == "\n".join(changed)


def test_repeated_long_lines_take_no_quadratic_time() -> None:
    size = MAX_COMPARED * 10
    made = diff("\n".join(["same"] * size), "\n".join(["other"] * size))
    assert made.added == made.removed == size
    long = diff("x" * 100_000 + "a" + "y" * 100_000, "x" * 100_000 + "b" + "y" * 100_000)
    [row] = long.rows
    assert row.before is not None
    assert [len(part.text) for part in row.before] == [100_000, 1, 100_000]
