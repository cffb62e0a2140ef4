"""Two processes store and clean in one workspace at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="has no processes")

PACKAGE = str(Path(__file__).parents[2])
IMAGE = "iVBORw0KGgo="

WRITER = f"""
import sys
from pathlib import Path
from pywebmcp.outputs.store import Limits, persist, show

outputs = [{{"output_type": "display_data", "data": {{"image/png": {IMAGE!r}}}, "metadata": {{}}}}]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    path = persist(outputs, sys.argv[1], limits=Limits(max_runs=3))
    assert path.is_absolute()
"""


def test_two_writers_that_clean_leave_whole_runs_and_no_others(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": PACKAGE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        # Both are loaded and start together.
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        _, problems = writer.communicate()
        assert (writer.returncode, problems) == (0, "")
    folders = list((tmp_path / ".pywebmcp" / "outputs").iterdir())
    # A cleanup keeps three and its own; the two may each have kept what the other did not.
    assert 3 <= len(folders) <= 5
    for folder in folders:
        assert sorted(each.name for each in folder.iterdir()) == ["manifest.json", "output-0.png"]
        assert json.loads((folder / "manifest.json").read_bytes())["run_id"] == folder.name
