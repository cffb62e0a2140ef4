"""The samples of the conformance kit for tasks, against the real service and a real stdio server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
KIT = Path(
    os.environ.get("PYWEBMCP_CONFORMANCE") or HERE.parents[3].parent / "shared" / "conformance"
)

pytestmark = pytest.mark.skipif(
    not (KIT / "run_tasks.py").is_file(),
    reason="the conformance kit is not here: PYWEBMCP_CONFORMANCE names its folder",
)


def test_every_sample_passes_and_none_is_skipped(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    adapter = HERE.with_name("tasks_adapter.py")
    done = subprocess.run(
        [sys.executable, KIT / "run_tasks.py", "--adapter", adapter, "--report", report],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert report.exists(), done.stderr
    cases = json.loads(report.read_text())
    assert [case for case in cases if case["verdict"] != "pass"] == []
    samples = json.loads((KIT / "tasks_cases.json").read_text())["cases"]
    assert len(cases) == len(samples) > 0
