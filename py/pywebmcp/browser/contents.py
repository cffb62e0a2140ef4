"""Files through JupyterLab's contents manager, which has no guards of its own."""

from __future__ import annotations

import json
from typing import Any

from pywebmcp import paths
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Entry

_ENTRY = Spec(
    {
        "name": "name",
        "path": "path",
        "type": "type",
        "size": "size",
        "modified": "last_modified",
        "writable": "writable",
    }
)
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
        found = _ENTRY.read(model)
        entry = Entry(name=found["name"], path=found["path"], type=found["type"])
        if found["size"] is not None and found["type"] != "directory":
            entry["size"] = found["size"]
        if found["modified"] is not None:
            entry["modified"] = found["modified"]
        if found["writable"] is not None:
            entry["writable"] = found["writable"]
        return entry

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
                content = json.loads(content)
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
            await self._save(path, {"type": "notebook", "format": "json", "content": content})
        except BaseException as error:
            for each in made:
                await self._remove_quietly(each)
            if isinstance(error, ffi.JsException):
                raise ToolError(
                    Code.INVALID_PATH, f'"{path}" could not be created: {ffi.reason(error)}.'
                ) from None
            raise

    async def delete_file(self, path: str) -> None:
        """Delete a file that this call created, after a failure."""
        await self._remove_quietly(path)

    async def _save(self, path: str, model: dict[str, Any]) -> None:
        await self._manager.save(path, ffi.parsed(model))

    async def _remove_quietly(self, path: str) -> None:
        # Of the failure that led here the caller hears; this one would only hide it.
        try:
            await self._manager.delete(path)
        except ffi.JsException:
            return


def _status(error: ffi.JsException) -> int | None:
    """The HTTP status of a failed request (``ServerConnection.ResponseError``)."""
    response = ffi.given(getattr(error, "response", None))
    status = getattr(response, "status", None)
    return int(status) if isinstance(status, (int, float)) else None


def _unreadable(code: Code, path: str, error: BaseException) -> ToolError:
    return ToolError(code, f'"{path}" cannot be read: {ffi.reason(error)}.')
