"""The Pyodide that a site carries: what the kernel loads is there, and the lock names nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from fake_pyodide import KERNEL, VERSION, make_core, make_wheels
from pywebmcp.addon import distribution
from pywebmcp.addon.errors import BuildError


@pytest.fixture
def core(tmp_path: Path) -> Path:
    return make_core(tmp_path / "core")


@pytest.fixture
def folder(core: Path, tmp_path: Path) -> Path:
    """Core and wheels, assembled."""
    made = tmp_path / "assembled"
    distribution.assemble(core, make_wheels(tmp_path / "wheels"), made)
    return made


def test_the_kernel_loads_its_packages_and_what_they_depend_on(core: Path) -> None:
    assert distribution.kernel_packages(distribution.read_lock(core)) == sorted(KERNEL)
    assert distribution.lacking(core) == sorted(KERNEL)


def test_an_assembled_folder_lacks_nothing(folder: Path) -> None:
    assert distribution.lacking(folder) == []
    assert distribution.core_version(folder) == VERSION


@pytest.mark.parametrize("version", ["2.0", ""])
def test_wheels_of_other_versions_are_none(core: Path, tmp_path: Path, version: str) -> None:
    wheels = make_wheels(tmp_path / "wheels", *(name for name in KERNEL if name != "jedi"))
    if version:
        wheels += make_wheels(tmp_path / "wheels", "jedi", version=version)
    with pytest.raises(BuildError, match=r"not what the kernel loads: jedi==1\.0$"):
        distribution.assemble(core, wheels, tmp_path / "assembled")


def test_the_lock_of_a_site_names_what_it_carries_with_its_own_hashes(
    folder: Path, tmp_path: Path
) -> None:
    distribution.place(folder, tmp_path / "site")
    lock = json.loads((tmp_path / "site" / "pyodide-lock.json").read_text())
    assert sorted(lock["packages"]) == sorted(KERNEL)
    for name, entry in lock["packages"].items():
        file = tmp_path / "site" / entry["file_name"]
        assert file.read_text() == f"PyPI's {name}"
        assert entry["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert lock["info"] == {"python": "3.14.2"}
    assert (tmp_path / "site" / "pyodide.mjs").is_file()
    assert not (tmp_path / "site" / "package.json").exists()


def test_the_rest_comes_from_an_address_if_there_is_one(folder: Path) -> None:
    packages = distribution.site_lock(folder, "https://some.where/full/")["packages"]
    assert packages["numpy"]["file_name"] == "https://some.where/full/numpy-1.0-py3-none-any.whl"
    assert packages["numpy"]["sha256"] == "the CDN's numpy"
    assert packages["away"]["file_name"] == "https://else.where/a.whl"
    assert packages["six"]["file_name"] == "six-1.0-py2.py3-none-any.whl"


def test_what_an_earlier_build_placed_goes(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "jedi-0.9-py3-none-any.whl").write_text("of an earlier version")
    distribution.place(folder, site)
    assert not (site / "jedi-0.9-py3-none-any.whl").exists()


def test_a_folder_that_is_no_pyodide_is_named_with_what_it_lacks(core: Path) -> None:
    (core / "pyodide.asm.wasm").unlink()
    with pytest.raises(BuildError, match=r"has no pyodide\.asm\.wasm"):
        distribution.core_version(core)
