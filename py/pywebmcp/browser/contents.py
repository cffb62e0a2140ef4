"""Files through JupyterLab's contents manager, which has no guards of its own."""

from __future__ import annotations

import base64
from typing import Any

from pywebmcp import jsontext, paths
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Entry

_ENTRY_PARTS = {
    "name": "name",
    "path": "path",
    "type": "type",
    "size": "size",
    "modified": "last_modified",
    "writable": "writable",
}
_ENTRY = Spec(_ENTRY_PARTS)
_ENTRIES = Spec({"$of": "content", "$each": _ENTRY_PARTS})
_BODY = Spec({"format": "format", "content": "content"})
_NOT_FOUND = 404


class Contents:
    """Reading without opening, and writing without leaving anything behind on failure."""

    def __init__(self, manager: Js) -> None:
        self._manager = manager

    async def entry(self, path: str) -> Entry | None:
        """What is at a path, without its body; None when nothing is."""
        try:
            model = await self._manager.get(path, ffi.struct(content=False))
        except ffi.JsException as error:
            if _status(error) == _NOT_FOUND:
                return None
            raise _unreadable(Code.INVALID_PATH, path, error) from None
        return _entry(_ENTRY.read(model))

    async def list_directory(self, path: str) -> list[Entry]:
        """A directory's entries, without their bodies. Raises ``ToolError`` FILE_NOT_FOUND."""
        model = await self._get(path, type="directory")
        return [_entry(found) for found in _ENTRIES.read(model) or []]

    async def read_text(self, path: str) -> str | None:
        """A file's text, or None when it is none. Raises ``ToolError`` FILE_NOT_FOUND."""
        found = _BODY.read(await self._get(path))
        content = found["content"]
        if found["format"] == "base64" and isinstance(content, str):
            try:
                content = base64.b64decode(content).decode()
            except ValueError:
                return None
        elif not isinstance(content, str):
            # The service parsed a JSON file; the text is what it is stored as.
            content = _BODY.read(await self._get(path, type="file", format="text"))["content"]
        return content if isinstance(content, str) and "\0" not in content else None

    async def write_text(self, path: str, content: str) -> None:
        """Create or replace a text file and its missing folders; leaves nothing when it fails."""
        model = {"type": "file", "format": "text", "content": content}
        if await self.entry(path) is None:
            await self._create(path, model)
            return
        try:
            await self._save(path, model)
        except ffi.JsException as error:
            raise ToolError(
                Code.INVALID_PATH, f'"{path}" could not be written: {ffi.reason(error)}.'
            ) from None

    async def _get(self, path: str, **options: str) -> Js:
        try:
            return await self._manager.get(path, ffi.struct(content=True, **options))
        except ffi.JsException as error:
            if _status(error) == _NOT_FOUND:
                raise ToolError(
                    Code.FILE_NOT_FOUND, f'There is no "{path}": check the path.'
                ) from None
            raise _unreadable(Code.INVALID_PATH, path, error) from None

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON (nbformat), without opening it.

        Raises ``ToolError`` FILE_NOT_FOUND or NOTEBOOK_READ_FAILED.
        """
        try:
            content = ffi.data((await self._manager.get(path, ffi.struct(content=True))).content)
        except ffi.JsException as error:
            if _status(error) == _NOT_FOUND:
                raise ToolError(
                    Code.FILE_NOT_FOUND, f'There is no file "{path}": check the path.'
                ) from None
            raise _unreadable(Code.NOTEBOOK_READ_FAILED, path, error) from None
        if isinstance(content, str):
            # A notebook stored as text, as the Editor or a plain upload leaves it.
            try:
                content = jsontext.loads(content)
            except ValueError as error:
                raise _unreadable(Code.NOTEBOOK_READ_FAILED, path, error) from None
        if not isinstance(content, dict):
            raise ToolError(Code.NOTEBOOK_READ_FAILED, f'"{path}" is not a notebook.')
        return content

    async def create_notebook(self, path: str, content: dict[str, Any]) -> None:
        """Write a new notebook file and its missing folders; leaves nothing when it fails.

        Raises ``ToolError`` PATH_EXISTS or INVALID_PATH.
        """
        if await self.entry(path) is not None:
            raise ToolError(Code.PATH_EXISTS, f'"{path}" exists: choose another name.')
        await self._create(path, {"type": "notebook", "format": "json", "content": content})

    async def _create(self, path: str, model: dict[str, Any]) -> None:
        made: list[str] = []
        try:
            for folder in paths.parents(path):
                entry = await self.entry(folder)
                if entry is None:
                    made.insert(0, folder)
                    await self._save(folder, {"type": "directory"})
                elif entry["type"] != "directory":
                    raise ToolError(Code.INVALID_PATH, f'"{folder}" is a file, not a folder.')
            made.insert(0, path)
            await self._save(path, model)
        except BaseException as error:
            for each in made:
                await self._remove_quietly(each)
            if isinstance(error, ffi.JsException):
                raise ToolError(
                    Code.INVALID_PATH, f'"{path}" could not be created: {ffi.reason(error)}.'
                ) from None
            raise

    async def delete(self, path: str) -> None:
        """Delete a file or an empty folder that this call made, after a failure."""
        await self._remove_quietly(path)

    async def _save(self, path: str, model: dict[str, Any]) -> None:
        await self._manager.save(path, ffi.parsed(model))

    async def _remove_quietly(self, path: str) -> None:
        # Of the failure that led here the caller hears; this one would only hide it.
        try:
            await self._manager.delete(path)
        except ffi.JsException:
            return


def _entry(found: dict[str, Any]) -> Entry:
    entry = Entry(name=found["name"], path=found["path"], type=found["type"])
    if found["size"] is not None and found["type"] != "directory":
        entry["size"] = found["size"]
    if found["modified"] is not None:
        entry["modified"] = found["modified"]
    if found["writable"] is False:
        entry["writable"] = False
    return entry


def _status(error: ffi.JsException) -> int | None:
    """The HTTP status of a failed request (``ServerConnection.ResponseError``)."""
    response = ffi.given(getattr(error, "response", None))
    status = getattr(response, "status", None)
    return int(status) if isinstance(status, (int, float)) else None


def _unreadable(code: Code, path: str, error: BaseException) -> ToolError:
    return ToolError(code, f'"{path}" cannot be read: {ffi.reason(error)}.')
