"""Old runs are removed: those beyond seven days or beyond the newest fifty. There is no daemon; a
cleanup runs after a new run and when a person asks for it, and what it does not know it leaves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pywebmcp.outputs.runs import FOLDERS, MANIFEST, NotARunError, Run, is_plain_folder, load

DAYS = 7
MAX_RUNS = 50
DAYS_VARIABLE = "PYWEBMCP_OUTPUT_RETENTION_DAYS"
MAX_RUNS_VARIABLE = "PYWEBMCP_OUTPUT_MAX_RUNS"

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Limits:
    """A run goes when it is older than ``days`` or not among the newest ``max_runs``."""

    days: int = DAYS
    max_runs: int = MAX_RUNS

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        *,
        days: int | None = None,
        max_runs: int | None = None,
    ) -> Limits:
        """The limits of the environment's variables, or those that are given.

        Raises:
            ValueError: when a variable that counts is not a positive integer.
        """
        return cls(
            days=_positive(environment, DAYS_VARIABLE, DAYS) if days is None else days,
            max_runs=(
                _positive(environment, MAX_RUNS_VARIABLE, MAX_RUNS)
                if max_runs is None
                else max_runs
            ),
        )


def clean(
    workspace: str | os.PathLike[str],
    limits: Limits,
    *,
    now: float,
    dry_run: bool = False,
    keep: Path | None = None,
) -> dict[str, Any]:
    """Remove what is beyond the limits below ``<workspace>/.pywebmcp/outputs``.

    Safe while other processes store and clean there: a run that is being written has no manifest,
    and of two cleanups only one removes it.

    Args:
        workspace: the folder in which the runs were stored.
        limits: how old and how many runs may be.
        now: seconds since 1970.
        dry_run: report only.
        keep: the folder of a run that stays, whatever its age.

    Returns:
        The report: ``deleted_runs``, ``would_delete_runs``, ``retained_runs`` (paths, newest first),
        ``skipped_runs`` and ``failed_runs`` (``{path, reason}``).
    """
    workspace = Path(workspace).resolve()
    root = workspace.joinpath(*FOLDERS)
    report = _Report()
    runs = _complete_runs(workspace, root, report)
    runs.sort(key=lambda run: (run.created_at, run.folder.name), reverse=True)
    for place, run in enumerate(runs):
        old = now - run.created_at > limits.days * _SECONDS_A_DAY
        if run.folder == keep or not (old or place >= limits.max_runs):
            report.retained.append(str(run.folder))
            continue
        names = _names(run)
        if isinstance(names, str):
            report.skip(run.folder, names)
        elif dry_run:
            report.would_delete.append(str(run.folder))
        else:
            _delete(run.folder, names, report)
    return report.answer(root, dry_run)


def summary(report: Mapping[str, Any]) -> str:
    """A cleanup's report in one line."""
    counts = {
        "deleted": report["deleted_runs"],
        "eligible": report["would_delete_runs"],
        "retained": report["retained_runs"],
        "skipped": report["skipped_runs"],
        "failed": report["failed_runs"],
    }
    return " ".join(f"{name}={len(runs)}" for name, runs in counts.items())


class _Report:
    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.would_delete: list[str] = []
        self.retained: list[str] = []
        self.skipped: list[dict[str, str]] = []
        self.failed: list[dict[str, str]] = []

    def skip(self, path: Path, reason: str) -> None:
        # Another cleanup may just have removed it; then there is nothing to tell.
        if os.path.lexists(path):
            self.skipped.append({"path": str(path), "reason": reason})

    def fail(self, path: Path, error: OSError) -> None:
        self.failed.append({"path": str(path), "reason": str(error)})

    def answer(self, root: Path, dry_run: bool) -> dict[str, Any]:
        return {
            "status": "ok",
            "root": str(root),
            "dry_run": dry_run,
            "deleted_runs": self.deleted,
            "would_delete_runs": self.would_delete,
            "retained_runs": self.retained,
            "skipped_runs": self.skipped,
            "failed_runs": self.failed,
        }


def _complete_runs(workspace: Path, root: Path, report: _Report) -> list[Run]:
    for folder, name in ((workspace / FOLDERS[0], FOLDERS[0]), (root, "output root")):
        if not os.path.lexists(folder):
            return []
        if not is_plain_folder(folder):
            report.skip(folder, f"{name} is not a real directory")
            return []
    try:
        entries = sorted(root.iterdir())
    except OSError as error:
        report.fail(root, error)
        return []
    runs = []
    for folder in entries:
        if not is_plain_folder(folder):
            report.skip(folder, "unknown or linked output entry")
            continue
        try:
            runs.append(load(folder))
        except NotARunError as problem:
            report.skip(folder, problem.reason)
    return runs


def _names(run: Run) -> list[str] | str:
    """The files of a run that nothing else belongs to; else why it has to stay."""
    try:
        entries = list(os.scandir(run.folder))
    except OSError as error:
        return f"unreadable run retained: {error.strerror}"
    names = {entry.name for entry in entries}
    if MANIFEST not in names:
        return "incomplete or state-unknown run retained"
    for path in run.files():
        if not isinstance(path, str) or not os.path.isabs(path) or os.path.islink(path):
            return "linked or relative payload reference retained"
        try:
            names.discard(run.payload(path).name)
        except ValueError:
            return "payload reference escapes or is missing"
    if not all(entry.is_file(follow_symlinks=False) for entry in entries):
        return "unknown or linked run contents retained"
    if names - {MANIFEST}:
        return "unknown run files retained"
    return [entry.name for entry in entries]


def _delete(folder: Path, names: list[str], report: _Report) -> None:
    # The manifest goes first: from then on the folder is no run for readers and other cleanups,
    # and of two cleanups only one has removed it.
    try:
        (folder / MANIFEST).unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        report.fail(folder, error)
        return
    try:
        for name in names:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    except OSError as error:
        report.fail(folder, error)
    else:
        report.deleted.append(str(folder))


def _positive(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name)
    if text is None:
        return default
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"{name} has to be a positive integer, not {text!r}")
    return number
