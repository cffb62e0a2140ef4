"""A folder in the form of npm's package `pyodide`, and the kernel's wheels, without a word of Python."""

from __future__ import annotations

import json
from pathlib import Path

VERSION = "314.0.6"
KERNEL = ("comm", "ipython", "jedi", "micropip", "six")


def make_core(folder: Path, version: str = VERSION) -> Path:
    """A core whose lock has the kernel's packages, numpy, and one that has an address of its own."""
    folder.mkdir(parents=True)
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
        (folder / name).write_text(f"content of {name}")
    (folder / "package.json").write_text(json.dumps({"version": version}))
    depends = {"ipython": ["six", "jedi"], "numpy": ["six"]}
    packages = {
        name: {
            "name": name,
            "version": "1.0",
            "file_name": f"{name}-1.0-py3-none-any.whl",
            "sha256": f"the CDN's {name}",
            "depends": depends.get(name, []),
            "unvendored_tests": True,
        }
        for name in ("ipython", "jedi", "micropip", "six", "numpy")
    }
    packages["away"] = {
        **packages["numpy"],
        "name": "away",
        "file_name": "https://else.where/a.whl",
    }
    lock = {"info": {"python": "3.14.2"}, "packages": packages}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    return folder


def make_wheels(folder: Path, *names: str, version: str = "1.0") -> list[Path]:
    """Files with the names of wheels, by default those the kernel wants."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in names or KERNEL:
        made.append(folder / f"{name}-{version}-py2.py3-none-any.whl")
        made[-1].write_text(f"PyPI's {name}")
    return made
