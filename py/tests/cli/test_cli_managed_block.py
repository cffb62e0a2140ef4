"""Lines of ours in a text of someone else's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.cli.managed_block import BEGIN, END, BrokenBlockError, put, take


@given(
    st.lists(st.sampled_from([b"a", b"# x", b"", b"\r", b" ", b"\xff", b"\n", b"\r\n"])).map(
        b"".join
    )
)
def test_what_is_put_in_is_taken_out_without_a_trace(content: bytes) -> None:
    edited = put(content, [b"line"])
    assert put(edited, [b"line"]) == edited
    assert edited.endswith(b"\n") == (content.endswith(b"\n") or not content)
    assert take(edited) == content


def test_the_block_is_renewed_where_it_is() -> None:
    edited = put(put(b"before\n", [b"old", b"older"]) + b"after\n", [b"new"])
    assert edited == b"before\n" + BEGIN + b"\nnew\n" + END + b"\nafter\n"
    assert take(edited) == b"before\nafter\n"


def test_line_ends_are_those_of_the_file() -> None:
    assert put(b"a\r\n", [b"line"]) == b"a\r\n" + BEGIN + b"\r\nline\r\n" + END + b"\r\n"


@pytest.mark.parametrize(
    "content",
    [
        BEGIN + b"\n",
        END + b"\n",
        END + b"\n" + BEGIN + b"\n",
        (BEGIN + b"\n" + END + b"\n") * 2,
    ],
)
def test_broken_markers_are_refused(content: bytes) -> None:
    with pytest.raises(BrokenBlockError):
        put(content, [b"line"])
    with pytest.raises(BrokenBlockError):
        take(content)
