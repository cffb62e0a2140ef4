"""What the loader boots from: addresses that change with the content, and checks that see damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pywebmcp
from pywebmcp.addon import archives, boot
from pywebmcp.addon.errors import BuildError

PACKAGE = {"name": "pywebmcp", "jupyterlab": {"_build": {"load": "static/remoteEntry.js"}}}


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with a labextension, a Pyodide and what the loader boots from."""
    made = tmp_path / "site"
    labextension = made / boot.LABEXTENSION
    write(labextension / "static" / "remoteEntry.js", "the loader")
    write(labextension / "package.json", PACKAGE)
    write(made / "static/pyodide/pyodide.mjs", "export")
    wheel = write(made / "static/pyodide/six.whl", "six")
    entry = {"file_name": "six.whl", "sha256": boot.sha256(wheel)}
    away = {"file_name": "https://some.where/numpy.whl", "sha256": "0"}
    write(made / "static/pyodide/pyodide-lock.json", {"packages": {"six": entry, "numpy": away}})
    load = boot.stamp_loader(labextension)
    extensions = [{"name": "pywebmcp", "load": load}]
    settings = {boot.KERNEL_PLUGIN: {"pyodideUrl": boot.SITE_PYODIDE}}
    data = {"federated_extensions": extensions, "litePluginSettings": settings}
    write(made / "jupyter-lite.json", {"jupyter-config-data": data})
    archives.write_archive(tmp_path / "ours-1.zip", {"a.py": b"1"})
    boot.write_boot(made, boot.kernel_pyodide(made), [tmp_path / "ours-1.zip"])
    return made


def manifest(site: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((site / boot.MANIFEST).read_text())
    return found


def test_a_whole_site_passes(site: Path) -> None:
    boot.check_boot(site)
    found = manifest(site)
    assert found["version"] == pywebmcp.__version__
    address = (site / boot.BOOT / str(found["pyodide"])).resolve()
    assert address == (site / "static/pyodide/pyodide.mjs").resolve()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (f"{boot.BOOT.as_posix()}/*/ours-1.zip", "ours-1.zip"),
        (boot.MANIFEST.as_posix(), "manifest.json is missing"),
        ("static/pyodide/six.whl", "six.whl"),
        ("static/pyodide/pyodide.mjs", "pyodide.mjs is missing"),
        ("jupyter-lite.json", "jupyter-lite.json is missing"),
    ],
)
def test_a_missing_file_is_found_by_the_check(site: Path, pattern: str, words: str) -> None:
    [path] = site.glob(pattern)
    path.unlink()
    with pytest.raises(BuildError) as caught:
        boot.check_boot(site)
    assert words in str(caught.value)
    assert "build anew" in str(caught.value)


@pytest.mark.parametrize("pattern", [f"{boot.BOOT.as_posix()}/*/ours-1.zip", "static/*/six.whl"])
def test_another_content_is_found_by_the_check(site: Path, pattern: str) -> None:
    [path] = site.glob(pattern)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BuildError, match="another content than its index says"):
        boot.check_boot(site)


def test_a_configuration_that_does_not_load_us_is_found_by_the_check(site: Path) -> None:
    write(site / "jupyter-lite.json", {"jupyter-config-data": {}})
    with pytest.raises(BuildError, match="does not load the labextension"):
        boot.check_boot(site)


def test_a_new_content_has_a_new_address_and_the_old_one_goes(site: Path, tmp_path: Path) -> None:
    [old] = (site / boot.BOOT).glob("*/ours-1.zip")
    archives.write_archive(tmp_path / "ours-1.zip", {"a.py": b"2"})
    boot.write_boot(site, boot.SITE_PYODIDE, [tmp_path / "ours-1.zip"])
    [new] = (site / boot.BOOT).glob("*/ours-1.zip")
    assert new != old
    boot.check_boot(site)


def test_the_same_content_is_not_written_again(site: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_ino for path in site.rglob("*")}
    boot.write_boot(site, boot.SITE_PYODIDE, [tmp_path / "ours-1.zip"])
    boot.stamp_loader(site / boot.LABEXTENSION)
    assert {path: path.stat().st_ino for path in site.rglob("*")} == before


@pytest.mark.parametrize("address", ["https://some.where/pyodide.mjs", "/at/the/root/pyodide.mjs"])
def test_an_address_elsewhere_stays_as_it_is(site: Path, tmp_path: Path, address: str) -> None:
    boot.write_boot(site, address, [tmp_path / "ours-1.zip"])
    assert manifest(site)["pyodide"] == address
    boot.check_boot(site)


def test_the_loaders_address_changes_with_any_file_beside_it_but_not_with_the_boot_files(
    site: Path,
) -> None:
    labextension = site / boot.LABEXTENSION
    first = boot.stamp_loader(labextension)
    write(site / boot.BOOT / "more", "")
    assert boot.stamp_loader(labextension) == first
    write(labextension / "static" / "style.css", "p {}")
    second = boot.stamp_loader(labextension)
    assert second != first
    assert second.startswith("static/remoteEntry.js?v=")
    package = json.loads((labextension / "package.json").read_text())
    assert package["jupyterlab"]["_build"]["load"] == second
    assert package["version"] == pywebmcp.__version__


def test_a_labextension_of_another_version_is_refused(site: Path) -> None:
    write(site / boot.LABEXTENSION / "package.json", {**PACKAGE, "version": "0.0.9"})
    with pytest.raises(BuildError, match=r"is of pywebmcp 0\.0\.9, the Python package"):
        boot.stamp_loader(site / boot.LABEXTENSION)
