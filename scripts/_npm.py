"""What only the tests take from npm, fetched into build/ in the versions pinned here."""

from __future__ import annotations

import shutil
from pathlib import Path

from _setup import BUILD, ensure_node, locked, run, step

# Checks of accessibility (MPL-2.0); no part of what is built.
AXE = "axe-core@4.14.1"


def ensure_axe() -> Path:
    """The path of axe-core's script for pages."""
    name, version = AXE.split("@")
    folder = BUILD / f"npm-{name}-{version}"
    script = folder / "node_modules" / name / "axe.min.js"
    if not script.is_file():
        with locked("npm-tests"):
            if not script.is_file():
                _, npm = ensure_node()
                with step(f"Fetching {name} with npm"):
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.mkdir(parents=True)
                    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
                    run([npm, "install", *quiet, AXE], cwd=folder)
    return script
