"""Who is measured when. The systems take turns, so that what else the machine does hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from _bench.notebooks import Notebook
from _bench.pages import Sample, Tab
from _bench.rows import Row
from _bench.systems import CallFailedError, NotPossibleError, System

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WARM_UPS = 2
# So many calls of one system on end. Few enough that a change of load meets all systems; more than
# one, because the first call after another page's turn finds the processor's caches cold.
BLOCK = 5
# Seconds after which a system gets no further block of a row, so that a slow one ends.
PATIENCE = 40

Say = Callable[[str], None]
Sites = dict[str, str]


@dataclass(slots=True)
class Result:
    """The samples of one system in one row, or why there are none (`problem`).

    `possible` is false where the system has no way to do the job, which is no failure.
    """

    samples: list[Sample] = field(default_factory=list)
    problem: str | None = None
    possible: bool = True

    def of(self, what: str) -> float | None:
        """The median of a field of the samples; None where there are none."""
        if self.problem is not None or not self.samples:
            return None
        return float(median(getattr(sample, what) for sample in self.samples))

    def fail(self, error: CallFailedError | NotPossibleError) -> None:
        """Give the row up: what was measured before a failure is not shown either."""
        self.problem = " ".join(str(error).split())
        self.possible = not isinstance(error, NotPossibleError)


Results = dict[str, Result]


def _rotated(systems: Sequence[System], turn: int) -> list[System]:
    start = turn % len(systems)
    return [*systems[start:], *systems[:start]]


def measure_loads(
    browser: Browser,
    systems: Sequence[System],
    sites: Sites,
    notebook: Notebook,
    rounds: int,
    say: Say,
) -> Results:
    """Load each system's site afresh `rounds` times, in turns; one load before is not counted."""
    results = {system.key: Result() for system in systems}
    for turn in range(-1, rounds):
        for system in _rotated(systems, turn):
            result = results[system.key]
            if result.problem is not None:
                continue
            tab = Tab(browser, system, sites[system.key])
            try:
                sample = tab.load(notebook.path)
            except CallFailedError as error:
                result.fail(error)
                say(f"  {system.name}: {result.problem}")
            else:
                if turn >= 0:
                    result.samples.append(sample)
            finally:
                tab.close()
        if turn >= 0:
            say(f"  round {turn + 1} of {rounds}: {_summary(results, systems)}")
    return results


def measure_rows(
    browser: Browser,
    systems: Sequence[System],
    sites: Sites,
    notebook: Notebook,
    rows: Sequence[Row],
    calls: int,
    say: Say,
) -> dict[str, Results]:
    """Measure the rows of one notebook, with one page of each system open all the while.

    All pages are open at once because a machine's load drifts within seconds, while opening a page
    takes many: with pages opened one after the other, a quiet minute would favour whoever has it.
    A page that is not called costs about three hundredths of a core, and that is the same for all.
    """
    with ExitStack() as stack:
        tabs: dict[str, Tab] = {}
        broken: Results = {}
        for system in systems:
            tab = Tab(browser, system, sites[system.key])
            stack.callback(tab.close)
            try:
                tab.load(notebook.path)
            except CallFailedError as error:
                broken[system.key] = Result()
                broken[system.key].fail(error)
            else:
                tabs[system.key] = tab
        for key, tab in [*tabs.items()]:
            say(f"  waiting until {notebook.path} is rendered with {tab.system.name}")
            try:
                tab.prepare(notebook.path)
            except CallFailedError as error:
                broken[key] = Result()
                broken[key].fail(error)
                del tabs[key]
        measured = {}
        for row in rows:
            results = _measure_row(
                row, notebook, [s for s in systems if s.key in tabs], tabs, calls
            )
            measured[row.key] = results | broken
            say(f"  {row.title}: {_summary(measured[row.key], systems)}")
        return measured


def _measure_row(
    row: Row, notebook: Notebook, systems: Sequence[System], tabs: dict[str, Tab], calls: int
) -> Results:
    results = {system.key: Result() for system in systems}
    spent = dict.fromkeys(results, 0.0)
    numbers = dict.fromkeys(results, 0)

    def block(system: System, size: int) -> list[Sample]:
        tab, result, samples = tabs[system.key], results[system.key], []
        start = time.monotonic()
        try:
            tab.to_front()
            tab.quiet()
            for _ in range(size):
                numbers[system.key] += 1
                samples.append(row.job(tab, notebook, numbers[system.key]))
        except (CallFailedError, NotPossibleError) as error:
            result.fail(error)
        spent[system.key] += time.monotonic() - start
        return samples

    for system in systems:
        block(system, WARM_UPS)
    turn = 0
    waiting = list(systems)
    while waiting:
        for system in _rotated(systems, turn):
            if system in waiting and results[system.key].problem is None:
                missing = calls - len(results[system.key].samples)
                results[system.key].samples += block(system, min(BLOCK, missing))
        waiting = [
            system
            for system in systems
            if results[system.key].problem is None
            and len(results[system.key].samples) < calls
            and spent[system.key] < PATIENCE
        ]
        turn += 1
    return results


def _summary(results: Results, systems: Sequence[System]) -> str:
    parts = []
    for system in systems:
        result = results[system.key]
        ms = result.of("ms")
        parts.append(f"{system.name}: {result.problem if ms is None else f'{ms:.1f} ms'}")
    return ", ".join(parts)
