"""Outputs of runs that no notebook keeps: what is too long or too rich for an answer is stored in
the workspace, as ``.pywebmcp/outputs/<run-id>/manifest.json`` with its images beside it.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pywebmcp import jsontext, text
from pywebmcp.outputs.retention import Limits, clean, summary
from pywebmcp.outputs.runs import (
    COMPLETE,
    FOLDERS,
    MANAGED_BY,
    MANIFEST,
    SCHEMA_VERSION,
    is_plain_folder,
    show,
)

__all__ = ["Limits", "OutputStoreError", "clean", "persist", "show", "summary"]

INLINE_CHARACTERS = 4000
"""Characters of text that an answer carries itself; beyond them the run is stored."""

INLINE_OUTPUTS = 20
"""Outputs that an answer carries itself."""

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}


class OutputStoreError(Exception):
    """A run's outputs could not be stored; nothing of them is left on the disk."""

    code = "OUTPUT_STORE_FAILED"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def persist(
    outputs: Sequence[Any],
    cwd: str | os.PathLike[str],
    *,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    limits: Limits | None = None,
) -> Path | None:
    """Store a run's outputs when an answer does not carry them, and then clean up.

    Args:
        outputs: the run's outputs as nbformat has them; they are not changed.
        cwd: the folder in which the command runs.
        now: seconds since 1970.
        new_id: a name that no other run has.
        limits: what the cleanup keeps; None leaves the cleanup out.

    Returns:
        The absolute path of the manifest; None when the outputs are short text.

    Raises:
        OutputStoreError: when they cannot be written.
    """
    if not needs_storing(outputs):
        return None
    run_id = new_id()
    try:
        workspace = Path(cwd).resolve(strict=True)
        folder = _new_folder(workspace, run_id)
        try:
            manifest = {
                "schema_version": SCHEMA_VERSION,
                "managed_by": MANAGED_BY,
                "status": COMPLETE,
                "run_id": run_id,
                "created_at": float(now()),
                "cwd": str(workspace),
                "source": {"kind": "inline", "cwd": str(workspace), "run_id": run_id},
                "outputs": [_with_files(folder, index, each) for index, each in enumerate(outputs)],
            }
            path = _write_manifest(folder, manifest)
        except BaseException:
            # A full disk, or Ctrl-C: half a run would stay for ever, since no cleanup knows it.
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except (OSError, ValueError) as error:
        raise OutputStoreError(
            f"The code ran, but its outputs could not be stored: {error}"
        ) from error
    if limits is not None:
        # The run is stored; a cleanup that fails must not take that back.
        with contextlib.suppress(OSError):
            clean(workspace, limits, now=now(), keep=folder)
    return path


def needs_storing(outputs: Sequence[Any]) -> bool:
    """Whether the outputs are more than short text: rich, many, or of a kind we do not know."""
    if len(outputs) > INLINE_OUTPUTS:
        return True
    characters = 0
    for output in outputs:
        kind = output.get("output_type") if isinstance(output, Mapping) else None
        if kind == "stream":
            characters += _length(output.get("text"))
        elif kind == "error":
            characters += sum(_length(output.get(key)) for key in ("ename", "evalue", "traceback"))
        elif kind in ("display_data", "execute_result"):
            data = output.get("data", {})
            if not isinstance(data, Mapping) or data.keys() - {"text/plain"}:
                return True
            characters += _length(data.get("text/plain"))
        else:
            return True
    return characters > INLINE_CHARACTERS


def _length(value: Any) -> int:
    """The characters of a text; colours and other escapes are none, what was overwritten is some."""
    written = text.multiline(value).replace("\r", "").replace("\b", "")
    return len(text.clean(written))


def _new_folder(workspace: Path, run_id: str) -> Path:
    folder = workspace
    for name in FOLDERS:
        folder = folder / name
        folder.mkdir(exist_ok=True)
        if not is_plain_folder(folder):
            raise ValueError(f"{folder} is a link or no folder")
    folder = folder / run_id
    folder.mkdir()
    return folder


def _with_files(folder: Path, index: int, output: Any) -> Any:
    """The output with references in the place of its raster images, which are written."""
    data = output.get("data") if isinstance(output, Mapping) else None
    if not isinstance(data, Mapping):
        return output
    kept = dict(data)
    for mime_type, suffix in _SUFFIXES.items():
        if mime_type not in kept:
            continue
        try:
            content = _decode(kept[mime_type])
        except (binascii.Error, ValueError):
            # It stays as it came: reading it says what is wrong, and the rest is not lost.
            continue
        file = folder / f"output-{index}{suffix}"
        _write(file, content)
        kept[mime_type] = {
            "type": "file",
            "path": str(file),
            "mime": mime_type,
            "bytes": len(content),
        }
    return {**output, "data": kept}


def _decode(value: Any) -> bytes:
    if not isinstance(value, (str, list)):
        raise ValueError("an image has to be base64 text")
    encoded = "".join(text.multiline(value).split())
    content = base64.b64decode(encoded, validate=True)
    if not content:
        raise ValueError("an image has to have bytes")
    return content


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> Path:
    """Last and in one step, so that whoever sees a manifest sees a complete run."""
    draft, path = folder / f"{MANIFEST}.part", folder / MANIFEST
    try:
        content = jsontext.encode(manifest)
    except TypeError:
        # Something that is no JSON, which a kernel cannot send but a caller can.
        content = jsontext.dumps(manifest)
    _write(draft, content.encode("utf-8"))
    os.replace(draft, path)
    return path


def _write(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
