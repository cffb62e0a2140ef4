"""What a person points at: the cell or output of a context menu, the text selected in a cell."""

from __future__ import annotations

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.ui.spots import Spot
from pywebmcp.edits import from_utf16_offset, normalise_newlines

_SELECTED = Spec({"$of": "selectedCells", "$each": "model.id"})
_EDITOR = "editor.editor.state.selection.main"
_SELECTION = Spec(
    {
        "id": "model.id",
        "source": "model.sharedModel.getSource()",
        "from": f"{_EDITOR}.from",
        "to": f"{_EDITOR}.to",
    }
)


class Pointer:
    """Reads the page's context menu and its selections, in the current notebook."""

    def __init__(self, app: Js, tracker: Js) -> None:
        self._app = app
        self._tracker = tracker

    def selected(self) -> list[str]:
        """The ids of the selected cells."""
        content = self._content()
        return [] if content is None else _SELECTED.read(content) or []

    def cell(self) -> str | None:
        """The id of the cell at which the context menu was opened."""
        return self._cell_of(self._hit("jp-Cell"))

    def active(self) -> str | None:
        """The id of the active cell."""
        content = self._content()
        cell = None if content is None else ffi.given(content.activeCell)
        return None if cell is None else str(cell.model.id)

    def range(self) -> Spot | None:
        """The text that is selected in the active cell."""
        content = self._content()
        cell = None if content is None else ffi.given(content.activeCell)
        if cell is None:
            return None
        now = _SELECTION.read(cell)
        if now["from"] is None or now["from"] == now["to"]:
            return None
        source = normalise_newlines(now["source"] or "")
        start, end = (from_utf16_offset(source, now[side]) for side in ("from", "to"))
        return Spot(now["id"], start, end)

    def output(self, *, menu: bool) -> Spot | None:
        """The output at which the context menu was opened, or in which text is selected."""
        if menu:
            return self._output_of(self._hit("jp-OutputArea-child"))
        selection = ffi.given(ffi.document.getSelection())
        node = None if selection is None else ffi.given(selection.anchorNode)
        element = None if node is None else ffi.given(node.parentElement)
        return None if element is None else self._output_of(element)

    def _content(self) -> Js | None:
        widget = ffi.given(self._tracker.currentWidget)
        return None if widget is None else widget.content

    def _hit(self, css_class: str) -> Js | None:
        with ffi.borrowed(lambda node, *_: node.classList.contains(css_class)) as test:
            return ffi.given(self._app.contextMenuHitTest(test))

    def _cell_of(self, node: Js | None) -> str | None:
        content = self._content()
        if node is None or content is None:
            return None
        # JupyterLab keeps the place of a cell at its element.
        index = int(node.dataset.windowedListIndex or -1)
        cell = content.widgets[index] if 0 <= index < content.widgets.length else None
        return str(cell.model.id) if cell is not None and cell.node.isSameNode(node) else None

    def _output_of(self, node: Js | None) -> Spot | None:
        child = None if node is None else ffi.given(node.closest(".jp-OutputArea-child"))
        if child is None:
            return None
        cell_id = self._cell_of(ffi.given(child.closest(".jp-Cell")))
        siblings = [
            each
            for each in child.parentElement.children
            if each.classList.contains("jp-OutputArea-child")
        ]
        index = next((at for at, each in enumerate(siblings) if each.isSameNode(child)), None)
        return None if cell_id is None or index is None else Spot(cell_id, output=index)
