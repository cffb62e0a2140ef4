"""The log of what happens: every door, every end, which cells, undo of an edit, stopping a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from desk import Desk
from pywebmcp import constants
from pywebmcp.access import set_level
from pywebmcp.activity import Entry
from pywebmcp.constants import ACTIVITY, METADATA_KEY
from pywebmcp.edits import digest, source_hash
from pywebmcp.errors import ToolError
from pywebmcp.records import State
from pywebmcp.settings import Settings
from pywebmcp.testing import code, markdown, notebook

SLOW = "import asyncio\nprint('begun')\nawait asyncio.sleep(30)"


async def desk(*cells: Any, **options: Any) -> Desk:
    options.setdefault("settings", Settings(execution_timeout=5))
    made = Desk(*cells, **options)
    await made.open()
    return made


def last(made: Desk) -> Entry:
    return made.server.activity.entries()[-1]


def update(source: str, new: str, cell_id: str = "cell-0", **more: Any) -> dict[str, Any]:
    return {
        "cellId": cell_id,
        "source": new,
        "expectedSourceHash": source_hash(source),
        **more,
    }


async def test_every_call_is_in_the_log_with_its_door_and_its_end() -> None:
    made = await desk("1")
    await made.ok("jupyter_get_cells", startIndex=0)
    await made.server.answer("jupyter_get_cells", {"cellIds": ["absent"]})
    await made.server.answer("jupyter_get_context", door="panel", who="person")
    await made.call("jupyter_wait_for_result", pendingId="call-9")
    await made.call("jupyter_get_cells", unknown=1)
    entries = made.server.activity.entries()
    assert [(each.who, each.door, each.tool, str(each.state)) for each in entries] == [
        ("agent", "webmcp", "jupyter_get_cells", "completed"),
        ("agent", "mcp", "jupyter_get_cells", "failed"),
        ("person", "panel", "jupyter_get_context", "completed"),
        ("agent", "webmcp", "jupyter_wait_for_result", "failed"),
        ("agent", "webmcp", "jupyter_get_cells", "failed"),
    ]
    assert entries[0].arguments["startIndex"] == 0
    assert 'No cell "absent"' in entries[1].note
    assert all(each.settled is not None for each in entries)


async def test_long_arguments_are_short_in_the_log() -> None:
    made = await desk("1")
    await made.ok("jupyter_insert_cell", source="x" * 10_000)
    assert len(last(made).arguments["source"]) < 200


async def test_the_log_is_bounded() -> None:
    made = await desk("1")
    for _ in range(ACTIVITY + 5):
        await made.call("jupyter_wait_for_result", pendingId="none")
    assert len(made.server.activity.entries()) == ACTIVITY


async def test_what_runs_stays_in_the_log_however_many_calls_come_after_it() -> None:
    made = await desk(SLOW, "1", settings=Settings(execution_timeout=1))
    await made.call("jupyter_run_cells", cellIds=["cell-0"])
    running = last(made)
    for _ in range(ACTIVITY + 5):
        await made.ok("jupyter_get_cells", cellIds=["cell-1"])
    entries = made.server.activity.entries()
    assert len(entries) == ACTIVITY
    assert entries[0] is running
    assert made.server.activity.stop(running) == "restart"
    await made.server.activity.restart(running)


async def test_a_call_in_the_background_settles_in_the_log_when_it_ends() -> None:
    made = await desk(SLOW)
    pending = await made.call("jupyter_run_cells", cellIds=["cell-0"])
    entry = last(made)
    assert entry.call == pending["pendingId"]
    assert entry.state is State.WORKING
    assert entry.running == "cell-0"
    assert entry.touches == {"cell-0": "run"}
    await asyncio.sleep(30)
    assert entry.state is State.COMPLETED
    assert entry.running is None
    assert entry.record is None


async def test_what_waits_for_the_person_shows_as_that() -> None:
    made = await desk("input('? ')")
    states: list[str] = []
    made.server.activity.watch(lambda: states.append(str(last(made).state)))
    await made.call("jupyter_run_cells", cellIds=["cell-0"])
    assert last(made).state is State.INPUT_REQUIRED
    assert "input_required" in states
    made.person.answer("x")
    await asyncio.sleep(1)
    assert last(made).state is State.COMPLETED


async def test_cells_are_marked_while_they_are_read_edited_and_run() -> None:
    made = await desk("1", "2", "3")
    await made.ok("jupyter_get_cells", startIndex=1)
    assert last(made).touches == {"cell-1": "read", "cell-2": "read"}
    assert last(made).path == "a.ipynb"
    await made.ok("jupyter_update_cell", **update("1", "7"))
    assert last(made).touches == {"cell-0": "edit"}
    await made.ok("jupyter_run_cells", startIndex=0, endIndex=2)
    assert last(made).touches == {"cell-0": "run", "cell-1": "run"}
    await made.ok("jupyter_insert_cell", source="new")
    assert set(last(made).touches) == {made.ids()[-1]}
    assert last(made).touches[made.ids()[-1]] == "edit"


async def test_hidden_cells_are_not_marked() -> None:
    made = await desk("1", "2")
    live = made.frontend.notebook()
    assert live is not None
    set_level(live, 0, "none")
    await made.ok("jupyter_get_cells")
    assert last(made).touches == {"cell-1": "read"}


async def test_a_watcher_is_told_at_once_and_one_that_fails_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = await desk("1")
    told: list[int] = []
    undo = made.server.activity.watch(lambda: told.append(len(made.server.activity.entries())))

    def broken() -> None:
        raise RuntimeError("broken")

    made.server.activity.watch(broken)
    await made.ok("jupyter_get_cells")
    assert told[0] == 1
    assert len(told) >= 3
    undo()
    count = len(told)
    await made.ok("jupyter_get_cells")
    assert len(told) == count
    assert "broken" in caplog.text


EDITS: list[tuple[str, dict[str, Any]]] = [
    ("jupyter_update_cell", update("a\nb", "a\nc\nd")),
    ("jupyter_update_cell", {"cellId": "cell-0", "edits": [{"oldText": "b", "newText": "x"}]}),
    ("jupyter_update_cell", {"cellId": "cell-0", "cellType": "markdown"}),
    ("jupyter_update_cell", {"cellId": "cell-0", "index": 2}),
    ("jupyter_update_cell", update("a\nb", "new", index=1, cellType="raw")),
    ("jupyter_insert_cell", {"source": "x", "referenceCellId": "cell-0"}),
    ("jupyter_delete_cell", {"cellId": "cell-0", "expectedSourceHash": source_hash("a\nb")}),
    (
        "jupyter_delete_cell",
        {"cellId": "cell-1", "expectedSourceHash": source_hash("# text")},
    ),
]


def shown(made: Desk) -> list[Any]:
    live = made.frontend.notebook()
    assert live is not None
    return [
        (cell["id"], cell["cell_type"], cell["source"], cell["metadata"])
        for cell in live.cells(0, 99)
    ]


@pytest.mark.parametrize(("tool", "arguments"), EDITS)
async def test_an_edit_is_taken_back_and_that_again(tool: str, arguments: dict[str, Any]) -> None:
    cells = (code("a\nb", metadata={"tags": ["t"]}), markdown("# text"), code("c"))
    made = await desk(*cells)
    before = shown(made)
    await made.ok(tool, **arguments)
    after, entry = shown(made), last(made)
    assert after != before
    activity = made.server.activity
    assert activity.undoable(entry)
    own = await activity.undo(entry)
    assert shown(made) == before
    assert (own.who, own.tool, own.state) == ("person", "undo", State.COMPLETED)
    assert not activity.undoable(entry)
    with pytest.raises(ToolError):
        await activity.undo(entry)
    await activity.undo(own)
    assert shown(made) == after


@pytest.mark.parametrize(("tool", "arguments"), EDITS[:5])
async def test_an_edit_is_not_taken_back_over_what_was_done_since(
    tool: str, arguments: dict[str, Any]
) -> None:
    made = await desk("a\nb", markdown("# text"), "c")
    await made.ok(tool, **arguments)
    entry = last(made)
    live = made.frontend.notebook()
    assert live is not None
    [index] = live.find("cell-0")
    made.person.click(index)
    made.person.type("by hand")
    now = shown(made)
    assert not made.server.activity.undoable(entry)
    with pytest.raises(ToolError, match="changed since"):
        await made.server.activity.undo(entry)
    assert shown(made) == now


async def test_what_is_gone_is_not_taken_back() -> None:
    made = await desk("1", "2")
    await made.ok("jupyter_update_cell", **update("1", "x"))
    entry = last(made)
    live = made.frontend.notebook()
    assert live is not None
    live.delete_cell(0)
    assert not made.server.activity.undoable(entry)
    made.person.close("a.ipynb")
    with pytest.raises(ToolError, match="no longer open"):
        await made.server.activity.undo(entry)
    await made.ok("jupyter_get_context")
    with pytest.raises(ValueError, match="changed nothing"):
        await made.server.activity.undo(last(made))


async def test_files_are_taken_back_too() -> None:
    made = await desk("1", files={"notes.txt": "old"})
    activity = made.server.activity
    await made.ok("jupyter_write_file", path="notes.txt", content="new", expectedHash=digest("old"))
    replaced = last(made)
    await made.ok("jupyter_write_file", path="made.txt", content="x")
    written = last(made)
    await activity.undo(replaced)
    assert made.frontend.files.read("notes.txt") == "old"
    await activity.undo(written)
    assert "made.txt" not in made.frontend.files
    await made.ok("jupyter_write_file", path="made.txt", content="x")
    written = last(made)
    made.person.edit_file("made.txt", "by hand")
    with pytest.raises(ToolError, match="changed since"):
        await activity.undo(written)


async def test_an_edit_counts_its_lines() -> None:
    made = await desk("a\nb")
    await made.ok("jupyter_update_cell", **update("a\nb", "a\nc\nd"))
    edit = last(made).edit
    assert edit is not None
    assert (edit.added, edit.removed, edit.before, edit.after) == (2, 1, "a\nb", "a\nc\nd")


async def test_a_failed_edit_is_no_edit() -> None:
    made = await desk("1")
    await made.fail("STALE_CELL", "jupyter_update_cell", **update("other", "x"))
    assert last(made).edit is None
    assert last(made).state is State.FAILED


@pytest.mark.parametrize("can_interrupt", [False, True])
async def test_stopping_a_run_starts_nothing_more_and_offers_what_else_helps(
    can_interrupt: bool,
) -> None:
    made = await desk(SLOW, "2", can_interrupt=can_interrupt)
    calling = asyncio.ensure_future(made.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(1)
    entry = last(made)
    offered = made.server.activity.stop(entry)
    assert offered == (None if can_interrupt else "restart")
    assert (await calling)["status"] == "pending"
    if offered:
        await made.server.activity.restart(entry)
    await asyncio.sleep(1)
    assert entry.settled is not None
    live = made.frontend.notebook()
    assert live is not None
    assert live.content[1].execution_count is None
    assert made.server.activity.stop(entry) is None


async def test_a_pending_call_can_be_stopped() -> None:
    made = await desk(SLOW, "2")
    pending = await made.call("jupyter_run_cells", startIndex=0)
    assert pending["status"] == "pending"
    assert made.server.activity.stop(last(made)) == "restart"
    await asyncio.sleep(60)
    entry = last(made)
    assert entry.state is State.CANCELLED
    done = await made.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert done["code"] == "ABORTED"
    assert done["notRun"] == ["cell-1"]


async def test_stopping_a_call_that_waits_for_its_proposal_withdraws_it() -> None:
    made = await desk("1")
    made.server.proposals.enabled = True
    await made.call("jupyter_update_cell", **update("1", "x"))
    assert made.server.activity.stop(last(made)) is None
    await asyncio.sleep(0.01)
    assert made.server.proposals.open() == []
    assert last(made).state is State.CANCELLED


async def test_an_accepted_proposal_is_an_edit_like_any_other() -> None:
    made = await desk("1")
    made.server.proposals.enabled = True
    calling = asyncio.ensure_future(made.call("jupyter_update_cell", **update("1", "x")))
    await asyncio.sleep(0.01)
    [proposal] = made.server.proposals.open()
    await made.server.proposals.accept(proposal.id)
    await calling
    edit = last(made).edit
    assert edit is not None
    assert (edit.before, edit.after) == ("1", "x")
    await made.server.activity.undo(last(made))
    assert made.sources() == ["1"]


async def test_an_edit_leaves_nothing_but_itself_in_the_notebook() -> None:
    made = await desk(code("1", metadata={"tags": ["t"]}))
    live = made.frontend.notebook()
    assert live is not None
    await live.save()
    before: Any = made.frontend.files.read("a.ipynb")
    await made.ok("jupyter_update_cell", **update("1", "x"))
    await made.ok("jupyter_get_cells")
    await live.save()
    after: Any = made.frontend.files.read("a.ipynb")
    before["cells"][0]["source"] = "x"
    assert after == before


async def test_provenance_is_written_where_the_person_wants_that() -> None:
    made = await desk(
        code("1", metadata={METADATA_KEY: {"own": 1}}),
        code("2", metadata={METADATA_KEY: "foreign"}),
        settings=Settings(record_provenance=True),
    )
    await made.ok("jupyter_update_cell", **update("1", "x"))
    await made.ok("jupyter_update_cell", **update("2", "y", "cell-1"))
    inserted = (await made.ok("jupyter_insert_cell", source="z"))["id"]
    live = made.frontend.notebook()
    assert live is not None
    own = live.content[0].metadata[METADATA_KEY]
    assert own["own"] == 1
    note = own["provenance"]
    assert note.pop("at").endswith("Z")
    assert note == {"version": 1, "by": "agent", "tool": "jupyter_update_cell"}
    assert live.content[1].metadata[METADATA_KEY] == "foreign"
    [index] = live.find(inserted)
    assert live.content[index].metadata[METADATA_KEY]["provenance"]["by"] == "agent"
    await made.server.answer("jupyter_insert_cell", {"source": "p"}, who="person", door="panel")
    assert live.content[-1].metadata == {}
    await made.ok("jupyter_delete_cell", cellId="cell-0", expectedSourceHash=source_hash("x"))


async def test_what_edits_keep_is_bounded_and_the_newest_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(constants, "KEPT_TEXT", 2500)
    made = await desk("1")
    for _ in range(4):
        await made.ok("jupyter_insert_cell", source="x" * 1000)
    await made.ok("jupyter_write_file", path="big.txt", content="x" * 9000)
    edits = [entry.edit for entry in made.server.activity.entries()]
    assert [edit is not None and edit.kept for edit in edits] == [False] * 4 + [True]
    assert sum(edit.size for edit in edits if edit is not None) == 9000
    first, newest = made.server.activity.entries()[0], last(made)
    assert not made.server.activity.undoable(first)
    with pytest.raises(ToolError, match="no longer kept"):
        await made.server.activity.undo(first)
    assert first.edit is not None
    assert first.edit.added == 1
    await made.server.activity.undo(newest)


async def test_an_edit_follows_a_renamed_notebook_and_is_not_undone_in_another() -> None:
    made = await desk("1", files={"copy.ipynb": notebook("one")})
    await made.ok("jupyter_update_cell", **update("1", "one"))
    entry = last(made)
    made.person.rename("a.ipynb", "b.ipynb")
    made.person.rename("copy.ipynb", "a.ipynb")
    await made.open("a.ipynb")
    assert made.server.activity.undoable(entry)
    await made.server.activity.undo(entry)
    assert made.sources("b.ipynb") == ["1"]
    assert made.sources("a.ipynb") == ["one"]
    await made.server.activity.undo(last(made))
    assert made.sources("b.ipynb") == ["one"]


async def test_the_log_keeps_no_closed_notebook_and_edits_are_found_in_it_again() -> None:
    made = await desk("1", "2")
    await made.ok("jupyter_update_cell", **update("1", "one"))
    entry = last(made)
    await made.ok("jupyter_save_notebook")
    made.person.close("a.ipynb")
    await asyncio.sleep(0)
    assert entry.edit is not None
    assert entry.edit.notebook is None
    assert not made.server.activity.undoable(entry)
    await made.open()
    assert made.server.activity.undoable(entry)
