"""Commands for people: in the command palette, in menus and in context menus, with labels."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js

log = logging.getLogger("pywebmcp")

CATEGORY = "Agent"


class CommandAdder:
    """Adds our commands to the application's registry; they stay for the life of the page."""

    def __init__(
        self, app: Js, tokens: Js, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """``start`` runs a coroutine in the background."""
        self._app = app
        self.in_background = start
        self._palette = ffi.given(tokens.palette)
        self._menus = ffi.given(tokens.mainMenu)

    def add(
        self,
        command_id: str,
        label: str,
        run: Callable[[dict[str, Any]], None],
        *,
        enabled: Callable[[dict[str, Any]], bool] = lambda _: True,
        caption: str = "",
        labels: Callable[[dict[str, Any]], str] | None = None,
        toggled: Callable[[dict[str, Any]], bool] | None = None,
        schema: dict[str, Any] | None = None,
        arguments: list[dict[str, Any]] | None = None,
    ) -> None:
        """A command whose ``run`` takes its arguments, and an entry of the palette for it.

        ``labels`` gives the label for arguments and ``toggled`` whether they hold, ``arguments`` those of the palette's entries (one
        without any by default), ``schema`` describes them (JSON Schema).
        """

        def execute(args: Js, *_: Any) -> None:
            try:
                run(ffi.data(args) or {})
            except Exception:
                log.exception("%s failed", command_id)

        options: dict[str, Any] = {
            "caption": caption,
            "execute": ffi.create_proxy(execute),
            "isEnabled": ffi.create_proxy(lambda args, *_: enabled(ffi.data(args) or {})),
            "describedBy": ffi.parsed({"args": schema or {"type": "object", "properties": {}}}),
            "label": label
            if labels is None
            else ffi.create_proxy(lambda args, *_: labels(ffi.data(args) or {})),
        }
        if toggled is not None:
            options["isToggled"] = ffi.create_proxy(lambda args, *_: toggled(ffi.data(args) or {}))
        self._app.commands.addCommand(command_id, ffi.struct(**options))
        for args in arguments or [{}]:
            if self._palette is not None:
                item = {"command": command_id, "category": CATEGORY, "args": args}
                self._palette.addItem(ffi.parsed(item))

    def to_menu(self, menu: str, rank: int, *entries: dict[str, Any]) -> None:
        """Entries ``{command, args?}`` as a group of a main menu such as ``viewMenu``."""
        if self._menus is not None:
            getattr(self._menus, menu).addGroup(ffi.parsed(list(entries)), rank)

    def to_context_menu(self, selector: str, rank: float, *entries: dict[str, Any]) -> None:
        """Entries ``{command, args?}`` in the context menu of what a selector finds."""
        for place, entry in enumerate(entries):
            item = {**entry, "selector": selector, "rank": rank + place / 1000}
            self._app.contextMenu.addItem(ffi.parsed(item))

    def to_context_submenu(
        self, selector: str, rank: float, label: str, *entries: dict[str, Any]
    ) -> None:
        """The same as a menu within the context menu."""
        widgets = ffi.module("widgets")
        if widgets is None:
            return
        submenu = widgets.Menu.new(ffi.struct(commands=self._app.commands))
        submenu.title.label = label
        for entry in entries:
            submenu.addItem(ffi.parsed(entry))
        item = ffi.struct(type="submenu", submenu=submenu, selector=selector, rank=rank)
        self._app.contextMenu.addItem(item)

    def tell(self, message: str, kind: str = "info") -> None:
        """Show the person a notification (``info``, ``success``, ``warning``, ``error``)."""
        apputils = ffi.module("apputils")
        if apputils is not None:
            apputils.Notification.emit(ffi.string(message), kind, ffi.struct(autoClose=5000))
