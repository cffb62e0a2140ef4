"""Adds bytecode to zip files, so that no page compiles them again; runs inside Pyodide under Node.

The npm package's standard library has sources only: every page and every kernel would spend some
two seconds of CPU on compiling what it imports. Only Pyodide's own Python writes its bytecode.
"""

import importlib.util
import sys
import warnings
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from pathlib import Path

# The standard library is imported from the zip itself, everything else from where it is unpacked.
STANDARD_LIBRARY = "python_stdlib.zip"


def bytecode(source: bytes, filename: str) -> bytes | None:
    """A .pyc that is used without looking at its source (PEP 552, unchecked); None: no such code.

    As py_compile makes it.
    """
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # templates and test data
        return None
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), False))


def add_bytecode(path: Path) -> None:
    """Rewrite a zip file with a .pyc for each .py, where the importer of its kind looks for it."""
    version = sys.version_info
    is_library = path.name == STANDARD_LIBRARY
    home = (
        f"/lib/python{version.major}{version.minor}.zip/"
        if is_library
        else f"/lib/python{version.major}.{version.minor}/site-packages/"
    )
    part = path.with_name(path.name + ".part")
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
                f"{entry.filename}c"
                if is_library
                else importlib.util.cache_from_source(entry.filename)
            )
            new.writestr(zipfile.ZipInfo(name, entry.date_time), compiled, zipfile.ZIP_DEFLATED)
    part.replace(path)


def compile_folder(folder: str) -> None:
    """Add bytecode to every archive of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' own SyntaxWarnings
        for path in sorted(Path(folder).iterdir()):
            if path.suffix in (".whl", ".zip"):
                add_bytecode(path)
