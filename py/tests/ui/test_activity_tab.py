"""The log and the proposals, as a person sees them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from desk import Desk
from pywebmcp import constants
from pywebmcp.browser.ui.activity_tab import ActivityTab
from pywebmcp.browser.ui.decisions import Decisions, summary
from pywebmcp.browser.ui.diff_view import MAX_ROWS, diff_nodes
from pywebmcp.edits import source_hash
from pywebmcp.proposals import Proposal
from shown import Sheet, called, drawn, fill, press, text, walk

HTML = "<script>alert(1)</script>"


class Watching:
    """A person at the tab."""

    def __init__(self, *cells: Any) -> None:
        self.desk = Desk(*cells)
        self.sheet = Sheet()
        self.told: list[str] = []
        self.server = self.desk.server
        decisions = Decisions(self.server.proposals, self.sheet.start, self.told.append)
        self.tab = ActivityTab(self.server, decisions, self.sheet)

    async def open(self) -> list[str]:
        await self.desk.open()
        return [cell["id"] for cell in (await self.desk.ok("jupyter_get_cells"))["cells"]]

    def shown(self) -> str:
        return text(drawn(self.tab))

    def sources(self) -> list[str]:
        notebook = self.desk.frontend.notebook("a.ipynb")
        assert notebook is not None
        return [cell["source"] for cell in notebook.cells(0, 99)]

    async def propose(self, tool: str, **arguments: Any) -> asyncio.Task[Any]:
        """Begin a call and let it come to where it waits."""
        came = asyncio.Event()
        undo = self.server.proposals.watch(came.set)
        task = asyncio.create_task(self.desk.call(tool, **arguments))
        await came.wait()
        undo()
        return task


async def test_nothing_was_called_yet() -> None:
    assert "No tool was called yet." in Watching("x").shown()


async def test_the_newest_call_is_the_first() -> None:
    watching = Watching(HTML)
    await watching.open()
    await watching.desk.call("jupyter_get_cells", cellIds=["gone"])
    rows = [text(node) for node in walk(drawn(watching.tab)) if node[0] == "li"]
    assert rows[0].startswith("Agent Read cells cellIds")
    assert "failed" in rows[0]
    assert "gone" in rows[0]
    assert "done" in rows[1]


async def test_an_edit_has_its_counts_its_diff_and_its_undo() -> None:
    watching = Watching("one\ntwo")
    [cell] = await watching.open()
    await watching.desk.ok(
        "jupyter_update_cell", cellId=cell, edits=[{"oldText": "two", "newText": "2\n3"}]
    )
    assert "+2 −1" in watching.shown()
    press(watching.tab, "Diff of Update cell")
    assert "− two + 2 + 3" in watching.shown()
    press(watching.tab, "Diff of Update cell")
    assert "− two" not in watching.shown()
    press(watching.tab, "Undo Update cell")
    await watching.sheet.finish()
    assert watching.sources() == ["one\ntwo"]
    assert "Undo: Update cell" in watching.shown()
    assert "Taken back." in watching.shown()


async def test_an_edit_that_a_person_changed_has_no_undo() -> None:
    watching = Watching("one")
    [cell] = await watching.open()
    await watching.desk.ok(
        "jupyter_update_cell", cellId=cell, edits=[{"oldText": "one", "newText": "two"}]
    )
    called(drawn(watching.tab), "button", "Undo Update cell")
    live = watching.desk.frontend.notebook("a.ipynb")
    assert live is not None
    live.replace_text(0, 0, 0, "mine ")
    labels = [attributes.get("aria-label") for _, attributes, _ in walk(drawn(watching.tab))]
    assert "Undo Update cell" not in labels


async def test_proposals_are_decided_in_the_panel() -> None:
    watching = Watching("one", "two")
    cells = await watching.open()
    fill(watching.tab, "input", "Ask before edits", True)
    assert watching.server.proposals.enabled
    edits = [{"oldText": "one", "newText": HTML}]
    accepted = await watching.propose("jupyter_update_cell", cellId=cells[0], edits=edits)
    assert HTML in watching.shown()
    press(watching.tab, "Accept")
    await watching.sheet.finish()
    assert (await accepted)["success"] is True
    assert watching.sources() == [HTML, "two"]
    denied = await watching.propose(
        "jupyter_delete_cell", cellId=cells[1], expectedSourceHash=source_hash("two")
    )
    fill(watching.tab, "input", "Reason, if you deny", "keep it")
    press(watching.tab, "Deny")
    assert (await denied)["reason"] == "keep it"
    assert watching.sources() == [HTML, "two"]
    assert "Denied: keep it" in watching.shown()


async def test_a_change_that_can_no_longer_be_made_is_told() -> None:
    watching = Watching("one")
    [cell] = await watching.open()
    fill(watching.tab, "input", "Ask before edits", True)
    edits = [{"oldText": "one", "newText": "two"}]
    call = await watching.propose("jupyter_update_cell", cellId=cell, edits=edits)
    live = watching.desk.frontend.notebook("a.ipynb")
    assert live is not None
    live.replace_text(0, 0, 3, "mine")
    press(watching.tab, "Accept")
    await watching.sheet.finish()
    assert (await call)["code"] == "STALE_CELL"
    assert watching.told[0].startswith("The change was not made")


async def test_what_a_proposal_does_is_said_in_words() -> None:
    watching = Watching("one", "two")
    cells = await watching.open()
    watching.server.proposals.enabled = True
    calls = [
        await watching.propose("jupyter_insert_cell", source="x", cellType="markdown"),
        await watching.propose("jupyter_update_cell", cellId=cells[0], index=1, cellType="raw"),
        await watching.propose("jupyter_write_file", path="a.txt", content="x"),
    ]
    words = [summary(each) for each in watching.server.proposals.open()]
    assert words == [
        "Insert a markdown cell at 3",
        "Make it raw, move it to 2",
        "Create a.txt",
    ]
    for proposal in watching.server.proposals.open():
        watching.server.proposals.deny(proposal.id)
    await asyncio.gather(*calls)


def test_a_diff_marks_what_differs_within_a_line() -> None:
    [_, attributes, lines] = diff_nodes("a = one(1)", "a = one(22)", "Changes")
    assert attributes["aria-label"] == "Changes"
    assert ("del", {}, ["1"]) in list(walk(lines))
    assert ("ins", {}, ["22"]) in list(walk(lines))


def test_a_long_diff_is_cut_and_says_so() -> None:
    node = diff_nodes(None, "\n".join(map(str, range(5000))), "Changes")
    assert len(node[2]) == MAX_ROWS + 1
    assert text(node).endswith(f"⋯ {5000 - MAX_ROWS} more lines")


def test_a_diff_of_nothing_says_so() -> None:
    assert text(diff_nodes("a", "a", "Changes")) == "No line differs."


def test_a_diff_shows_what_would_turn_or_hide_a_part_of_a_line() -> None:
    node = diff_nodes("x = 1", "x = 1  # \u202e) ecrah = y\n\u200b", "Changes")
    assert "‹U+202E›" in text(node)
    assert "‹U+200B›" in text(node)
    assert "\u202e" not in text(node)


@pytest.mark.parametrize("old", [None, "y" * 3_000_000 + "z", "x" * 3_000_000 + "z"])
def test_a_long_line_of_a_diff_is_cut_and_says_so(old: str | None) -> None:
    node = diff_nodes(old, "x" * 3_000_000, "Changes")
    assert "2998000 more characters" in text(node)
    assert len(text(node)) < 10_000


def test_the_path_of_a_proposed_file_shows_what_it_is() -> None:
    created = datetime.now(UTC)
    proposal = Proposal(
        "p", "c", "t", "a\u202egpj.py", None, "write", None, "", None, None, None, created
    )
    assert summary(proposal) == "Create a‹U+202E›gpj.py"


async def test_an_edit_that_is_no_longer_kept_has_its_counts_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(constants, "KEPT_TEXT", 6)
    watching = Watching()
    await watching.open()
    await watching.desk.ok("jupyter_insert_cell", source="uno")
    press(watching.tab, "Diff of Insert cell")
    await watching.desk.ok("jupyter_insert_cell", source="four")
    nodes = drawn(watching.tab)
    [old] = [each for each in walk(nodes) if each[0] == "li" and "uno" in text(each)]
    assert "+1 −0" in text(old)
    assert not [each for each in walk(old[2]) if each[0] == "button"]
    called(nodes, "button", "Diff of Insert cell")
    called(nodes, "button", "Undo Insert cell")
