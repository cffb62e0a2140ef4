"""What the scripts need on a machine, installed when missing: the venv, Chromium, Node.

Only the standard library: it runs under the system's Python before anything is installed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - what runs this is the system's Python, not the venv's
    sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")

import tomllib

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
VENV = ROOT / ".venv"
EXTRAS = "test,lint,site"
WINDOWS = os.name == "nt"
OLDEST_CHROMIUM = 150
"""Older versions have no WebMCP or an early form of it; the README names this one too."""


class SetupError(Exception):
    """Something a person has to mend; the message says what and how."""


def run_main(main: Callable[[], int | None]) -> None:
    """Run a script's main function; an expected failure is one line on stderr and exit status 1."""
    try:
        sys.exit(main())
    except SetupError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Print what is being done, and when it is over how long it took."""
    print(f"{what} …", end="", flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print(" failed", flush=True)
        raise
    print(f" {time.monotonic() - start:.1f} s", flush=True)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Let one process at a time into a part of the build; others wait (not on Windows)."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / f"{name}.lock").open("w") as handle:
        if not WINDOWS:
            import fcntl

            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"Waiting for another process that holds {handle.name}", flush=True)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(command: list[str | Path], *, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command quietly and return its output; a failure shows the end of it."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise SetupError(f"`{' '.join(words)}` cannot be run: {error}") from None
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-30:])
        raise SetupError(f"`{' '.join(words)}` failed ({done.returncode}):\n{end}")
    return done.stdout


def digest(*parts: Path | str | bytes) -> str:
    """A SHA-256 over texts, files and whole folders (names and bytes, in a fixed order)."""
    total = hashlib.sha256()

    def add(data: bytes) -> None:
        total.update(len(data).to_bytes(8, "big") + data)

    for part in parts:
        if isinstance(part, str):
            add(part.encode())
        elif isinstance(part, bytes):
            add(part)
        elif part.is_dir():
            for path in sorted(part.rglob("*")):
                if path.is_file() and not _is_litter(path):
                    add(path.relative_to(part).as_posix().encode())
                    add(path.read_bytes())
        else:
            add(part.read_bytes())
    return total.hexdigest()


def _is_litter(path: Path) -> bool:
    return bool({"__pycache__", ".ipynb_checkpoints"} & set(path.parts)) or path.suffix == ".pyc"


# --- Debian's packages


def _can_use_apt() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def _distribution() -> str:
    """The ID of /etc/os-release: ``debian``, ``ubuntu``, …; empty where there is none."""
    try:
        return platform.freedesktop_os_release()["ID"]
    except OSError:
        return ""


def _apt_install(*packages: str) -> None:
    with step(f"Installing {' and '.join(packages)} with apt-get"):
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update"], env=quiet)
        run(["apt-get", "install", "--yes", "--no-install-recommends", *packages], env=quiet)


# --- the venv


def venv_python() -> Path:
    """The interpreter of the project's venv."""
    return VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")


def ensure_venv() -> Path:
    """Make `.venv` with the pinned packages and the project itself (editable), unless it is there.

    A stamp in the venv holds a hash of what was asked for, so that the second call only reads it.
    It is there only while the venv is whole: without it, the venv is made anew.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = digest(
        ROOT / "constraints.txt",
        json.dumps([project["build-system"], project["project"], project["tool"]["hatch"]]),
        EXTRAS,
    )
    stamp = VENV / "pywebmcp-setup.txt"
    if _reads(stamp, wanted) and venv_python().exists():
        return venv_python()
    with locked("venv"):
        if not (_reads(stamp, wanted) and venv_python().exists()):
            whole = stamp.exists() and venv_python().exists()
            stamp.unlink(missing_ok=True)
            if not whole:
                _make_venv()
            _install_packages()
            stamp.write_text(wanted)
    return venv_python()


def _reads(path: Path, text: str) -> bool:
    try:
        return path.read_text() == text
    except OSError:
        return False


def _make_venv() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if not _can_use_apt():
            raise SetupError(
                f"this Python cannot make venvs; install {package} "
                f"(Debian, Ubuntu: `sudo apt-get install {package}`)"
            )
        _apt_install(package)
    with step(f"Making the venv {VENV.name}"):
        # A subprocess: ensurepip may have come a moment ago.
        run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", VENV])


def _install_packages() -> None:
    with step("Installing the pinned Python packages"):
        pip: list[str | Path] = [venv_python(), "-m", "pip", "install", "--quiet", "--no-compile"]
        pip += ["--disable-pip-version-check", "--constraint", ROOT / "constraints.txt"]
        run([*pip, "hatchling"])
        # No build isolation: the build backend is the pinned one too.
        run([*pip, "--no-build-isolation", "--editable", f"{ROOT}[{EXTRAS}]"])


def use_venv() -> None:
    """Run the present script again under the venv's Python, made if need be, unless that runs it."""
    python = ensure_venv()
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    if WINDOWS:
        sys.exit(subprocess.run([python, *sys.argv]).returncode)
    os.execv(python, [str(python), *sys.argv])


# --- Chromium

_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CHROMIUM_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Chromium.app/Contents/MacOS/Chromium",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "%PROGRAMFILES%/Google/Chrome/Application/chrome.exe",
    "%PROGRAMFILES(X86)%/Google/Chrome/Application/chrome.exe",
    "%LOCALAPPDATA%/Google/Chrome/Application/chrome.exe",
    "%LOCALAPPDATA%/Chromium/Application/chrome.exe",
)


def find_chromium() -> Path | None:
    """Chromium or Chrome: the one PYWEBMCP_CHROMIUM names, on the PATH, or where it is installed.

    One that is too old for WebMCP is passed over; SetupError where PYWEBMCP_CHROMIUM names it.
    """
    named = os.environ.get("PYWEBMCP_CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise SetupError(f"PYWEBMCP_CHROMIUM names {named}, which is not there")
        if flaw := _flaw(Path(named)):
            raise SetupError(f"PYWEBMCP_CHROMIUM names {named}, which {flaw}")
        return Path(named)
    return next((path for path in _installed_chromiums() if not _flaw(path)), None)


def _installed_chromiums() -> list[Path]:
    on_path = [Path(found) for name in _CHROMIUM_NAMES if (found := shutil.which(name))]
    places = [Path(os.path.expandvars(place)).expanduser() for place in _CHROMIUM_PLACES]
    return on_path + [path for path in places if path.is_file()]


def _flaw(chromium: Path) -> str:
    """Why a Chromium cannot be used, as the rest of a sentence; empty when it can."""
    version = _version(chromium)
    if version is None:
        return "does not tell its version"
    if version < OLDEST_CHROMIUM:
        return f"is version {version} (WebMCP needs {OLDEST_CHROMIUM} or newer)"
    return ""


@functools.cache
def _version(chromium: Path) -> int | None:
    """The major version; None where it does not start, as the stub in Ubuntu's package."""
    if WINDOWS:
        # There, `--version` opens a window; what belongs to a version is in a folder of its name.
        text = " ".join(path.name for path in chromium.parent.iterdir() if path.is_dir())
    else:
        try:
            text = run([chromium, "--version"])
        except SetupError:
            return None
    versions = re.findall(r"\b(\d+)(?:\.\d+){3}\b", text)
    return max(map(int, versions), default=None)


def ensure_chromium() -> Path:
    """The path of a Chromium that Playwright can drive; apt-get installs what is missing if it can."""
    _ensure_driver()
    found = find_chromium()
    # Only Debian's package is a browser: Ubuntu's is a stub for the snap.
    if found is None and _can_use_apt() and _distribution() == "debian":
        _apt_install("chromium")
        _version.cache_clear()
        found = find_chromium()
    if found is None:
        passed_over = [f"{path} {_flaw(path)}" for path in _installed_chromiums()]
        found_only = f" ({'; '.join(passed_over)})" if passed_over else ""
        how = {
            "debian": "`sudo apt-get install chromium`, or install Chrome",
            "ubuntu": "install Chrome from google.com/chrome: Ubuntu's package chromium-browser is "
            "only a stub for a snap",
        }.get(_distribution(), "install one")
        raise SetupError(
            f"no Chromium or Chrome {OLDEST_CHROMIUM} or newer found{found_only}; {how}, "
            "or name one in PYWEBMCP_CHROMIUM"
        )
    return found


def _ensure_driver() -> None:
    """Playwright brings a Node of its own, which needs a library that Debian's base lacks."""
    for driver in VENV.glob("lib/python3*/site-packages/playwright/driver/node"):
        try:
            run([driver, "--version"])
        except SetupError:
            if not _can_use_apt():
                raise
            _apt_install("libatomic1")


# --- Node


def ensure_node() -> tuple[Path, Path]:
    """The paths of `node`, version 18 or newer, and `npm`; apt-get installs them if it can."""
    if not (shutil.which("node") and shutil.which("npm")) and _can_use_apt():
        _apt_install("nodejs", "npm")
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise SetupError(
            "Node 18 or newer with npm is needed (Debian: `sudo apt-get install nodejs npm`)"
        )
    version = run([node, "--version"]).strip()
    if int(version.lstrip("v").split(".")[0]) < 18:
        raise SetupError(f"Node 18 or newer is needed; {node} is {version}")
    return Path(node), Path(npm)
