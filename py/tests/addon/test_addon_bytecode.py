"""Archives with bytecode: the importer takes it without looking at the source."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest
from pywebmcp.addon.bytecode import compile_folder

SOURCES = {"good_one.py": "answer = 42\n", "template.py": "{{ no python }}\n", "data.txt": "text"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A wheel and a standard library, compiled."""
    for name in ("some-1.0-py3-none-any.whl", "python_stdlib.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for path, content in SOURCES.items():
                archive.writestr(path, content)
    compile_folder(str(tmp_path))
    return tmp_path


def test_the_library_is_imported_from_its_zip_file_without_its_source(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = folder / "python_stdlib.zip"
    with zipfile.ZipFile(library) as old, zipfile.ZipFile(folder / "bare.zip", "w") as bare:
        assert sorted(old.namelist()) == ["data.txt", "good_one.py", "good_one.pyc", "template.py"]
        bare.writestr("good_one.pyc", old.read("good_one.pyc"))
    monkeypatch.syspath_prepend(str(folder / "bare.zip"))
    import good_one  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "good_one")
    assert good_one.answer == 42


def test_a_wheels_bytecode_is_used_though_the_source_is_newer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = folder / "site-packages"
    with zipfile.ZipFile(folder / "some-1.0-py3-none-any.whl") as archive:
        archive.extractall(unpacked)
    assert Path(importlib.util.cache_from_source(str(unpacked / "good_one.py"))).is_file()
    (unpacked / "good_one.py").write_text("answer = 'compiled again'\n")
    monkeypatch.syspath_prepend(str(unpacked))
    import good_one

    monkeypatch.delitem(sys.modules, "good_one")
    assert good_one.answer == 42
