"""One open notebook panel of JupyterLab, and the few JavaScript objects in it that we work on."""

from __future__ import annotations

from typing import Any

from pywebmcp.browser import ffi, kernel
from pywebmcp.browser.ffi import Connections, Js, Spec
from pywebmcp.browser.messages import KernelMessages
from pywebmcp.errors import Code, ToolError

_STATE = Spec(
    {
        "path": "panel.context.path",
        "dirty": "panel.context.model.dirty",
        "ready": "panel.context.isReady",
        "disposed": "panel.isDisposed",
        "revision": "changes.count",
        "cells": "panel.content.model.cells.length",
    }
)


class Panel:
    """A notebook panel from its opening to its closing."""

    def __init__(self, widget: Js) -> None:
        self.widget = widget
        self.id: str = widget.id
        self.notebook: Js = widget.content
        """The ``Notebook`` widget."""
        self.shared: Js = widget.content.model.sharedModel
        """The ``YNotebook`` behind it."""
        self.context: Js = widget.context
        self.session: Js = widget.sessionContext
        changes = ffi.bridge().counter(widget.content.model.contentChanged)
        self._root = ffi.struct(panel=widget, changes=changes)
        self._connections = Connections()
        self._connections.connect(self.session.kernelChanged, self._listen_to_kernel)
        self._connections.connect(widget.disposed, self._connections.close)
        self._listen_to_kernel()

    def state(self) -> dict[str, Any]:
        """``path, dirty, ready, disposed, revision, cells`` in one crossing."""
        now: dict[str, Any] = _STATE.read(self._root)
        return now

    @property
    def path(self) -> str:
        """The path as the contents service has it; it changes when the file is renamed."""
        return str(self.context.path)

    @property
    def disposed(self) -> bool:
        """Whether the person closed it."""
        return bool(self.widget.isDisposed)

    def require_open(self) -> None:
        """Raise ``ToolError`` NOTEBOOK_NOT_FOUND when it was closed meanwhile."""
        if self.disposed:
            raise ToolError(
                Code.NOTEBOOK_NOT_FOUND,
                "The notebook was closed meanwhile: open it again with jupyter_open_notebook.",
            )

    def shared_cell(self, index: int) -> Js:
        """The shared model of a cell (``YCodeCell``, ...)."""
        return self.shared.getCell(index)

    def cell_widget(self, index: int) -> Js:
        """The widget of a cell; it exists even where it is not rendered."""
        return self.notebook.widgets[index]

    def has_focus(self, cell: Js) -> bool:
        """Whether the keyboard focus is in a cell's widget."""
        return bool(cell.node.contains(ffi.document.activeElement))

    def connection(self) -> Js | None:
        """The live kernel connection, or None."""
        return kernel.connected(self.session)

    def messages(self, connection: Js) -> KernelMessages:
        """What the kernel's messages told so far."""
        return kernel.messages_of(connection)

    def _listen_to_kernel(self) -> None:
        connection = self.connection()
        if connection is not None:
            kernel.messages_of(connection)
