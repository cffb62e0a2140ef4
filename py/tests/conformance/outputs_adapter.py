"""The names that the conformance kit of the outputs protocol calls, on our code."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from pywebmcp.cli import main
from pywebmcp.outputs import (
    OutputProtocolError,
    list_notebook_outputs,
    list_outputs,
    read_notebook_output,
    read_output,
    resolve_notebook_cell,
    store,
)

__all__ = [
    "error_code",
    "list_notebook_outputs",
    "list_outputs",
    "mcp_command",
    "persist_inline_outputs",
    "read_notebook_output",
    "read_output",
    "resolve_notebook_cell",
    "run_cli",
]


def error_code(error: BaseException) -> str | None:
    """The code of an expected failure; None of a crash."""
    return error.code if isinstance(error, OutputProtocolError) else None


def persist_inline_outputs(outputs: list[Any], cwd: str) -> Path | None:
    """Store a run; the kit finds it under the names that it knows."""
    manifest = store.persist(outputs, cwd)
    if manifest is None:
        return None
    _rewrite(manifest, _THEIRS)
    os.rename(Path(cwd, ".pywebmcp"), Path(cwd, ".j-cli"))
    return Path(str(manifest).replace(".pywebmcp", ".j-cli"))


def run_cli(argv: list[str], cwd: str, env: dict[str, str]) -> tuple[int, str, str]:
    """Run the command in this process, in a folder whose files have our names while it runs."""
    ours = {_renamed(key, _OURS): value for key, value in env.items()}
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    with (
        _our_names(Path(cwd)),
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, ours, clear=True),
        mock.patch.multiple(sys, stdout=streams[0], stderr=streams[1]),
    ):
        code = main([_renamed(word, _OURS) for word in argv])
    out, err = (_renamed(each.buffer.getvalue().decode("utf-8"), _THEIRS) for each in streams)
    if code == 2 and "-j" in argv:
        err = _usage_as_text(err)
    return code, out, err


def mcp_command(roots: list[str]) -> list[str]:
    """The stdio server for saved outputs."""
    return [
        sys.executable,
        "-m",
        "pywebmcp",
        "mcp",
        "outputs",
        *(f"--root={root}" for root in roots),
    ]


# The kit has the names of the program that its expectations were recorded from.
_OURS = {".j-cli": ".pywebmcp", "JCLI_": "PYWEBMCP_", '"jupyter-jcli"': '"pywebmcp"'}
_THEIRS = {ours: theirs for theirs, ours in _OURS.items()}


def _usage_as_text(err: str) -> str:
    """The samples have click's text for wrong usage; under -j ours is an error object with it."""
    body = json.loads(err)
    assert set(body) == {"status", "code", "message", "usage"}
    usage = body["usage"].replace("Usage: pywebmcp ", "Usage: python -m jupyter_jcli ")
    return f"{usage}\n\nError: {body['message']}\n"


def _renamed(text: str, names: dict[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def _rewrite(manifest: Path, names: dict[str, str]) -> None:
    manifest.write_bytes(_renamed(manifest.read_bytes().decode(), names).encode())


@contextlib.contextmanager
def _our_names(folder: Path) -> Iterator[None]:
    theirs, ours = folder / ".j-cli", folder / ".pywebmcp"
    if not os.path.lexists(theirs):
        yield
        return
    os.rename(theirs, ours)
    before = {path: path.read_bytes() for path in folder.rglob("manifest.json")}
    for path in before:
        _rewrite(path, _OURS)
    try:
        yield
    finally:
        for path, content in before.items():
            if path.exists():
                path.write_bytes(content)
        os.rename(ours, theirs)
