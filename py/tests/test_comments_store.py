"""Threads in metadata: anything can be in a file, and what is not ours comes back as it was."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.comments import (
    AGENT,
    Anchor,
    Author,
    CellAnchor,
    Comment,
    OutputAnchor,
    RangeAnchor,
    Thread,
    read,
    store,
)
from pywebmcp.comments.entries import anchor_entry, read_anchor, read_thread, thread_entry
from pywebmcp.comments.model import MAX_COMMENTS, MAX_MESSAGE, MAX_TEXT, MAX_THREADS
from pywebmcp.errors import Code, ToolError
from pywebmcp.testing import code, notebook

CELL = CellAnchor("a", "0123456789", 5, "x = 1")
ANCHORS: list[Anchor] = [
    CELL,
    CellAnchor("a", "0123456789", 5, "x = 1", True),
    RangeAnchor("a", "x", "", " = 1", 0, 0),
    RangeAnchor("a", "x\n😀\ud83d", "b" * 32, "c" * 32, 3, 4, 0, 7, 12, "0123456789"),
    OutputAnchor(CELL, 2, "abcdef0123", "image/png"),
]


def thread(thread_id: str, *messages: str, anchor: Anchor = CELL) -> Thread:
    comments = [Comment(AGENT, "2026-01-02T03:04:05Z", text) for text in messages or ("why?",)]
    return Thread(thread_id, anchor, tuple(comments))


def raw(thread_id: str = "t", **more: Any) -> dict[str, Any]:
    return {"id": thread_id, "comments": [{"message": "m"}], **more}


def held(*entries: Any, **more: Any) -> dict[str, Any]:
    return {"comments": {"version": 1, "threads": [*entries], **more}}


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: type(anchor).__name__)
def test_an_anchor_is_read_as_it_was_written(anchor: Anchor) -> None:
    entry = json.loads(json.dumps(anchor_entry(anchor)))
    assert read_anchor(entry) == anchor


def test_a_thread_is_read_as_it_was_written() -> None:
    comments = (
        Comment(AGENT, "2026-01-02T03:04:05Z", "why?"),
        Comment(Author("person", "Ada"), "2026-01-02T03:05:05Z", "because", "resolved"),
        Comment(Author("unknown"), "", "", "open"),
    )
    made = Thread("t", CELL, comments)
    assert read_thread(json.loads(json.dumps(thread_entry(made)))) == made


def test_the_status_is_what_the_last_entry_with_one_says() -> None:
    own = store.with_thread(None, thread("t"))
    assert read(own).thread("t").status == "open"
    own = store.with_comment(own, "t", Comment(AGENT, "", "", "resolved"))
    own = store.with_comment(own, "t", Comment(AGENT, "", "thanks"))
    assert read(own).thread("t").status == "resolved"
    assert store.counts(own) == {"open": 0, "resolved": 1}
    own = store.with_comment(own, "t", Comment(AGENT, "", "wait", "open"))
    assert read(own).thread("t").status == "open"


def test_the_first_thread_makes_the_key_and_removing_it_takes_the_key_away() -> None:
    own = store.with_thread(None, thread("t"))
    assert own == {"comments": {"version": 1, "threads": [thread_entry(thread("t"))]}}
    assert store.without_thread(own, "t") is None
    assert store.without_thread({"access": 1, **own}, "t") == {"access": 1}


def test_what_a_newer_version_wrote_survives_every_change() -> None:
    entries = [
        raw("old", anchor={"kind": "cell", "cellId": "a"}, mood="x", later={"deep": [None, 1.5]}),
        {"kind": "poll", "options": []},
        "not a thread",
        raw("other"),
    ]
    entries[0]["comments"][0]["reactions"] = {"+1": 3}
    own = {"zz": 1, "comments": {"threads": entries, "version": 1, "extra": {"b": 1, "a": 2}}}
    before = copy.deepcopy(own)
    after: Any = store.with_thread(own, thread("new"))
    after = store.with_comment(after, "old", Comment(AGENT, "", "reply"))
    after = store.with_anchor(after, "other", CELL)
    after = store.without_thread(after, "new")
    assert own == before
    assert list(after) == ["zz", "comments"]
    assert list(after["comments"]) == ["threads", "version", "extra"]
    assert list(after["comments"]["extra"]) == ["b", "a"]
    first = after["comments"]["threads"][0]
    assert list(first) == list(entries[0])
    assert first["comments"][:1] == entries[0]["comments"]
    assert {**first, "comments": 0} == {**entries[0], "comments": 0}
    assert after["comments"]["threads"][1:3] == entries[1:3]


def test_a_diff_shows_only_the_thread() -> None:
    content = notebook(code("x = 1", "a"), metadata={"zz_last": 1, "comments": {"owner": "other"}})
    before = json.dumps(content, indent=1).splitlines()
    own = store.with_thread(None, thread("t"))
    content["metadata"]["pywebmcp"] = own
    after = json.dumps(content, indent=1).splitlines()
    entry = json.dumps({"pywebmcp": own}, indent=1).splitlines()[1:-1]
    added = [line for line in after if line not in before]
    assert len(after) - len(before) == len(entry)
    assert {line.strip(" ,") for line in added} <= {line.strip(" ,") for line in entry} | {
        '"owner": "other"',
        "}",
    }


def test_a_second_comment_adds_its_lines_only() -> None:
    own = store.with_thread(None, thread("t"))
    more = store.with_comment(own, "t", Comment(AGENT, "2026-01-02T03:04:06Z", "again"))
    assert (
        more["comments"]["threads"][0]["comments"][:-1] == own["comments"]["threads"][0]["comments"]
    )
    assert {**more["comments"]["threads"][0], "comments": 0} == {
        **own["comments"]["threads"][0],
        "comments": 0,
    }


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        [],
        "text",
        {},
        {"id": "t"},
        {"id": "", "comments": [{"message": "m"}]},
        {"id": 3, "comments": [{"message": "m"}]},
        {"id": "x" * 300, "comments": [{"message": "m"}]},
        {"id": "t", "comments": {}},
        {"id": "t", "comments": []},
        {"id": "t", "comments": [{"message": 3}, None, {"message": "  "}]},
    ],
)
def test_a_broken_entry_is_counted_and_kept(entry: Any) -> None:
    own = held(entry, raw("whole"))
    review = read(own)
    assert list(review.threads) == ["whole"]
    assert review.unreadable == 1
    assert store.with_thread(own, thread("new"))["comments"]["threads"][:2] == [entry, raw("whole")]


@pytest.mark.parametrize(
    "anchor",
    [
        None,
        "cell",
        {},
        {"kind": "cell"},
        {"kind": "cell", "cellId": 3},
        {"kind": "pixel", "cellId": "a"},
        {"kind": ["cell"], "cellId": "a"},
        {"kind": "source-range", "cellId": "a"},
        {"kind": "source-range", "cellId": "a", "exact": "  "},
        {"kind": "source-range", "cellId": "a", "exact": "x" * (MAX_TEXT + 1)},
        {"kind": "output", "cellId": "a", "outputIndex": 1},
    ],
)
def test_a_thread_whose_anchor_is_broken_is_still_read(anchor: Any) -> None:
    review = read(held(raw("t", anchor=anchor)))
    assert review.thread("t").anchor is None


def test_odd_fields_of_an_anchor_count_as_absent() -> None:
    entry = {"kind": "source-range", "cellId": "a", "exact": "x", "prefix": 3, "suffix": None}
    odd = [{"line": "1", "column": -4}, 7, None, {"line": True, "column": 2**70}]
    for start in odd:
        found = read_anchor({**entry, "start": start, "twins": start})
        assert found == RangeAnchor("a", "x")


def test_two_threads_of_one_id_are_told_apart() -> None:
    own = held(raw("t"), raw("t", comments=[{"message": "second"}]), raw("t~2"))
    review = read(own)
    assert list(review.threads) == ["t", "t~2", "t~2~2"]
    changed = store.with_comment(own, "t~2", Comment(AGENT, "", "reply"))
    lengths = [len(entry["comments"]) for entry in changed["comments"]["threads"]]
    assert lengths == [1, 2, 1]
    assert changed["comments"]["threads"][1]["id"] == "t"


def test_a_long_message_of_a_file_is_cut_and_kept() -> None:
    own = held(raw("t", comments=[{"message": "m" * 50_000}]))
    [comment] = read(own).thread("t").comments
    assert len(comment.message) == MAX_MESSAGE + 1
    changed = store.with_comment(own, "t", Comment(AGENT, "", "reply"))
    assert len(changed["comments"]["threads"][0]["comments"][0]["message"]) == 50_000


def test_a_message_is_bounded_and_not_empty() -> None:
    assert store.message(" a\r\nb ") == "a\nb"
    for text in ("", " \n", "m" * (MAX_MESSAGE + 1)):
        with pytest.raises(ToolError) as failed:
            store.message(text)
        assert failed.value.code == Code.INVALID_ARGUMENT
    assert str(MAX_MESSAGE) in failed.value.message


def test_the_number_of_threads_and_of_comments_is_bounded() -> None:
    own: Any = held(*(raw(f"t{n}") for n in range(MAX_THREADS)))
    with pytest.raises(ToolError, match=str(MAX_THREADS)):
        store.with_thread(own, thread("new"))
    own["comments"]["threads"].append(raw("beyond"))
    assert "beyond" not in read(own).threads
    assert read(own).unreadable == 1
    own = held(raw("t", comments=[{"message": "m"}] * MAX_COMMENTS))
    with pytest.raises(ToolError, match=str(MAX_COMMENTS)):
        store.with_comment(own, "t", Comment(AGENT, "", "reply"))


def test_an_unknown_thread_is_said() -> None:
    for change in (
        lambda: read(None).thread("t"),
        lambda: store.with_comment(held(), "t", Comment(AGENT, "", "m")),
        lambda: store.without_thread(None, "t"),
    ):
        with pytest.raises(ToolError) as failed:
            change()
        assert failed.value.code == Code.COMMENT_NOT_FOUND


@pytest.mark.parametrize(
    "own",
    [
        7,
        "text",
        [],
        {"comments": []},
        {"comments": None},
        {"comments": {"threads": {}}},
        {"comments": {"version": 2, "threads": []}},
        {"comments": {"version": "1"}},
    ],
)
def test_what_is_not_ours_is_not_overwritten(own: Any) -> None:
    before = copy.deepcopy(own)
    assert read(own).threads == {}
    with pytest.raises(ToolError) as failed:
        store.with_thread(own, thread("t"))
    assert failed.value.code == Code.NOTEBOOK_ACCESS_DENIED
    assert own == before


def test_threads_of_a_newer_format_are_read_and_not_changed() -> None:
    own = {"comments": {"version": 2, "threads": [raw("t")]}}
    assert list(read(own).threads) == ["t"]
    with pytest.raises(ToolError, match="format 2"):
        store.with_comment(own, "t", Comment(AGENT, "", "m"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
NAMES = st.sampled_from(
    [
        "id",
        "comments",
        "anchor",
        "message",
        "status",
        "author",
        "kind",
        "name",
        "created",
        "cellId",
        "exact",
        "prefix",
        "suffix",
        "start",
        "line",
        "column",
        "twins",
        "before",
        "after",
        "elsewhere",
        "outputIndex",
        "fingerprint",
        "threads",
        "version",
    ]
)
ODD = st.recursive(
    st.none()
    | st.integers(-2, 3)
    | st.sampled_from(["cell", "output", "source-range", "open", "t"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=25,
)


@given(own=JSON | ODD | st.builds(lambda entries: held(*entries), st.lists(ODD, max_size=5)))
def test_reading_never_fails_and_writing_keeps_everything(own: Any) -> None:
    before = json.dumps(own)
    review = read(own)
    store.counts(own)
    try:
        after = store.with_thread(own, thread("fresh"))
    except ToolError:
        pass
    else:
        made = after["comments"]["threads"].pop()
        assert made == thread_entry(thread("fresh"))
        if isinstance(own, dict) and "threads" in own.get("comments", {}):
            assert json.dumps(after) == before
    for thread_id in review.threads:
        try:
            changed = store.with_comment(own, thread_id, Comment(AGENT, "", "m"))
        except ToolError:
            break
        changed["comments"]["threads"][review.at[thread_id]]["comments"].pop()
        assert json.dumps(changed) == before
    assert json.dumps(own) == before


def test_the_file_still_validates(nbformat: Any) -> None:
    content = notebook(code("x = 1", "a"), metadata={"comments": {"owner": "another extension"}})
    content["metadata"]["pywebmcp"] = store.with_thread(None, thread("t"))
    nbformat.validate(content)


def test_the_size_of_all_threads_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_STORED", 5000)
    own: Any = held(raw("t", comments=[{"message": "m" * 4000}]))
    long = Comment(AGENT, "", "r" * 2000)
    with pytest.raises(ToolError, match="5000"):
        store.with_comment(own, "t", long)
    with pytest.raises(ToolError, match="5000"):
        store.with_thread(own, Thread("new", None, (long,)))
    own = store.with_comment(own, "t", Comment(AGENT, "", "short"))
    # What is too long already can still be settled.
    own["comments"]["threads"].append(raw("more", comments=[{"message": "m" * 4000}]))
    settled = store.with_comment(own, "t", Comment(AGENT, "", "", "resolved"))
    assert read(settled).threads["t"].status == "resolved"
