"""Where the person is in the page, and pointing them at a cell."""

from __future__ import annotations

import contextlib
from typing import Any

from pywebmcp.browser import editing, ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.panel import Panel
from pywebmcp.constants import FOCUS_TIMEOUT
from pywebmcp.edits import from_utf16_offset, normalise_newlines, position_at, utf16_offset
from pywebmcp.frontend import FocusState
from pywebmcp.types import Position, Selection

_EDITOR = "tracker.currentWidget.content.activeCell.editor"

FOCUS = {
    "visible": "tracker.currentWidget.isVisible",
    "mode": "tracker.currentWidget.content.mode",
    "active": "tracker.currentWidget.content.activeCell.model.id",
    "selected": {"$of": "tracker.currentWidget.content.selectedCells", "$each": "model.id"},
    "anchor": f"{_EDITOR}.editor.state.selection.main.anchor",
    "head": f"{_EDITOR}.editor.state.selection.main.head",
    "collapsed": "document.getSelection().isCollapsed",
}
"""The parts of a `Spec` on ``{tracker, document}`` that `state` is made of."""

_ACTIVE_SOURCE = Spec(f"{_EDITOR}.model.sharedModel.getSource()")
_CELL = Spec({"id": "getId()", "source": "getSource()"})
_TEXT = Spec("toString()")


def state(root: Js, now: dict[str, Any]) -> FocusState | None:
    """The person's focus from what `FOCUS` read; None when no notebook is in view."""
    if not now["visible"]:
        return None
    focus = FocusState()
    if now["active"] is not None:
        focus["activeCellId"] = now["active"]
    if now["selected"]:
        focus["selectedCellIds"] = now["selected"]
    if now["mode"] is not None:
        focus["mode"] = now["mode"]
    anchor, head = now["anchor"], now["head"]
    if head is not None and (now["mode"] == "edit" or anchor != head):
        source = normalise_newlines(_ACTIVE_SOURCE.read(root) or "")
        cursor, other = from_utf16_offset(source, head), from_utf16_offset(source, anchor)
        if now["mode"] == "edit":
            line, column = position_at(source, cursor)
            focus["cursor"] = Position(line=line, column=column)
        if cursor != other:
            focus["selectedText"] = source[min(cursor, other) : max(cursor, other)]
    if now["collapsed"] is False:
        text = _selected_output(root)
        if text:
            focus["selectedOutputText"] = text
    return focus


def _selected_output(root: Js) -> str:
    """The text selected inside an output of the current notebook."""
    selection = ffi.document.getSelection()
    node = ffi.given(selection.anchorNode)
    if node is None:
        return ""
    element = node if node.nodeType == 1 else ffi.given(node.parentElement)
    output = element and ffi.given(element.closest(".jp-OutputArea-output"))
    if output is None or not root.tracker.currentWidget.node.contains(output):
        return ""
    text: str = _TEXT.read(selection)
    return text


def activate_cell(panel: Panel, index: int) -> None:
    """Make a cell the active one. Keys of a person who was in another reach neither of the two.

    Shortcuts act on the active cell: left with the focus, the person would press them on a cell
    that they do not look at.
    """
    notebook = panel.notebook
    if notebook.activeCellIndex == index:
        return
    if notebook.node.contains(ffi.document.activeElement):
        editing.release_focus(panel)
    # In edit mode JupyterLab would move the keyboard focus into the newly active cell.
    notebook.setMode("command", ffi.struct(focus=False))
    notebook.deselectAll()
    notebook.activeCellIndex = index


async def focus_cell(app: Js, panel: Panel, index: int, selection: Selection | None) -> None:
    """Bring a cell into view and make it active; with a selection, in edit mode with that.

    Takes 1.5 s at most where a far cell of a long notebook has to be rendered.
    """
    if not panel.widget.isVisible:
        app.shell.activateById(panel.id)
    notebook, cell = panel.notebook, _CELL.read(panel.shared_cell(index))
    editing.attach(panel, index)
    activate_cell(panel, index)
    with contextlib.suppress(TimeoutError, ffi.JsException):
        await ffi.within(FOCUS_TIMEOUT, notebook.scrollToItem(index, "center"))
    if selection is None or panel.disposed or notebook.activeCell.model.id != cell["id"]:
        return
    widget = notebook.activeCell
    notebook.deselectAll()
    notebook.setMode("edit")
    if ffi.given(widget.editor) is None:
        with contextlib.suppress(TimeoutError, ffi.JsException):
            await ffi.within(FOCUS_TIMEOUT, widget.ready)
    editor = ffi.given(widget.editor)
    if editor is None:
        return
    lines = normalise_newlines(cell["source"]).split("\n")
    editor.setSelection(
        ffi.parsed({name: _utf16(lines, selection[name]) for name in ("start", "end")})
    )
    editor.focus()


def _utf16(lines: list[str], place: Position) -> dict[str, int]:
    """A position with its column in UTF-16 code units, as editors count."""
    line = min(place["line"], len(lines) - 1)
    column = min(place["column"], len(lines[line]))
    return {"line": line, "column": utf16_offset(lines[line], column)}
