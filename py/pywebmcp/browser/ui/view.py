"""Puts elements on the page, and brings what a person does there to the actions of a view."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pywebmcp import jsontext
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.browser.ui.elements import Node

log = logging.getLogger("pywebmcp")

Actions = Mapping[str, Callable[..., None]]
"""Actions by their names; the last argument is the value of the field that reported."""


class View:
    """One element of the page whose children are ours.

    All its events come through one proxy, which ends with the view.
    """

    def __init__(self, node: Js, actions: Actions) -> None:
        self.node = node
        self._actions = actions
        self._report = ffi.create_proxy(self._reported)
        self._view = ffi.dom().view(node, self._report)

    def show(self, *nodes: Node) -> None:
        """Let the element have these children; what is there already stays the same element."""
        self._view.show(json.dumps(nodes))

    def close(self) -> None:
        """Take the element off the page; it reports nothing more."""
        self._view.close()
        self._report.destroy()

    def _reported(self, text: str) -> None:
        action, *arguments = jsontext.loads(text)
        try:
            self._actions[action](*arguments)
        except Exception:
            # In the place of a Python traceback in whatever else listens to the event.
            log.exception("%s failed", action)


def element(cls: str, tag: str = "div", **attributes: str) -> Js:
    """A new element that is on no page yet."""
    node = ffi.document.createElement(tag)
    node.className = cls
    for key, value in attributes.items():
        node.setAttribute(key.replace("_", "-"), value)
    return node


def focus(element_id: str) -> None:
    """Move the keyboard focus to the element with this id, if there is one."""
    found = ffi.given(ffi.document.getElementById(element_id))
    if found is not None:
        found.focus()


def focus_node(node: Js) -> None:
    """Move the keyboard focus to an element, if it is one."""
    if ffi.given(node) is not None:
        node.focus()


def within_focus(node: Js) -> bool:
    """Whether the keyboard focus is in an element."""
    return bool(node.contains(ffi.document.activeElement))


def focused_within(ids: Sequence[str]) -> int:
    """Which of the elements with these ids has the keyboard focus in it; -1 for none."""
    for place, each in enumerate(ids):
        node = ffi.given(ffi.document.getElementById(each))
        if node is not None and within_focus(node):
            return place
    return -1


class Frames:
    """Runs something once before the next frame, however often it was asked for."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._asked = False
        self._proxy = ffi.create_proxy(self._frame)

    def ask(self) -> None:
        """Run before the next frame."""
        if not self._asked:
            self._asked = True
            ffi.window.requestAnimationFrame(self._proxy)

    def _frame(self, *_: Any) -> None:
        self._asked = False
        try:
            self._run()
        except Exception:
            log.exception("the panel could not be drawn")
