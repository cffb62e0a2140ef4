"""`scripts/bench outputs`: saved outputs of a 200 MB notebook, read by us and by jupyter-jcli."""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _setup import BUILD, ROOT, SetupError, step

OTHER = "jupyter-jcli==0.9.7"
FOLDER = BUILD / "bench-outputs"
MEGABYTE = 1_000_000

# One reading in a process of its own, so that its peak memory is its own. VmHWM and not ru_maxrss:
# that one begins with what the parent had when it forked.
_CHILD = """
import json, resource, sys, time
name, path, cell, output = sys.argv[1:]
if name == "ours":
    from pywebmcp.outputs import list_notebook_outputs, read_notebook_output
else:
    from jupyter_jcli.outputs.notebook import list_notebook_outputs, read_notebook_output
began = time.perf_counter()
if output == "-":
    answer = list_notebook_outputs(path, int(cell))
else:
    answer = read_notebook_output(path, int(cell), int(output))
seconds = time.perf_counter() - began
try:
    lines = open("/proc/self/status").read().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"s": seconds, "MB": peak / 1024, "answer": len(json.dumps(answer))}))
"""


def main(arguments: list[str]) -> int:
    """Measure and print; 1 when ours needs more than half of the time or memory anywhere."""
    parser = argparse.ArgumentParser(prog="bench outputs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="readings of each (default: 5)")
    parser.add_argument("--megabytes", type=int, default=200, help="of the files (default: 200)")
    options = parser.parse_args(arguments)
    python = _other_python()
    fine = True
    print("medians: ours, jupyter-jcli, ratio")
    for content in _CONTENTS:
        path = _notebook(content, options.megabytes)
        for what, output in (("list a cell's outputs", "-"), ("read one of them", "0")):
            samples = _samples(python, path, options.megabytes // 2, output, options.rounds)
            for unit in ("s", "MB"):
                ours, other = (
                    statistics.median(each[unit] for each in samples[name])
                    for name in ("ours", "other")
                )
                fine = fine and ours <= other / 2
                row = f"{content:7} {what:22} {ours:8.2f} {other:8.2f} {unit:2} {ours / other:6.2f}"
                print(row, flush=True)
    return int(not fine)


def _samples(
    python: Path, path: Path, cell: int, output: str, rounds: int
) -> dict[str, list[dict[str, Any]]]:
    """In turns, so that what else the machine does falls on both."""
    samples: dict[str, list[dict[str, Any]]] = {"ours": [], "other": []}
    for _ in range(rounds):
        for name in samples:
            # The same interpreter for both: the other's venv, with our sources on its path.
            command = [python, "-W", "ignore", "-c", _CHILD, name, path, str(cell), output]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env={"PYTHONPATH": str(ROOT / "py"), "PYTHONDONTWRITEBYTECODE": "1"},
            )
            if done.returncode:
                raise SetupError(f"{name} failed: {done.stderr.strip().splitlines()[-1]}")
            samples[name].append(json.loads(done.stdout))
    return samples


def _other_python() -> Path:
    """The Python of a venv with the other reader."""
    folder = FOLDER / "venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = folder / "stamp.txt"
    if not stamp.is_file() or stamp.read_text() != OTHER:
        with step(f"Installing {OTHER}"):
            venv.create(folder, clear=True, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", OTHER], check=True)
        stamp.write_text(OTHER)
    return python


def _image(chance: random.Random) -> dict[str, Any]:
    data = b"\x89PNG\r\n\x1a\n" + chance.randbytes(MEGABYTE * 3 // 4)
    bundle = {"image/png": base64.b64encode(data).decode(), "text/plain": ["<Figure>"]}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def _log(chance: random.Random) -> dict[str, Any]:
    lines = [
        f"step {number:06d}: the loss is {chance.random():.6f} µ\n"
        for number in range(MEGABYTE // 52)
    ]
    return {"output_type": "stream", "name": "stdout", "text": lines}


def _table(chance: random.Random) -> dict[str, Any]:
    cells = [f'<td class="x">{chance.random()}</td>\n' for _ in range(MEGABYTE // 51)]
    bundle = {"text/html": cells, "text/plain": "a table"}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


_CONTENTS = {"images": (_image,), "logs": (_log,), "mixed": (_image, _image, _log, _table)}


def _notebook(content: str, megabytes: int) -> Path:
    """A notebook as Jupyter writes it, of cells of a megabyte each."""
    path = FOLDER / f"{content}-{megabytes}.ipynb"
    if not path.is_file():
        with step(f"Writing {path.relative_to(ROOT)}"):
            FOLDER.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            with part.open("w", encoding="utf-8") as file:
                file.writelines(_pieces(content, megabytes))
            part.replace(path)
    return path


def _pieces(content: str, megabytes: int) -> Iterator[str]:
    chance = random.Random(1)
    makers = _CONTENTS[content]
    yield '{\n "cells": [\n'
    for number in range(megabytes):
        cell = {
            "cell_type": "code",
            "execution_count": number + 1,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [makers[number % len(makers)](chance)],
            "source": [f"show({number})"],
        }
        text = json.dumps(cell, indent=1, ensure_ascii=False)
        comma = "," if number + 1 < megabytes else ""
        yield "  " + text.replace("\n", "\n  ") + comma + "\n"
    yield ' ],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n'
