"""The page's packages as archives: those installed here, the same bytes for the same files."""

from __future__ import annotations

import importlib.util
import os
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pywebmcp
from pywebmcp.addon.errors import BuildError

PAGE_PACKAGES = ("fastjsonschema", "pywebmcp")
"""What is unpacked into the page's Python."""

NOT_FOR_THE_PAGE = ("addon", "bridge", "cli", "__main__.py")
"""Parts of pywebmcp that run on a person's machine only; nothing in the page imports them."""

# The first that a zip file can hold: a time of its own would change the hash with every build.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def package_files(name: str) -> dict[str, Path]:
    """The files of an installed package that go into the page, by their path in site-packages."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(f"the package {name} is not installed: `pip install {name}`")
    home = Path(spec.submodule_search_locations[0])
    left_out = NOT_FOR_THE_PAGE if name == "pywebmcp" else ()
    found = {}
    for path in sorted(home.rglob("*")):
        inside = path.relative_to(home)
        if path.is_file() and "__pycache__" not in inside.parts and inside.parts[0] not in left_out:
            found[f"{name}/{inside.as_posix()}"] = path
    return found


def package_version(name: str) -> str:
    """The version of an installed package; pywebmcp's is the one in its sources."""
    return pywebmcp.__version__ if name == "pywebmcp" else metadata.version(name)


def archive_name(name: str) -> str:
    """The file name of a package's archive.

    Not that of a wheel: JupyterLite's addons collect the wheels of labextensions for the kernel.
    """
    return f"{name}-{package_version(name)}.zip"


def write_package(name: str, path: Path) -> None:
    """Write the archive of an installed package."""
    files = {inside: file.read_bytes() for inside, file in package_files(name).items()}
    write_archive(path, {**files, **_metadata(name)})


def _metadata(name: str) -> dict[str, bytes]:
    """What an installer in the page looks at to see that the package is there."""
    version = package_version(name)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {f"{name}-{version}.dist-info/METADATA": head.encode()}


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a zip file; the same files give the same bytes, and it is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, also where it is written on Windows
            archive.writestr(entry, data)
    os.replace(part, path)
