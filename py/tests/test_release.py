"""A release is what it says: one version, all files and no more, and sources that build the same wheel."""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def release() -> ModuleType:
    """scripts/_release.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        import _release

        return _release


@pytest.fixture(scope="module")
def dist(release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist and a wheel of the work tree."""
    folder = tmp_path_factory.mktemp("dist")
    return release.build("sdist", folder), release.build("wheel", folder)


@pytest.fixture
def setup_error(release: ModuleType) -> type[Exception]:
    found: type[Exception] = release.SetupError
    return found


def changed(wheel: Path, folder: Path, name: str, content: bytes | None) -> Path:
    """A copy of a wheel with another content of one file, or without it."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(copy, "w") as new:
        names = [each for each in old.namelist() if not each.endswith(name)]
        for each in names:
            new.writestr(each, old.read(each))
        if content is not None:
            [full] = [each for each in old.namelist() if each.endswith(name)] or [name]
            new.writestr(full, content)
    return copy


def test_the_version_is_written_in_one_place(release: ModuleType) -> None:
    version = release.version()
    for name in ("pyproject.toml", "lite/extension/package.json", "jupyter_lite_config.json"):
        assert f'"{version}"' not in (ROOT / name).read_text("utf-8"), name


def test_the_wheel_of_the_work_tree_is_whole(
    release: ModuleType, dist: tuple[Path, Path], setup_error: type[Exception]
) -> None:
    _, wheel = dist
    package = ROOT / "py" / "pywebmcp"
    present = {
        path.relative_to(ROOT / "py").as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    release.check_wheel(wheel, release.version(), present)
    with pytest.raises(setup_error, match=r"lacks pywebmcp/absent\.py"):
        release.check_wheel(wheel, release.version(), present | {"pywebmcp/absent.py"})
    with pytest.raises(setup_error, match=r"no commit has: pywebmcp/server\.py"):
        release.check_wheel(wheel, release.version(), present - {"pywebmcp/server.py"})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labextensions/pywebmcp/package.json", b'{"version": "9"}', "has version 9, not"),
        ("labextensions/pywebmcp/install.json", None, "lacks .*install.json"),
        ("entry_points.txt", b"", "lacks the entry point pywebmcp"),
        ("METADATA", b"Version: 9\n", "METADATA in .* has version 9"),
        ("pywebmcp/secret.txt", b"x", "has what no commit has: pywebmcp/secret.txt"),
    ],
)
def test_a_wheel_that_is_not_whole_is_refused(
    release: ModuleType,
    dist: tuple[Path, Path],
    tmp_path: Path,
    setup_error: type[Exception],
    name: str,
    content: bytes | None,
    words: str,
) -> None:
    _, wheel = dist
    with zipfile.ZipFile(wheel) as archive:
        sources = {each for each in archive.namelist() if each.startswith("pywebmcp/")}
    copy = changed(wheel, tmp_path, name, content)
    with pytest.raises(setup_error, match=words):
        release.check_wheel(copy, release.version(), sources)


def test_the_sdist_builds_the_same_wheel(release: ModuleType, dist: tuple[Path, Path]) -> None:
    release.check_same_wheel(*dist)


def test_another_wheel_is_told_with_what_differs(
    release: ModuleType, dist: tuple[Path, Path], tmp_path: Path, setup_error: type[Exception]
) -> None:
    sdist, wheel = dist
    copy = changed(wheel, tmp_path, "pywebmcp/server.py", b"# another")
    with pytest.raises(setup_error, match=r"these differ: pywebmcp/server\.py"):
        release.check_same_wheel(sdist, copy)


CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-01-31

### Added

- Something.

## [1.1.0] - 2026-01-01

## [1.0.0]

- No date.
"""


def test_the_changelog_has_a_dated_section_of_the_version(
    release: ModuleType, setup_error: type[Exception]
) -> None:
    release.check_changelog(CHANGELOG, "1.2.0")
    for version in ("1.0.0", "1.3.0", "1.2"):
        with pytest.raises(setup_error, match="has no section"):
            release.check_changelog(CHANGELOG, version)
    with pytest.raises(setup_error, match=r"says nothing under 1\.1\.0"):
        release.check_changelog(CHANGELOG, "1.1.0")


def test_the_tag_is_that_of_the_version(release: ModuleType, setup_error: type[Exception]) -> None:
    release.check_tag(["v1.2.0", "nightly"], "1.2.0")
    for tags, found in (([], "none"), (["v1.1.0"], r"v1\.1\.0"), (["v1.2.0", "v1.2.1"], "v1.2.1")):
        with pytest.raises(setup_error, match=rf"the tag v1\.2\.0; it has .*{found}"):
            release.check_tag(tags, "1.2.0")


@pytest.mark.skipif(shutil.which("git") is None or sys.platform == "emscripten", reason="no git")
def test_the_package_is_what_git_knows_of_it(release: ModuleType) -> None:
    sources = release.package_sources()
    assert "pywebmcp/__init__.py" in sources
    assert not [name for name in sources if not name.startswith("pywebmcp/")]
