"""What becomes of a run when the person, or the kernel, does something else meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from lab import Lab
from notebooks import cell, notebook, show
from playwright.sync_api import Page

SLOW = "import asyncio\nprint('begun')\nawait asyncio.sleep(2)\nprint('end')"

PRELUDE = """
    actions = js.pywebmcp.modules.notebook.NotebookActions
    panel = js.pywebmcp.tokens.tracker.currentWidget

    def by_hand(index):
        cells = js.Array.of(panel.content.widgets[index])
        ffi.watch_quietly(actions.runCells(panel.content, cells, panel.sessionContext))

    async def begun(cell_id):
        while True:
            (index,) = nb.find(cell_id)
            cell = nb.cells(index, index + 1, outputs=True)[0]
            if cell["outputs"] and cell["execution_count"] is None:
                return
            await asyncio.sleep(0.02)

    def of(run):
        return [run.status, "".join(output.get("text", "") for output in run.outputs)]
"""


@pytest.fixture(scope="module")
def lab(shared_page: Page, site: str) -> Lab:
    """A page with a notebook whose kernel is idle; each test leaves its cells in their order."""
    lab = Lab(shared_page, site).open()
    show(
        lab,
        "meanwhile.ipynb",
        notebook(
            cell("import time\ntime.sleep(1)\n1 / 0", "fails"),
            cell(SLOW, "slow"),
            cell("6 * 7", "answer"),
            cell("*text*", "text", "markdown"),
            cell("", "other"),
        ),
    )
    lab.until_kernel()
    return lab


def run(lab: Lab, body: str) -> Any:
    """Run Python in the page with the prelude's helpers."""
    return lab.python(PRELUDE + body)


def test_a_run_dropped_behind_a_persons_failing_cell_is_told_and_can_be_repeated(lab: Lab) -> None:
    found = run(
        lab,
        """
    by_hand(0)
    dropped = await nb.run_cell(2)
    state = panel.content.widgets[2].model.executionState
    again = await nb.run_cell(2)
    return [dropped.status, state, again.status, again.outputs[0]["data"]["text/plain"]]
""",
    )
    assert found == ["cancelled", "idle", "ok", "42"]


def test_a_run_behind_a_persons_passing_cell_waits_its_turn(lab: Lab) -> None:
    found = run(
        lab,
        """
    by_hand(1)
    return [(await nb.run_cell(2)).status, of(await nb.run_cell(1))]
""",
    )
    assert found == ["ok", ["ok", "begun\nend\n"]]


MOVES = {
    "tool": ("nb.move_cell(1, 4)", 4),
    "person": ("panel.content.activeCellIndex = 1; actions.moveDown(panel.content)", 2),
}


@pytest.mark.parametrize("mover", MOVES)
def test_a_cell_moved_while_it_runs_keeps_its_run(lab: Lab, mover: str) -> None:
    move, place = MOVES[mover]
    found = run(
        lab,
        f"""
    running = asyncio.ensure_future(nb.run_cell(1))
    await begun("slow")
    {move}
    ended = of(await running)
    (index,) = nb.find("slow")
    cell = nb.cells(index, index + 1, outputs=True)[0]
    state = panel.content.widgets[index].model.executionState
    nb.move_cell(index, 1)
    return [ended, index, cell["outputs"][0]["text"], cell["execution_count"] is None, state]
""",
    )
    assert found == [["ok", "begun\nend\n"], place, "begun\nend\n", False, "idle"]


def test_neighbours_that_run_keep_their_run_when_the_edited_cell_passes_them(lab: Lab) -> None:
    lab.click(2, 0)
    found = run(
        lab,
        """
    running = asyncio.ensure_future(nb.run_cell(1))
    await begun("slow")
    nb.move_cell(2, 0)
    return [of(await running), nb.ids()]
""",
    )
    lab.type("0 + ")
    assert found == [["ok", "begun\nend\n"], ["answer", "fails", "slow", "text", "other"]]
    assert lab.sources()[0] == "0 + 6 * 7"
    run(lab, "    nb.replace_text(0, 0, 4, '')\n    nb.move_cell(0, 2)")


def test_a_cell_cut_by_the_person_while_it_runs_ends_as_deleted_and_comes_back(lab: Lab) -> None:
    found = run(
        lab,
        """
    running = asyncio.ensure_future(nb.run_cell(1))
    await begun("slow")
    panel.content.activeCellIndex = 1
    panel.content.deselectAll()
    actions.deleteCells(panel.content)
    gone = nb.find("slow")
    status = (await running).status
    actions.undo(panel.content)
    return [gone, status, nb.find("slow")]
""",
    )
    assert found == [[], "deleted", [1]]


def test_undo_of_what_the_person_did_leaves_what_the_tools_did_just_before(lab: Lab) -> None:
    found = run(
        lab,
        """
    nb.insert_cell(0, {"cell_type": "code", "source": "", "metadata": {}, "id": "ours"})
    panel.content.activeCellIndex = 3
    panel.content.deselectAll()
    actions.deleteCells(panel.content)
    nb.move_cell(4, 1)
    gone = nb.ids()
    actions.undo(panel.content)
    actions.undo(panel.content)
    back = nb.ids()
    nb.delete_cell(nb.find("ours")[0])
    return [gone, back]
""",
    )
    assert found == [
        ["ours", "other", "fails", "slow", "text"],
        ["ours", "fails", "slow", "answer", "text", "other"],
    ]


def test_running_a_markdown_cell_leaves_the_editor_open_that_a_person_types_in(lab: Lab) -> None:
    lab.cell(3).dblclick()
    lab.click(3, 6)
    lab.type("!")
    assert run(lab, "    return (await nb.run_cell(3)).status") == "ok"
    lab.type("?")
    assert lab.sources()[3] == "*text*!?"
    lab.page.keyboard.press("Escape")


def test_a_kernel_shut_down_while_a_cell_runs_ends_the_run_as_died(lab: Lab) -> None:
    found = run(
        lab,
        """
    running = asyncio.ensure_future(nb.run_cell(1))
    await begun("slow")
    await panel.sessionContext.shutdown()
    ended = of(await running)
    try:
        await nb.ready_kernel()
    except ToolError as error:
        return [ended, str(error.code), nb.kernel() is None]
""",
    )
    assert found == [["died", "begun\n"], "KERNEL_UNAVAILABLE", True]


def test_a_kernel_named_in_opening_an_open_notebook_is_started(lab: Lab) -> None:
    found = run(
        lab,
        """
    await frontend.open_notebook("meanwhile.ipynb", kernel="python")
    await nb.ready_kernel()
    return of(await nb.run_cell(1))
""",
    )
    assert found == ["ok", "begun\nend\n"]


def test_a_notebook_closed_while_a_cell_runs_ends_the_run_with_a_reason(lab: Lab) -> None:
    found = run(
        lab,
        """
    running = asyncio.ensure_future(nb.run_cell(1))
    await begun("slow")
    panel.context.model.dirty = False
    panel.close()
    try:
        return (await running).status
    except ToolError as error:
        return str(error.code)
""",
    )
    assert found == "NOTEBOOK_NOT_FOUND"
