"""Which Chromium or Chrome is used, and with which switches. Only the standard library: the project's
own scripts use it before anything is installed.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = 150
"""Older versions have no WebMCP or an early form of it."""

VARIABLE = "PYWEBMCP_CHROMIUM"
"""The environment variable that names the browser's program."""

NO_HEAP_SAMPLES = "HeapProfilerReporting:stable-probability/0/nonstable-probability/0"
"""A feature with parameters that turn Chromium's sampling heap profiler off.

It walks past the end of a WebAssembly stack (JavaScript Promise Integration, which Pyodide uses) and
ends the renderer. Not by ``--disable-features``, which would undo Playwright's own list.
"""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Chromium.app/Contents/MacOS/Chromium",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "%PROGRAMFILES%/Google/Chrome/Application/chrome.exe",
    "%PROGRAMFILES(X86)%/Google/Chrome/Application/chrome.exe",
    "%LOCALAPPDATA%/Google/Chrome/Application/chrome.exe",
    "%LOCALAPPDATA%/Chromium/Application/chrome.exe",
)


class ChromiumError(Exception):
    """There is none that can be used; the message says which was looked at."""


def find() -> Path:
    """The one PYWEBMCP_CHROMIUM names, on the PATH, or where it is installed; too old ones are passed
    over.

    Raises ``ChromiumError`` where there is none, or the named one cannot be used.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise ChromiumError(f"{VARIABLE} names {named}, which is not there")
        if flaw := _flaw(Path(named)):
            raise ChromiumError(f"{VARIABLE} names {named}, which {flaw}")
        return Path(named)
    passed_over = []
    for path in _installed():
        flaw = _flaw(path)
        if not flaw:
            return path
        passed_over.append(f"{path} {flaw}")
    found_only = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise ChromiumError(
        f"no Chromium or Chrome {OLDEST} or newer found{found_only}; install one, or name one in "
        f"{VARIABLE}"
    )


def switches() -> list[str]:
    """What every start has: WebMCP on, and no sandbox for root alone."""
    chosen = ["--no-first-run", f"--enable-features={NO_HEAP_SAMPLES},WebMCP"]
    # Chromium refuses to start its sandbox as root, which is what containers run as.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--no-sandbox")
    return chosen


def has_display() -> bool:
    """Whether a window can be shown."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True


def _installed() -> list[Path]:
    on_path = [Path(found) for name in _NAMES if (found := shutil.which(name))]
    places = [Path(os.path.expandvars(place)).expanduser() for place in _PLACES]
    return on_path + [path for path in places if path.is_file()]


def _flaw(chromium: Path) -> str:
    """Why it cannot be used, as the rest of a sentence; empty when it can."""
    version = _version(chromium)
    if version is None:
        return "does not tell its version"
    if version < OLDEST:
        return f"is version {version} ({OLDEST} or newer is needed)"
    return ""


@functools.cache
def _version(chromium: Path) -> int | None:
    """The major version; None where it does not start, as the stub in Ubuntu's package."""
    if os.name == "nt":
        # There, `--version` opens a window; what belongs to a version is in a folder of its name.
        text = " ".join(path.name for path in chromium.parent.iterdir() if path.is_dir())
    else:
        try:
            text = subprocess.run(
                [chromium, "--version"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=30,
                check=True,
                text=True,
                errors="replace",
            ).stdout
        except (OSError, subprocess.SubprocessError):
            return None
    versions = re.findall(r"\b(\d+)(?:\.\d+){3}\b", text)
    return max(map(int, versions), default=None)
