"""The addon in JupyterLite's own machinery: what it puts into a site, when, and how it refuses."""

from __future__ import annotations

import gc
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_pyodide import make_core, make_wheels
from pywebmcp.addon import boot, distribution

pytest.importorskip("jupyterlite_core")
pytest.importorskip("jupyterlite_pyodide_kernel")

from jupyterlite_core.addons import get_addon_implementations
from jupyterlite_core.manager import LiteManager
from pywebmcp.addon.lite import PywebmcpAddon
from traitlets.config import Config

LABEXTENSION = Path(__file__).parents[3] / "lite" / "extension"
BUILD = ("pre_build", "build", "post_build")


class Lite:
    """A site as the other addons leave it for ours: what JupyterLite itself makes is all there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.site = home / "_output"
        self.said = ""
        static = self.site / boot.LABEXTENSION / "static"
        static.mkdir(parents=True)
        for path in (LABEXTENSION / "static").iterdir():
            (static / path.name).write_bytes(path.read_bytes())
        package = (LABEXTENSION / "package.json").read_bytes()
        (static.parent / "package.json").write_bytes(package)
        self.write({})

    def write(self, kernel: dict[str, str]) -> None:
        """The site's jupyter-lite.json, with these settings of the kernel."""
        data = {"litePluginSettings": {boot.KERNEL_PLUGIN: kernel}}
        (self.site / "jupyter-lite.json").write_text(json.dumps({"jupyter-config-data": data}))

    def load_ours(self) -> None:
        """What JupyterLite itself does at the end: the labextension is named in jupyter-lite.json."""
        file, package = (self.site / name for name in ("jupyter-lite.json", boot.LABEXTENSION))
        build = json.loads((package / "package.json").read_text())["jupyterlab"]["_build"]
        config = json.loads(file.read_text())
        config["jupyter-config-data"]["federated_extensions"] = [{"name": "pywebmcp", **build}]
        file.write_text(json.dumps(config))

    def run(self, *tasks: str, **ours: Any) -> int:
        """Run tasks of our addon alone; the exit status."""
        others = set(get_addon_implementations()) - {"pywebmcp"}
        manager = LiteManager(
            config=Config(PywebmcpAddon={"precompile": False, **ours}),
            lite_dir=self.home,
            output_dir=self.site,
            cache_dir=self.home / ".cache",
            disable_addons=tuple(others),
        )
        manager.initialize()
        assert list(manager._addons) == ["pywebmcp"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # doit leaves its database to the gc
            report = self.home / "report.txt"
            status = int(manager.doit_run("-o", str(report), *(tasks or BUILD)))
            gc.collect()
        self.said = report.read_text()
        return status

    def manifest(self) -> Any:
        return json.loads((self.site / boot.MANIFEST).read_text())

    def kernel(self) -> Any:
        """The kernel's settings in the built site."""
        data = boot.read_configuration(self.site)
        return data["litePluginSettings"][boot.KERNEL_PLUGIN]


@pytest.fixture
def lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lite:
    monkeypatch.chdir(tmp_path)  # doit keeps its database there
    return Lite(tmp_path)


@pytest.fixture
def pyodide(tmp_path: Path) -> str:
    """A Pyodide with the kernel's packages, named as a site's author would, from the project."""
    core = make_core(tmp_path / "core")
    distribution.assemble(core, make_wheels(tmp_path / "wheels"), tmp_path / "pyodide")
    return "pyodide"


def executed(text: str) -> list[str]:
    """The tasks of ours that ran, from doit's report; those that look and make nothing left out."""
    found = re.findall(r"^\.  (\w+):pywebmcp:(.+)$", text, re.MULTILINE)
    return [name for hook, name in found if hook not in ("status", "pre_init")]


def test_without_a_choice_the_page_takes_the_kernels_pyodide(lite: Lite) -> None:
    assert lite.run() == 0
    assert lite.manifest()["pyodide"].startswith("https://")
    assert lite.manifest()["pyodide"].endswith("/pyodide.mjs")
    names = [package["url"].partition("/")[2] for package in lite.manifest()["packages"]]
    assert [name.partition("-")[0] for name in names] == ["fastjsonschema", "pywebmcp"]
    assert lite.kernel() == {}
    assert not (lite.site / "static").exists()


def test_a_pyodide_that_the_kernel_is_given_is_the_pages_too(lite: Lite) -> None:
    lite.write({"pyodideUrl": "./static/own/pyodide.mjs"})
    assert lite.run() == 0
    address = (lite.site / boot.BOOT / lite.manifest()["pyodide"]).resolve()
    assert address == (lite.site / "static/own/pyodide.mjs").resolve()


def test_a_module_somewhere_else_is_the_pages_alone(lite: Lite) -> None:
    assert lite.run(pyodide="https://some.where/pyodide.mjs") == 0
    assert lite.manifest()["pyodide"] == "https://some.where/pyodide.mjs"
    assert lite.kernel() == {}


def test_a_folder_is_carried_by_the_site_and_given_to_the_kernel(lite: Lite, pyodide: str) -> None:
    lite.write({"disablePyPIFallback": True})
    assert lite.run(pyodide=pyodide) == 0
    assert lite.kernel() == {"disablePyPIFallback": True, "pyodideUrl": boot.SITE_PYODIDE}
    assert (lite.site / "static/pyodide/pyodide.asm.wasm").is_file()
    lock = json.loads((lite.site / "static/pyodide/pyodide-lock.json").read_text())
    assert "numpy" not in lock["packages"]
    address = (lite.site / boot.BOOT / lite.manifest()["pyodide"]).resolve()
    assert address == (lite.site / "static/pyodide/pyodide.mjs").resolve()


def test_one_setting_lets_the_rest_come_from_the_cdn(lite: Lite, pyodide: str) -> None:
    lite.run(pyodide=pyodide)
    assert lite.run(pyodide=pyodide, packages_url="cdn") == 0
    lock = json.loads((lite.site / "static/pyodide/pyodide-lock.json").read_text())
    assert lock["packages"]["numpy"]["file_name"].startswith("https://")
    assert not lock["packages"]["six"]["file_name"].startswith("https://")


def test_a_second_build_writes_nothing(lite: Lite, pyodide: str) -> None:
    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in lite.site.rglob("*")}

    assert lite.run(pyodide=pyodide) == 0
    assert "manifest" in executed(lite.said)
    before = state()
    assert lite.run(pyodide=pyodide) == 0
    assert executed(lite.said) == []
    assert state() == before


@pytest.mark.parametrize("gone", [boot.MANIFEST, Path("static/pyodide/pyodide.mjs"), None])
def test_what_is_removed_from_the_site_comes_back(
    lite: Lite, pyodide: str, gone: Path | None
) -> None:
    lite.run(pyodide=pyodide)
    path = lite.site / gone if gone else next((lite.site / boot.BOOT).glob("*/pywebmcp-*.zip"))
    content = path.read_bytes()
    path.unlink()
    assert lite.run(pyodide=pyodide) == 0
    assert path.read_bytes() == content


def test_a_changed_loader_has_another_address(lite: Lite) -> None:
    def load() -> str:
        package = json.loads((lite.site / boot.LABEXTENSION / "package.json").read_text())
        return str(package["jupyterlab"]["_build"]["load"])

    lite.run()
    before = load()
    (lite.site / boot.LABEXTENSION / "static" / "style.css").write_text("p {}")
    lite.run()
    assert load() != before


def test_a_site_without_the_labextension_gets_nothing(lite: Lite, pyodide: str) -> None:
    (lite.site / boot.LABEXTENSION / "package.json").unlink()
    before = sorted(lite.site.rglob("*"))
    assert lite.run(pyodide=pyodide) == 0
    assert sorted(lite.site.rglob("*")) == before


def test_the_check_says_which_file_is_wrong(lite: Lite) -> None:
    lite.run()
    lite.load_ours()
    assert lite.run("check") == 0
    [package] = (lite.site / boot.BOOT).glob("*/pywebmcp-*.zip")
    package.write_bytes(b"PK")
    assert lite.run("check") != 0
    told = lite.said
    assert f"{package.name} has another content" in told
    assert "Traceback" not in told


def test_the_status_says_what_a_build_would_do(
    lite: Lite, pyodide: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lite.run("status") == 0
    assert "Pyodide:   that of the kernel" in capsys.readouterr().out
    assert lite.run("status", pyodide=pyodide, packages_url="cdn") == 0
    told = capsys.readouterr().out
    assert "packages:  https://" in told
    assert "bytecode:  none" in told


def refuse(lite: Lite, *tasks: str, **ours: Any) -> str:
    """What a build says that fails, without a traceback."""
    assert lite.run(*tasks, **ours) != 0
    assert "Traceback" not in lite.said
    return lite.said


def test_another_version_of_pyodide_is_refused(lite: Lite, tmp_path: Path) -> None:
    make_core(tmp_path / "old", version="0.28.3")
    told = refuse(lite, pyodide="old")
    assert "needs Pyodide 314.0.6, and old is Pyodide 0.28.3" in told


def test_a_folder_that_is_no_pyodide_is_refused(lite: Lite, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "absent"):
        assert "is not a Pyodide of npm's" in refuse(lite, pyodide=folder)


def test_two_pyodides_for_one_kernel_are_refused(lite: Lite, pyodide: str) -> None:
    lite.write({"pyodideUrl": "https://some.where/pyodide.mjs"})
    told = refuse(lite, pyodide=pyodide)
    assert "the kernel's pyodideUrl is https://some.where/pyodide.mjs" in told


def test_a_file_that_is_not_npms_tarball_is_refused(lite: Lite, tmp_path: Path) -> None:
    (tmp_path / "pyodide.tgz").write_bytes(b"")
    told = refuse(lite, "post_init", pyodide="pyodide.tgz")
    assert "its SHA-512 is another" in told
    assert "cannot be read" in refuse(lite, "post_init", pyodide="absent.tgz")


def test_an_address_that_cannot_be_fetched_is_told(lite: Lite) -> None:
    told = refuse(lite, "post_init", pyodide="http://127.0.0.1:9/pyodide-314.0.6.tgz")
    assert "pyodide-314.0.6.tgz cannot be fetched" in told


def test_versions_that_do_not_fit_end_the_build_before_anything_is_made(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pywebmcp.addon import versions

    real = versions.installed()
    monkeypatch.setattr(versions, "installed", lambda: {**real, "jupyterlite-core": "0.7.0"})
    told = refuse(lite, "pre_init")
    assert "is made for jupyterlite-core >=0.8.6,<0.9, and this environment has 0.7.0" in told


def test_npm_and_pip_make_a_pyodide_in_the_cache(
    lite: Lite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pywebmcp.addon import programs

    def fetch_npm(folder: Path) -> None:
        make_core(folder / "node_modules" / "pyodide")

    def fetch_wheels(folder: Path) -> None:
        make_wheels(folder)

    compiled: list[list[str]] = []

    def compile_archives(core: Path, folder: Path, node: Path) -> None:
        compiled.append(sorted(path.suffix for path in folder.iterdir()))

    replacements: dict[str, Callable[..., object]] = {
        "fetch_npm": fetch_npm,
        "fetch_wheels": fetch_wheels,
        "compile_archives": compile_archives,
        "find_node": lambda: tmp_path / "node",
    }
    for name, function in replacements.items():
        monkeypatch.setattr(programs, name, function)
    assert lite.run("post_init", *BUILD, pyodide="npm", precompile=True) == 0
    lite.load_ours()
    boot.check_boot(lite.site)
    assert [".zip"] in compiled
    assert any(".whl" in suffixes for suffixes in compiled)
    assert lite.kernel()["pyodideUrl"] == boot.SITE_PYODIDE


def test_the_settings_have_help_and_are_in_the_page_on_deploying() -> None:
    page = (LABEXTENSION.parents[1] / "docs" / "deploy.md").read_text("utf-8")
    for name, trait in PywebmcpAddon.class_own_traits(config=True).items():
        assert trait.help
        assert f'"{name}"' in page
