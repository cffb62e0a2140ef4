"""Propose mode: changes wait for the person, whose hand wins, and nothing is lost meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from desk import Abort, Desk, Payload
from pywebmcp import constants
from pywebmcp.access import set_level
from pywebmcp.constants import KEPT_PROPOSALS
from pywebmcp.edits import digest, source_hash
from pywebmcp.proposals import Proposal, ProposalState
from pywebmcp.settings import Settings
from pywebmcp.testing import code, notebook


class Table(Desk):
    """A desk in propose mode."""

    def __init__(self, *cells: Any, **options: Any) -> None:
        options.setdefault("settings", Settings(execution_timeout=5))
        super().__init__(*cells, **options)
        self.proposals = self.server.proposals
        self.proposals.enabled = True

    def begin(self, tool: str, signal: Abort | None = None, **arguments: Any) -> Any:
        """A call that goes on while the test acts as the person."""
        return asyncio.ensure_future(self.call(tool, signal, **arguments))

    async def proposed(self, tool: str, **arguments: Any) -> tuple[Any, Proposal]:
        """A call, and the proposal that it made."""
        before = len(self.proposals.open())
        calling = self.begin(tool, **arguments)
        await asyncio.sleep(0.01)
        found = self.proposals.open()
        assert len(found) == before + 1, calling
        return calling, found[-1]


async def table(*cells: Any, **options: Any) -> Table:
    made = Table(*cells, **options)
    await made.open()
    return made


def update(source: str = "1", new: str = "one", cell_id: str = "cell-0") -> dict[str, Any]:
    return {"cellId": cell_id, "source": new, "expectedSourceHash": source_hash(source)}


CHANGES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("jupyter_update_cell", update(), ["one", "2"]),
    (
        "jupyter_update_cell",
        {"cellId": "cell-0", "edits": [{"oldText": "1", "newText": "7"}]},
        ["7", "2"],
    ),
    ("jupyter_update_cell", {"cellId": "cell-0", "index": 1}, ["2", "1"]),
    ("jupyter_insert_cell", {"source": "new"}, ["1", "2", "new"]),
    ("jupyter_insert_cell", {"source": "new", "referenceCellId": "cell-0"}, ["1", "new", "2"]),
    ("jupyter_delete_cell", {"cellId": "cell-0", "expectedSourceHash": source_hash("1")}, ["2"]),
]


@pytest.mark.parametrize(("tool", "arguments", "after"), CHANGES)
async def test_a_change_is_made_when_the_person_accepts_and_answered_as_ever(
    tool: str, arguments: dict[str, Any], after: list[str]
) -> None:
    made = await table("1", "2")
    calling, proposal = await made.proposed(tool, **arguments)
    assert made.sources() == ["1", "2"]
    assert (await made.proposals.accept(proposal.id)).state is ProposalState.ACCEPTED
    assert made.sources() == after
    direct = await table("1", "2")
    direct.proposals.enabled = False
    assert await calling == await direct.ok(tool, **arguments)


@pytest.mark.parametrize(("tool", "arguments", "after"), CHANGES)
async def test_a_change_that_is_denied_is_not_made_and_the_reason_is_told(
    tool: str, arguments: dict[str, Any], after: list[str]
) -> None:
    made = await table("1", "2")
    calling, proposal = await made.proposed(tool, **arguments)
    made.proposals.deny(proposal.id, " Not now. ")
    answer = await calling
    assert answer["success"] is True
    assert "isError" not in answer
    assert answer["status"] == "denied"
    assert answer["code"] == "PROPOSAL_DENIED"
    assert answer["reason"] == "Not now."
    assert made.sources() == ["1", "2"]
    assert proposal.state is ProposalState.DENIED
    entry = made.server.activity.entries()[-1]
    assert entry.edit is None
    assert entry.note == "Denied: Not now."


async def test_a_proposal_is_shown_as_a_diff_with_its_place() -> None:
    made = await table("1", "2")
    _, update_ = await made.proposed("jupyter_update_cell", **update(), cellType="markdown")
    assert (update_.action, update_.before, update_.after) == ("update", "1", "one")
    assert update_.old is not None
    assert update_.new is not None
    assert (update_.old.cell_type, update_.new.cell_type) == ("code", "markdown")
    _, insert = await made.proposed("jupyter_insert_cell", source="x", referenceCellId="cell-1")
    assert (insert.action, insert.before, insert.after) == ("insert", None, "x")
    assert insert.new is not None
    assert insert.new.index == 2
    for each in made.proposals.open():
        made.proposals.deny(each.id)
    await asyncio.sleep(0.01)


async def test_the_call_waits_for_the_person_and_answers_pending_at_the_time_limit() -> None:
    made = await table("1")
    pending = await made.call("jupyter_update_cell", **update())
    [proposal] = made.proposals.open()
    assert pending["status"] == "pending"
    assert pending["proposal"] == {"id": proposal.id, "cellId": "cell-0"}
    assert "accepts or denies" in pending["message"]
    assert proposal.call == pending["pendingId"]
    [listed] = (await made.ok("jupyter_get_context"))["pending"]
    assert listed["status"] == "input_required"
    assert listed["proposal"] == {"id": proposal.id, "cellId": "cell-0"}
    again = await made.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert again["status"] == "pending"
    waiting = made.begin("jupyter_wait_for_result", pendingId=pending["pendingId"])
    await asyncio.sleep(1)
    await made.proposals.accept(proposal.id)
    assert (await waiting)["sourceHash"] == source_hash("one")


@pytest.mark.parametrize("typed", [" + 1", " + x"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("jupyter_update_cell", {"edits": [{"oldText": "1", "newText": "2"}]}),
        ("jupyter_update_cell", {"source": "2", "expectedSourceHash": source_hash("1")}),
        ("jupyter_update_cell", {"cellType": "raw"}),
        ("jupyter_update_cell", {"index": 0}),
        ("jupyter_delete_cell", {"expectedSourceHash": source_hash("1")}),
    ],
)
async def test_a_hand_edit_meanwhile_wins(tool: str, arguments: dict[str, Any], typed: str) -> None:
    made = await table("1")
    calling, proposal = await made.proposed(tool, cellId="cell-0", **arguments)
    made.person.click(0)
    made.person.type(typed)
    assert (await made.proposals.accept(proposal.id)).state is ProposalState.STALE
    answer = await calling
    assert answer["code"] == "STALE_CELL"
    assert answer["source"] == f"1{typed}"
    assert answer["sourceHash"] == source_hash(f"1{typed}")
    assert made.sources() == [f"1{typed}"]


async def test_what_the_person_does_elsewhere_does_not_matter() -> None:
    made = await table("1", "2")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    live = made.frontend.notebook()
    assert live is not None
    made.person.click(1)
    made.person.type(" + 1")
    live.move_cell(0, 1)
    await made.proposals.accept(proposal.id)
    await calling
    assert made.sources() == ["2 + 1", "one"]


async def test_a_deleted_cell_and_a_closed_notebook_are_said_so() -> None:
    made = await table("1", "2")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    live = made.frontend.notebook()
    assert live is not None
    live.delete_cell(0)
    assert (await made.proposals.accept(proposal.id)).state is ProposalState.STALE
    assert (await calling)["code"] == "CELL_NOT_FOUND"
    calling, proposal = await made.proposed("jupyter_insert_cell", source="x")
    made.person.close("a.ipynb")
    answer = await calling
    assert answer["code"] == "NOTEBOOK_NOT_FOUND"
    assert "closed" in answer["error"]
    assert proposal.state is ProposalState.WITHDRAWN
    assert made.proposals.open() == []


async def test_a_proposal_follows_a_renamed_notebook_and_closing_another_does_not_matter() -> None:
    made = await table("1", files={"other.ipynb": notebook("x")})
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    await made.open("other.ipynb")
    made.person.rename("a.ipynb", "b.ipynb")
    made.person.close("other.ipynb")
    assert [each.path for each in made.proposals.open()] == ["b.ipynb"]
    await made.proposals.accept(proposal.id)
    assert (await calling)["success"] is True
    assert made.sources("b.ipynb") == ["one"]


async def test_lowered_access_meanwhile_wins() -> None:
    made = await table("1", "2", "3")
    callings = [
        (await made.proposed("jupyter_update_cell", **update(str(at + 1), "x", f"cell-{at}")))
        for at in range(3)
    ]
    live = made.frontend.notebook()
    assert live is not None
    set_level(live, 0, "read")
    set_level(live, 1, "none")
    codes = []
    for number, (calling, proposal) in enumerate(callings):
        if number == 2:
            set_level(live, None, "read")
        await made.proposals.accept(proposal.id)
        codes.append((await calling)["code"])
    assert codes == ["CELL_ACCESS_DENIED", "CELL_NOT_FOUND", "NOTEBOOK_ACCESS_DENIED"]
    assert made.sources() == ["1", "2", "3"]


async def test_what_may_not_be_changed_is_refused_before_anyone_is_asked() -> None:
    made = await table(code("1", metadata={"editable": False}), "2")
    await made.fail("CELL_ACCESS_DENIED", "jupyter_update_cell", **update())
    await made.fail("STALE_CELL", "jupyter_update_cell", **update("other", "x", "cell-1"))
    live = made.frontend.notebook()
    assert live is not None
    set_level(live, None, "read")
    await made.fail("NOTEBOOK_ACCESS_DENIED", "jupyter_insert_cell", source="x")
    assert made.proposals.all() == []


async def test_several_wait_at_once_but_not_two_on_one_cell() -> None:
    made = await table("1", "2")
    first, one = await made.proposed("jupyter_update_cell", **update())
    second, two = await made.proposed("jupyter_update_cell", **update("2", "two", "cell-1"))
    third, three = await made.proposed("jupyter_insert_cell", source="3")
    fourth, four = await made.proposed("jupyter_insert_cell", source="4")
    refused = await made.fail("PROPOSAL_PENDING", "jupyter_update_cell", **update(new="other"))
    assert refused["proposal"] == {"id": one.id, "cellId": "cell-0"}
    assert refused["pendingId"] == one.call
    await made.fail(
        "PROPOSAL_PENDING",
        "jupyter_delete_cell",
        cellId="cell-0",
        expectedSourceHash=source_hash("1"),
    )
    for proposal in (three, two, one):
        await made.proposals.accept(proposal.id)
    made.proposals.deny(four.id)
    assert made.sources() == ["one", "two", "3"]
    answers = await asyncio.gather(first, second, third, fourth)
    assert [answer.get("status") for answer in answers] == [None, None, None, "denied"]
    _, again = await made.proposed("jupyter_update_cell", **update("one", "more"))
    made.proposals.deny(again.id)


@pytest.mark.parametrize("pending_first", [False, True])
async def test_an_abort_withdraws_the_proposal(pending_first: bool) -> None:
    made = await table("1")
    signal = Abort()
    calling = made.begin("jupyter_update_cell", signal, **update())
    await asyncio.sleep(6 if pending_first else 0.01)
    [proposal] = made.proposals.open()
    signal.abort()
    await asyncio.sleep(0.01)
    assert proposal.state is ProposalState.WITHDRAWN
    answer = await calling
    if answer.get("status") == "pending":
        answer = await made.call("jupyter_wait_for_result", pendingId=answer["pendingId"])
    assert answer["code"] == "ABORTED"
    await made.proposals.accept(proposal.id)
    assert made.sources() == ["1"]


async def test_a_restart_of_the_kernel_does_not_touch_it() -> None:
    made = await table("1")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    await made.ok("jupyter_kernel_action", action="restart")
    assert made.proposals.open() == [proposal]
    await made.proposals.accept(proposal.id)
    assert (await calling)["success"] is True


async def test_a_dialog_of_the_person_is_none_of_the_waiting_calls() -> None:
    made = await table("1")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    made.frontend.screen.open("Save?", "Really?")
    made.proposals.deny(proposal.id)
    assert (await calling)["status"] == "denied"


async def test_writing_a_file_waits_too() -> None:
    made = await table("1", files={"notes.txt": "old"})
    calling, proposal = await made.proposed("jupyter_write_file", path="new.txt", content="x")
    assert (proposal.action, proposal.cell_id, proposal.before) == ("write", None, None)
    assert proposal.shown() == {"id": proposal.id, "path": "new.txt"}
    await made.fail("PROPOSAL_PENDING", "jupyter_write_file", path="new.txt", content="y")
    assert "new.txt" not in made.frontend.files
    await made.proposals.accept(proposal.id)
    assert (await calling)["contentHash"] == digest("x")
    assert made.frontend.files.read("new.txt") == "x"
    arguments = {"path": "notes.txt", "content": "new", "expectedHash": digest("old")}
    calling, proposal = await made.proposed("jupyter_write_file", **arguments)
    made.person.edit_file("notes.txt", "by hand")
    assert (await made.proposals.accept(proposal.id)).state is ProposalState.STALE
    assert (await calling)["code"] == "STALE_FILE"
    assert made.frontend.files.read("notes.txt") == "by hand"


async def test_what_is_decided_stays_decided() -> None:
    made = await table("1")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    made.proposals.deny(proposal.id)
    await made.proposals.accept(proposal.id)
    made.proposals.deny(proposal.id, "again")
    made.proposals.withdraw(proposal.id)
    assert (await calling)["status"] == "denied"
    assert (proposal.state, proposal.reason) == (ProposalState.DENIED, "")
    assert made.sources() == ["1"]


async def test_the_person_is_told_of_every_change_and_old_ones_are_forgotten() -> None:
    made = await table("1")
    told: list[list[ProposalState]] = []
    undo = made.proposals.watch(lambda: told.append([each.state for each in made.proposals.all()]))
    calling, proposal = await made.proposed("jupyter_insert_cell", source="x")
    made.proposals.deny(proposal.id)
    await calling
    assert told == [[ProposalState.OPEN], [ProposalState.DENIED]]
    undo()
    for _ in range(KEPT_PROPOSALS + 3):
        calling, proposal = await made.proposed("jupyter_insert_cell", source="x")
        made.proposals.deny(proposal.id)
        await calling
    assert len(told) == 2
    assert len(made.proposals.all()) == KEPT_PROPOSALS


async def test_a_watcher_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    made = await table("1")

    def broken() -> None:
        raise RuntimeError("broken")

    made.proposals.watch(broken)
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    await made.proposals.accept(proposal.id)
    assert (await calling)["success"] is True
    assert "broken" in caplog.text


async def test_what_a_person_does_by_hand_waits_for_nobody() -> None:
    made = await table("1")
    answer = await made.server.answer("jupyter_update_cell", update(), who="person", door="panel")
    assert answer.payload["success"] is True
    assert made.sources() == ["one"]


async def test_reading_and_running_do_not_wait() -> None:
    made = await table("1")
    await made.ok("jupyter_get_cells")
    await made.ok("jupyter_run_cells", cellIds=["cell-0"])
    await made.ok("jupyter_save_notebook")


async def test_no_tool_can_turn_it_off() -> None:
    made = await table("1")
    payloads: list[Payload] = [
        await made.call("jupyter_execute_command", command_id="pywebmcp:propose"),
        await made.call("jupyter_execute_command", command_id="pywebmcp:accept"),
    ]
    assert all(payload["isError"] for payload in payloads)
    assert made.proposals.enabled


async def test_turning_it_off_leaves_what_waits() -> None:
    made = await table("1", "2")
    calling, proposal = await made.proposed("jupyter_update_cell", **update())
    made.proposals.enabled = False
    await made.ok("jupyter_update_cell", **update("2", "two", "cell-1"))
    assert made.proposals.open() == [proposal]
    await made.proposals.accept(proposal.id)
    await calling
    assert made.sources() == ["one", "two"]


async def test_what_proposals_keep_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "KEPT_TEXT", 2500)
    made = await table("1")
    waiting = [await made.proposed("jupyter_insert_cell", source="x" * 1000) for _ in range(3)]
    failed = await made.fail("PROPOSAL_PENDING", "jupyter_insert_cell", source="x")
    assert "wait" in failed["error"]
    for calling, proposal in waiting:
        made.proposals.deny(proposal.id)
        await calling
    assert [each.id for each in made.proposals.all()] == [each.id for _, each in waiting[1:]]
    calling, proposal = await made.proposed("jupyter_insert_cell", source="x")
    made.proposals.deny(proposal.id)
    await calling


async def test_commands_do_not_go_around_the_persons_word() -> None:
    made = await table("1")
    ran: list[str] = []

    def add(command_id: str) -> None:
        async def run(args: dict[str, Any]) -> None:
            ran.append(command_id)

        made.frontend.registry.add(command_id, run)

    for name in ("notebook:delete-cell", "other:write", "apputils:notify", "launcher:create"):
        add(name)
    for name in ("notebook:delete-cell", "other:write", "apputils:notify"):
        failed = await made.fail("COMMAND_BLOCKED", "jupyter_execute_command", command_id=name)
        assert "asked before edits" in failed["error"]
    await made.ok("jupyter_execute_command", command_id="launcher:create")
    # What the person tries by hand waits for nobody.
    answer = await made.server.answer(
        "jupyter_execute_command", {"command_id": "other:write"}, door="panel", who="person"
    )
    assert not answer.is_error
    made.proposals.enabled = False
    await made.ok("jupyter_execute_command", command_id="notebook:delete-cell")
    assert ran == ["launcher:create", "other:write", "notebook:delete-cell"]
