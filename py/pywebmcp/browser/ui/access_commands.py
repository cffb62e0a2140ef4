"""Commands for access levels: on the selected cells, on the open notebook, on notebook files."""

from __future__ import annotations

from typing import Any, get_args

from pywebmcp import access
from pywebmcp.access import Level
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.frontend import BrowserFrontend
from pywebmcp.browser.ui.access_tab import LEVELS
from pywebmcp.browser.ui.commands import CommandAdder
from pywebmcp.browser.ui.pointer import Pointer
from pywebmcp.errors import ToolError

CELLS = "pywebmcp:set-cell-access"
NOTEBOOK = "pywebmcp:set-notebook-access"

_LEVEL = {
    "type": "string",
    "enum": list(get_args(Level)),
    "description": "What an agent may do: write (read and change), read, or none",
}
_FILES = Spec({"$of": "selectedItems()", "$each": {"path": "path", "type": "type"}})


class AccessCommands:
    """Sets the levels that a person chooses in menus and in the palette."""

    def __init__(
        self,
        app: Js,
        tokens: Js,
        frontend: BrowserFrontend,
        commands: CommandAdder,
        pointer: Pointer,
    ) -> None:
        self._pointer = pointer
        self._contents: Js = app.serviceManager.contents
        self._browser: Js | None = ffi.given(tokens.defaultFileBrowser)
        self._frontend = frontend
        self._commands = commands
        entries = [{"level": level} for level in LEVELS]
        commands.add(
            CELLS,
            "Agent Access to Cells",
            self._set_cells,
            enabled=lambda _: frontend.notebook() is not None,
            labels=lambda args: _label("Agent Access to Selected Cells", args),
            toggled=lambda args: self._cells_level(args) == args.get("level"),
            caption="What an agent may do with the selected cells",
            schema={"type": "object", "properties": {"level": _LEVEL}, "required": ["level"]},
            arguments=entries,
        )
        path = {"type": "string", "description": "A notebook; default: the current one"}
        commands.add(
            NOTEBOOK,
            "Agent Access to Notebook",
            self._set_notebook,
            enabled=lambda args: args.get("menu") == "files" or frontend.notebook() is not None,
            labels=lambda args: _label("Agent Access to Notebook", args),
            toggled=lambda args: (
                args.get("menu") != "files" and self._notebook_level() == args.get("level")
            ),
            caption="What an agent may do with the notebook",
            schema={
                "type": "object",
                "properties": {"level": _LEVEL, "path": path},
                "required": ["level"],
            },
            arguments=entries,
        )
        for selector, command, rank, menu in (
            (".jp-Notebook .jp-Cell", CELLS, 30, "cells"),
            (".jp-Notebook", NOTEBOOK, 30.1, "notebook"),
            ('.jp-DirListing-item[data-file-type="notebook"]', NOTEBOOK, 30, "files"),
        ):
            what = "Agent Access to Cells" if command == CELLS else "Agent Access to Notebook"
            items = [{"command": command, "args": {**each, "menu": menu}} for each in entries]
            commands.to_context_submenu(selector, rank, what, *items)

    # --- cells

    def _chosen(self, args: dict[str, Any]) -> list[str]:
        """The ids of the selected cells; in a cell's menu of that cell, unless it is one of them."""
        selected = self._pointer.selected()
        hit = self._pointer.cell() if args.get("menu") else None
        return selected if hit is None or hit in selected else [hit]

    def _set_cells(self, args: dict[str, Any]) -> None:
        notebook = self._frontend.notebook()
        level = _known(args)
        if notebook is None or level is None:
            return
        for cell_id in self._chosen(args):
            for index in notebook.find(cell_id):
                access.set_level(notebook, index, level)

    def _cells_level(self, args: dict[str, Any]) -> Level | None:
        """The level that all selected cells have, or None."""
        notebook = self._frontend.notebook()
        if notebook is None:
            return None
        levels = access.levels(notebook)
        found = {
            levels.cells.get(index, "write")
            for cell_id in self._chosen(args)
            for index in notebook.find(cell_id)
        }
        return found.pop() if len(found) == 1 else None

    # --- notebooks

    def _notebook_level(self) -> Level | None:
        notebook = self._frontend.notebook()
        return None if notebook is None else access.levels(notebook).notebook

    def _set_notebook(self, args: dict[str, Any]) -> None:
        level = _known(args)
        if level is None:
            return
        for path in self._paths(args):
            notebook = self._frontend.notebook(path)
            if notebook is not None:
                access.set_level(notebook, None, level)
            elif path is not None:
                self._commands.in_background(self._set_file(path, level))

    def _paths(self, args: dict[str, Any]) -> list[str | None]:
        if args.get("path"):
            return [str(args["path"])]
        if args.get("menu") != "files" or self._browser is None:
            return [None]
        return [each["path"] for each in _FILES.read(self._browser) if each["type"] == "notebook"]

    async def _set_file(self, path: str, level: Level) -> None:
        """Write the level into a notebook that is not open."""
        try:
            content = await self._frontend.read_notebook(path)
            if content.get("nbformat") != 4:
                self._commands.tell(f"{path} is of an old format: open and save it first.", "error")
                return
            content["metadata"] = access.marked(content.get("metadata"), level)
            model = {"type": "notebook", "format": "json", "content": content}
            await self._contents.save(path, ffi.parsed(model))
        except (ToolError, ffi.JsException) as error:
            self._commands.tell(f"The access of {path} was not set: {ffi.reason(error)}.", "error")
        else:
            self._commands.tell(f"Agent access to {path}: {LEVELS[level]}.", "success")


def _known(args: dict[str, Any]) -> Level | None:
    level = args.get("level")
    return level if level in LEVELS else None


def _label(what: str, args: dict[str, Any]) -> str:
    level = _known(args)
    words = LEVELS[level] if level else ""
    return words if args.get("menu") else f"{what}: {words}" if words else what
