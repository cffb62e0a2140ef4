"""Stored runs as they lie on disk: which folder is one, what its manifest must say, and reading it
back. Nothing in a workspace is trusted: a run's files lie in its own folder and are no links.
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from pywebmcp import jsontext
from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, invalid
from pywebmcp.outputs.images import RASTER_TYPES
from pywebmcp.outputs.reading import list_outputs, read_output
from pywebmcp.outputs.transport import MAX_TRANSPORT_BYTES
from pywebmcp.outputs.windows import DEFAULT_TEXT_LIMIT

SCHEMA_VERSION = 1
MANAGED_BY = "pywebmcp"
FOLDERS = (".pywebmcp", "outputs")
"""The folders below a workspace in which the runs are."""

MANIFEST = "manifest.json"
COMPLETE = "complete"


class NotARunError(Exception):
    """A folder is no complete run of ours; ``reason`` is what a cleanup reports."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Run:
    """A complete run: its folder, the moment it was stored (seconds since 1970), its manifest."""

    folder: Path
    created_at: float
    manifest: dict[str, Any]

    @property
    def outputs(self) -> list[Any]:
        """The outputs as nbformat has them, with references in the place of raster images."""
        outputs: list[Any] = self.manifest["outputs"]
        return outputs

    def files(self) -> Iterator[Any]:
        """Every reference to a file that the manifest holds, unchecked."""
        for output in self.outputs:
            data = output.get("data") if isinstance(output, Mapping) else None
            if isinstance(data, Mapping):
                for mime_type in RASTER_TYPES:
                    value = data.get(mime_type)
                    if is_reference(value):
                        yield value["path"]

    def payload(self, path: Any) -> Path:
        """The file that a reference means.

        Raises:
            ValueError: when it is not a plain file in the run's own folder.
        """
        if not isinstance(path, str) or "\0" in path:
            raise ValueError("a reference has to be a path")
        # The workspace may have been moved since: then the paths still name where it was.
        written = Path(str(self.manifest.get("cwd")), *FOLDERS, self.folder.name)
        named = Path(path)
        file = self.folder / named.name
        if named.parent not in (self.folder, written) or named.name == MANIFEST:
            raise ValueError(f"{path} is not in the run's own folder")
        if not is_plain_file(file):
            raise ValueError(f"{path} is missing, or no plain file")
        return file


def is_reference(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether the value of a raster image's MIME type stands for a file beside the manifest."""
    return isinstance(value, Mapping) and value.get("type") == "file" and "path" in value


def is_plain_file(path: Path) -> bool:
    """Whether the path is a regular file and no link."""
    return _has_mode(path, stat.S_ISREG)


def is_plain_folder(path: Path) -> bool:
    """Whether the path is a folder and no link."""
    return _has_mode(path, stat.S_ISDIR)


def load(folder: Path) -> Run:
    """The complete run in a folder.

    Raises:
        NotARunError: when it is none, or in doubt.
    """
    path = folder / MANIFEST
    if not is_plain_file(path):
        raise NotARunError("incomplete or state-unknown run retained")
    try:
        manifest = jsontext.loads(path.read_bytes())
    except (OSError, ValueError, MemoryError):
        raise NotARunError("invalid or state-unknown manifest retained") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("outputs"), list):
        raise NotARunError("invalid or state-unknown manifest retained")
    source = manifest.get("source")
    created_at = manifest.get("created_at")
    if (
        manifest.get("schema_version") != SCHEMA_VERSION
        or manifest.get("managed_by") != MANAGED_BY
        or manifest.get("status") != COMPLETE
        or manifest.get("run_id") != folder.name
        or not isinstance(source, dict)
        or source.get("run_id") != folder.name
        or isinstance(created_at, bool)
        or not isinstance(created_at, (int, float))
        # Neither NaN nor a number that no clock shows.
        or not abs(created_at) < 1e12
    ):
        raise NotARunError("unrecognized or state-unknown manifest retained")
    return Run(folder, float(created_at), manifest)


def show(
    manifest: str | os.PathLike[str],
    output_index: int | None = None,
    *,
    mime_type: str | None = None,
    offset: int = 0,
    limit: int | None = DEFAULT_TEXT_LIMIT,
    max_transport_bytes: int = MAX_TRANSPORT_BYTES,
) -> dict[str, Any]:
    """The directory of a stored run, or one of its outputs, as the outputs protocol answers them.

    Args:
        manifest: the run's manifest.json.
        output_index: the output to read; None lists the run.
        mime_type: exactly this representation; None for the best by the protocol's order.
        offset: Unicode characters of a text to skip.
        limit: Unicode characters of a text at most.
        max_transport_bytes: bytes that the answer may have as compact JSON.

    Raises:
        OutputProtocolError: OUTPUT_NOT_FOUND when there is no manifest, OUTPUT_DATA_INVALID when it
            is none of a complete run or a file of it is not there; else as `read_output` does.
    """
    run = _run_of(manifest)
    source = run.manifest["source"]
    if output_index is None:
        return list_outputs(run.outputs, source=source, max_transport_bytes=max_transport_bytes)
    outputs = list(run.outputs)
    if type(output_index) is int and 0 <= output_index < len(outputs):
        outputs[output_index] = _with_image(run, outputs[output_index], mime_type)
    return read_output(
        outputs,
        output_index,
        source=source,
        mime_type=mime_type,
        offset=offset,
        limit=limit,
        max_transport_bytes=max_transport_bytes,
    )


def _run_of(manifest: str | os.PathLike[str]) -> Run:
    try:
        path = Path(manifest)
        if not path.is_symlink() and path.is_dir():
            path = path / MANIFEST
        if not os.path.lexists(path):
            raise OutputProtocolError(Code.OUTPUT_NOT_FOUND, f"There is no manifest {path}")
        if path.name != MANIFEST:
            raise invalid(f"{path} is not the {MANIFEST} of a stored run")
        return load(path.parent.resolve())
    except NotARunError:
        raise invalid(f"{path} is not the manifest of a complete run of {MANAGED_BY}") from None
    except (OSError, ValueError) as error:
        raise invalid(f"{manifest!r} cannot be read: {error}") from None


def _with_image(run: Run, output: Any, mime_type: str | None) -> Any:
    """The output with the one image in it that will be answered, if one will.

    The others keep their references: a file that is gone loses no other representation.
    """
    data = output.get("data") if isinstance(output, Mapping) else None
    if not isinstance(data, Mapping):
        return output
    for name in RASTER_TYPES:
        if mime_type not in (None, name):
            continue
        value = data.get(name)
        if is_reference(value):
            return {**output, "data": {**data, name: _base64(run, value["path"])}}
        if value is not None:
            break
    return output


def _base64(run: Run, path: Any) -> str:
    try:
        file = run.payload(path)
        size = file.stat().st_size
        # Four characters for three bytes: more than that cannot be answered, so it is not read.
        if size * 4 > MAX_TRANSPORT_BYTES * 3:
            raise OutputProtocolError(
                Code.OUTPUT_TOO_LARGE, f"{file.name} has {size} bytes, more than an answer takes"
            )
        return base64.b64encode(file.read_bytes()).decode("ascii")
    except (OSError, ValueError) as error:
        raise invalid(f"An image of the run cannot be read: {error}") from None


def _has_mode(path: Path, test: Any) -> bool:
    try:
        return bool(test(path.lstat().st_mode))
    except (OSError, ValueError):
        return False
