"""The page's archives: the installed packages, without what only a shell runs, always the same bytes."""

from __future__ import annotations

import ast
import os
import zipfile
from pathlib import Path

import pytest
import pywebmcp
from pywebmcp.addon import archives
from pywebmcp.addon.errors import BuildError


def imported(source: str) -> set[str]:
    """The modules that a module's text imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def test_nothing_in_the_page_imports_what_is_left_out_of_it() -> None:
    left_out = {f"pywebmcp.{name.removesuffix('.py')}" for name in archives.NOT_FOR_THE_PAGE}
    for path in archives.package_files("pywebmcp").values():
        if path.suffix == ".py":
            names = {".".join(name.split(".")[:2]) for name in imported(path.read_text("utf-8"))}
            assert not names & left_out, path


def test_an_archive_holds_the_package_and_says_what_it_is(tmp_path: Path) -> None:
    archive = tmp_path / archives.archive_name("pywebmcp")
    archives.write_package("pywebmcp", archive)
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        source = Path(pywebmcp.__file__).with_name("server.py").read_bytes()
        assert opened.read("pywebmcp/server.py") == source
        [metadata] = [name for name in names if name.endswith("METADATA")]
        assert f"Version: {pywebmcp.__version__}" in opened.read(metadata).decode()
    assert archive.name == f"pywebmcp-{pywebmcp.__version__}.zip"
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    for part in ("addon/", "bridge/", "cli/", "__main__.py"):
        assert not [name for name in names if name.startswith(f"pywebmcp/{part}")]


def test_the_same_files_make_the_same_bytes_whatever_their_times(tmp_path: Path) -> None:
    file = tmp_path / "source.py"
    file.write_text("x = 1\n")
    made = []
    for name, time in (("one", 1), ("two", 2_000_000_000)):
        os.utime(file, (time, time))
        archives.write_archive(tmp_path / name, {"b.py": b"", "a.py": file.read_bytes()})
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    archives.write_archive(tmp_path / "three", {"a.py": b"x = 2\n", "b.py": b""})
    assert (tmp_path / "three").read_bytes() != made[0]


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(BuildError, match="pip install no_such_package"):
        archives.package_files("no_such_package")
