"""What a cleanup removes, and all that it leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pywebmcp.outputs.retention import (
    DAYS_VARIABLE,
    MAX_RUNS_VARIABLE,
    Limits,
    clean,
    summary,
)

DAY = 86_400.0
NOW = 1000 * DAY


def put(workspace: Path, run_id: str, age: float = 9 * DAY, **changes: Any) -> Path:
    """A stored run of some age in seconds."""
    folder = workspace / ".pywebmcp" / "outputs" / run_id
    folder.mkdir(parents=True)
    manifest = {
        "schema_version": 1,
        "managed_by": "pywebmcp",
        "status": "complete",
        "run_id": run_id,
        "created_at": NOW - age,
        "cwd": str(workspace),
        "source": {"kind": "inline", "cwd": str(workspace), "run_id": run_id},
        "outputs": [],
        **changes,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def image(path: Path | str) -> list[Any]:
    reference = {"type": "file", "path": str(path), "mime": "image/png", "bytes": 8}
    return [{"output_type": "display_data", "data": {"image/png": reference}, "metadata": {}}]


def names(paths: list[str]) -> list[str]:
    return [Path(path).name for path in paths]


def test_a_run_goes_when_it_is_older_than_a_week(tmp_path: Path) -> None:
    old = put(tmp_path, "old", 7 * DAY + 1)
    new = put(tmp_path, "new", 7 * DAY)
    report = clean(tmp_path, Limits(), now=NOW)
    assert report == {
        "status": "ok",
        "root": str(tmp_path / ".pywebmcp" / "outputs"),
        "dry_run": False,
        "deleted_runs": [str(old)],
        "would_delete_runs": [],
        "retained_runs": [str(new)],
        "skipped_runs": [],
        "failed_runs": [],
    }
    assert not old.exists()
    assert new.exists()
    assert summary(report) == "deleted=1 eligible=0 retained=1 skipped=0 failed=0"


def test_a_run_goes_when_fifty_are_newer(tmp_path: Path) -> None:
    for age in range(52):
        put(tmp_path, f"r{age:02}", float(age))
    report = clean(tmp_path, Limits(), now=NOW)
    assert names(report["deleted_runs"]) == ["r50", "r51"]
    assert names(report["retained_runs"]) == [f"r{age:02}" for age in range(50)]


def test_a_dry_run_only_tells(tmp_path: Path) -> None:
    old = put(tmp_path, "old")
    report = clean(tmp_path, Limits(), now=NOW, dry_run=True)
    assert (report["deleted_runs"], report["would_delete_runs"]) == ([], [str(old)])
    assert (old / "manifest.json").exists()


def test_the_files_of_a_run_go_with_it(tmp_path: Path) -> None:
    folder = tmp_path / ".pywebmcp" / "outputs" / "old"
    put(tmp_path, "old", outputs=image(folder / "output-0.png"))
    (folder / "output-0.png").write_bytes(b"x")
    assert names(clean(tmp_path, Limits(), now=NOW)["deleted_runs"]) == ["old"]
    assert not folder.exists()


def no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def broken_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def linked_manifest(folder: Path) -> None:
    (folder / "manifest.json").rename(folder.parents[2] / "m.json")
    (folder / "manifest.json").symlink_to(folder.parents[2] / "m.json")


def more_files(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def a_folder_inside(folder: Path) -> None:
    (folder / "more").mkdir()


def renamed(folder: Path) -> None:
    folder.rename(folder.with_name("kept"))


def linked_run(folder: Path) -> None:
    folder.rename(folder.parents[2] / "elsewhere")
    folder.symlink_to(folder.parents[2] / "elsewhere")


def changed(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def linked_image(folder: Path) -> None:
    (folder / "output-0.png").symlink_to(folder.parents[2] / "m.png")
    changed(outputs=image(folder / "output-0.png"))(folder)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (no_manifest, "incomplete or state-unknown run retained"),
        (linked_manifest, "incomplete or state-unknown run retained"),
        (broken_manifest, "invalid or state-unknown manifest retained"),
        (changed(outputs=None), "invalid or state-unknown manifest retained"),
        (changed(managed_by="x"), "unrecognized or state-unknown manifest retained"),
        (changed(schema_version=2), "unrecognized or state-unknown manifest retained"),
        (changed(status="writing"), "unrecognized or state-unknown manifest retained"),
        (changed(created_at=None), "unrecognized or state-unknown manifest retained"),
        (changed(created_at="1"), "unrecognized or state-unknown manifest retained"),
        (changed(source={}), "unrecognized or state-unknown manifest retained"),
        (renamed, "unrecognized or state-unknown manifest retained"),
        (more_files, "unknown run files retained"),
        (a_folder_inside, "unknown or linked run contents retained"),
        (changed(outputs=image("/x.png")), "payload reference escapes or is missing"),
        (changed(outputs=image("x.png")), "linked or relative payload reference retained"),
        (linked_image, "linked or relative payload reference retained"),
        (linked_run, "unknown or linked output entry"),
    ],
)
def test_what_is_in_doubt_stays(spoil: Callable[[Path], None], reason: str, tmp_path: Path) -> None:
    spoil(put(tmp_path, "old"))
    before = sorted(tmp_path.rglob("*"))
    report = clean(tmp_path, Limits(), now=NOW)
    assert [each["reason"] for each in report["skipped_runs"]] == [reason]
    assert report["deleted_runs"] == []
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".pywebmcp", ".pywebmcp is not a real directory"),
        (".pywebmcp/outputs", "output root is not a real directory"),
    ],
)
def test_nothing_is_removed_through_a_link(name: str, reason: str, tmp_path: Path) -> None:
    folder = put(tmp_path, "old")
    (tmp_path / name).rename(tmp_path / "real")
    (tmp_path / name).symlink_to(tmp_path / "real")
    report = clean(tmp_path, Limits(), now=NOW)
    assert report["skipped_runs"] == [{"path": str(tmp_path / name), "reason": reason}]
    assert (folder / "manifest.json").exists()


def test_without_stored_runs_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert summary(clean(tmp_path, Limits(), now=NOW)).startswith("deleted=0 eligible=0 retained=0")
    assert not list(tmp_path.iterdir())


def test_a_run_that_cannot_be_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path, "old")
    put(tmp_path, "older", 10 * DAY)
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.parent == folder:
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    report = clean(tmp_path, Limits(), now=NOW)
    assert [each["path"] for each in report["failed_runs"]] == [str(folder)]
    assert names(report["deleted_runs"]) == ["older"]


def test_a_run_that_another_cleanup_removes_meanwhile_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path, "old")
    unlink = Path.unlink

    def lose(path: Path, missing_ok: bool = False) -> None:
        unlink(path, True)
        if not missing_ok:
            raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "unlink", lose)
    report = clean(tmp_path, Limits(), now=NOW)
    assert (report["deleted_runs"], report["failed_runs"]) == ([], [])
    assert folder.exists()


def test_limits_come_from_the_environment_unless_they_are_given() -> None:
    environment = {DAYS_VARIABLE: " 3 ", MAX_RUNS_VARIABLE: "5"}
    assert Limits.from_environment({}) == Limits(7, 50)
    assert Limits.from_environment(environment) == Limits(3, 5)
    assert Limits.from_environment(environment, days=9) == Limits(9, 5)
    assert Limits.from_environment({DAYS_VARIABLE: "soon"}, days=1, max_runs=2) == Limits(1, 2)


@pytest.mark.parametrize("text", ["soon", "", "0", "-1", "1.5"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=MAX_RUNS_VARIABLE):
        Limits.from_environment({MAX_RUNS_VARIABLE: text})


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path, "old")

    def refuse(path: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        patch.setattr(Path, "iterdir", lambda path: iter([folder]))
        report = clean(tmp_path, Limits(), now=NOW)
    assert report["skipped_runs"] == [
        {"path": str(folder), "reason": "unreadable run retained: Permission denied"}
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", refuse)
        report = clean(tmp_path, Limits(), now=NOW)
    assert [each["path"] for each in report["failed_runs"]] == [str(folder.parent)]
    assert (folder / "manifest.json").exists()


def test_a_run_whose_folder_does_not_go_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path, "old")

    def refuse(path: Path) -> None:
        raise OSError(39, "Directory not empty")

    monkeypatch.setattr(Path, "rmdir", refuse)
    report = clean(tmp_path, Limits(), now=NOW)
    assert [each["path"] for each in report["failed_runs"]] == [str(folder)]
    assert report["deleted_runs"] == []


def test_a_manifest_that_does_not_fit_into_the_memory_stays_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge, old = put(tmp_path, "huge"), put(tmp_path, "old")
    read = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.parent == huge:
            raise MemoryError
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    report = clean(tmp_path, Limits(), now=NOW)
    assert report["deleted_runs"] == [str(old)]
    assert [each["path"] for each in report["skipped_runs"]] == [str(huge)]
