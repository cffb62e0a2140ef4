"""Changes of cells on the shared model that leave the person's caret, keys and undo history alone.

JupyterLab moves the keyboard focus into a neighbour when a cell that is being edited goes away;
what a person typed next would land there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.panel import Panel
from pywebmcp.constants import INSERT_FAR
from pywebmcp.edits import normalise_newlines, utf16_offset, yjs_edit
from pywebmcp.types import CellData

_SOURCE = Spec("getSource()")
_CELL = Spec(
    {
        "id": "getId()",
        "cell_type": "cell_type",
        "source": "getSource()",
        "metadata": "getMetadata()",
        "attachments": "attachments",
    }
)


def replace_texts(panel: Panel, index: int, edits: Sequence[tuple[int, int, str]]) -> None:
    """Replace parts ``(start, end, text)`` of the LF-normalised source, as one undo step."""
    source = normalise(panel, index)
    cell = panel.shared_cell(index)
    with _one_undo_step(cell):
        # From the last to the first: what is before a change keeps its offsets.
        for start, end, text in reversed(edits):
            first, last, text = yjs_edit(source, start, end, text)
            cell.updateSource(first, last, ffi.string(text))


def normalise(panel: Panel, index: int) -> str:
    r"""Make ``\n`` of the carriage returns in a cell's source; answers the source.

    The editor shows every line end as one character while the shared model counts what it holds,
    so every edit behind a carriage return would land in another place, or throw. The change brings
    the model in line with what the editor shows, so the editor must not apply it once more, and
    undo must not bring it back.
    """
    cell = panel.shared_cell(index)
    source: str = _SOURCE.read(cell)
    if "\r" not in source:
        return source
    binding = _editor_binding(panel.cell_widget(index))
    undo = ffi.given(cell.undoManager)
    origins = None if undo is None or binding is None else undo.trackedOrigins
    if origins is not None and not origins.has(binding):
        origins = None

    def change() -> None:
        text = cell.ysource
        for at in range(len(source) - 1, -1, -1):
            if source[at] == "\r":
                offset = utf16_offset(source, at)
                text.delete(offset, 1)
                if source[at + 1 : at + 2] != "\n":
                    text.insert(offset, "\n")

    if origins is not None:
        origins.delete(binding)
    try:
        cell.ysource.doc.transact(ffi.call_once(change), binding)
    finally:
        if origins is not None:
            origins.add(binding)
    return normalise_newlines(source)


def set_metadata(model: Js, key: str, value: Any) -> None:
    """Set one key of a notebook's or a cell's metadata, or with None take it away.

    JupyterLab's own methods, which keep the other keys and stay out of undo.
    """
    if value is None:
        model.deleteMetadata(key)
    else:
        model.setMetadata(key, ffi.parsed(value))


def insert(panel: Panel, index: int, cell: CellData) -> None:
    """Insert a cell; JupyterLab keeps the active cell, the focus and the scroll position."""
    fresh: dict[str, Any] = {**cell, "source": normalise_newlines(cell["source"])}
    with _one_undo_step(panel.shared):
        panel.shared.insertCell(index, ffi.parsed(fresh))


def delete(panel: Panel, index: int) -> None:
    """Delete a cell; keys meant for it go nowhere. In the place of the only cell comes a blank one."""
    widget = panel.cell_widget(index)
    if panel.has_focus(widget):
        release_focus(panel)
    _detach_run(widget)
    panel.notebook.model.deletedCells.push(widget.model.id)
    only = panel.notebook.model.cells.length == 1

    def change() -> None:
        panel.shared.deleteCell(index)
        if only:
            kind = panel.notebook.notebookConfig.defaultCell
            panel.shared.insertCell(0, ffi.struct(cell_type=kind, source=""))

    with _one_undo_step(panel.shared):
        panel.shared.transact(ffi.call_once(change))


def move(panel: Panel, index: int, to: int) -> None:
    """Move a cell to an index; the one a person is in stays, and its neighbours pass it."""
    if index == to:
        return
    notebook = panel.notebook
    active = notebook.activeCellIndex == index
    if active and panel.has_focus(panel.cell_widget(index)):
        distance = abs(to - index)
        if distance <= INSERT_FAR:
            _move_block(panel, index + 1 if to > index else to, index, distance)
            return
        release_focus(panel)
    _move_block(panel, index, to, 1)
    if active:
        notebook.activeCellIndex = to


def change_type(panel: Panel, index: int, cell_type: str) -> None:
    """Replace a cell by one of another type with the same id, source and metadata.

    Where a person types in it, the caret and the focus are in the new one before the next key.
    """
    notebook, old = panel.notebook, panel.cell_widget(index)
    if old.model.type == cell_type:
        return
    normalise(panel, index)
    active, focused = notebook.activeCellIndex == index, panel.has_focus(old)
    editor = ffi.given(old.editor)
    selection = None
    if focused and notebook.mode == "edit" and editor is not None:
        selection = editor.getSelection()
    cell = _CELL.read(panel.shared_cell(index))
    attachments = cell.pop("attachments")
    if attachments and cell_type != "code":
        cell["attachments"] = attachments
    if active:
        notebook.setMode("command", ffi.struct(focus=False))
    _detach_run(old)

    def change() -> None:
        panel.shared.deleteCell(index)
        panel.shared.insertCell(index, ffi.parsed({**cell, "cell_type": cell_type}))

    with _one_undo_step(panel.shared):
        panel.shared.transact(ffi.call_once(change))
    if not active:
        return
    notebook.activeCellIndex = index
    if selection is not None:
        fresh = attach(panel, index)
        notebook.setMode("edit")
        fresh.editor.setSelection(selection)
        fresh.editor.focus()
    elif focused:
        notebook.activate()


def attach(panel: Panel, index: int) -> Js:
    """The widget of a cell, in the document with its editor even where it is not in view."""
    widget = panel.cell_widget(index)
    if not widget.node.isConnected:
        widget.node.dataset.windowedListIndex = str(index)
        panel.notebook.layout.insertWidget(index, widget)
    return widget


def release_focus(panel: Panel) -> None:
    """Take the keyboard focus out of the notebook: keys reach neither a cell nor a shortcut."""
    element = ffi.given(ffi.document.activeElement)
    if element is not None:
        element.blur()
    panel.notebook.setMode("command", ffi.struct(focus=False))


@contextmanager
def _one_undo_step(model: Js) -> Iterator[None]:
    """Keep what happens here apart from what a person does within half a second of it.

    Yjs would make one undo step of both (of a cell's text, or of the notebook's cells).
    """
    undo = ffi.given(model.undoManager)
    if undo is not None:
        undo.stopCapturing()
    yield
    if undo is not None:
        undo.stopCapturing()


def _editor_binding(widget: Js) -> Js | None:
    """What ties a cell's editor to its shared text: the origin of the editor's transactions."""
    codemirror, editor = ffi.module("codemirror"), ffi.given(widget.editor)
    if codemirror is None or editor is None:
        return None
    return ffi.given(editor.editor.state.facet(codemirror.ySyncFacet))


def _move_block(panel: Panel, index: int, to: int, count: int) -> None:
    """Move cells by making them anew elsewhere, as JupyterLab does; their runs go along."""
    running = {}
    for offset in range(count):
        widget = panel.cell_widget(index + offset)
        run = _detach_run(widget)
        if run is not None:
            running[widget.model.id] = run
    with _one_undo_step(panel.shared):
        panel.notebook.moveCell(index, to, count)
    if not running:
        return
    first = to if to < index else to - count + 1
    for place in range(first, first + count):
        widget = panel.cell_widget(place)
        run = running.get(widget.model.id)
        if run is not None:
            _attach_run(widget, run)


def _detach_run(widget: Js) -> Js | None:
    """Take a running cell's future out of its output area, which would end it when it goes."""
    if widget.model.type != "code" or widget.model.executionState != "running":
        return None
    return ffi.given(widget.outputArea.detachFuture())


def _attach_run(widget: Js, run: Js) -> None:
    """Let a run go on in another widget of the same cell."""
    widget.outputArea.reattachFuture(run)
    widget.model.executionState = "running"

    done = ffi.watch_quietly(run.done)

    def settle(_: Any) -> None:
        if widget.isDisposed:
            return
        widget.model.executionState = "idle"
        if not done.cancelled() and done.exception() is None:
            widget.model.executionCount = done.result().content.execution_count

    done.add_done_callback(settle)
