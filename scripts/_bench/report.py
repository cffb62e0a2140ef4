"""What the bench prints and writes: tables of medians with ratios, and the same as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from _bench.measure import Result, Results
from _bench.systems import System

OURS = "ours"
# Title, and the field of a sample.
_TABLES = (
    ("Time until the answer, ms (medians)", "ms"),
    ("CPU time of the page's main thread, until it is quiet again, ms (medians)", "cpu"),
    ("Characters an agent receives (medians; page load: all descriptors)", "characters"),
)


def ratio(results: Results, what: str) -> float | None:
    """Ours over the better of the others; None where one side is missing."""
    others = [
        value
        for key, result in results.items()
        if key != OURS and (value := result.of(what)) is not None
    ]
    ours = results[OURS].of(what) if OURS in results else None
    if ours is None or not others or not min(others):
        return None
    return ours / min(others)


def tables(measured: dict[str, Results], titles: dict[str, str], systems: Sequence[System]) -> str:
    """All tables as text, with a note for every figure that is missing or rests on fewer calls."""
    blocks = [_table(title, what, measured, titles, systems) for title, what in _TABLES]
    notes = [
        f"{titles[key]}: {system.name}: {_note(results[system.key], results)}"
        for key, results in measured.items()
        for system in systems
        if _note(results[system.key], results)
    ]
    return "\n\n".join([*blocks, "\n".join(notes)] if notes else blocks)


def _note(result: Result, results: Results) -> str:
    if result.problem is not None:
        return f"{'failed' if result.possible else 'not possible'}: {result.problem}"
    notes = []
    most = max(len(other.samples) for other in results.values())
    if len(result.samples) < most:
        notes.append(f"{len(result.samples)} times instead of {most}, because it is slow")
    calls = result.of("calls")
    if calls and calls > 1:
        notes.append(f"{calls:.0f} calls each time")
    return "; ".join(notes)


def _table(
    title: str,
    what: str,
    measured: dict[str, Results],
    titles: dict[str, str],
    systems: Sequence[System],
) -> str:
    lines = [["", *(system.name for system in systems), "ours / best other"]]
    for key, results in measured.items():
        share = ratio(results, what)
        figures = [_figure(results[system.key], what) for system in systems]
        lines.append([titles[key], *figures, "" if share is None else f"{share:.2f}"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rendered = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    ]
    return "\n".join([title, rendered[0], "-" * (sum(widths) + 2 * len(widths) - 2), *rendered[1:]])


def _figure(result: Result, what: str) -> str:
    value = result.of(what)
    if value is None:
        return "failed" if result.possible else "n/a"
    if what == "characters" or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}"


def as_json(
    measured: dict[str, Results],
    titles: dict[str, str],
    systems: Sequence[System],
    browser_version: str,
) -> str:
    """Everything measured: per row and system the samples, medians, and the ratios."""
    rows: dict[str, Any] = {}
    for key, results in measured.items():
        rows[key] = {
            "title": titles[key],
            "systems": {system.key: _facts(results[system.key]) for system in systems},
            "ratio": {what: ratio(results, what) for _, what in _TABLES},
        }
    document = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "browser": browser_version,
        "machine": platform.platform(),
        "systems": {
            system.key: {"name": system.name, "packages": system.packages} for system in systems
        },
        "rows": rows,
    }
    return json.dumps(document, indent=1) + "\n"


def _facts(result: Result) -> dict[str, Any]:
    if result.problem is not None:
        return {"problem": result.problem, "possible": result.possible}
    fields = ("ms", "cpu", "characters", "calls")
    medians = {what: result.of(what) for what in fields}
    samples = {what: [getattr(sample, what) for sample in result.samples] for what in fields}
    return {"median": medians, "samples": samples}
