"""The sites that are compared: the same JupyterLite, kernel, Pyodide and content in each, and one
extension.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from _pyodide import ensure_pyodide
from _setup import BUILD, VENV, WINDOWS, digest, locked, run, step
from _site import build_site
from pywebmcp.addon import distribution
from pywebmcp.addon.boot import KERNEL_EXTENSION, KERNEL_PLUGIN, SITE_PYODIDE

from _bench.notebooks import Notebook
from _bench.systems import System

HOME = BUILD / "bench"


def ensure_site(system: System, notebooks: list[Notebook]) -> Path:
    """The folder of a system's site with the bench's notebooks, made anew only when it has to be."""
    with locked(f"bench-{system.key}"):
        site = _rival_site(system) if system.packages else _our_site()
        _put_content(site, notebooks)
    return site


def _our_site() -> Path:
    """A copy of the demo site: the bench's content is not for the demo."""
    source, home = build_site(), HOME / "ours"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(source, home / "site")
    return home / "site"


def _rival_site(system: System) -> Path:
    """A site built by our own JupyterLite around the labextensions in the system's own venv."""
    venv = _venv(system)
    home, pyodide = HOME / system.key, ensure_pyodide()
    site, stamp = home / "site", home / "site.stamp.txt"
    wanted = digest(*system.packages, pyodide, Path(__file__))
    if stamp.is_file() and stamp.read_text() == wanted:
        return site
    with step(f"Building the site of {system.name}"):
        stamp.unlink(missing_ok=True)
        shutil.rmtree(site, ignore_errors=True)
        _run_jupyter_lite(home, _labextensions(venv))
        distribution.place(pyodide, site / "static" / "pyodide")
        stamp.write_text(wanted)
    return site


def _venv(system: System) -> Path:
    """The venv that holds a system's packages and nothing else."""
    home = HOME / system.key
    venv, stamp = home / "venv", home / "venv.stamp.txt"
    wanted = digest(*system.packages)
    if stamp.is_file() and stamp.read_text() == wanted:
        return venv
    with step(f"Installing {' '.join(system.packages)} from PyPI"):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        run([sys.executable, "-m", "venv", venv])
        pip = venv / ("Scripts/pip.exe" if WINDOWS else "bin/pip")
        # No dependencies: JupyterLab and its server are nothing that a static site would hold.
        run([pip, "install", "--quiet", "--no-deps", "--only-binary=:all:", *system.packages])
        stamp.write_text(wanted)
    return venv


def _labextensions(venv: Path) -> list[Path]:
    """The labextension folders that are installed in a venv; scoped names are a folder deeper."""
    folder = venv / "share" / "jupyter" / "labextensions"
    return sorted(path.parent for path in folder.rglob("package.json"))


def _run_jupyter_lite(home: Path, extensions: list[Path]) -> None:
    """`jupyter lite build` of a site with a kernel, the given labextensions, and no content."""
    work = home / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    kernel = VENV / "share" / "jupyter" / "labextensions" / KERNEL_EXTENSION
    settings = {"pyodideUrl": SITE_PYODIDE, "disablePyPIFallback": True}
    files = {
        "jupyter-lite.json": {
            "jupyter-lite-schema-version": 0,
            "jupyter-config-data": {"litePluginSettings": {KERNEL_PLUGIN: settings}},
        },
        "jupyter_lite_config.json": {
            "LiteBuildConfig": {
                "output_dir": str(home / "site"),
                "cache_dir": str(work / "cache"),
                "apps": ["lab"],
                "federated_extensions": [str(kernel), *map(str, extensions)],
                "ignore_sys_prefix": ["federated_extensions"],
                "no_sourcemaps": True,
            }
        },
    }
    for name, content in files.items():
        (work / name).write_text(json.dumps(content), "utf-8")
    run([sys.executable, "-m", "jupyterlite_core", "build"], cwd=work)
    shutil.rmtree(work)


def _put_content(site: Path, notebooks: list[Notebook]) -> None:
    """Replace a built site's content by the bench's notebooks, and its listing with them."""
    for folder in (site / "files", site / "api" / "contents"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    # The model of a directory in Jupyter's contents API. The times are as good as any.
    time = "2026-01-01T00:00:00Z"
    facts = {"created": time, "last_modified": time, "mimetype": None, "writable": True}
    entries = []
    for notebook in notebooks:
        (site / "files" / notebook.path).write_bytes(notebook.content)
        names = {"name": notebook.path, "path": notebook.path, "type": "notebook"}
        size = len(notebook.content)
        entries.append({**facts, **names, "content": None, "format": None, "size": size})
    names = {"name": "", "path": "", "type": "directory", "format": "json"}
    listing = {**facts, **names, "content": entries, "size": None}
    listing_file = site / "api" / "contents" / "all.json"
    listing_file.write_text(json.dumps(listing), "utf-8")

    config_file = site / "jupyter-lite.json"
    config = json.loads(config_file.read_text("utf-8"))
    config["jupyter-config-data"] |= {
        "contentsAllJsonFile": listing_file.name,
        # The bench checks each call against the live notebook, which it finds through the app.
        "exposeAppInBrowser": True,
    }
    config_file.write_text(json.dumps(config), "utf-8")
