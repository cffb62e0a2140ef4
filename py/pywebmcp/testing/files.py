"""The contents service in memory: a dict of paths, with versions and folders."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Entry
from pywebmcp.testing.notebooks import crossed

Content = str | dict[str, Any]
"""A file's body: text, or a notebook's JSON."""

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""What the virtual clock's 0 is as a date."""


class MemoryFiles:
    """Files and folders; ``version`` of a path changes with every write, as ``modified`` would."""

    def __init__(self, files: Mapping[str, Content] | None = None, folders: Iterable[str] = ()):
        self._files: dict[str, Content] = {}
        self._folders: set[str] = set(folders)
        self._modified: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._writes = 0
        for path, content in (files or {}).items():
            self.write(path, content)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def __iter__(self) -> Iterable[str]:
        return iter(sorted(self._files))

    def read(self, path: str) -> Content:
        """A copy of a file's body. Raises ``ToolError`` FILE_NOT_FOUND."""
        if path not in self._files:
            raise ToolError(Code.FILE_NOT_FOUND, f"There is no file {path}.")
        return crossed(self._files[path])  # type: ignore[no-any-return]

    def write(self, path: str, content: Content) -> None:
        """Write a file and its missing folders."""
        self._writes += 1
        self._files[path] = crossed(content)
        self._modified[path] = _now()
        self._versions[path] = self._writes
        folder = path.rpartition("/")[0]
        while folder:
            self._folders.add(folder)
            folder = folder.rpartition("/")[0]

    def delete(self, path: str) -> None:
        """Delete a file. Raises ``ToolError`` FILE_NOT_FOUND."""
        self.read(path)
        del self._files[path], self._modified[path], self._versions[path]

    def remove(self, path: str) -> None:
        """Delete a file, or a folder that is empty; nothing happens where neither is."""
        if path in self._files:
            self.delete(path)
        elif not any(self._inside(path)):
            self._folders.discard(path)

    def _inside(self, folder: str) -> Iterable[str]:
        return (each for each in (*self._files, *self._folders) if each.startswith(f"{folder}/"))

    def rename(self, old: str, new: str) -> None:
        """Rename a file; its version stays."""
        content, modified, version = self.read(old), self._modified[old], self._versions[old]
        self.delete(old)
        self.write(new, content)
        self._modified[new], self._versions[new] = modified, version

    def version(self, path: str) -> int | None:
        """A number that changes with every write; None when there is no such file."""
        return self._versions.get(path)

    def is_folder(self, path: str) -> bool:
        """Whether a folder is at this path; the root's is empty."""
        return path == "" or path in self._folders

    def entry(self, path: str) -> Entry | None:
        """What is at a path."""
        name = path.rpartition("/")[2]
        if self.is_folder(path):
            return Entry(name=name, path=path, type="directory")
        if path not in self._files:
            return None
        content = self._files[path]
        text = content if isinstance(content, str) else json.dumps(content)
        return Entry(
            name=name,
            path=path,
            type="notebook" if path.endswith(".ipynb") else "file",
            size=len(text.encode(errors="surrogatepass")),
            modified=self._modified[path],
        )

    def directory(self, path: str) -> list[Entry]:
        """A folder's entries. Raises ``ToolError`` FILE_NOT_FOUND."""
        if not self.is_folder(path):
            raise ToolError(Code.FILE_NOT_FOUND, f"There is no folder {path}.")
        inside = [*self._files, *self._folders]
        entries = [self.entry(each) for each in inside if each.rpartition("/")[0] == path]
        return [entry for entry in entries if entry is not None]

    def notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON. Raises ``ToolError`` FILE_NOT_FOUND or NOTEBOOK_READ_FAILED."""
        content: Any = self.read(path)
        if isinstance(content, str):
            try:
                content = json.loads(content)
            except ValueError as error:
                raise _unreadable(path, str(error)) from error
        if not isinstance(content, dict):
            raise _unreadable(path, "it holds no JSON object")
        return content


def _unreadable(path: str, why: str) -> ToolError:
    return ToolError(Code.NOTEBOOK_READ_FAILED, f"{path} is not a notebook: {why}.")


def _now() -> str:
    try:
        seconds = asyncio.get_running_loop().time()
    except RuntimeError:
        seconds = 0.0
    return (EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
