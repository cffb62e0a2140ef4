"""The elements of cells on the page, by notebook path and cell id."""

from __future__ import annotations

from collections.abc import Iterator

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec

_PATH = Spec("context.path")
_IDS = Spec({"$of": "content.model.sharedModel.cells", "$each": "getId()"})


class CellNodes:
    """Finds the widgets of notebooks and of their cells; rendered or not, they exist."""

    def __init__(self, tracker: Js) -> None:
        self._tracker = tracker

    def panels(self) -> list[Js]:
        """Every open notebook panel whose file is read."""
        found: list[Js] = []
        with ffi.borrowed(lambda widget, *_: found.append(widget)) as add:
            self._tracker.forEach(add)
        return [each for each in found if not each.isDisposed and each.context.isReady]

    def panel(self, path: str) -> Js | None:
        """The notebook panel at a path."""
        return next((each for each in self.panels() if _PATH.read(each) == path), None)

    def at(self, panel: Js, index: int) -> Js | None:
        """The widget of the cell at an index."""
        widgets = panel.content.widgets
        return widgets[index] if 0 <= index < widgets.length else None

    def found(self, panel: Js, wanted: set[str]) -> Iterator[tuple[str, Js]]:
        """The ids among these that the notebook has, and their cells' widgets."""
        for index, cell_id in enumerate(_IDS.read(panel) or []):
            if cell_id in wanted:
                widget = self.at(panel, index)
                if widget is not None:
                    yield cell_id, widget
