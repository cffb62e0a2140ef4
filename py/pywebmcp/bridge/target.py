"""Which page is meant, and in which browser."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pywebmcp.bridge.errors import UsageError
from pywebmcp.bridge.site import serving


@dataclass(frozen=True, slots=True)
class Target:
    """What the command line says.

    ``url`` is the page's address, None for a tab that shows some page of ours already; ``cdp`` the
    address of a running browser, None to start one; ``store`` the task store that the environment
    names.
    """

    url: str | None = None
    site: Path | None = None
    cdp: str | None = None
    headless: bool = True
    isolated: bool = False
    port: int | None = None
    store: str | None = None

    @property
    def profile(self) -> Path:
        """The folder of the browser's profile: one for each site, so that its files are kept."""
        name = str(self.site.resolve()) if self.site else self.url or ""
        return _data_folder() / "pywebmcp" / "profiles" / _digest(name)[:16]


@contextlib.contextmanager
def served(target: Target) -> Iterator[Target]:
    """The target with an address: a folder is served as long as the block runs.

    The port depends on the folder alone, since the browser keeps what is in the page by address.

    Raises ``UsageError`` where there is no site, or its port is taken.
    """
    if target.site is None:
        yield target
        return
    if not (target.site / "jupyter-lite.json").is_file():
        raise UsageError(f"{target.site} is no JupyterLite site: it has no jupyter-lite.json.")
    port = target.port if target.port is not None else _port(target.site)
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(serving(target.site, port=port))
        except OSError as error:
            if target.port is not None or not target.isolated:
                raise UsageError(
                    f"Port {port}, at which {target.site} is served, cannot be used "
                    f"({error.strerror}). Perhaps another pywebmcp serves it: attach to that one's "
                    "browser with --cdp, or give --isolated or --port."
                ) from None
            url = stack.enter_context(serving(target.site))
        yield replace(target, url=f"{url}lab/index.html")


def _port(site: Path) -> int:
    """Between 20000 and 29999: below the ports that systems give out by themselves."""
    return 20_000 + int(_digest(str(site.resolve())), 16) % 10_000


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _data_folder() -> Path:
    """Where programs of this user keep their data."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
