"""JupyterLite's addon: the tasks by which `jupyter lite build` puts pywebmcp's parts into a site."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import doit.tools
from doit.exceptions import TaskFailed
from jupyterlite_core.addons.base import BaseAddon
from traitlets import Bool, Unicode

import pywebmcp
from pywebmcp.addon import archives, boot, distribution, programs, versions
from pywebmcp.addon.errors import BuildError

Task = dict[str, Any]
Action = Callable[[], object]


class PywebmcpAddon(BaseAddon):
    """Puts the page's Python packages, a Pyodide if the site wants its own, and the manifest there.

    Where the labextension is not part of a site, nothing is put there.
    """

    __all__ = ("pre_init", "post_init", "pre_build", "build", "post_build", "check", "status")

    pyodide = Unicode(
        help=(
            "where the page's Pyodide comes from. Empty: the site's kernel's, wherever that is. "
            f"`npm`: the npm package pyodide {versions.PYODIDE_VERSION}, fetched at build time by npm. "
            "A path or address of that package's .tgz, or a folder with it: the same without npm. "
            "With these the site carries Pyodide and all that its kernel loads, and needs no other "
            "host. An address of a pyodide.mjs: the page loads it from there"
        )
    ).tag(config=True)

    packages_url = Unicode(
        help=(
            "where a site with a Pyodide of its own gets the packages that it does not carry (numpy, "
            "pandas, …). Empty: nowhere. `cdn`: the CDN of Pyodide that the kernel knows. Else an "
            "address of a folder with the files that pyodide-lock.json names"
        )
    ).tag(config=True)

    precompile = Bool(
        True,
        help=(
            "add bytecode to the archives, so that no page compiles them; needs Node.js and a Pyodide "
            "of the site's own, and is left out where there is none"
        ),
    ).tag(config=True)

    aliases: ClassVar = {
        "pywebmcp-pyodide": "PywebmcpAddon.pyodide",
        "pywebmcp-packages-url": "PywebmcpAddon.packages_url",
    }

    # --- the hooks, in the order of a build

    def pre_init(self, manager: object) -> Iterator[Task]:
        """See that the versions fit, before anything is made."""
        found, wants = versions.installed(), ""
        if versions.KERNEL in found:
            wants = versions.kernel_wants()
        yield self._task("versions", partial(versions.demand_fitting, found, wants))

    def post_init(self, manager: object) -> Iterator[Task]:
        """Fetch what a Pyodide of the site's own is made of."""
        if self._source == "npm":
            yield self._task(
                "fetch:npm",
                partial(programs.fetch_npm, self._cache / "npm"),
                file_dep=[versions.PINS / name for name in programs.NPM_FILES],
                targets=[self._core / distribution.PACKAGE_JSON],
            )
        elif self._source == "tarball":
            tarball = self._tarball
            if _is_address(self.pyodide):
                yield self._task("fetch:tarball", partial(self._fetch, tarball), targets=[tarball])
            yield self._task(
                "unpack:tarball",
                partial(programs.unpack_npm, tarball, self._core),
                file_dep=[tarball] if tarball.exists() or _is_address(self.pyodide) else [],
                targets=[self._core / distribution.PACKAGE_JSON],
            )
        if self._is_assembled:
            yield self._task(
                "fetch:wheels",
                partial(programs.fetch_wheels, self._cache / "wheels"),
                file_dep=[programs.WHEELS_TXT],
                uptodate=[lambda: any((self._cache / "wheels").glob("*.whl"))],
            )

    def pre_build(self, manager: object) -> Iterator[Task]:
        """Make the folder of that Pyodide, in the cache; compiling it takes some ten seconds."""
        if not self._source:
            return
        yield self._task("pyodide:version", self._demand_version, file_dep=self._core_files())
        if self._is_assembled:
            yield self._task(
                "pyodide:assemble",
                self._assemble,
                file_dep=[*self._core_files(), *(self._cache / "wheels").glob("*.whl")],
                targets=[self._folder / distribution.LOCK],
                uptodate=[doit.tools.config_changed({"node": str(self._node)})],
            )

    def build(self, manager: object) -> Iterator[Task]:
        """Put that Pyodide into the site, make the page's archives, and name the loader's state."""
        if not self._is_in_site:
            return
        if self._source:
            names = distribution.placed_files(self._folder)
            lock = self._folder / distribution.LOCK
            yield self._task(
                "pyodide:place",
                self._place,
                file_dep=[lock, *(self._folder / name for name in names)],
                targets=[self._output / name for name in (*names, distribution.LOCK)],
                uptodate=[doit.tools.config_changed({"url": self._packages_address()})],
            )
        for name in archives.PAGE_PACKAGES:
            yield self._task(
                f"archive:{name}",
                partial(self._write_archive, name),
                file_dep=[*archives.package_files(name).values()],
                targets=[self._archive(name)],
                uptodate=[doit.tools.config_changed({"node": str(self._node)})],
            )
        labextension = self._site / boot.LABEXTENSION
        static = (labextension / "static").rglob("*")
        files = [path for path in static if path.is_file() and boot.BOOT.name not in path.parts]
        yield self._task(
            "loader",
            partial(boot.stamp_loader, labextension),
            file_dep=[labextension / "package.json", *files],
        )

    def post_build(self, manager: object) -> Iterator[Task]:
        """Name all of it in the manifest, and that Pyodide in the kernel's settings."""
        if not self._is_in_site:
            return
        configuration = self._site / boot.CONFIGURATION
        if self._source:
            yield self._task("pyodide:settings", self._set_pyodide, file_dep=[configuration])
        made = [self._archive(name) for name in archives.PAGE_PACKAGES]
        yield self._task(
            "manifest",
            self._write_boot,
            file_dep=[*made, configuration],
            targets=[self._site / boot.MANIFEST],
            uptodate=[
                doit.tools.config_changed({"pyodide": self.pyodide}),
                lambda: all(map(Path.exists, self._named_archives())),
            ],
        )

    def check(self, manager: object) -> Iterator[Task]:
        """See that the site has all that the page loads from it, with the content it should have."""
        if self._is_in_site:
            yield self._task("files", partial(boot.check_boot, self._site))

    def status(self, manager: object) -> Iterator[Task]:
        """Say what a build would do, and with which versions."""
        yield self._task("pywebmcp", lambda: print("\n".join(self._status()), flush=True))

    # --- what the tasks do

    def _task(self, name: str, action: Action, **more: Any) -> Task:
        """A task whose BuildError is told without a traceback."""

        def told() -> object:
            try:
                action()
            except BuildError as error:
                return TaskFailed(str(error))
            return None

        return dict(self.task(name=name, actions=[told], **more))

    def _fetch(self, tarball: Path) -> None:
        try:
            self.fetch_one(self.pyodide, tarball)
        except OSError as error:
            raise BuildError(f"{self.pyodide} cannot be fetched: {error}") from None

    def _demand_version(self) -> None:
        version = distribution.core_version(self._core)
        wanted = versions.installed().get("Pyodide", versions.PYODIDE_VERSION)
        if version != wanted:
            raise BuildError(
                f"{versions.KERNEL} {versions.installed().get(versions.KERNEL)} needs Pyodide "
                f"{wanted}, and {self.pyodide} is Pyodide {version}: name that version, or leave "
                "PywebmcpAddon.pyodide out"
            )

    def _assemble(self) -> None:
        part = self._folder.with_name(self._folder.name + ".part")
        wheels = distribution.wheels(self._cache / "wheels")
        distribution.assemble(self._core, wheels.values(), part)
        if self._node:
            programs.compile_archives(part, part, self._node)
        self.delete_one(self._folder)
        part.rename(self._folder)

    def _place(self) -> None:
        distribution.place(self._folder, self._output, self._packages_address())
        self.maybe_timestamp(self._output)

    def _write_archive(self, name: str) -> None:
        archive = self._archive(name)
        self.delete_one(archive.parent)
        archives.write_package(name, archive)
        if self._node:
            programs.compile_archives(self._core, archive.parent, self._node)

    def _write_boot(self) -> None:
        address = self.pyodide if self._is_module else boot.kernel_pyodide(self._site)
        if not address:
            from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

            address = f"{PYODIDE_CDN_URL}/pyodide.mjs"
        made = [self._archive(name) for name in archives.PAGE_PACKAGES]
        boot.write_boot(self._site, address, made)
        self.maybe_timestamp(self._site / boot.BOOT)

    def _set_pyodide(self) -> None:
        """Give the kernel the site's own Pyodide, unless the site's author gave it another."""
        file = self._site / boot.CONFIGURATION
        settings = self.get_lite_plugin_settings(file, boot.KERNEL_PLUGIN)
        present = settings.get("pyodideUrl")
        if present not in (None, boot.SITE_PYODIDE):
            raise BuildError(
                f"the kernel's pyodideUrl is {present}, and PywebmcpAddon.pyodide puts a Pyodide at "
                f"{boot.SITE_PYODIDE}: take one of the two out"
            )
        if present is None:
            self.set_lite_plugin_settings(
                file, boot.KERNEL_PLUGIN, {**settings, "pyodideUrl": boot.SITE_PYODIDE}
            )

    def _status(self) -> Iterator[str]:
        found = ", ".join(f"{name} {version}" for name, version in versions.installed().items())
        yield f"    pywebmcp:  {pywebmcp.__version__}, with {found}"
        yield f"    Pyodide:   {self.pyodide or 'that of the kernel'}"
        if self._source:
            yield f"    packages:  {self._packages_address() or 'those that the site carries'}"
            yield f"    bytecode:  {f'by {self._node}' if self._node else 'none'}"
        state = "is" if self._is_in_site else "is not, or not yet,"
        yield f"    loader:    {state} in {self._site}"

    # --- where things are

    @property
    def _site(self) -> Path:
        return Path(self.manager.output_dir)

    @property
    def _output(self) -> Path:
        return (self._site / boot.SITE_PYODIDE).parent

    @property
    def _cache(self) -> Path:
        return Path(self.manager.cache_dir) / "pywebmcp"

    @property
    def _is_in_site(self) -> bool:
        return (self._site / boot.LABEXTENSION / "package.json").is_file()

    @property
    def _is_module(self) -> bool:
        """Whether the page loads Pyodide from an address somewhere else."""
        return _is_address(self.pyodide) and self.pyodide.endswith(".mjs")

    @property
    def _source(self) -> str:
        """How a Pyodide of the site's own is had: npm, tarball, folder; empty: there is none."""
        if not self.pyodide or self._is_module:
            return ""
        if self.pyodide == "npm":
            return "npm"
        return "tarball" if self.pyodide.endswith((".tgz", ".tar.gz")) else "folder"

    @property
    def _tarball(self) -> Path:
        if _is_address(self.pyodide):
            return self._cache / self.pyodide.rpartition("/")[2]
        return Path(self.manager.lite_dir) / self.pyodide

    @property
    def _core(self) -> Path:
        """The folder of the npm package."""
        if self._source == "npm":
            return self._cache / "npm" / "node_modules" / "pyodide"
        if self._source == "tarball":
            return self._cache / "core"
        return Path(self.manager.lite_dir) / self.pyodide

    @property
    def _is_assembled(self) -> bool:
        """Whether the kernel's packages have to be put to the core; a folder may have them already."""
        if self._source != "folder":
            return bool(self._source)
        lock = self._core / distribution.LOCK
        return lock.is_file() and bool(distribution.lacking(self._core))

    @property
    def _folder(self) -> Path:
        """The folder that goes into the site."""
        return self._cache / "pyodide" if self._is_assembled else self._core

    def _core_files(self) -> list[Path]:
        names = (*distribution.CORE_FILES, distribution.LOCK, distribution.PACKAGE_JSON)
        return [path for name in names if (path := self._core / name).is_file()]

    @property
    def _node(self) -> Path | None:
        return programs.find_node() if self.precompile and self._source else None

    def _archive(self, name: str) -> Path:
        return self._cache / "page" / name / archives.archive_name(name)

    def _named_archives(self) -> list[Path]:
        manifest = self._site / boot.MANIFEST
        if not manifest.is_file():
            return []
        packages = json.loads(manifest.read_text("utf-8"))["packages"]
        return [self._site / boot.BOOT / package["url"] for package in packages]

    def _packages_address(self) -> str:
        if self.packages_url == "cdn":
            from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

            return str(PYODIDE_CDN_URL)
        return self.packages_url


def _is_address(text: str) -> bool:
    return re.match(r"https?://", text) is not None
