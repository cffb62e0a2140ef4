"""Files that are not notebooks: listing folders, reading and writing text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pywebmcp import jsontext, paths
from pywebmcp.changes import Plan
from pywebmcp.edits import digest
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Entry, Frontend
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import folders_to_make
from pywebmcp.types import Arg, Payload

# Fields around the entries or the text of a page.
_FRAME = 240


def content_hash(content: str) -> str:
    """The hash of a text file's content, of the same length as a cell's source hash."""
    return digest(content)


@tool("Read a folder or file", "RU")
async def jupyter_get_contents(
    call: Call,
    *,
    path: Annotated[str, Arg("Default: the workspace's root")] = "",
    recursive: Annotated[bool, Arg("With all folders below")] = False,
    offset: Annotated[int, Arg("Entries or characters to skip", ge=0)] = 0,
    limit: Annotated[int, Arg("Entries or characters", ge=1)] | None = None,
) -> Payload:
    """List a folder, or read a text file in pages (with its contentHash); nextOffset goes on. Notebooks:
    jupyter_get_cells."""
    if path == "":
        return await _listing(call, path, recursive, offset, limit)
    paths.checked(path)
    entry = await call.frontend.entry(path)
    if entry is None:
        raise ToolError(Code.FILE_NOT_FOUND, f'There is no "{path}": list its folder to see names.')
    if entry["type"] == "directory":
        return await _listing(call, path, recursive, offset, limit)
    facts: Payload = {key: entry[key] for key in ("type", "size", "modified") if key in entry}
    if entry["type"] == "notebook":
        return {**facts, "message": "Read a notebook's cells with jupyter_get_cells."}
    content = await call.frontend.read_text(path)
    if content is None:
        return {**facts, "message": "The file is binary and has no text to read."}
    return _text(call, facts, content, offset, limit)


async def _listing(
    call: Call, path: str, recursive: bool, offset: int, limit: int | None
) -> Payload:
    entries = await _entries(call.frontend, path, recursive)
    room = call.room(_FRAME)
    page: list[Entry] = []
    for entry in entries[offset : None if limit is None else offset + limit]:
        size = jsontext.length(jsontext.dumps(entry)) + 1
        if page and size > room:
            break
        room -= size
        page.append(entry)
    answer: Payload = {"entries": page}
    if offset + len(page) < len(entries):
        answer.update(nextOffset=offset + len(page), total=len(entries))
    return answer


async def _entries(frontend: Frontend, path: str, recursive: bool) -> list[Entry]:
    found: list[Entry] = []
    folders = [path]
    while folders:
        entries = sorted(
            await frontend.list_directory(folders.pop(0)), key=lambda entry: entry["path"]
        )
        found.extend(entries)
        if recursive:
            folders.extend(entry["path"] for entry in entries if entry["type"] == "directory")
    return found


def _text(call: Call, facts: Payload, content: str, offset: int, limit: int | None) -> Payload:
    """A page of a text in Unicode characters, as long as fits into a result."""
    if offset > len(content):
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'"offset" {offset} is past the end: the file has {len(content)} characters.',
        )
    room = call.room(_FRAME)
    size = min(limit or room, room, len(content) - offset)
    piece = content[offset : offset + size]
    # Quotes and control characters take more room in JSON than they have characters.
    while (length := jsontext.length(jsontext.dumps(piece))) > room:
        piece = piece[: max(1, len(piece) * room // length - 1)]
    answer: Payload = {**facts, "content": piece, "contentHash": content_hash(content)}
    if offset + len(piece) < len(content):
        answer.update(nextOffset=offset + len(piece), totalCharacters=len(content))
    return answer


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Create a text file, or replace one whose present content is known to the caller."""

    path: str
    content: str
    expected_hash: str | None

    async def plan(self, frontend: Frontend) -> Plan:
        """Check the path, what is there, and what is open on it."""
        before = await self._present(frontend)
        document = frontend.document(self.path)
        if document is not None and document["dirty"]:
            raise ToolError(
                Code.STALE_FILE,
                f'"{self.path}" is open with unsaved changes: ask the person to save or close it.',
            )

        async def apply() -> Payload:
            await frontend.write_text(self.path, self.content)
            return {"contentHash": content_hash(self.content)}

        base = None if before is None else content_hash(before)
        return Plan(self.path, None, before, self.content, base, apply)

    async def _present(self, frontend: Frontend) -> str | None:
        """The present content, None when the file is new; raises ``ToolError`` when not allowed."""
        await folders_to_make(frontend, self.path)
        entry = await frontend.entry(self.path)
        if entry is None:
            if self.expected_hash is not None:
                raise ToolError(
                    Code.STALE_FILE,
                    f'"{self.path}" does not exist (any more): leave expectedHash out to create it.',
                )
            return None
        if entry["type"] == "directory":
            raise ToolError(Code.INVALID_PATH, f'"{self.path}" is a folder: give a file\'s path.')
        content = await frontend.read_text(self.path)
        if content is None:
            raise ToolError(
                Code.PATH_EXISTS, f'"{self.path}" exists and is binary: choose another.'
            )
        present = content_hash(content)
        if self.expected_hash is None:
            raise ToolError(
                Code.PATH_EXISTS,
                f'"{self.path}" exists: to replace it, read it and give its contentHash as '
                "expectedHash.",
                contentHash=present,
            )
        if self.expected_hash != present:
            raise ToolError(
                Code.STALE_FILE,
                f'"{self.path}" changed since you read it: read it again.',
                contentHash=present,
            )
        return content


@tool("Write a file", "C")
async def jupyter_write_file(
    call: Call,
    *,
    path: Annotated[str, Arg("Missing folders are made")],
    content: str,
    expected_hash: Annotated[str, Arg("The contentHash you read, to replace a file")] | None = None,
) -> WriteFile:
    """Create a text file, or replace one with the hash of its present content. Not for notebooks, nor
    for what is open with unsaved changes."""
    paths.checked(path)
    if path.lower().endswith(".ipynb"):
        raise ToolError(
            Code.INVALID_PATH,
            "Notebooks are not written as files: use jupyter_open_notebook and the cell tools.",
        )
    return WriteFile(path, content, expected_hash)
