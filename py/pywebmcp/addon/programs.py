"""The programs a build runs: npm and pip, which fetch, and Node, which runs Pyodide to compile."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

from pywebmcp.addon.errors import BuildError
from pywebmcp.addon.versions import PINS, PYODIDE_VERSION

OLDEST_NODE = 18
WHEELS_TXT = PINS / "wheels.txt"
NPM_FILES = ("package.json", "package-lock.json", ".npmrc")
BYTECODE = Path(__file__).with_name("bytecode.py")
# Runs a module inside Pyodide, with a folder of this machine mounted as /folder.
_DRIVER = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [core, script, folder] = process.argv.slice(1);
const { loadPyodide } = await import(pathToFileURL(core));
const pyodide = await loadPyodide();
pyodide.mountNodeFS("/folder", folder);
pyodide.runPython(readFileSync(script, "utf8"));
pyodide.globals.get("compile_folder")("/folder");
"""


def find_node() -> Path | None:
    """Node, of a version that Pyodide runs in, or None."""
    node = shutil.which("node")
    if node is None:
        return None
    done = subprocess.run([node, "--version"], capture_output=True, text=True)
    major = done.stdout.strip().lstrip("v").split(".")[0]
    return Path(node) if major.isdigit() and int(major) >= OLDEST_NODE else None


def compile_archives(core: Path, folder: Path, node: Path) -> None:
    """Add bytecode to the archives of a folder, with the Pyodide in the folder `core`."""
    words: list[str | Path] = [node, "--input-type=module", "--eval", _DRIVER]
    _run([*words, core / "pyodide.mjs", BYTECODE, folder.resolve()])
    for path in folder.iterdir():
        path.chmod(0o644)  # what Node wrote is writable for all


def fetch_npm(folder: Path, npm: Path | None = None) -> Path:
    """Install the pinned npm package `pyodide` in a folder; its own folder there is returned."""
    npm = npm or (Path(found) if (found := shutil.which("npm")) else None)
    if npm is None:
        raise BuildError(
            "Pyodide is to come from npm, which is not installed: install Node.js (it needs to be "
            "there only while the site is built), or name a folder, a tarball or an address in "
            "PywebmcpAddon.pyodide, or leave that out: the page then loads the kernel's Pyodide"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in NPM_FILES:
        shutil.copyfile(PINS / name, folder / name)
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)
    return folder / "node_modules" / "pyodide"


def unpack_npm(tarball: Path, folder: Path) -> None:
    """Unpack a tarball of the npm package `pyodide`, which has to be the pinned one."""
    lock = json.loads((PINS / "package-lock.json").read_text("utf-8"))
    expected = lock["packages"]["node_modules/pyodide"]["integrity"]
    try:
        digest = hashlib.sha512(tarball.read_bytes()).digest()
    except OSError as error:
        raise BuildError(f"{tarball} cannot be read: {error.strerror}") from None
    if f"sha512-{base64.b64encode(digest).decode()}" != expected:
        raise BuildError(
            f"{tarball.name} is not the npm package pyodide {PYODIDE_VERSION}: its SHA-512 is "
            f"another; `npm pack pyodide@{PYODIDE_VERSION}` makes the right one"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(tarball, "r:gz") as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            # All that matters lies in package/ itself: no path of the archive is followed.
            if member.isfile() and PurePosixPath(member.name).parts == ("package", name):
                content = archive.extractfile(member)
                (folder / name).write_bytes(content.read() if content else b"")


def fetch_wheels(folder: Path) -> None:
    """Fetch the kernel's packages into a folder, by pip, checked by their hashes."""
    if importlib.util.find_spec("pip") is None:
        raise BuildError(
            "pip fetches the packages of the site's kernel, and this environment has none: "
            "`python -m ensurepip`, or `uv pip install pip`"
        )
    shutil.rmtree(folder, ignore_errors=True)
    words: list[str | Path] = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    words += ["--disable-pip-version-check", "--require-hashes"]
    words += ["--requirement", WHEELS_TXT, "--dest", folder]
    # Pyodide's Python takes pure wheels: any platform, no ABI.
    words += ["--only-binary=:all:", "--python-version", "3.14", "--platform", "any"]
    _run([*words, "--implementation", "py", "--abi", "none"])


def _run(words: list[str | Path], cwd: Path | None = None) -> None:
    """Run a program quietly; BuildError with the end of what it said where it fails."""
    command = [str(word) for word in words]
    done = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-30:])
        shown = " ".join(word for word in command if "\n" not in word)
        raise BuildError(f"`{shown}` failed ({done.returncode}):\n{end}")
