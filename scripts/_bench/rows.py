"""The rows of the bench: each does its job once in a page, checks that it is done, and says its cost.

What a row needs besides (reading a cell before it is edited, removing an inserted cell again) is not
part of the figure. The checks look at the live notebook, not at what a tool claims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _bench.notebooks import LARGE, SMALL, Notebook
from _bench.pages import Sample, Tab
from _bench.systems import CallFailedError, NotPossibleError

Job = Callable[[Tab, Notebook, int], Sample]


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its key on the command line, its title, the cells of its notebook, its job.

    The job takes the page, the notebook and a running number, which makes each edit a new one.
    """

    key: str
    title: str
    cells: int
    job: Job


def _demand(true: bool, complaint: str) -> None:
    if not true:
        raise CallFailedError(complaint)


def _cell(tab: Tab, notebook: Notebook, cell_id: str) -> dict[str, Any]:
    cell = tab.evaluate("([path, id]) => probe.cell(path, id)", [notebook.path, cell_id])
    _demand(cell is not None, f"the notebook lost its cell {cell_id}")
    return dict(cell)


def _count(tab: Tab, notebook: Notebook) -> int:
    return int(tab.evaluate("path => probe.count(path)", notebook.path))


def context(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Ask for the context."""
    payload, sample = tab.call(tab.system.context())
    told = tab.system.cell_count(payload, notebook.path)
    _demand(told == len(notebook.ids), f"the context tells of {told} cells")
    return sample


def read(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Read every cell's source, in as many calls as that takes."""
    end, start = len(notebook.ids), 0
    sources: list[str] = []
    samples: list[Sample] = []
    while True:
        payload, sample = tab.call(tab.system.read(notebook.path, start, end))
        page = tab.system.page(payload, start, end)
        samples.append(sample)
        sources += [cell["source"] for cell in page.cells]
        if page.next_index is None:
            break
        _demand(page.next_index > start, f"the next page is to begin at {page.next_index}")
        start = page.next_index
    _demand(tuple(sources) == notebook.sources, f"the {len(sources)} sources read are others")
    return Sample(
        ms=sum(sample.ms for sample in samples),
        cpu=sum(sample.cpu for sample in samples),
        characters=sum(sample.characters for sample in samples),
        calls=len(samples),
    )


def insert_middle(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Insert below the middle cell."""
    return _insert(tab, notebook, notebook.middle, number)


def insert_end(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Insert below the last cell."""
    return _insert(tab, notebook, notebook.last, number)


def _insert(tab: Tab, notebook: Notebook, reference: str, number: int) -> Sample:
    count, index = _count(tab, notebook), _cell(tab, notebook, reference)["index"] + 1
    source = f"inserted = {number}\nprint(inserted)"
    _, sample = tab.call(tab.system.insert(notebook.path, reference, source))
    _demand(_count(tab, notebook) == count + 1, "the notebook did not grow by one cell")
    there = tab.evaluate("([path, at]) => probe.sourceAt(path, at)", [notebook.path, index])
    _demand(there == source, f"cell {index} is {there!r}")
    tab.evaluate("([path, at]) => probe.removeAt(path, at)", [notebook.path, index])
    tab.quiet()
    return sample


def update(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Replace the source of a cell that was just read."""
    before, _ = tab.call(tab.system.read_cell(notebook.path, notebook.to_update))
    source = f"answer = {number + 1}\nprint(answer)"
    _, sample = tab.call(tab.system.update(notebook.path, notebook.to_update, source, before))
    there = _cell(tab, notebook, notebook.to_update)["source"]
    _demand(there == source, f"the cell's source is {there!r}")
    return sample


def run(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Run the cell `1` on a kernel that has run before."""
    before = _cell(tab, notebook, notebook.to_run)["executionCount"] or 0
    _, sample = tab.call(tab.system.run(notebook.path, notebook.to_run))
    after = _cell(tab, notebook, notebook.to_run)
    _demand(after["executionCount"] == before + 1, f"the execution count is {after}")
    results = [output.get("data", {}).get("text/plain") for output in after["outputs"]]
    _demand([str(text) for text in results] == ["1"], f"the outputs are {after['outputs']}")
    return sample


def command(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Move the active cell by a command of JupyterLab, down and up again in turn."""
    before = int(tab.evaluate("path => probe.active(path)", notebook.path))
    step = "up" if before else "down"
    _, sample = tab.call(tab.system.command(f"notebook:move-cursor-{step}"))
    after = int(tab.evaluate("path => probe.active(path)", notebook.path))
    _demand(abs(after - before) == 1, f"the active cell is {after}, it was {before}")
    return sample


def panel_comments(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Show a changed cell in the Agent panel's list of a thread on every second cell."""
    return _panel(tab, notebook, number, "comments")


def panel_access(tab: Tab, notebook: Notebook, number: int) -> Sample:
    """Show a changed cell in the Agent panel's list of all cells."""
    return _panel(tab, notebook, number, "access")


def _panel(tab: Tab, notebook: Notebook, number: int, name: str) -> Sample:
    opened = tab.evaluate("([path, tab]) => probe.openPanel(path, tab)", [notebook.path, name])
    if not opened:
        raise NotPossibleError("has no panel")
    tab.quiet()
    source = f"answer = {number + 1000}\nprint(answer)"
    drawn, cpu = tab.work(
        "([path, id, source]) => probe.panelUpdate(path, id, source)",
        [notebook.path, notebook.to_update, source],
    )
    _demand(drawn["shown"], f"the tab {name} does not show {source!r}")
    return Sample(drawn["ms"], cpu, 0, calls=0)


LOAD = "load"
LOAD_TITLE = "page load to all tools"
# In this order: reading comes before anything that leaves a trace in the notebook.
ROWS: tuple[Row, ...] = (
    Row("context-20", "context, 20 cells", SMALL, context),
    Row("read-20", "read 20 cells", SMALL, read),
    Row("update-20", "update a cell of 20", SMALL, update),
    Row("run-20", "run a cell of 20", SMALL, run),
    Row("command-20", "run a command, 20 cells", SMALL, command),
    Row("context-1000", "context, 1,000 cells", LARGE, context),
    Row("read-1000", "read all of 1,000 cells", LARGE, read),
    Row("insert-end", "insert at the end of 1,000", LARGE, insert_end),
    Row("insert-middle", "insert in the middle of 1,000", LARGE, insert_middle),
    Row("update-1000", "update a cell of 1,000", LARGE, update),
    Row("run-1000", "run a cell of 1,000", LARGE, run),
    Row("panel-access", "Agent panel, Access: 1,000 cells", LARGE, panel_access),
    Row("panel-comments", "Agent panel, Comments: 500 threads", LARGE, panel_comments),
)
