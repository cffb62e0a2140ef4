"""Threads in the hands of a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from desk import Desk
from pywebmcp.browser.ui.comments_tab import CommentsTab
from pywebmcp.browser.ui.spots import Spot
from pywebmcp.browser.ui.threads_view import local_time
from pywebmcp.comments import read
from pywebmcp.comments.model import MAX_TEXT
from pywebmcp.testing import code, counter, stream
from pywebmcp.toolset import threads
from shown import Sheet, act, called, drawn, fill, press, text, walk

HTML = "<script>alert(1)</script>"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Talking:
    """A person at the tab, with something selected."""

    def __init__(self, *cells: Any) -> None:
        self.desk = Desk(*cells)
        self.spot: Spot | None = None
        self.sheet = Sheet()
        self.tab = CommentsTab(
            self.desk.frontend, self.sheet, lambda: self.spot, lambda: NOON, counter("t")
        )

    async def threads(self) -> list[Any]:
        answer = await self.desk.ok("jupyter_list_comments", status="all")
        threads: list[Any] = answer["threads"]
        return threads

    def write(self, spot: Spot | None, message: str) -> None:
        self.spot = spot
        press(self.tab, "New comment")
        fields = [each for each in walk(drawn(self.tab)) if each[0] == "textarea"]
        if spot is not None:
            act(self.tab, fields[0][1]["on"]["input"], message)
            [form] = [each for each in walk(drawn(self.tab)) if each[0] == "form"]
            act(self.tab, form[1]["on"]["submit"], None)

    def shown(self) -> str:
        return text(drawn(self.tab))


async def started() -> Talking:
    """A person at a notebook of two cells."""
    found = Talking(code("one two one", "a"), code("three", "b", outputs=[stream("out")]))
    await found.desk.open()
    return found


async def test_without_a_notebook_it_says_so() -> None:
    assert Talking("x").shown() == "No notebook is open."


async def test_an_agents_thread_is_shown_as_text() -> None:
    talking = await started()
    assert "No comments here." in talking.shown()
    anchor = {"kind": "cell", "cellId": "a"}
    await talking.desk.ok("jupyter_create_comment", anchor=anchor, message=HTML)
    assert HTML in talking.shown()
    assert "Agent" in talking.shown()
    assert not [tag for tag, _, _ in walk(drawn(talking.tab)) if tag == "script"]


async def test_a_person_comments_on_a_cell_a_text_and_an_output() -> None:
    talking = await started()
    talking.write(Spot("a"), "cell")
    talking.write(Spot("a", 4, 7), "range")
    talking.write(Spot("b", output=0), "output")
    found = await talking.threads()
    assert [each["comments"][0]["message"] for each in found] == ["cell", "range", "output"]
    assert {each["comments"][0]["by"] for each in found} == {"person"}
    assert found[0]["comments"][0]["at"] == "2026-11-30T12:00:00Z"
    assert found[1]["text"] == "two"
    assert found[2]["outputIndex"] == 0
    assert "Output of three" in talking.shown()
    assert "“two”" in talking.shown()


async def test_what_cannot_be_sent_is_said() -> None:
    talking = await started()
    talking.write(None, "")
    assert "Select a cell to comment on." in talking.shown()
    talking.write(Spot("a"), "  ")
    assert "must not be empty" in talking.shown()
    live = talking.desk.frontend.notebook("a.ipynb")
    assert live is not None
    live.replace_text(0, 0, 0, "x" * (MAX_TEXT + 1))
    talking.write(Spot("a", 0, MAX_TEXT + 1), "long")
    assert "select less" in talking.shown()
    assert await talking.threads() == []


async def test_replying_resolving_reopening_deleting() -> None:
    talking = await started()
    talking.write(Spot("a"), "first")
    fill(talking.tab, "textarea", "Reply", "second")
    press(talking.tab, "Reply")
    [thread] = await talking.threads()
    assert [each["message"] for each in thread["comments"]] == ["first", "second"]
    assert called(drawn(talking.tab), "textarea", "Reply")["value"] == ""
    fill(talking.tab, "textarea", "Reply", "done")
    press(talking.tab, "Resolve")
    [thread] = await talking.threads()
    assert (thread["status"], thread["comments"][-1]["message"]) == ("resolved", "done")
    assert "No comments here." in talking.shown()
    act(talking.tab, ["filter_threads"], "resolved")
    press(talking.tab, "Reopen")
    act(talking.tab, ["filter_threads"], "all")
    assert "Open (1)" in talking.shown()
    press(talking.tab, "Delete")
    assert len(await talking.threads()) == 1
    press(talking.tab, "Really delete?")
    assert await talking.threads() == []


async def test_a_thread_whose_text_is_gone_says_so_and_is_tied_anew() -> None:
    talking = await started()
    talking.write(Spot("a", 4, 7), "about two")
    live = talking.desk.frontend.notebook("a.ipynb")
    assert live is not None
    live.replace_text(0, 4, 7, "2")
    assert "its place is gone" in talking.shown()
    talking.spot = Spot("b", 0, 5)
    press(talking.tab, "Attach here")
    assert "its place is gone" not in talking.shown()
    [thread] = await talking.threads()
    assert (thread["cellId"], thread["text"]) == ("b", "three")
    talking.spot = None
    press(talking.tab, "Attach here")
    assert "Select the cell" in talking.shown()


async def test_going_there_is_a_view_and_nothing_else() -> None:
    talking = await started()
    talking.write(Spot("b"), "here")
    press(talking.tab, "Go to cell: three")
    await talking.sheet.finish()
    focus = talking.desk.frontend.workspace()["focus"]
    assert focus is not None
    assert focus["activeCellId"] == "b"


async def test_a_thread_that_did_not_change_is_not_drawn_anew() -> None:
    talking = await started()
    talking.write(Spot("a"), "one")
    talking.write(Spot("b"), "two")
    drawn(talking.tab)
    act(talking.tab, ["write_reply", "t-2"], "x")
    [rows] = [children for tag, _, children in walk(talking.tab.nodes()) if tag == "ul"]
    assert isinstance(rows[0], dict)


async def test_threads_are_read_anew_only_when_they_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talking = await started()
    talking.write(Spot("a"), "one")
    drawn(talking.tab)
    reads: list[Any] = []

    def counted(own: Any) -> Any:
        reads.append(own)
        return read(own)

    monkeypatch.setattr(threads, "read", counted)
    talking.desk.person.select(0, 0, 0)
    talking.desk.person.type("typed")
    drawn(talking.tab)
    assert reads == []
    await talking.desk.ok("jupyter_reply_comment", threadId="t-1", message="answered")
    reads.clear()
    assert "answered" in text(drawn(talking.tab))
    assert len(reads) == 1


def test_what_is_no_time_stays_as_it_is() -> None:
    assert local_time("yesterday") == "yesterday"
    assert local_time("9" * 99) == "9" * 20
    assert local_time("2026-11-30T12:00:00Z").startswith("2026-1")


async def test_an_agent_with_the_name_of_a_person_is_still_an_agent() -> None:
    talking = await started()
    live = talking.desk.frontend.notebook("a.ipynb")
    assert live is not None
    authors = [
        {"kind": "agent", "name": "Ada"},
        {"kind": "robot", "name": "Ben"},
        {"kind": "person", "name": "Cleo"},
        {"kind": "agent"},
    ]
    comments = [{"author": author, "message": "m"} for author in authors]
    thread = {"id": "t", "anchor": {"kind": "cell", "cellId": "a"}, "comments": comments}
    live.set_metadata("pywebmcp", {"comments": {"version": 1, "threads": [thread]}})
    talking.tab.show("t")
    names = [text(each) for each in walk(drawn(talking.tab)) if each[0] == "strong"]
    assert names == ["Ada (Agent)", "Ben (Unknown)", "Cleo", "Agent"]
