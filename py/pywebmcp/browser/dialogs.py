"""JupyterLab's dialogs: which are open, what they say, and clicking their buttons."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.frontend import DialogState

_FIELDS = ".jp-Dialog-content input, .jp-Dialog-content select, .jp-Dialog-content textarea"


class Dialogs:
    """Follows ``Dialog.tracker`` of apputils: dialogs queue there before they are shown."""

    def __init__(self) -> None:
        self._open: dict[str, Js] = {}
        self._numbers = itertools.count(1)
        self._watchers: list[tuple[Callable[[str], None], Callable[[str], None]]] = []
        self._connections = ffi.Connections()
        apputils = ffi.module("apputils")
        if apputils is not None:
            tracker = apputils.Dialog.tracker
            self._connections.connect_with(tracker.widgetAdded, self._added)
            with ffi.borrowed(lambda dialog, *_: self._added(dialog)) as add:
                tracker.forEach(add)

    def listing(self) -> list[DialogState]:
        """The open dialogs in their order, as results show them."""
        return [
            _state(dialog_id, dialog)
            for dialog_id, dialog in self._open.items()
            if not dialog.isDisposed
        ]

    def answer(self, dialog_id: str, button: int) -> None:
        """Click a button, as the person would."""
        dialog = self._open.get(dialog_id)
        if dialog is not None and not dialog.isDisposed:
            dialog.resolve(button)

    def watch(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """Tell the ids of dialogs as they open and close, beginning with the open ones."""
        self._watchers.append((opened, closed))
        for dialog_id in self._open:
            opened(dialog_id)

    def _added(self, dialog: Js) -> None:
        if _own is not None:
            dialog.node.classList.add(OWN)
            _own.append(dialog)
            return
        dialog_id = f"dialog-{next(self._numbers)}"
        self._open[dialog_id] = dialog
        connections = ffi.Connections()

        def gone() -> None:
            connections.close()
            if self._open.pop(dialog_id, None) is not None:
                for _, closed in self._watchers:
                    closed(dialog_id)

        connections.connect(dialog.disposed, gone)
        for opened, _ in self._watchers:
            opened(dialog_id)


async def ask_person(prompt: str, password: bool) -> str:
    """Ask what code outside any cell asks with ``input()``; empty when the person cancels.

    The dialog closes when whoever waits for the answer is cancelled.
    """
    dialog = ffi.module("apputils")
    if dialog is None:
        return ""
    kind = dialog.InputDialog.getPassword if password else dialog.InputDialog.getText
    options = ffi.struct(title="The agent's code asks for input", label=prompt)
    with marking() as own:
        answer = kind(options)
    try:
        result = await answer
    except asyncio.CancelledError:
        for each in own:
            each.reject()
        raise
    return str(ffi.given(result.value) or "")


@contextmanager
def marking() -> Iterator[list[Js]]:
    """The dialogs that open in the block are our own; gives them."""
    global _own
    _own = []
    try:
        yield _own
    finally:
        _own = None


_own: list[Js] | None = None

OWN = "pywebmcp-Dialog"
"""The class of our own dialogs, which ask the person and are none of the agent's."""


def _state(dialog_id: str, dialog: Js) -> DialogState:
    node = dialog.node
    shown = bool(dialog.isAttached)
    body = _part(node, ".jp-Dialog-body")
    state = DialogState(
        id=dialog_id,
        title=_title(dialog),
        body="" if body is None else _text(body),
        buttons=[_label(button) for button in node.querySelectorAll(".jp-Dialog-footer button")],
        shown=shown,
        plain=body is not None and body.querySelector("*") is ffi.null,
    )
    value = _input(node)
    if value is not None:
        state["input"] = value
    return state


def _title(dialog: Js) -> str:
    """The header's text; JupyterLab draws it only once the dialog is shown."""
    header = _part(dialog.node, ".jp-Dialog-header")
    drawn = "" if header is None else _text(header)
    if drawn:
        return drawn
    for panel in dialog.children():
        for part in panel.children():
            if part.hasClass("jp-Dialog-header") and hasattr(part, "render"):
                return " ".join(_strings(part.render()).split())
    return ""


def _strings(element: Js) -> str:
    """The text in a React element, as React will draw it."""
    try:
        return _joined(ffi.data(element))
    except ffi.JsException:
        # It holds what JSON cannot tell, such as a widget.
        return ""


def _joined(element: Any) -> str:
    if isinstance(element, str):
        return element
    if isinstance(element, list):
        return "".join(_joined(part) for part in element)
    if isinstance(element, dict):
        return _joined((element.get("props") or {}).get("children"))
    return ""


def _part(node: Js, selector: str) -> Js | None:
    return ffi.given(node.querySelector(selector))


def _text(node: Js) -> str:
    """A text with its word and line boundaries."""
    if node.isConnected:
        text = node.innerText
    else:
        # Only what is in the page has lines. It leaves again before anything is drawn.
        copy = node.cloneNode(True)
        ffi.document.body.appendChild(copy)
        text = copy.innerText
        copy.remove()
    lines = (" ".join(line.split()) for line in str(text or "").split("\n"))
    return "\n".join(line for line in lines if line)


def _label(button: Js) -> str:
    label = _part(button, ".jp-Dialog-buttonLabel")
    text = " ".join(str((button if label is None else label).textContent or "").split())
    return text or str(ffi.given(button.getAttribute("aria-label")) or "")


def _input(node: Js) -> str | bool | None:
    """The value of the first field; never that of a password field."""
    field: Any = _part(node, _FIELDS)
    if field is None or field.type == "password":
        return None
    if field.type in ("checkbox", "radio"):
        return bool(field.checked)
    return str(field.value)
