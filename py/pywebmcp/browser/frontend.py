"""The JupyterLab application on the page as the tools know it (`pywebmcp.frontend.Frontend`)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pywebmcp.frontend
from pywebmcp import kernelspecs
from pywebmcp.browser import ffi, focus, kernel
from pywebmcp.browser.commands import Commands
from pywebmcp.browser.contents import Contents
from pywebmcp.browser.dialogs import Dialogs
from pywebmcp.browser.ffi import Js, Spec
from pywebmcp.browser.kernel import BrowserKernel, connected
from pywebmcp.browser.notebook import BrowserNotebook
from pywebmcp.browser.panel import Panel
from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    CommandState,
    DialogState,
    DocumentState,
    Entry,
    KernelState,
    NotebookState,
    Workspace,
)

log = logging.getLogger("pywebmcp")

_PARTS = {
    "directory": "browser.model.path",
    "current": {
        "id": "tracker.currentWidget.id",
        "path": "tracker.currentWidget.context.path",
        "ready": "tracker.currentWidget.context.isReady",
        "disposed": "tracker.currentWidget.isDisposed",
        "dirty": "tracker.currentWidget.context.model.dirty",
        "cells": "tracker.currentWidget.content.model.cells.length",
    },
    "documents": {
        "$of": "app.shell.widgets()",
        "$each": {
            "path": "context.path",
            "dirty": "context.model.dirty",
            "cells": "context.model.cells.length",
        },
    },
    "focus": focus.FOCUS,
    "kernel": {
        name: f"tracker.currentWidget.sessionContext.session.kernel.{path}"
        for name, path in kernel.STATE.items()
    },
}
_OWN = f"tracker.currentWidget.content.model.sharedModel.metadata.{METADATA_KEY}"
_WORKSPACE = Spec({**_PARTS, "own": _OWN})
# A file may hold anything there, even what cannot be read as JSON; the rest is still wanted then.
_WITHOUT_OWN = Spec({**_PARTS, "own": "none"})
_SPECS = Spec(
    {
        "default": "specs.default",
        "specs": {"$of": "specs.kernelspecs", "$each": {"name": "name", "language": "language"}},
    }
)
_QUIET = {
    # The person is not asked for a kernel: `open_notebook` chooses one once the file is read.
    "kernelPreference": {"shouldStart": False, "canStart": False},
    "factory": "Notebook",
}


class BrowserFrontend(pywebmcp.frontend.Frontend):
    """What is open in the page, and its files and kernels."""

    def __init__(self, app: Js, tokens: Js) -> None:
        self._app = app
        self._tracker = tokens.tracker
        self._executor = ffi.given(tokens.executor)
        self._rendermime = ffi.given(tokens.rendermime)
        self._is_lab = ffi.given(tokens.labShell) is not None
        self._contents = Contents(app.serviceManager.contents)
        self._dialogs = Dialogs()
        self._commands = Commands(app.commands)
        self._own: dict[str, Js] = {}
        self._panels: dict[str, Panel] = {}
        self._closed: list[Callable[[], None]] = []
        self._root = ffi.struct(
            app=app,
            tracker=tokens.tracker,
            browser=tokens.defaultFileBrowser,
            document=ffi.document,
        )
        self._connections = ffi.Connections()
        self._connections.connect(tokens.tracker.widgetAdded, self._find_panels)
        self._find_panels()

    def workspace(self) -> Workspace:
        """Directory, open documents and focus; what cannot be read is left out."""
        try:
            try:
                now = _WORKSPACE.read(self._root)
            except ToolError:
                now = _WITHOUT_OWN.read(self._root)
        except ffi.JsException as error:
            log.warning("the workspace cannot be read: %s", ffi.reason(error))
            return Workspace(directory=None, documents=None, focus=None, notebook=None, kernel=None)
        notebook, running = self._current_state(now["current"], now["kernel"])
        path: str = now["current"]["path"] or ""
        directory = now["directory"]
        return Workspace(
            directory=path.rpartition("/")[0] if directory is None else directory,
            documents=_documents(now["documents"] or []),
            focus=self._focus(now["focus"]),
            notebook=notebook,
            kernel=running,
            own=now["own"],
        )

    def _current_state(
        self, now: dict[str, Any], running: dict[str, Any]
    ) -> tuple[NotebookState | None, KernelState | None]:
        """The current notebook's part of the workspace."""
        panel = self._panels.get(now["id"])
        if panel is None or not now["ready"] or now["disposed"]:
            return None, None
        state = NotebookState(
            path=now["path"],
            dirty=now["dirty"],
            revision=panel.revision,
            cellCount=now["cells"] or 0,
        )
        if running["id"] is None or running["disposed"]:
            return state, None
        return state, kernel.state_of(panel.session.session.kernel, running)

    def notebook(self, path: str | None = None) -> BrowserNotebook | None:
        """The open notebook at a path, or the one the person was in last."""
        panel = self._current() if path is None else self._at(path)
        return None if panel is None else self._notebook(panel)

    def kernel(self, kernel_id: str) -> BrowserKernel | None:
        """A running kernel by its id: of an open document, or of none."""
        for widget in self._app.shell.widgets():
            session = ffi.given(getattr(widget, "sessionContext", None))
            connection = None if session is None else connected(session)
            if connection is not None and connection.id == kernel_id:
                return BrowserKernel(connection, session, self._rendermime)
        kernels = self._app.serviceManager.kernels
        for model in kernels.running():
            if model.id == kernel_id:
                return BrowserKernel(self._connected_to(model), None, self._rendermime)
        return None

    def _connected_to(self, model: Js) -> Js:
        """Our own connection to a kernel that no document of the page uses; one for each kernel."""
        own = self._own.get(model.id)
        if own is None or own.isDisposed:
            kernels = self._app.serviceManager.kernels
            own = kernels.connectTo(ffi.struct(model=model, handleComms=False))
            self._own[model.id] = own
        return own

    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels that can be started, the default one first."""
        default, specs = self._specs()
        return sorted((spec["name"] for spec in specs), key=lambda name: name != default)

    async def entry(self, path: str) -> Entry | None:
        """What is at a path, without its body; None when nothing is."""
        return await self._contents.entry(path)

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON (nbformat), without opening it."""
        return await self._contents.read_notebook(path)

    async def open_notebook(
        self, path: str, *, kernel: str | None = None, activate: bool = True
    ) -> BrowserNotebook:
        """Open a notebook without a dialog, or answer the open one with its unsaved state.

        Raises ``ToolError`` FILE_NOT_FOUND, INVALID_PATH (this app shows one notebook only) or
        NOTEBOOK_READ_FAILED.
        """
        panel = self._at(path)
        if panel is not None:
            if kernel is not None and _kernel_name(panel) != kernel:
                panel.start_kernel(kernel)
            if activate:
                self._app.shell.activateById(panel.id)
            return self._notebook(panel)
        panel = await self._open(path, activate)
        notebook = self._notebook(panel)
        # A session that an earlier tab of this path left behind is taken up again.
        present = _kernel_name(panel)
        if kernel is None and present is None:
            default, specs = self._specs()
            kernel = kernelspecs.choose(specs, default, notebook.metadata())
        if kernel is not None and kernel != present:
            panel.start_kernel(kernel)
        else:
            panel.offer_kernels()
        return notebook

    async def create_notebook(self, path: str, content: dict[str, Any]) -> None:
        """Write a new notebook file and its missing folders; leaves nothing when it fails."""
        await self._contents.create_notebook(path, content)

    async def delete(self, path: str) -> None:
        """Delete a file or an empty folder that this call made, after a failure."""
        await self._contents.delete(path)

    def document(self, path: str) -> DocumentState | None:
        """The open document at a path, whatever shows it; the dirty one if there are several."""
        documents = self.workspace()["documents"] or []
        found = [each for each in documents if each["path"] == path]
        return max(found, key=lambda each: each["dirty"], default=None)

    async def list_directory(self, path: str) -> list[Entry]:
        """A directory's entries; no bodies are downloaded."""
        return await self._contents.list_directory(path)

    async def read_text(self, path: str) -> str | None:
        """A file's text as it is saved, or None when it is not text."""
        return await self._contents.read_text(path)

    async def write_text(self, path: str, content: str) -> None:
        """Create or replace a text file; an open, clean document shows the new text."""
        await self._contents.write_text(path, content)
        for widget in self._app.shell.widgets():
            context = ffi.given(getattr(widget, "context", None))
            if context is not None and context.path == path and not context.model.dirty:
                await context.revert()

    def watch_closed(self, closed: Callable[[], None]) -> None:
        """From now on, tell when a notebook was closed."""
        self._closed.append(closed)

    def dialogs(self) -> list[DialogState]:
        """The open dialogs in their order."""
        return self._dialogs.listing()

    def answer_dialog(self, dialog_id: str, button: int) -> None:
        """Click a button of the dialog that is shown."""
        self._dialogs.answer(dialog_id, button)

    def watch_dialogs(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """From now on, tell the ids of dialogs as they open and close."""
        self._dialogs.watch(opened, closed)

    async def commands(self) -> list[CommandState]:
        """Every command of the application."""
        return await self._commands.listing()

    def has_command(self, command_id: str) -> bool:
        """Whether there is such a command."""
        return self._commands.has(command_id)

    def command_enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether a command is enabled for these arguments now."""
        return self._commands.enabled(command_id, args)

    async def execute_command(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command and answer what of its result is JSON (else None)."""
        return await self._commands.execute(command_id, args)

    async def _open(self, path: str, activate: bool) -> Panel:
        # JupyterLab opens a tab and an error dialog for what is not there.
        if await self._contents.entry(path) is None:
            raise ToolError(Code.FILE_NOT_FOUND, f'There is no file "{path}": check the path.')
        if not self._is_lab:
            raise ToolError(
                Code.INVALID_PATH,
                f'"{path}" is not open, and this page cannot open it beside what it shows: ask '
                "the person to open it, in a browser tab of its own or in JupyterLab.",
            )
        arguments = {**_QUIET, "path": path, "options": {"activate": activate}}
        try:
            widget = await self._app.commands.execute("docmanager:open", ffi.parsed(arguments))
            await widget.context.ready
            await widget.sessionContext.ready
        except ffi.JsException as error:
            raise ToolError(
                Code.NOTEBOOK_READ_FAILED, f'"{path}" cannot be opened: {ffi.reason(error)}.'
            ) from None
        self._find_panels()
        panel = self._panels.get(widget.id)
        if panel is None:
            raise ToolError(Code.NOTEBOOK_READ_FAILED, f'"{path}" did not open as a notebook.')
        return panel

    def _notebook(self, panel: Panel) -> BrowserNotebook:
        return BrowserNotebook(panel, self._app, self._executor, self._contents)

    def _current(self) -> Panel | None:
        widget = ffi.given(self._tracker.currentWidget)
        return None if widget is None else self._ready(self._panels.get(widget.id))

    def _at(self, path: str) -> Panel | None:
        current = self._current()
        candidates = [] if current is None else [current]
        for panel in [*candidates, *self._panels.values()]:
            if self._ready(panel) is not None and panel.path == path:
                return panel
        return None

    def _ready(self, panel: Panel | None) -> Panel | None:
        """The panel if it is open and its file is read."""
        return panel if panel is not None and panel.ready else None

    def _find_panels(self) -> None:
        """Know every open notebook from the start: its changes, its kernel's prompts."""
        known = {key: panel for key, panel in self._panels.items() if not panel.disposed}

        def add(widget: Js, *_: Any) -> None:
            if widget.id not in known:
                known[widget.id] = Panel(widget)
                self._connections.connect(widget.disposed, self._tell_closed)

        proxy = ffi.create_proxy(add)
        try:
            self._tracker.forEach(proxy)
        finally:
            proxy.destroy()
        self._panels = known

    def _tell_closed(self) -> None:
        for closed in self._closed:
            closed()

    def _focus(self, now: dict[str, Any]) -> pywebmcp.frontend.FocusState | None:
        try:
            return focus.state(self._root, now)
        except (ffi.JsException, ValueError, KeyError, TypeError) as error:
            log.warning("the focus cannot be read: %s", ffi.reason(error))
            return None

    def _specs(self) -> tuple[str | None, list[kernelspecs.KernelSpec]]:
        now = _SPECS.read(self._app.serviceManager.kernelspecs)
        return now["default"], now["specs"] or []


def _documents(found: list[dict[str, Any]]) -> list[DocumentState]:
    """The open documents, each once; widgets without a document have no path."""
    documents: dict[tuple[str, str], DocumentState] = {}
    for each in found:
        path = each["path"]
        if path is None:
            continue
        kind = "file" if each["cells"] is None else "notebook"
        documents[path, kind] = DocumentState(path=path, type=kind, dirty=each["dirty"] is True)
    return list(documents.values())


def _kernel_name(panel: Panel) -> str | None:
    """The name of the kernel that a panel has."""
    connection = panel.connection()
    return None if connection is None else str(connection.name)
