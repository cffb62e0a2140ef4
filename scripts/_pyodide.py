"""The Pyodide folder the site serves: npm's core, the kernel's wheels and a lock that names just those.

Pyodide's own lock lists 356 packages of its CDN. A site without network has to carry what the kernel
installs when it starts, and has to know nothing else: an unknown package is then a plain
ModuleNotFoundError instead of a request that fails.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from _setup import (
    BUILD,
    PYODIDE_PINS,
    SetupError,
    digest,
    ensure_node,
    ensure_pyodide_npm,
    run,
    step,
    venv_python,
)

WHEELS_TXT = PYODIDE_PINS / "wheels.txt"
CORE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
# What the kernel loads at its start, besides the wheels its own labextension ships.
KERNEL_ROOTS = ("micropip", "ipython", "jedi")
# Needed by the kernel, absent from Pyodide's lock.
KERNEL_EXTRA = "comm"
# Unpacked into the page's own Pyodide, not into the kernel's.
PAGE_WHEELS = ("fastjsonschema",)

PRECOMPILE = Path(__file__).with_name("_precompile.py")
# Runs a Python script inside Node's Pyodide with a folder of this machine mounted as /folder.
NODE_DRIVER = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [core, script, folder] = process.argv.slice(1);
const { loadPyodide } = await import(pathToFileURL(core));
const pyodide = await loadPyodide();
pyodide.mountNodeFS("/folder", folder);
pyodide.runPython(readFileSync(script, "utf8"));
"""


def normalized(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ensure_wheels() -> dict[str, Path]:
    """The wheels of lite/pyodide/wheels.txt by normalized name, fetched by pip and checked by hash."""
    folder, wanted = BUILD / "page-wheels", digest(WHEELS_TXT)
    stamp = folder / "stamp.txt"
    if not (stamp.is_file() and stamp.read_text() == wanted):
        with step("Fetching the page's wheels with pip"):
            shutil.rmtree(folder, ignore_errors=True)
            pip: list[str | Path] = [venv_python(), "-m", "pip", "download", "--quiet", "--no-deps"]
            pip += ["--require-hashes", "--requirement", WHEELS_TXT, "--dest", folder]
            # Pyodide's Python takes pure wheels: any platform, no ABI.
            pip += ["--only-binary=:all:", "--python-version", "3.14", "--platform", "any"]
            run([*pip, "--implementation", "py", "--abi", "none"])
            stamp.write_text(wanted)
    return {normalized(path.name.split("-")[0]): path for path in sorted(folder.glob("*.whl"))}


def ensure_pyodide(*, force: bool = False) -> Path:
    """The finished folder build/pyodide, made anew when a pin or this module changed."""
    npm = ensure_pyodide_npm()
    wheels = ensure_wheels()
    folder, wanted = BUILD / "pyodide", digest(PYODIDE_PINS, Path(__file__), PRECOMPILE)
    stamp = BUILD / "pyodide.stamp.txt"
    if force or not (folder.is_dir() and stamp.is_file() and stamp.read_text() == wanted):
        with step("Assembling the Pyodide folder and compiling its Python files"):
            stamp.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            _assemble(folder, npm, wheels)
            stamp.write_text(wanted)
    return folder


def _assemble(folder: Path, npm: Path, wheels: dict[str, Path]) -> None:
    lock = cut_lock(json.loads((npm / "pyodide-lock.json").read_text("utf-8")), wheels)
    folder.mkdir(parents=True)
    for name in CORE_FILES:
        shutil.copyfile(npm / name, folder / name)
    for name, entry in lock["packages"].items():
        shutil.copyfile(wheels[name], folder / entry["file_name"])
    node, _ = ensure_node()
    driver: list[str | Path] = [node, "--input-type=module", "--eval", NODE_DRIVER]
    run([*driver, npm / "pyodide.mjs", PRECOMPILE, folder])
    for entry in lock["packages"].values():
        entry["sha256"] = sha256(folder / entry["file_name"])
    for path in folder.iterdir():
        path.chmod(0o644)  # what Node wrote is writable for all
    (folder / "pyodide-lock.json").write_text(json.dumps(lock, indent=1), "utf-8")


def cut_lock(lock: dict[str, Any], wheels: dict[str, Path]) -> dict[str, Any]:
    """Pyodide's lock reduced to the kernel's packages, which are PyPI's files, not the CDN's.

    Their hashes have to be put in when the files are final. Raises SetupError where wheels.txt and
    the lock disagree about a package or its version.
    """
    packages, todo = {}, list(KERNEL_ROOTS)
    while todo:
        name = normalized(todo.pop())
        if name in packages:
            continue
        entry = lock["packages"][name]
        wheel = wheels.get(name)
        if wheel is None or wheel.name.split("-")[1] != entry["version"]:
            raise SetupError(f"{WHEELS_TXT.name} must pin {name}=={entry['version']}")
        packages[name] = {**entry, "file_name": wheel.name, "unvendored_tests": False}
        todo += entry["depends"]
    packages[KERNEL_EXTRA] = {
        "name": KERNEL_EXTRA,
        "version": wheels[KERNEL_EXTRA].name.split("-")[1],
        "file_name": wheels[KERNEL_EXTRA].name,
        "install_dir": "site",
        "package_type": "package",
        "imports": [KERNEL_EXTRA],
        "depends": [],
        "unvendored_tests": False,
    }
    unused = set(wheels) - set(packages) - set(PAGE_WHEELS)
    if unused:
        raise SetupError(f"{WHEELS_TXT.name} pins what nothing uses: {', '.join(sorted(unused))}")
    return {**lock, "packages": dict(sorted(packages.items()))}
