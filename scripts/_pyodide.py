"""Pyodide for the scripts: npm's package, and the folder that the demo site serves.

The work is the package's own (`pywebmcp.addon`), as in anybody's site; here it is done once for all
builds of this work tree.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from _setup import BUILD, SetupError, digest, ensure_node, locked, step
from pywebmcp.addon import distribution, programs
from pywebmcp.addon.errors import BuildError
from pywebmcp.addon.versions import PINS

NPM = BUILD / "npm"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What the addon complains about is told as the scripts tell such things."""
    try:
        yield
    except BuildError as error:
        raise SetupError(str(error)) from None


def ensure_pyodide_npm() -> Path:
    """The folder of the npm package `pyodide`, of the pinned version and hash."""
    folder, stamp = NPM / "node_modules" / "pyodide", NPM / "stamp.txt"
    wanted = digest(PINS / "package.json", PINS / "package-lock.json")
    with locked("npm"):
        if not (folder.is_dir() and stamp.is_file() and stamp.read_text() == wanted):
            _, npm = ensure_node()
            with step("Fetching Pyodide with npm"), told():
                programs.fetch_npm(NPM, npm)
            stamp.write_text(wanted)
    return folder


def ensure_wheels() -> Path:
    """The folder with the packages of the kernel, fetched by pip and checked by hash."""
    folder, wanted = BUILD / "page-wheels", digest(programs.WHEELS_TXT)
    stamp = folder / "stamp.txt"
    if not (stamp.is_file() and stamp.read_text() == wanted):
        with step("Fetching the kernel's packages with pip"), told():
            programs.fetch_wheels(folder)
        stamp.write_text(wanted)
    return folder


def ensure_pyodide(*, force: bool = False) -> Path:
    """The folder build/pyodide, which `distribution.place` puts into a site.

    Made anew when a pin changed or what makes it.
    """
    npm, wheels = ensure_pyodide_npm(), ensure_wheels()
    folder, stamp = BUILD / "pyodide", BUILD / "pyodide.stamp.txt"
    makers = [Path(module.__file__ or "") for module in (distribution, programs)]
    wanted = digest(PINS, *makers, programs.BYTECODE)
    with locked("pyodide"):
        if force or not (folder.is_dir() and stamp.is_file() and stamp.read_text() == wanted):
            with step("Assembling the Pyodide folder and compiling its Python files"), told():
                stamp.unlink(missing_ok=True)
                part = folder.with_name("pyodide.part")
                distribution.assemble(npm, distribution.wheels(wheels).values(), part)
                node, _ = ensure_node()
                programs.compile_archives(npm, part, node)
                shutil.rmtree(folder, ignore_errors=True)
                part.rename(folder)
                stamp.write_text(wanted)
    return folder
