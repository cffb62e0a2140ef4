"""One open notebook panel of JupyterLab, and the few JavaScript objects in it that we work on."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp.browser import ffi, kernel
from pywebmcp.browser.ffi import Connections, Js, Spec
from pywebmcp.browser.messages import KernelMessages
from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import AccessMarks

_STATE = Spec(
    {
        "path": "context.path",
        "dirty": "context.model.dirty",
        "cells": "content.model.cells.length",
    }
)


_IDS = Spec({"$of": "cells", "$each": "getId()"})
_ACCESS = f"getMetadata().{METADATA_KEY}.access.level"
_MARKS = Spec({"notebook": _ACCESS, "cells": {"$of": "cells", "$each": _ACCESS}})


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
        self.starting: asyncio.Future[Any] | None = None
        """The start of the kernel that we asked for last."""
        self._changes: Js = ffi.bridge().counter(widget.content.model.contentChanged)
        self._ids: tuple[int, list[str]] = (-1, [])
        self._marks: tuple[int, AccessMarks] = (-1, AccessMarks(notebook=None, cells={}))
        self._connections = Connections()
        self._connections.connect(self.session.kernelChanged, self._listen_to_kernel)
        self._connections.connect(widget.disposed, self._connections.close)
        self._listen_to_kernel()

    def state(self) -> dict[str, Any]:
        """``path, dirty, cells`` in one crossing."""
        now: dict[str, Any] = _STATE.read(self.widget)
        return now

    @property
    def revision(self) -> int:
        """Grows with every change of the notebook's content."""
        return int(self._changes.count)

    @property
    def ready(self) -> bool:
        """Whether its file is read and it is still open."""
        return bool(self.context.isReady) and not self.disposed

    def ids(self) -> list[str]:
        """The id of every cell, in order; read anew only when the model changed."""
        revision = self.revision
        if self._ids[0] != revision:
            self._ids = (revision, _IDS.read(self.shared))
        return self._ids[1]

    def access_marks(self) -> AccessMarks:
        """The entries of the metadata that say what an agent may do; also read anew on a change."""
        revision = self.revision
        if self._marks[0] != revision:
            now = _MARKS.read(self.shared)
            marked = {at: mark for at, mark in enumerate(now["cells"] or []) if mark is not None}
            self._marks = (revision, AccessMarks(notebook=now["notebook"], cells=marked))
        return self._marks[1]

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

    def start_kernel(self, name: str) -> None:
        """Start a kernel, in the place of the present one, as if the person had chosen it.

        Does not wait for it: `kernel.ready` does.
        """
        preference = {**ffi.data(self.session.kernelPreference), "name": name}
        preference |= {"shouldStart": True, "canStart": True}
        self.session.kernelPreference = ffi.parsed(preference)
        gone = ffi.given(self.session.session)
        if gone is not None and self.connection() is None:
            # Shut down from elsewhere: its session went with it and would refuse another kernel.
            gone.dispose()
        self.starting = ffi.watch_quietly(self.session.changeKernel(ffi.struct(name=name)))

    def offer_kernels(self) -> None:
        """Let JupyterLab ask the person for a kernel again when they run a cell."""
        preference = {**ffi.data(self.session.kernelPreference), "canStart": True}
        self.session.kernelPreference = ffi.parsed(preference)

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
