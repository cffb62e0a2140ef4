"""Builds the demo site with the package's own addon, as anybody's site is built.

A full build is `jupyter lite build` in a folder of its own. Where only the package or the loader
changed, the addon's functions put those into the site that is there, which takes a second.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pywebmcp
from _pyodide import ensure_pyodide, told
from _setup import BUILD, ROOT, VENV, SetupError, digest, locked, run, step, venv_python
from pywebmcp.addon import archives, boot, programs

SITE = BUILD / "site"
LITE = ROOT / "lite"
EXTENSION = LITE / "extension"
ADDON = ROOT / "py" / "pywebmcp" / "addon"
CONFIGURATION = ROOT / "jupyter_lite_config.json"
# In a built site: the file that says which state of what it was built from.
STATE = ".pywebmcp-build.json"


def build_site(output: Path = SITE, *, force: bool = False, compiled: bool = False) -> Path:
    """Bring the site in `output` up to date and return that folder.

    `force` builds everything anew; `compiled` adds bytecode to the page's packages, which is slower
    here and faster in the page. A build that fails raises SetupError and leaves the folder as it
    was: a new site is made beside it and put in its place when it is complete and checked.
    """
    output = output.resolve()
    if output.exists() and any(output.iterdir()) and not (output / STATE).is_file():
        raise SetupError(f"{output} is not a site made by this script; remove it or name another")
    pyodide = ensure_pyodide(force=force)
    with locked("site"), told():
        wanted = {"site": _site_inputs(), "page": _page_inputs(compiled)}
        state = {} if force else _read_state(output)
        if state == wanted:
            return output
        if state.get("site") == wanted["site"]:
            with step("Putting what changed into the site"):
                _refresh(output, pyodide if compiled else None)
                boot.write_json(output / STATE, wanted)
        else:
            _build_beside(output, pyodide, wanted, compiled)
    return output


def _site_inputs() -> str:
    """A hash of all that a full build depends on: not the Python package, not the loader's code."""
    lite = [path for path in sorted(LITE.iterdir()) if path != EXTENSION]
    return digest(
        *(path for path in lite if not path.name.startswith(".")),
        EXTENSION / "package.json",
        EXTENSION / "schemas",
        CONFIGURATION,
        ROOT / "constraints.txt",
        pywebmcp.__version__,
        ADDON,
        Path(__file__),
        Path(__file__).with_name("_pyodide.py"),
    )


def _page_inputs(compiled: bool) -> str:
    """A hash of what the page loads: its packages and the loader."""
    files: list[Path | str] = [EXTENSION / "static", str(compiled)]
    for name in archives.PAGE_PACKAGES:
        for inside, path in archives.package_files(name).items():
            files += [inside, path]
    return digest(*files)


def _read_state(output: Path) -> dict[str, str]:
    try:
        state: dict[str, str] = json.loads((output / STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state


def _refresh(site: Path, core: Path | None) -> None:
    """Put the package and the loader into a site; with a Pyodide, compiled by it."""
    made = BUILD / "page"
    shutil.rmtree(made, ignore_errors=True)
    names = [made / archives.archive_name(name) for name in archives.PAGE_PACKAGES]
    for name, path in zip(archives.PAGE_PACKAGES, names, strict=True):
        archives.write_package(name, path)
    if core is not None and (node := programs.find_node()):
        programs.compile_archives(core, made, node)
    static = site / boot.LABEXTENSION / "static"
    present = {path.name for path in EXTENSION.joinpath("static").iterdir()}
    for name in present:
        boot.replace_file(static / name, (EXTENSION / "static" / name).read_bytes())
    for path in static.iterdir():
        if path.is_file() and path.name not in present:
            path.unlink()
    boot.write_boot(site, boot.SITE_PYODIDE, names)
    load = boot.stamp_loader(site / boot.LABEXTENSION)
    file = site / boot.CONFIGURATION
    config = json.loads(file.read_text("utf-8"))
    for extension in config["jupyter-config-data"]["federated_extensions"]:
        if extension["name"] == "pywebmcp":
            extension["load"] = load
    boot.write_json(file, config)


def _build_beside(output: Path, pyodide: Path, state: dict[str, str], compiled: bool) -> None:
    new, old = (output.with_name(f"{output.name}.{suffix}") for suffix in ("new", "old"))
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        with step("Building the JupyterLite site"):
            _run_jupyter_lite(new, pyodide, compiled)
        with step("Checking the site"):
            check_site(new)
        boot.write_json(new / STATE, state)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if output.exists():
        output.rename(old)
    new.rename(output)
    shutil.rmtree(old, ignore_errors=True)


def _run_jupyter_lite(output: Path, pyodide: Path, compiled: bool) -> None:
    """`jupyter lite build`, in a work folder of its own.

    JupyterLite keeps its task database in the current folder and believes it even when the output
    is gone: a stale one silently drops jupyter-lite.json. A fresh folder has none.
    """
    work = BUILD / "lite-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    config = json.loads(CONFIGURATION.read_text("utf-8"))
    config["LiteBuildConfig"] |= {
        "lite_dir": str(LITE),
        "output_dir": str(output),
        "cache_dir": str(work / "cache"),
        "federated_extensions": [
            str(VENV / "share" / "jupyter" / "labextensions" / boot.KERNEL_EXTENSION),
            # The work tree's, which is newer than the one that the venv was made with.
            str(EXTENSION),
        ],
    }
    ours = config.setdefault("PywebmcpAddon", {})
    ours |= {"pyodide": os.path.relpath(pyodide, LITE), "precompile": compiled}
    boot.write_json(work / CONFIGURATION.name, config)
    run([venv_python(), "-m", "jupyterlite_core", "build"], cwd=work)
    shutil.rmtree(work)


def check_site(site: Path) -> None:
    """Raise SetupError unless the site is complete and needs nothing from outside."""
    boot.check_boot(site)
    config = boot.read_configuration(site)
    kernel: dict[str, Any] = config.get("litePluginSettings", {}).get(boot.KERNEL_PLUGIN, {})
    _demand(kernel.get("pyodideUrl") == boot.SITE_PYODIDE, "the kernel's Pyodide is not its own")
    _demand(kernel.get("disablePyPIFallback") is True, "the kernel would ask PyPI for packages")
    names = sorted(extension["name"] for extension in config["federated_extensions"])
    _demand(names == sorted([boot.KERNEL_EXTENSION, "pywebmcp"]), f"the labextensions are {names}")
    for extension in config["federated_extensions"]:
        entry = site / "extensions" / extension["name"] / extension["load"].partition("?")[0]
        _demand(entry.is_file(), f"{entry} is missing")
    settings = json.loads((site / "build/schemas/all_federated.json").read_text("utf-8"))
    _demand(any(item["id"] == "pywebmcp:plugin" for item in settings), "the settings are missing")
    for index in site.rglob("pypi/all.json"):
        for project in json.loads(index.read_text("utf-8")).values():
            for release in project["releases"].values():
                for wheel in release:
                    boot.demand_file(index.parent / wheel["url"], wheel["digests"]["sha256"])


def _demand(true: bool, complaint: str) -> None:
    if not true:
        raise SetupError(f"the built site is wrong: {complaint}")
