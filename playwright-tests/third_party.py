"""A site of somebody else's: a folder with requirements and notebooks, a venv, and the built wheel."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from notebooks import cell, notebook

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ("jupyterlite-core[contents]", "jupyterlite-pyodide-kernel")
NOTEBOOKS = {
    "first.ipynb": notebook(cell("word = 'made'", "a"), cell("word.upper()", "b")),
    "second.ipynb": notebook(cell("# as it was first published", "a")),
}


class Venv:
    """What `pip install -r requirements.txt` makes of nothing."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._bin = home / "venv" / ("Scripts" if os.name == "nt" else "bin")

    def install(self) -> None:
        """Build the wheel as a release has it, and install it with what a site needs."""
        wheels = self.home / "wheels"
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
        _run([*build, "--directory", str(wheels)], ROOT)
        [wheel] = wheels.glob("*.whl")
        (self.home / "requirements.txt").write_text("\n".join([str(wheel), *REQUIREMENTS]))
        _run([sys.executable, "-m", "venv", str(self._bin.parent)], self.home)
        pip = [str(self._bin / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        pip += ["--requirement", "requirements.txt"]
        # A site takes the newest there is; a test what was tested.
        _run([*pip, "--constraint", str(ROOT / "constraints.txt")], self.home)

    def environment(self, path: str | None = None) -> dict[str, str]:
        """The environment of a shell in which it is activated; `path` instead of the machine's."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        rest = os.environ["PATH"] if path is None else path
        return {**kept, "PATH": os.pathsep.join([str(self._bin), *filter(None, [rest])])}

    @property
    def jupyter(self) -> str:
        """The command."""
        return str(self._bin / "jupyter")


class Project:
    """A folder that a site is built in."""

    def __init__(self, folder: Path, venv: Venv, **ours: Any) -> None:
        self.folder = folder
        self.venv = venv
        self.site = folder / "_output"
        folder.mkdir(parents=True)
        self.write("jupyter_lite_config.json", {"PywebmcpAddon": ours} if ours else {})
        # The tests look at the page through the application.
        data = {"exposeAppInBrowser": True}
        lite = {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}
        self.write("jupyter-lite.json", lite)
        for name, content in NOTEBOOKS.items():
            self.write(f"files/{name}", content)

    def write(self, name: str, content: Any) -> None:
        """Write a JSON file of the project."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))

    def lite(self, command: str, *, path: str | None = None, fails: bool = False) -> str:
        """`jupyter lite build`, `check`, …; what it says."""
        words = [self.venv.jupyter, "lite", command]
        return _run(words, self.folder, self.venv.environment(path), fails=fails)

    def json(self, name: str) -> Any:
        """The content of a JSON file of the built site."""
        return json.loads((self.site / name).read_text())

    @contextlib.contextmanager
    def served(self) -> Iterator[str]:
        """`jupyter lite serve` while the block runs; the address of the site."""
        port = _free_port()
        words = [self.venv.jupyter, "lite", "serve", "--port", str(port)]
        url = f"http://127.0.0.1:{port}/"
        with (self.folder / "serve.log").open("w+") as log:
            server = subprocess.Popen(
                words, cwd=self.folder, env=self.venv.environment(), stdout=log, stderr=log
            )
            try:
                _until_served(url, server)
                yield url
            finally:
                server.terminate()
                server.wait()


def copy_of(site: Path, folder: Path) -> Path:
    """A copy of a built site whose files can be replaced (not written into: they are linked)."""
    shutil.copytree(site, folder, copy_function=os.link)
    return folder


def _run(
    words: list[str], cwd: Path, env: dict[str, str] | None = None, *, fails: bool = False
) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert bool(done.returncode) is fails, done.stdout[-5000:]
    return done.stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_served(url: str, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url):
            return
        time.sleep(0.1)  # there is nothing to wait on
    raise AssertionError("jupyter lite serve has ended")
