"""The elements of cells on the page, by notebook path and cell id."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.frontend import Frontend

_PATH = Spec("context.path")


class CellNodes:
    """Finds the widgets of notebooks and of their cells; rendered or not, they exist."""

    def __init__(self, frontend: Frontend, tracker: Js) -> None:
        self._frontend = frontend
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

    def found(self, path: str, wanted: Collection[str]) -> Iterator[tuple[str, Js]]:
        """The ids among these that the notebook at a path has, and their cells' widgets."""
        panel, notebook = self.panel(path), self._frontend.notebook(path)
        if panel is None or notebook is None:
            return
        # As the front end remembers them: reading a thousand takes longer than most calls.
        for index, cell_id in enumerate(notebook.ids()):
            widget = self.at(panel, index) if cell_id in wanted else None
            if widget is not None:
                yield cell_id, widget
