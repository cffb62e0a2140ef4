"""The programs a build runs: what is missing or not what it says is told with what to do."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
from pywebmcp.addon import programs
from pywebmcp.addon.errors import BuildError

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="there are no programs")


def tarball(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_tarball_that_is_not_the_pinned_package_is_refused(tmp_path: Path) -> None:
    given = tarball(tmp_path / "pyodide.tgz", {"package/pyodide.mjs": b""})
    with pytest.raises(BuildError, match=r"npm pack pyodide@314\.0\.6"):
        programs.unpack_npm(given, tmp_path / "core")
    assert not (tmp_path / "core").exists()
    with pytest.raises(BuildError, match="cannot be read"):
        programs.unpack_npm(tmp_path / "absent.tgz", tmp_path / "core")


def test_of_the_pinned_package_only_its_own_folder_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"package/pyodide.mjs": b"ours", "package/deep/x.js": b"", "../pyodide.mjs": b"evil"}
    given = tarball(tmp_path / "pyodide.tgz", files)
    digest = base64.b64encode(hashlib.sha512(given.read_bytes()).digest()).decode()
    pins = tmp_path / "pins"
    pins.mkdir()
    lock = {"packages": {"node_modules/pyodide": {"integrity": f"sha512-{digest}"}}}
    (pins / "package-lock.json").write_text(json.dumps(lock))
    monkeypatch.setattr(programs, "PINS", pins)
    programs.unpack_npm(given, tmp_path / "core")
    assert [path.name for path in (tmp_path / "core").iterdir()] == ["pyodide.mjs"]
    assert (tmp_path / "core" / "pyodide.mjs").read_bytes() == b"ours"


def test_without_npm_the_other_ways_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"install Node\.js .* or leave that out"):
        programs.fetch_npm(tmp_path / "npm")
    assert programs.find_node() is None


def test_an_old_node_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = tmp_path / "node"
    for version, found in (("v16.20.2", None), ("v18.0.0", node)):
        node.write_text(f"#!/bin/sh\necho {version}\n")
        node.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
        assert programs.find_node() == found


def test_a_program_that_fails_shows_the_end_of_what_it_said(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no such package >&2\nexit 3\n")
    npm.chmod(0o755)
    with pytest.raises(BuildError, match=r"npm ci [^`]*` failed \(3\):\nno such package"):
        programs.fetch_npm(tmp_path / "folder", npm)


def test_without_pip_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(BuildError, match="python -m ensurepip"):
        programs.fetch_wheels(tmp_path)
