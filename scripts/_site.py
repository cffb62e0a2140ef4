"""Builds the demo site: wheel, JupyterLite, self-hosted Pyodide, and what the loader boots.

Three parts, each made anew only when something it is made of changed: the wheel, the JupyterLite
site around it, and the boot files inside the site. A change of a Python file touches the first and
the last, which takes a second.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

from _pyodide import PAGE_WHEELS, ensure_pyodide, ensure_wheels, sha256
from _setup import BUILD, ROOT, VENV, SetupError, digest, locked, run, step, venv_python

SITE = BUILD / "site"
LITE = ROOT / "lite"
EXTENSION = LITE / "extension"
WHEELS = BUILD / "wheels"
# What the wheel is made of besides the package and the labextension.
WHEEL_FILES = ("pyproject.toml", "README.md", "LICENSE")
KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
KERNEL_PLUGIN = f"{KERNEL_EXTENSION}:kernel"
PYODIDE_URL = "./static/pyodide/pyodide.mjs"
# In a built site: the loader's folder, and the file that says which state of what it was built from.
LOADER = Path("extensions/pywebmcp")
STATE = ".pywebmcp-build.json"


def build_site(output: Path = SITE, *, force: bool = False) -> Path:
    """Bring the site in `output` up to date and return that folder.

    `force` builds everything anew. A build that fails raises SetupError and leaves the folder as it
    was: a new site is made beside it and put in its place when it is complete and checked.
    """
    output = output.resolve()
    if output.exists() and any(output.iterdir()) and not (output / STATE).is_file():
        raise SetupError(f"{output} is not a site made by this script; remove it or name another")
    with locked("site"):
        wheel = ensure_wheel(force=force)
        pyodide = ensure_pyodide(force=force)
        wanted = {"site": _site_inputs(), "boot": digest(wheel, *_page_wheels())}
        state = {} if force else _read_state(output)
        if state == wanted:
            return output
        if state.get("site") == wanted["site"]:
            with step("Putting the new wheel into the site"):
                _write_boot_files(output, wheel)
                _write_json(output / STATE, wanted)
        else:
            _build_beside(output, wheel, pyodide, wanted)
    return output


def ensure_wheel(*, force: bool = False) -> Path:
    """The wheel of the present sources in build/wheels."""
    wanted = digest(ROOT / "py" / "pywebmcp", EXTENSION, *(ROOT / name for name in WHEEL_FILES))
    stamp = WHEELS / "stamp.txt"
    present = sorted(WHEELS.glob("*.whl"))
    if not force and len(present) == 1 and stamp.is_file() and stamp.read_text() == wanted:
        return present[0]
    with step("Building the wheel"):
        shutil.rmtree(WHEELS, ignore_errors=True)
        run([venv_python(), "-m", "hatchling", "build", "--target", "wheel", "--directory", WHEELS])
        (wheel,) = WHEELS.glob("*.whl")
        version = json.loads((EXTENSION / "package.json").read_text("utf-8"))["version"]
        if wheel.name.split("-")[1] != version:
            raise SetupError(f"lite/extension/package.json has version {version}, {wheel.name} not")
        stamp.write_text(wanted)
    return wheel


def _page_wheels() -> list[Path]:
    wheels = ensure_wheels()
    return [wheels[name] for name in PAGE_WHEELS]


def _site_inputs() -> str:
    """A hash of all that a full build depends on: not the Python package, not the loader's code."""
    lite = [path for path in sorted(LITE.iterdir()) if path != EXTENSION]
    return digest(
        *(path for path in lite if not path.name.startswith(".")),
        EXTENSION / "package.json",
        EXTENSION / "schemas",
        ROOT / "jupyter_lite_config.json",
        ROOT / "constraints.txt",
        Path(__file__),
        Path(__file__).with_name("_pyodide.py"),
    )


def _read_state(output: Path) -> dict[str, str]:
    try:
        state: dict[str, str] = json.loads((output / STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state


def _write_json(path: Path, value: object) -> None:
    """Write a file that is always whole for those who read it meanwhile."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    os.replace(part, path)


def _build_beside(output: Path, wheel: Path, pyodide: Path, state: dict[str, str]) -> None:
    new, old = (output.with_name(f"{output.name}.{suffix}") for suffix in ("new", "old"))
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        with step("Building the JupyterLite site"):
            _run_jupyter_lite(new, wheel)
            shutil.copytree(pyodide, new / "static" / "pyodide")
            _write_boot_files(new, wheel)
        with step("Checking the site"):
            check_site(new)
        _write_json(new / STATE, state)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if output.exists():
        output.rename(old)
    new.rename(output)
    shutil.rmtree(old, ignore_errors=True)


def _run_jupyter_lite(output: Path, wheel: Path) -> None:
    """`jupyter lite build`, in a work folder of its own.

    JupyterLite keeps its task database in the current folder and believes it even when the output
    is gone: a stale one silently drops jupyter-lite.json. A fresh folder has none.
    """
    work = BUILD / "lite-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    config = json.loads((ROOT / "jupyter_lite_config.json").read_text("utf-8"))
    config["LiteBuildConfig"] |= {
        "lite_dir": str(LITE),
        "output_dir": str(output),
        "cache_dir": str(work / "cache"),
        "federated_extensions": [
            str(VENV / "share" / "jupyter" / "labextensions" / KERNEL_EXTENSION),
            str(wheel),
        ],
    }
    _write_json(work / "jupyter_lite_config.json", config)
    run([venv_python(), "-m", "jupyterlite_core", "build"], cwd=work)
    shutil.rmtree(work)


def _write_boot_files(site: Path, wheel: Path) -> None:
    """Put the loader, the page's wheels and the manifest that names them into the site.

    Addresses carry a hash of the content, so that after a redeploy no cache mixes old and new. The
    manifest comes after what it names, and what the old one named goes after that.
    """
    static = site / LOADER / "static"
    boot = static / "boot"
    boot.mkdir(parents=True, exist_ok=True)
    loader = _labextension_files(wheel, "static/")
    for name, data in loader.items():
        _replace(site / LOADER / name, data)
    packages = []
    for source in (*_page_wheels(), wheel):
        digits = sha256(source)
        home = boot / digits[:12]
        home.mkdir(exist_ok=True)
        _replace(home / source.name, source.read_bytes())
        packages.append({"url": f"{home.name}/{source.name}", "sha256": digits})
    manifest = {
        "version": wheel.name.split("-")[1],
        # Relative to the manifest, like all addresses in it.
        "pyodide": "../" * (len(LOADER.parts) + 2) + PYODIDE_URL.removeprefix("./"),
        "packages": packages,
    }
    _write_json(boot / "manifest.json", manifest)
    present = {package["url"].split("/")[0] for package in packages}
    for stale in boot.iterdir():
        if stale.is_dir() and stale.name not in present:
            shutil.rmtree(stale)
    config = json.loads((site / "jupyter-lite.json").read_text("utf-8"))
    for extension in config["jupyter-config-data"]["federated_extensions"]:
        if extension["name"] == "pywebmcp":
            extension["load"] = f"static/remoteEntry.js?v={digest(*loader.values())[:12]}"
    _write_json(site / "jupyter-lite.json", config)


def _labextension_files(wheel: Path, start: str) -> dict[str, bytes]:
    """The labextension's files in a wheel, by their path in it, of those that begin with `start`."""
    with zipfile.ZipFile(wheel) as archive:
        marker = ".data/data/share/jupyter/labextensions/pywebmcp/"
        paths = {path.partition(marker)[2]: path for path in archive.namelist() if marker in path}
        return {name: archive.read(path) for name, path in paths.items() if name.startswith(start)}


def _replace(path: Path, data: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)


def check_site(site: Path) -> None:
    """Raise SetupError unless the site is complete and needs nothing from outside."""
    config = json.loads((site / "jupyter-lite.json").read_text("utf-8"))["jupyter-config-data"]
    kernel = config.get("litePluginSettings", {}).get(KERNEL_PLUGIN, {})
    _demand(kernel.get("pyodideUrl") == PYODIDE_URL, "the kernel's Pyodide is not the site's own")
    _demand(kernel.get("disablePyPIFallback") is True, "the kernel would ask PyPI for packages")
    names = sorted(extension["name"] for extension in config["federated_extensions"])
    _demand(names == sorted([KERNEL_EXTENSION, "pywebmcp"]), f"the labextensions are {names}")
    for extension in config["federated_extensions"]:
        entry = site / "extensions" / extension["name"] / extension["load"].partition("?")[0]
        _demand(entry.is_file(), f"{entry} is missing")
    settings = json.loads((site / "build/schemas/all_federated.json").read_text("utf-8"))
    _demand(any(item["id"] == "pywebmcp:plugin" for item in settings), "the settings are missing")

    pyodide = site / "static" / "pyodide"
    lock: dict[str, Any] = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    for entry in lock["packages"].values():
        _demand_file(pyodide / entry["file_name"], entry["sha256"])
    boot = site / LOADER / "static" / "boot"
    manifest = json.loads((boot / "manifest.json").read_text("utf-8"))
    _demand((boot / manifest["pyodide"]).is_file(), "the loader's Pyodide is missing")
    for package in manifest["packages"]:
        _demand_file(boot / package["url"], package["sha256"])
    for index in site.rglob("pypi/all.json"):
        for project in json.loads(index.read_text("utf-8")).values():
            for release in project["releases"].values():
                for wheel in release:
                    _demand_file(index.parent / wheel["url"], wheel["digests"]["sha256"])


def _demand(true: bool, complaint: str) -> None:
    if not true:
        raise SetupError(f"the built site is wrong: {complaint}")


def _demand_file(path: Path, expected: str) -> None:
    _demand(path.is_file(), f"{path} is missing")
    _demand(sha256(path) == expected, f"{path} has another content than its index says")
