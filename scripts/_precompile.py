"""Runs inside Pyodide: adds bytecode to the zip files in /folder, so that no page compiles them again.

The npm package's standard library has sources only: every page and every kernel would spend some
two seconds of CPU on compiling what it imports. Only Pyodide's own Python writes its bytecode.
"""

import importlib.util
import sys
import warnings
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc  # what py_compile uses
from pathlib import Path

SITE_PACKAGES = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/"


def bytecode(source: bytes, filename: str) -> bytes | None:
    """A .pyc that is used without looking at its source (PEP 552, unchecked); None: no such code."""
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError:  # templates and test data
        return None
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), False))


def add_bytecode(path: Path) -> None:
    """Rewrite a zip file with a .pyc for each .py, where the importer of its kind looks for it."""
    part = path.with_suffix(".part")
    is_wheel = path.suffix == ".whl"
    # The standard library is imported from the zip itself, a wheel from where it was unpacked.
    home = (
        SITE_PACKAGES
        if is_wheel
        else f"/lib/python{sys.version_info.major}{sys.version_info.minor}.zip/"
    )
    with (
        zipfile.ZipFile(path) as old,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for entry in old.infolist():
            data = old.read(entry)
            new.writestr(entry, data, zipfile.ZIP_DEFLATED)
            if not entry.filename.endswith(".py"):
                continue
            compiled = bytecode(data, home + entry.filename)
            if compiled is None:
                continue
            name = (
                importlib.util.cache_from_source(entry.filename)
                if is_wheel
                else f"{entry.filename}c"
            )
            new.writestr(zipfile.ZipInfo(name, entry.date_time), compiled, zipfile.ZIP_DEFLATED)
    part.replace(path)


warnings.simplefilter("ignore")  # the libraries' own SyntaxWarnings
for archive in sorted(Path("/folder").iterdir()):
    if archive.suffix in (".whl", ".zip"):
        add_bytecode(archive)
