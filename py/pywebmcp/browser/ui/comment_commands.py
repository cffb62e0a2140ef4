"""Commands to comment on a cell, on the text selected in it, and on an output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pywebmcp.browser.ui.commands import CommandAdder
from pywebmcp.browser.ui.pointer import Pointer
from pywebmcp.browser.ui.spots import Spot

CELL = "pywebmcp:comment-on-cell"
SELECTION = "pywebmcp:comment-on-selection"
OUTPUT = "pywebmcp:comment-on-output"


def add(commands: CommandAdder, pointer: Pointer, compose: Callable[[Spot | None], None]) -> None:
    """Add them; ``compose`` lets the person write about a spot."""

    def cell(args: dict[str, Any]) -> Spot | None:
        found = (pointer.cell() if args.get("menu") else None) or pointer.active()
        return None if found is None else Spot(found)

    def output(args: dict[str, Any]) -> Spot | None:
        return pointer.output(menu=bool(args.get("menu")))

    commands.add(
        CELL,
        "Comment on Cell",
        lambda args: compose(cell(args)),
        enabled=lambda args: cell(args) is not None,
        caption="Start a thread about the cell",
    )
    commands.add(
        SELECTION,
        "Comment on Selected Text",
        lambda _: compose(pointer.range()),
        enabled=lambda _: pointer.range() is not None,
        caption="Start a thread about the text that is selected in the cell",
    )
    commands.add(
        OUTPUT,
        "Comment on Output",
        lambda args: compose(output(args)),
        enabled=lambda args: output(args) is not None,
        caption="Start a thread about the output: that of the context menu, or with selected text",
    )
    commands.to_context_menu(
        ".jp-Notebook .jp-Cell",
        30.2,
        {"command": CELL, "args": {"menu": True}},
        {"command": SELECTION, "args": {"menu": True}},
    )
    commands.to_context_menu(
        ".jp-Notebook .jp-OutputArea-child", 30.3, {"command": OUTPUT, "args": {"menu": True}}
    )
