"""``pywebmcp output``: stored runs in the shell."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

from pywebmcp.cli import main
from pywebmcp.outputs.store import persist

OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": "a\n"},
    {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}, "metadata": {}},
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, and no limits in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("PYWEBMCP_OUTPUT_RETENTION_DAYS", "PYWEBMCP_OUTPUT_MAX_RUNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path.resolve()


def store(place: Path, run_id: str = "run", age: float = 0) -> Path:
    path = persist(OUTPUTS, place, new_id=lambda: run_id, now=lambda: time.time() - age)
    assert path is not None
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The answer of a command under -j, or the code of its error."""
    code = main(["-j", *words])
    out, err = capsys.readouterr()
    return json.loads(out) if code == 0 else json.loads(err)["code"]


def test_a_run_is_shown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = str(store(place).relative_to(place))
    assert len(run(capsys, "output", "show", manifest)["outputs"]) == 2
    page = run(capsys, "output", "show", manifest, "--output", "0", "--offset", "1", "--limit", "5")
    assert page["stream"]["data"] == "\n"
    image = run(capsys, "output", "show", manifest, "--output", "1", "--mime", "image/png")
    assert image["selected"]["bytes"] == 8
    assert run(capsys, "output", "show", "gone/manifest.json") == "OUTPUT_NOT_FOUND"


def test_people_see_a_run_as_a_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = str(store(place))
    assert main(["output", "show", manifest]) == 0
    assert "1  display_data  image/png" in capsys.readouterr().out
    assert main(["output", "show", manifest, "--output", "1"]) == 0
    assert f"pywebmcp output show {manifest} --output 1 --save FILE" in capsys.readouterr().out


def test_runs_are_cleaned_up(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = store(place, "old", 8 * 86_400).parent, store(place, "new").parent
    report = run(capsys, "output", "clean", "--dry-run")
    assert report["would_delete_runs"] == [str(old)]
    assert report["_human"] == "deleted=0 eligible=1 retained=1 skipped=0 failed=0"
    assert run(capsys, "output", "clean", "--days", "9")["deleted_runs"] == []
    assert run(capsys, "output", "clean")["deleted_runs"] == [str(old)]
    assert run(capsys, "output", "clean", "--max-runs", "1")["retained_runs"] == [str(new)]


def test_the_environment_sets_the_limits_and_options_come_first(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store(place, "old", 2 * 86_400)
    monkeypatch.setenv("PYWEBMCP_OUTPUT_RETENTION_DAYS", "1")
    assert run(capsys, "output", "clean", "--days", "3")["deleted_runs"] == []
    assert len(run(capsys, "output", "clean")["deleted_runs"]) == 1
    monkeypatch.setenv("PYWEBMCP_OUTPUT_MAX_RUNS", "many")
    assert run(capsys, "output", "clean") == "OUTPUT_CLEAN_CONFIG_INVALID"


def test_people_are_told_what_went_and_what_stayed(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = store(place, "old", 8 * 86_400).parent
    stray = old.parent / "notes"
    stray.write_text("mine")
    assert main(["output", "clean", "--dry-run"]) == 0
    assert f"would remove {old}\n" in capsys.readouterr().out
    assert main(["output", "clean"]) == 0
    assert capsys.readouterr().out == (
        "deleted=1 eligible=0 retained=0 skipped=1 failed=0\n"
        f"removed {old}\n"
        f"kept {stray}: unknown or linked output entry\n"
    )

    def refuse(path: Path) -> None:
        raise OSError(39, "Directory not empty")

    monkeypatch.setattr(Path, "rmdir", refuse)
    stuck = store(place, "stuck", 8 * 86_400).parent
    assert main(["output", "clean"]) == 0
    assert f"failed {stuck}: [Errno 39] Directory not empty" in capsys.readouterr().out
