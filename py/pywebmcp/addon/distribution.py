"""The Pyodide folder that a site serves: npm's core, the kernel's packages, and a lock that fits them.

Pyodide's own lock lists 356 packages of its CDN. A site without network has to carry what the kernel
installs when it starts, and has to know nothing else: an unknown package is then a plain
ModuleNotFoundError instead of a request that fails. A site that may use the CDN says so, and its lock
names the rest there.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pywebmcp.addon.errors import BuildError

Lock = dict[str, Any]
"""The content of pyodide-lock.json."""

LOCK = "pyodide-lock.json"
CORE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
# Of the core too, but not for the page: it says the version.
PACKAGE_JSON = "package.json"
# What the kernel loads at its start, besides the wheels its own labextension ships.
KERNEL_ROOTS = ("micropip", "ipython", "jedi")
# Needed by the kernel, absent from Pyodide's lock.
KERNEL_EXTRA = "comm"


def normalized(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def core_version(folder: Path) -> str:
    """The version of the Pyodide in a folder; BuildError where none is, or not all of it."""
    missing = [n for n in (*CORE_FILES, LOCK, PACKAGE_JSON) if not (folder / n).is_file()]
    if missing:
        raise BuildError(
            f"{folder} is not a Pyodide of npm's: it has no {', '.join(missing)}. "
            "PywebmcpAddon.pyodide takes the folder of the npm package `pyodide`"
        )
    return str(json.loads((folder / PACKAGE_JSON).read_text("utf-8")).get("version"))


def read_lock(folder: Path) -> Lock:
    """The lock of a Pyodide folder."""
    lock: Lock = json.loads((folder / LOCK).read_text("utf-8"))
    return lock


def kernel_packages(lock: Lock) -> list[str]:
    """The normalized names of what the kernel loads at its start, from the lock and besides it."""
    found, todo = {KERNEL_EXTRA}, list(KERNEL_ROOTS)
    while todo:
        name = normalized(todo.pop())
        if name not in found:
            found.add(name)
            todo += lock["packages"][name]["depends"]
    return sorted(found)


def wheels(folder: Path) -> dict[str, Path]:
    """The wheels in a folder by the normalized names of their packages."""
    return {normalized(path.name.split("-")[0]): path for path in sorted(folder.glob("*.whl"))}


def lacking(folder: Path) -> list[str]:
    """The kernel's packages that a Pyodide folder names in its lock but does not hold."""
    lock, present = read_lock(folder), wheels(folder)
    return [name for name in kernel_packages(lock) if not _is_carried(lock, name, present)]


def _is_carried(lock: Lock, name: str, present: dict[str, Path]) -> bool:
    wheel, entry = present.get(name), lock["packages"].get(name)
    return wheel is not None and (entry is None or wheel.name.split("-")[1] == entry["version"])


def assemble(core: Path, packages: Iterable[Path], folder: Path) -> None:
    """Make the folder of a core and the kernel's wheels; what was in it is gone.

    Raises BuildError where the wheels are not those of the core's lock.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (*CORE_FILES, LOCK, PACKAGE_JSON):
        shutil.copyfile(core / name, folder / name)
    for wheel in packages:
        shutil.copyfile(wheel, folder / wheel.name)
    demand_kernel(folder)


def demand_kernel(folder: Path) -> None:
    """Raise BuildError unless the folder holds what the kernel loads, at the lock's versions."""
    missing = lacking(folder)
    if missing:
        packages = read_lock(folder)["packages"]
        wanted = [
            f"{name}=={packages[name]['version']}" if name in packages else name for name in missing
        ]
        raise BuildError(f"{folder} has not what the kernel loads: {', '.join(wanted)}")


def place(folder: Path, output: Path, packages_url: str = "") -> None:
    """Put the files of an assembled folder into a site, with the lock for it."""
    output.mkdir(parents=True, exist_ok=True)
    carried = placed_files(folder)
    for name in carried:
        shutil.copyfile(folder / name, output / name)
    for stale in output.iterdir():
        if stale.is_file() and stale.name not in (*carried, LOCK):
            stale.unlink()
    (output / LOCK).write_text(json.dumps(site_lock(folder, packages_url), indent=1), "utf-8")


def placed_files(folder: Path) -> list[str]:
    """The names of the files that go into a site, besides the lock, which is made for it."""
    names = (path.name for path in folder.iterdir() if path.is_file())
    return sorted(name for name in names if name in CORE_FILES or name.endswith(".whl"))


def site_lock(folder: Path, packages_url: str = "") -> Lock:
    """The lock of a site: what the folder holds, and the rest only from `packages_url`, if given.

    The address is that of the folder with the files that Pyodide's lock names. Their hashes stay in
    the lock: what comes from there is checked in the page.
    """
    lock, present = read_lock(folder), wheels(folder)
    base = packages_url.rstrip("/")
    packages = {}
    for name, entry in lock["packages"].items():
        wheel = present.get(name) if _is_carried(lock, name, present) else None
        if wheel is not None:
            # PyPI's files are others than the CDN's, by name and by hash.
            carried = {"file_name": wheel.name, "sha256": sha256(wheel), "unvendored_tests": False}
            packages[name] = {**entry, **carried}
        elif base:
            file_name = entry["file_name"]
            is_address = re.match(r"https?://", file_name)
            packages[name] = {
                **entry,
                "file_name": file_name if is_address else f"{base}/{file_name}",
            }
    extra = present[KERNEL_EXTRA]
    packages[KERNEL_EXTRA] = {
        "name": KERNEL_EXTRA,
        "version": extra.name.split("-")[1],
        "file_name": extra.name,
        "sha256": sha256(extra),
        "install_dir": "site",
        "package_type": "package",
        "imports": [KERNEL_EXTRA],
        "depends": [],
        "unvendored_tests": False,
    }
    return {**lock, "packages": dict(sorted(packages.items()))}
