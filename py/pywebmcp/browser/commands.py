"""JupyterLab's command registry (Lumino ``CommandRegistry``)."""

from __future__ import annotations

import json
from typing import Any

from pywebmcp import jsontext
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CommandState


class Commands:
    """The commands of the application, some 400 of them."""

    def __init__(self, registry: Js) -> None:
        self._registry = registry

    async def listing(self) -> list[CommandState]:
        """Every command, in three crossings."""
        ids: list[str] = ffi.data(self._registry.listCommands())
        calls = json.dumps([[command_id] for command_id in ids])
        labels, enabled, described = [
            jsontext.loads(await ffi.bridge().callEach(self._registry, method, calls))
            for method in ("label", "isEnabled", "describedBy")
        ]
        listed = []
        for command_id, label, on, about in zip(ids, labels, enabled, described, strict=True):
            state = CommandState(id=command_id, label=str(label or ""), enabled=on is True)
            schema = about.get("args") if isinstance(about, dict) else None
            if isinstance(schema, dict):
                state["args"] = schema
            listed.append(state)
        return listed

    def has(self, command_id: str) -> bool:
        """Whether there is such a command."""
        return bool(self._registry.hasCommand(command_id))

    def enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether it is enabled for these arguments; what cannot tell is not."""
        try:
            return bool(self._registry.isEnabled(command_id, ffi.parsed(args)))
        except ffi.JsException:
            return False

    async def execute(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command; its result where that is plain JSON, else None.

        Raises ``ToolError`` COMMAND_FAILED with the command's own message.
        """
        try:
            result = await ffi.bridge().invoke(
                self._registry, "execute", command_id, ffi.parsed(args)
            )
        except ffi.JsException as error:
            raise ToolError(
                Code.COMMAND_FAILED, f"{command_id} failed: {ffi.reason(error)}."
            ) from None
        text = ffi.given(ffi.bridge().plainText(result))
        return None if text is None else jsontext.loads(text)
