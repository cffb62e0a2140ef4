"""Tells when what a person looks at is another notebook, another cell, or has changed."""

from __future__ import annotations

from collections.abc import Callable

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Connections, Js


class Watch:
    """Follows the current notebook."""

    def __init__(self, tracker: Js, changed: Callable[[], None]) -> None:
        self._tracker = tracker
        self._changed = changed
        self._own = Connections()
        self._current = Connections()
        self._own.connect(tracker.currentChanged, self._follow)
        self._own.connect(tracker.activeCellChanged, changed)
        self._own.connect(tracker.selectionChanged, changed)
        self._follow()

    def _follow(self) -> None:
        self._current.close()
        widget = ffi.given(self._tracker.currentWidget)
        if widget is not None and not widget.isDisposed:
            self._current.connect(widget.content.model.contentChanged, self._changed)
            self._current.connect(widget.context.pathChanged, self._changed)
            ready = ffi.watch_quietly(widget.context.ready)
            ready.add_done_callback(lambda _: self._changed())
        self._changed()
