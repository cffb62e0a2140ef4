"""What the loader boots from: the page's archives in a site, and the manifest that names them.

Addresses carry a hash of the content, so that after a redeploy no cache mixes old and new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pywebmcp
from pywebmcp.addon.distribution import LOCK, sha256
from pywebmcp.addon.errors import BuildError

LABEXTENSION = Path("extensions/pywebmcp")
"""The loader's folder in a site."""

BOOT = LABEXTENSION / "static" / "boot"
MANIFEST = BOOT / "manifest.json"
CONFIGURATION = "jupyter-lite.json"
KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
KERNEL_PLUGIN = f"{KERNEL_EXTENSION}:kernel"
SITE_PYODIDE = "./static/pyodide/pyodide.mjs"
"""The address of a site's own Pyodide, as the kernel's settings have it: relative to the site."""


def write_boot(site: Path, pyodide: str, archives: Sequence[Path]) -> None:
    """Put archives and manifest into a site; `pyodide` is an address as in the kernel's settings.

    The manifest comes after what it names, and what the old one named goes after that: a page that
    loads meanwhile gets one of the two.
    """
    boot = site / BOOT
    packages = []
    for source in archives:
        digits = sha256(source)
        home = boot / digits[:12]
        home.mkdir(parents=True, exist_ok=True)
        replace_file(home / source.name, source.read_bytes())
        packages.append({"url": f"{home.name}/{source.name}", "sha256": digits})
    manifest = {
        "version": pywebmcp.__version__,
        # Relative to the manifest, like all addresses in it.
        "pyodide": _from_manifest(pyodide),
        "packages": packages,
    }
    write_json(site / MANIFEST, manifest)
    present = {package["url"].split("/")[0] for package in packages}
    for stale in boot.iterdir():
        if stale.is_dir() and stale.name not in present:
            shutil.rmtree(stale)


def _from_manifest(address: str) -> str:
    """An address of the kernel's settings as the manifest has it."""
    if re.match(r"https?://|/", address):
        return address
    return "../" * len(BOOT.parts) + address.removeprefix("./")


def stamp_loader(labextension: Path) -> str:
    """Write version and address of the loader into a labextension's package.json; the address.

    The address has a hash of all that lies beside the loader as its query, which the loader hands
    on. In a site that is built, this is what gets into jupyter-lite.json.
    """
    total = hashlib.sha256()
    static = labextension / "static"
    for path in sorted(static.rglob("*")):
        inside = path.relative_to(static)
        if path.is_file() and inside.parts[0] != "boot":
            total.update(f"{inside.as_posix()}\0{sha256(path)}\0".encode())
    file = labextension / "package.json"
    package: dict[str, Any] = json.loads(file.read_text("utf-8"))
    version = package.setdefault("version", pywebmcp.__version__)
    if version != pywebmcp.__version__:
        raise BuildError(
            f"the labextension that gets into the site is of pywebmcp {version}, the Python package "
            f"is {pywebmcp.__version__}: install pywebmcp anew, and remove any other copy of "
            "share/jupyter/labextensions/pywebmcp or of extensions/pywebmcp"
        )
    build = package["jupyterlab"]["_build"]
    address = build["load"].partition("?")[0] + f"?v={total.hexdigest()[:12]}"
    if build["load"] != address:
        build["load"] = address
        write_json(file, package)
    return str(address)


def read_configuration(site: Path) -> dict[str, Any]:
    """The `jupyter-config-data` of a built site."""
    file = site / CONFIGURATION
    if not file.is_file():
        raise BuildError(f"{file} is missing: remove the site and .jupyterlite.doit.db, build anew")
    found: dict[str, Any] = json.loads(file.read_text("utf-8")).get("jupyter-config-data", {})
    return found


def kernel_pyodide(site: Path) -> str:
    """The address of Pyodide in the kernel's settings in a built site; empty: the kernel's default."""
    settings = read_configuration(site).get("litePluginSettings", {})
    return str(settings.get(KERNEL_PLUGIN, {}).get("pyodideUrl", ""))


def check_boot(site: Path) -> None:
    """Raise BuildError unless all that the page loads from this site is there and as it should be."""
    file = site / MANIFEST
    _demand(file.is_file(), f"{MANIFEST} is missing")
    manifest = json.loads(file.read_text("utf-8"))
    for package in manifest["packages"]:
        demand_file(site / BOOT / package["url"], package["sha256"])
    load = json.loads((site / LABEXTENSION / "package.json").read_text("utf-8"))["jupyterlab"]
    extensions = read_configuration(site).get("federated_extensions", [])
    _demand(
        load["_build"]["load"] in [each["load"] for each in extensions],
        f"{CONFIGURATION} does not load the labextension",
    )
    if re.match(r"https?://|/", manifest["pyodide"]):
        return
    pyodide = (site / BOOT / manifest["pyodide"]).resolve()
    _demand(pyodide.is_file(), f"{pyodide} is missing")
    lock = pyodide.with_name(LOCK)
    if lock.is_file():
        for entry in json.loads(lock.read_text("utf-8"))["packages"].values():
            if not re.match(r"https?://", entry["file_name"]):
                demand_file(lock.parent / entry["file_name"], entry["sha256"])


def demand_file(path: Path, expected: str) -> None:
    """Raise BuildError unless a file has this SHA-256."""
    _demand(path.is_file(), f"{path} is missing")
    _demand(sha256(path) == expected, f"{path} has another content than its index says")


def _demand(true: bool, complaint: str) -> None:
    if not true:
        raise BuildError(
            f"the built site is wrong: {complaint}. Remove the site and .jupyterlite.doit.db, "
            "build anew"
        )


def write_json(path: Path, value: object) -> None:
    """Write a JSON file that is always whole for those who read it meanwhile."""
    replace_file(path, (json.dumps(value, indent=2) + "\n").encode())


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that is always whole for those who read it meanwhile, unless it is so already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.read_bytes() == data:
        return
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)
