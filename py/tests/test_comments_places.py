"""Where threads are after people worked on: at what they are about, or nowhere, never elsewhere."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.comments import Anchor, CellAnchor, OutputAnchor, Place, Places, RangeAnchor
from pywebmcp.comments.ranges import CONTEXT, MAX_OCCURRENCES
from pywebmcp.testing import error, result, stream

LONG = "\n".join(f"line_{n} = compute({n}, seed={n * 7})" for n in range(12))


def places(*cells: tuple[str | None, str], outputs: Any = None) -> Places:
    ids, sources = [cell[0] for cell in cells], [cell[1] for cell in cells]
    return Places(ids, sources, lambda index: (outputs or {}).get(index, []))


def on_text(text: str, *cells: tuple[str | None, str], nth: int = 0) -> RangeAnchor:
    """The anchor of an occurrence of a text in the first cell."""
    made = places(*cells)
    starts = [at for at in range(len(cells[0][1])) if cells[0][1].startswith(text, at)]
    return made.range_anchor(cells[0][0] or "", 0, starts[nth], starts[nth] + len(text))


def found(anchor: Anchor, *cells: tuple[str | None, str]) -> tuple[Place, str]:
    """Where it is, and the text there."""
    made = places(*cells)
    place = made.place(anchor)
    if place.index is None or place.start is None:
        return place, ""
    return place, made.sources[place.index][place.start : place.end]


# A range in its cell


def test_a_range_that_stays_is_anchored() -> None:
    anchor = on_text("mean", ("a", "y = mean(x)"))
    assert found(anchor, ("a", "y = mean(x)")) == (Place("anchored", 0, 4, 8), "mean")


def test_the_cell_may_be_anywhere() -> None:
    anchor = on_text("mean", ("a", "y = mean(x)"))
    place, _ = found(anchor, ("b", "1"), ("c", "2"), ("a", "y = mean(x)"))
    assert place == Place("anchored", 2, 4, 8)


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("import z\ny = mean(x)", 13),
        ("import z\n\n\ny = mean(x)\nprint(y)\n", 15),
        ("y = mean(x)  # the average", 4),
    ],
)
def test_a_range_goes_along_when_its_cell_is_edited_around_it(source: str, start: int) -> None:
    place, text = found(on_text("mean(x)", ("a", "y = mean(x)")), ("a", source))
    assert (place.index, place.start, text) == (0, start, "mean(x)")
    assert place.state == ("anchored" if start == 4 else "moved")


def test_an_edit_of_one_side_leaves_a_range_that_is_known_by_the_other() -> None:
    source = "total = sum(values) / len(values)"
    anchor = on_text("sum(values)", ("a", source))
    for edited in (
        "total = sum(values) / count",
        "average = sum(values) / len(values)",
        "total = 1 + sum(values) / len(values)",
    ):
        assert found(anchor, ("a", edited))[1] == "sum(values)"


def test_a_short_side_convinces_together_with_what_agrees_on_the_other() -> None:
    anchor = on_text("'last'", ("a", "# print('first', 'last')"))
    assert found(anchor, ("a", "print('first', 'last')"))[1] == "'last'"
    # Renamed, and a like line added? Or a line added, and a number changed? Nobody can tell.
    anchor = on_text("x", ("a", "x = f(1)"))
    assert found(anchor, ("a", "y = f(1)\nx = f(2)"))[0].state == "orphaned"


def test_a_range_whose_text_was_edited_is_orphaned_and_its_cell_still_known() -> None:
    anchor = on_text("sum(values)", ("a", "total = sum(values) / len(values)"))
    for edited in ("total = sum(value) / len(values)", "total = max(values)", ""):
        assert found(anchor, ("b", "1"), ("a", edited))[0] == Place("orphaned", 1)


def test_undo_brings_an_orphaned_range_back() -> None:
    anchor = on_text("mean", ("a", "y = mean(x)"))
    assert found(anchor, ("a", "y = max(x)"))[0].state == "orphaned"
    assert found(anchor, ("a", "y = mean(x)"))[0].state == "anchored"


def test_a_twin_does_not_inherit_a_thread() -> None:
    twins = "x = 1  # first\nx = 1  # second\nx = 1  # third"
    for nth, rest in (
        (0, "x = 1  # second\nx = 1  # third"),
        (1, "x = 1  # first\nx = 1  # third"),
        (2, "x = 1  # first\nx = 1  # second"),
    ):
        anchor = on_text("x = 1", ("a", twins), nth=nth)
        assert found(anchor, ("a", rest))[0].state == "orphaned"


def test_a_range_among_twins_keeps_its_own_place() -> None:
    twins = "x = 1  # first\nx = 1  # second\nx = 1  # third"
    for nth, word in enumerate(("first", "second", "third")):
        anchor = on_text("x = 1", ("a", twins), nth=nth)
        place, _ = found(anchor, ("a", "# new\n" + twins + "\n# end"))
        assert place.start == ("# new\n" + twins).index(f"x = 1  # {word}")


def test_a_twin_with_the_same_surroundings_leaves_only_the_exact_place() -> None:
    block = "begin" + "-" * CONTEXT + "x = 1" + "-" * CONTEXT + "end\n"
    anchor = on_text("x = 1", ("a", block * 2), nth=1)
    assert found(anchor, ("a", block * 2))[0].state == "anchored"
    assert found(anchor, ("a", "\n" + block * 2))[0].state == "orphaned"


def test_a_word_in_another_word_is_another_text() -> None:
    anchor = on_text("x", ("a", "x"))
    assert found(anchor, ("a", "print(x)"))[0].state == "orphaned"
    assert found(anchor, ("a", "y = 1\nx"))[0] == Place("moved", 0, 6, 7)


def test_a_text_that_is_there_too_often_is_found_at_its_place_only() -> None:
    source = "ab " * (MAX_OCCURRENCES + 10)
    anchor = on_text("a", ("a", source), nth=500)
    assert found(anchor, ("a", source))[0].state == "anchored"
    assert found(anchor, ("a", "c" + source))[0].state == "orphaned"


def test_a_text_that_is_in_too_many_cells_is_found_in_its_own_only() -> None:
    cells = [("a", LONG), *((f"twin-{n}", LONG) for n in range(MAX_OCCURRENCES))]
    anchor = on_text("compute(3", *cells)
    assert found(anchor, ("a", "# new\n" + LONG), cells[1])[1] == "compute(3"
    assert found(anchor, cells[1])[0].state == "orphaned"


def test_a_text_that_is_in_another_cell_too_often_is_not_found_there() -> None:
    many = "ab " * (MAX_OCCURRENCES + 10)
    anchor = on_text("ab", ("a", "the first ab of all of them"), ("b", many))
    assert found(anchor, ("b", many))[0].state == "orphaned"


def test_positions_count_characters() -> None:
    source = "s = '😀😀'\nt = '\ud83d' + u"
    made = places(("a", source))
    anchor = on_text("u", ("a", source))
    assert (anchor.line, anchor.column) == (1, 10)
    selection = made.selection(made.place(anchor))
    assert selection == {"start": {"line": 1, "column": 10}, "end": {"line": 1, "column": 11}}
    assert found(anchor, ("a", "😀\n" + source))[1] == "u"


# Split, merge, copy


@pytest.mark.parametrize("kept", [0, 1])
def test_a_range_is_in_the_part_of_a_split_cell_that_has_it(kept: int) -> None:
    for line in (2, 8):
        text = f"compute({line}"
        anchor = on_text(text, ("a", LONG))
        head, tail = LONG[: LONG.index("line_5") - 1], LONG[LONG.index("line_5") :]
        ids = ["new", "new"]
        ids[kept] = "a"
        place, there = found(anchor, (ids[0], head), (ids[1], tail))
        assert (place.index, there) == (0 if line == 2 else 1, text)


def test_a_range_at_a_cut_is_found_too() -> None:
    anchor = on_text("line_4 = compute(4, seed=28)", ("a", LONG))
    head, tail = LONG[: LONG.index("line_5") - 1], LONG[LONG.index("line_5") :]
    assert found(anchor, ("new", head), ("a", tail))[0].index == 0


def test_a_range_is_found_in_a_merged_cell() -> None:
    anchor = on_text("compute(3", ("a", LONG))
    merged = "first = 0\n\n" + LONG + "\n\nlast = 0"
    place, text = found(anchor, ("z", "0"), ("new", merged))
    assert (place.state, place.index, text) == ("moved", 1, "compute(3")


def test_a_copy_changes_nothing_and_takes_over_when_the_original_goes() -> None:
    anchor = on_text("compute(3", ("a", LONG))
    assert found(anchor, ("copy", LONG), ("a", LONG))[0].index == 1
    assert found(anchor, ("z", "0"), ("copy", LONG))[0].index == 1
    assert found(anchor, ("c1", LONG), ("c2", LONG))[0].state == "orphaned"


def test_a_cell_that_was_a_copy_before_does_not_inherit() -> None:
    anchor = on_text("compute(3", ("a", LONG), ("twin", LONG))
    assert found(anchor, ("a", "# new\n" + LONG), ("twin", LONG))[0].index == 0
    assert found(anchor, ("twin", LONG))[0].state == "orphaned"


def test_cells_of_one_id_are_told_apart_by_the_text() -> None:
    cells = (("a", LONG), ("a", "other"), ("b", "1"))
    anchor = on_text("compute(3", *cells)
    assert found(anchor, *reversed(cells))[0].index == 2
    assert found(anchor, ("a", LONG), ("a", LONG))[0].state == "orphaned"


# Whole cells


def on_cell(*cells: tuple[str | None, str], index: int = 0) -> CellAnchor:
    return places(*cells).cell_anchor(cells[index][0] or "", index)


def test_a_thread_on_a_cell_stays_whatever_is_written_in_it() -> None:
    anchor = on_cell(("a", "x = 1"))
    for source in ("x = 1", "", "something else"):
        assert found(anchor, ("b", "x = 1"), ("a", source))[0] == Place("anchored", 1)


def test_a_deleted_cell_leaves_its_thread_and_undo_brings_it_back() -> None:
    anchor = on_cell(("a", "x = 1"))
    assert found(anchor, ("b", "y = 1"))[0] == Place("orphaned")
    assert found(anchor, ("b", "y = 1"), ("a", "x = 1"))[0] == Place("anchored", 1)


def test_a_cell_without_a_saved_id_is_known_by_its_source() -> None:
    anchor = on_cell(("random-1", "x = 1"), ("random-2", "y = 2"))
    assert found(anchor, ("random-3", "y = 2"), ("random-4", "x = 1"))[0] == Place("moved", 1)
    assert found(anchor, (None, "x = 1"), (None, "y = 2"))[0] == Place("moved", 0)
    assert found(anchor, (None, "x = 1"), (None, "x = 1"))[0].state == "orphaned"


def test_a_cell_in_a_merged_one_is_known_when_it_is_long_enough() -> None:
    first, second = "values = load('data.csv')", "x = 1"
    cells = (("a", first), ("b", second))
    merged = f"{first}\n\n{second}"
    assert found(on_cell(*cells), ("new", merged))[0] == Place("moved", 0)
    assert found(on_cell(*cells, index=1), ("new", merged))[0].state == "orphaned"
    assert (
        found(on_cell(*cells), ("new", merged.replace(first, first + ";")))[0].state == "orphaned"
    )


def test_a_cell_that_had_a_twin_does_not_pass_its_thread_on() -> None:
    for other in ("x = load('data.csv')", "import z\nx = load('data.csv')\nprint(x)"):
        anchor = on_cell(("a", "x = load('data.csv')"), ("twin", other))
        assert found(anchor, ("twin", other))[0].state == "orphaned"


def test_an_empty_cell_is_known_by_its_id_alone() -> None:
    anchor = on_cell(("a", ""))
    assert found(anchor, ("a", "filled"))[0].state == "anchored"
    assert found(anchor, ("b", ""))[0].state == "orphaned"


def test_cells_of_one_id_are_told_apart_by_their_sources() -> None:
    anchor = on_cell(("a", "1"), ("a", "2"), index=1)
    assert found(anchor, ("a", "2"), ("a", "1"))[0] == Place("anchored", 0)
    assert found(anchor, ("a", "3"), ("a", "1"))[0].state == "orphaned"


def test_a_thread_without_an_anchor_is_nowhere() -> None:
    assert places(("a", "1")).place(None) == Place("orphaned")


# Outputs

PLOT = result({"text/plain": "<Figure>", "image/png": "aGVsbG8="})
OUTPUTS: list[dict[str, Any]] = [stream("hi\n"), PLOT, error("ValueError", "bad", "line 1")]


def on_output(index: int, outputs: Sequence[dict[str, Any]] = OUTPUTS) -> OutputAnchor:
    return places(("a", "1"), outputs={0: outputs}).output_anchor("a", 0, index)


def output_now(anchor: OutputAnchor, outputs: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    place = places(("b", "2"), ("a", "1"), outputs={1: outputs}).place(anchor)
    return place.state, place.index, place.output_index, place.output


@pytest.mark.parametrize(
    ("index", "mime"),
    [
        (0, "application/vnd.jupyter.stdout"),
        (1, "image/png"),
        (2, "application/vnd.jupyter.error"),
    ],
)
def test_an_output_that_stays_is_unchanged(index: int, mime: str) -> None:
    anchor = on_output(index)
    assert anchor.mime_type == mime
    assert output_now(anchor, OUTPUTS) == ("anchored", 1, index, "unchanged")


def test_a_run_that_gives_the_same_leaves_the_output_unchanged() -> None:
    again = copy.deepcopy(OUTPUTS)
    again[1]["execution_count"] = 9
    again[1]["metadata"] = {"image/png": {"width": 3}}
    again[0]["text"] = ["h", "i\n"]
    again[1]["data"]["text/plain"] = ["<Fig", "ure>"]
    for index in range(3):
        assert output_now(on_output(index), again)[3] == "unchanged"


def test_a_run_that_gives_something_else_changes_the_output() -> None:
    other = [stream("ho\n"), result({"image/png": "b3RoZXI="}), error("TypeError", "bad")]
    for index in range(3):
        assert output_now(on_output(index), other) == ("anchored", 1, index, "changed")


def test_an_output_at_another_index_is_found_by_its_content_if_it_is_the_only_one() -> None:
    assert output_now(on_output(1), [PLOT]) == ("moved", 1, 0, "unchanged")
    assert output_now(on_output(2), [PLOT, PLOT]) == ("orphaned", 1, None, "gone")
    assert output_now(on_output(1), [PLOT, stream("x"), PLOT]) == ("anchored", 1, 1, "changed")


def test_an_output_is_gone_with_its_index_or_its_cell() -> None:
    assert output_now(on_output(2), []) == ("orphaned", 1, None, "gone")
    assert places(("b", "2")).place(on_output(0)) == Place("orphaned")


@pytest.mark.parametrize("output", [{}, {"output_type": 3}, {"data": []}, {"data": {"a": None}}])
def test_an_odd_output_has_a_fingerprint(output: dict[str, Any]) -> None:
    anchor = on_output(0, [output])
    assert output_now(anchor, [output])[3] == "unchanged"


# Whatever people do

Char = tuple[str, int]


@dataclass
class Model:
    """A notebook in which every character knows where it came from."""

    cells: list[tuple[str, list[Char]]]
    numbers: Any = field(default_factory=lambda: itertools.count(1000))

    def fresh(self, text: str) -> list[Char]:
        return [(char, next(self.numbers)) for char in text]

    def places(self) -> Places:
        texts = ["".join(char for char, _ in chars) for _, chars in self.cells]
        return Places([cell_id for cell_id, _ in self.cells], texts, lambda _: [])

    def new_id(self) -> str:
        return f"new-{next(self.numbers)}"


Step = Callable[[Model, st.DataObject], None]


def pick(model: Model, data: st.DataObject) -> int:
    return int(data.draw(st.integers(0, len(model.cells) - 1), label="cell"))


def edit(model: Model, data: st.DataObject) -> None:
    """Insert, delete or replace something; what is new holds what was nowhere before."""
    _, chars = model.cells[pick(model, data)]
    start = data.draw(st.integers(0, len(chars)), label="start")
    size = data.draw(st.sampled_from([0, 0, 1, 5, 40]), label="size")
    number = next(model.numbers)
    new = data.draw(
        st.sampled_from(["", f"§{number}", f"§{number}\n", f"\n§{number}"]), label="new"
    )
    if size and not new:
        # Without a trace, nobody could say which of two equal neighbours was deleted.
        new = f"§{number}"
    chars[start : start + size] = model.fresh(new)


def delete_lines(model: Model, data: st.DataObject) -> None:
    """Delete whole lines, without a trace: every line is the only one of its kind."""
    _, chars = model.cells[pick(model, data)]
    starts = [0, *(at + 1 for at, (char, _) in enumerate(chars) if char == "\n")]
    first = data.draw(st.integers(0, len(starts) - 1), label="line")
    last = data.draw(st.integers(first, min(first + 2, len(starts) - 1)), label="last line")
    stop = starts[last + 1] if last + 1 < len(starts) else len(chars)
    del chars[starts[first] : stop]


def move(model: Model, data: st.DataObject) -> None:
    cell = model.cells.pop(pick(model, data))
    model.cells.insert(data.draw(st.integers(0, len(model.cells)), label="to"), cell)


def split(model: Model, data: st.DataObject) -> None:
    """As JupyterLab does: the first part has a new id, line feeds at the cut go."""
    at = pick(model, data)
    cell_id, chars = model.cells[at]
    cut = data.draw(st.integers(0, len(chars)), label="cut")
    head, tail = chars[:cut], chars[cut:]
    while head and head[-1][0] == "\n":
        head.pop()
    while tail and tail[0][0] == "\n":
        tail.pop(0)
    model.cells[at : at + 1] = [(model.new_id(), head), (cell_id, tail)]


def merge(model: Model, data: st.DataObject) -> None:
    at = pick(model, data)
    if at + 1 < len(model.cells):
        chars = model.cells[at][1] + model.fresh("\n\n") + model.cells[at + 1][1]
        model.cells[at : at + 2] = [(model.new_id(), chars)]


def duplicate(model: Model, data: st.DataObject) -> None:
    """A copy is as good as the original; it has an id of its own, or by other tools the same."""
    at = pick(model, data)
    cell_id, chars = model.cells[at]
    same = data.draw(st.booleans(), label="same id")
    model.cells.insert(at + 1, (cell_id if same else model.new_id(), list(chars)))


def delete_cell(model: Model, data: st.DataObject) -> None:
    if len(model.cells) > 1:
        del model.cells[pick(model, data)]


STEPS: list[Step] = [edit, edit, delete_lines, move, split, merge, duplicate, delete_cell]


@st.composite
def notebooks(draw: st.DrawFn) -> Model:
    """Cells of lines that all differ and still have much in common."""
    model, number = Model([]), 0
    for at in range(draw(st.integers(1, 4))):
        lines = []
        for _ in range(draw(st.integers(1, 5))):
            number += 1
            shape = draw(st.sampled_from(["x = {}", "y = f(x, {})", "    return x  # {}", "x{}"]))
            lines.append(shape.format(number))
        model.cells.append((f"cell-{at}", model.fresh("\n".join(lines))))
    return model


def choose(model: Model, data: st.DataObject) -> tuple[RangeAnchor, list[Char]]:
    at = pick(model, data)
    cell_id, chars = model.cells[at]
    start = data.draw(st.integers(0, len(chars) - 1), label="anchor start")
    end = data.draw(st.integers(start + 1, len(chars)), label="anchor end")
    return model.places().range_anchor(cell_id, at, start, end), chars[start:end]


@given(model=notebooks(), data=st.data())
def test_a_range_is_never_at_another_text(model: Model, data: st.DataObject) -> None:
    anchor, chars = choose(model, data)
    history = [copy.deepcopy(model.cells)]
    for step in data.draw(st.lists(st.sampled_from(STEPS), max_size=5), label="steps"):
        step(model, data)
        history.append(copy.deepcopy(model.cells))
    for cells in reversed(history):
        # Backwards: undo.
        model.cells = cells
        place = model.places().place(anchor)
        if place.start is not None:
            assert place.index is not None
            assert cells[place.index][1][place.start : place.end] == chars
    assert place.state == "anchored" or not anchor.exact.strip()


@given(model=notebooks(), data=st.data())
def test_a_range_is_found_when_the_change_is_not_beside_it(
    model: Model, data: st.DataObject
) -> None:
    anchor, chars = choose(model, data)
    at = next(at for at, (cell_id, _) in enumerate(model.cells) if cell_id == anchor.cell_id)
    before = "".join(f"# before {n}\n" for n in range(data.draw(st.integers(0, 3))))
    after = "".join(f"\n# after {n}" for n in range(data.draw(st.integers(0, 3))))
    cell_id, old = model.cells[at]
    model.cells[at] = (cell_id, model.fresh(before) + old + model.fresh(after))
    move(model, data)
    place = model.places().place(anchor)
    assert place.index is not None
    assert place.start is not None, (anchor, model.places().sources)
    assert model.cells[place.index][1][place.start : place.end] == chars


@given(
    sources=st.lists(st.text("ab \n", max_size=12), min_size=1, max_size=4),
    later=st.lists(st.text("ab \n", max_size=14), min_size=1, max_size=4),
    data=st.data(),
)
def test_where_a_range_is_found_its_text_is_always_the_same(
    sources: list[str], later: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(sources) - 1))
    if not sources[at].strip():
        return
    start = data.draw(st.integers(0, len(sources[at]) - 1))
    end = data.draw(st.integers(start + 1, len(sources[at])))
    before = places(*((str(n), text) for n, text in enumerate(sources)))
    anchor = before.range_anchor(str(at), at, start, end)
    assert before.place(anchor) == Place("anchored", at, start, end)
    after = places(*((str(n), text) for n, text in enumerate(later)))
    place = after.place(anchor)
    if place.start is not None:
        assert place.index is not None
        assert after.sources[place.index][place.start : place.end] == anchor.exact
        selection = after.selection(place)
        assert selection is not None


@given(
    sources=st.lists(st.text("ab\n", max_size=30), min_size=1, max_size=4),
    later=st.lists(st.text("ab\n", max_size=60), min_size=1, max_size=4),
)
def test_where_a_cell_is_found_again_its_whole_source_is_there(
    sources: list[str], later: list[str]
) -> None:
    anchor = places(*((f"old-{n}", text) for n, text in enumerate(sources))).cell_anchor("old-0", 0)
    place = places(*((f"new-{n}", text) for n, text in enumerate(later))).place(anchor)
    if place.index is not None:
        assert f"\n{sources[0]}\n" in f"\n{later[place.index]}\n"


def test_many_threads_on_many_cells_take_one_search_each() -> None:
    """Half of them lost their cell: the work is linear, and repeated looks cost next to nothing."""
    cells = [(f"cell-{n}", f"value_{n} = compute({n})\nprint(value_{n})") for n in range(1000)]
    before = places(*cells)
    anchors: list[Anchor] = [
        before.range_anchor(f"cell-{n}", n, 0, 6 + len(str(n))) for n in range(0, 1000, 4)
    ]
    anchors += [before.cell_anchor(f"cell-{n}", n) for n in range(1, 1000, 4)]
    after = places(
        *((cell_id if n % 8 < 4 else f"new-{n}", text) for n, (cell_id, text) in enumerate(cells))
    )
    states = [after.place(anchor).state for anchor in anchors]
    assert {state: states.count(state) for state in set(states)} == {"anchored": 250, "moved": 250}
