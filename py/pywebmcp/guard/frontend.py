"""The application as an agent may see it: no hidden notebook, and no way around the guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pywebmcp.frontend
from pywebmcp import access, jsontext
from pywebmcp.access import Level, Levels
from pywebmcp.constants import HARMLESS_COMMANDS, METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    CommandState,
    DialogState,
    DocumentState,
    Entry,
    FocusState,
    Frontend,
    Notebook,
    NotebookState,
    Workspace,
)
from pywebmcp.guard import views
from pywebmcp.guard.kernel import GuardedKernel, discreet
from pywebmcp.guard.notebook import GuardedNotebook
from pywebmcp.guard.observer import Observer, Unobserved

_OWN_COMMANDS = "pywebmcp:"
_NOWHERE = Workspace(directory=None, documents=None, focus=None, notebook=None, kernel=None)


class GuardedFrontend(pywebmcp.frontend.Frontend):
    """``observer`` is told what is done to cells; ``asks`` says whether changes wait for the person,
    whom no command may go around then.
    """

    def __init__(
        self,
        frontend: Frontend,
        observer: Observer | None = None,
        asks: Callable[[], bool] = bool,
    ) -> None:
        self._inner = frontend
        self._observer = observer or Unobserved()
        self._asks = asks

    def workspace(self) -> Workspace:
        """Directory, open documents and focus, without what is hidden."""
        now = self._inner.workspace()
        try:
            return self._shown(now)
        except ToolError:
            # What says nothing readable of access is not shown at all.
            return Workspace(**{**_NOWHERE, "directory": now["directory"]})

    def notebook(self, path: str | None = None) -> GuardedNotebook | None:
        """The open notebook at a path, or the current one; None where it is hidden."""
        live = self._inner.notebook(path)
        return None if live is None or _hidden(live) else self._guarded(live)

    def kernel(self, kernel_id: str) -> GuardedKernel | None:
        """A running kernel by its id; the notebooks on it decide what may be done there."""
        kernel = self._inner.kernel(kernel_id)
        if kernel is None or self._concealed(kernel_id):
            return None

        def require() -> None:
            if self._concealed(kernel_id):
                raise ToolError(
                    Code.KERNEL_UNAVAILABLE, f'No kernel "{kernel_id}" is running (any more).'
                )
            for user in self._users(kernel_id):
                if access.levels(user).notebook == "read":
                    raise access.notebook_denied(user.state()["path"])

        return GuardedKernel(kernel, require, self._hides, self._observer)

    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels that can be started."""
        return self._inner.kernel_names()

    async def entry(self, path: str) -> Entry | None:
        """What is at a path; None for a hidden notebook."""
        entry = await self._inner.entry(path)
        if entry is not None and entry["type"] == "notebook" and await self._level(path) == "none":
            return None
        return entry

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON, without its hidden cells."""
        live = self._inner.notebook(path)
        if live is not None and not access.levels(live).open:
            # The file may be older than the levels.
            if _hidden(live):
                raise _missing(path)
            raise access.notebook_denied(path)
        content = await self._inner.read_notebook(path)
        levels = Levels.of_file(content)
        if levels.notebook == "none":
            raise _missing(path)
        return views.file(content, levels)

    async def open_notebook(
        self, path: str, *, kernel: str | None = None, activate: bool = True
    ) -> GuardedNotebook:
        """Open a notebook that is not hidden; another kernel only where it may be changed."""
        level = await self._level(path)
        if level == "none":
            raise _missing(path)
        if level == "read" and kernel is not None:
            raise access.notebook_denied(path)
        opened = await self._inner.open_notebook(path, kernel=kernel, activate=activate)
        if _hidden(opened):
            raise _missing(path)
        return self._guarded(opened)

    async def create_notebook(self, path: str, content: dict[str, Any]) -> None:
        """Write a new notebook file."""
        await self._inner.create_notebook(path, content)

    async def delete(self, path: str) -> None:
        """Delete what this call made."""
        await self._inner.delete(path)

    def document(self, path: str) -> DocumentState | None:
        """The open document at a path."""
        return None if self._hides_live(path) else self._inner.document(path)

    async def list_directory(self, path: str) -> list[Entry]:
        """A directory's entries, without open notebooks that are hidden."""
        entries = await self._inner.list_directory(path)
        return [entry for entry in entries if not self._hides_live(entry["path"])]

    async def read_text(self, path: str) -> str | None:
        """A file's text; none of a notebook under another name that hides something."""
        if self._hides_live(path):
            raise _missing(path)
        text = await self._inner.read_text(path)
        if text is not None and METADATA_KEY in text:
            try:
                levels = Levels.of_file(jsontext.loads(text))
            except ValueError:
                return text
            if levels.notebook == "none" or levels.hidden:
                raise _missing(path)
        return text

    async def write_text(self, path: str, content: str) -> None:
        """Create or replace a text file; never a notebook that an agent may not change."""
        live = self._inner.notebook(path)
        if live is not None and access.levels(live).notebook != "write":
            raise access.notebook_denied(path)
        await self._inner.write_text(path, content)

    def watch_closed(self, closed: Callable[[], None]) -> None:
        """Tell when a notebook was closed."""
        self._inner.watch_closed(closed)

    def dialogs(self) -> list[DialogState]:
        """The open dialogs."""
        return self._inner.dialogs()

    def answer_dialog(self, dialog_id: str, button: int) -> None:
        """Click a button of the dialog that is shown."""
        self._inner.answer_dialog(dialog_id, button)

    def watch_dialogs(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """Tell the ids of dialogs as they open and close."""
        self._inner.watch_dialogs(opened, closed)

    async def commands(self) -> list[CommandState]:
        """Every command but ours, which are people's."""
        found = await self._inner.commands()
        return [command for command in found if not command["id"].startswith(_OWN_COMMANDS)]

    def has_command(self, command_id: str) -> bool:
        """Whether there is such a command."""
        return self._inner.has_command(command_id)

    def command_enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether a command is enabled for these arguments now."""
        return self._inner.command_enabled(command_id, args)

    async def execute_command(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command: none of ours, and none that could go around levels or the person's word."""
        if command_id.startswith(_OWN_COMMANDS) or _names_own(args):
            raise ToolError(
                Code.COMMAND_BLOCKED,
                f"{_OWN_COMMANDS}* commands are the person's, to tell what you may do: ask them.",
            )
        harmless = any(fnmatchcase(command_id, glob) for glob in HARMLESS_COMMANDS)
        if not harmless and self._asks():
            raise ToolError(
                Code.COMMAND_BLOCKED,
                f"{command_id} is blocked: the person wants to be asked before edits, and commands "
                "could go around that. Use the other tools.",
            )
        if not harmless and not all(access.levels(each).open for each in self._open()):
            raise ToolError(
                Code.COMMAND_BLOCKED,
                f"{command_id} is blocked: a person restricted what you may do in an open "
                "notebook, and commands could go around that. Use the other tools.",
            )
        return await self._inner.execute_command(command_id, args)

    # --- what is hidden

    def _shown(self, now: Workspace) -> Workspace:
        documents = now["documents"]
        if documents is not None:
            documents = [each for each in documents if not self._hides_live(each["path"])]
        shown = Workspace(**{**now, "documents": documents})
        state = now["notebook"]
        if state is None:
            return shown
        live = self._inner.notebook()
        if live is None or _hidden(live):
            shown["notebook"] = shown["kernel"] = shown["focus"] = shown["own"] = None
            return shown
        levels = access.levels(live)
        if levels.notebook == "read":
            shown["notebook"] = NotebookState(**{**state, "access": "read"})
        kernel = now["kernel"]
        if kernel is not None:
            shown["kernel"] = discreet(kernel, self._hides)
        if levels.hidden:
            shown["focus"] = _focus(now["focus"], live, levels)
            if views.entries_of(now.get("own")):
                shown["own"] = self._guarded(live).metadata().get(METADATA_KEY)
        return shown

    def _guarded(self, live: Notebook) -> GuardedNotebook:
        return GuardedNotebook(live, self._hides, self._observer)

    def _open(self) -> Iterator[Notebook]:
        """Every open notebook."""
        for document in self._inner.workspace()["documents"] or []:
            if document["type"] == "notebook":
                live = self._inner.notebook(document["path"])
                if live is not None:
                    yield live

    def _users(self, kernel_id: str) -> list[Notebook]:
        """The open notebooks on a kernel."""
        found = [(live, live.kernel()) for live in self._open()]
        return [
            live
            for live, kernel in found
            if kernel is not None and kernel.state()["id"] == kernel_id
        ]

    def _concealed(self, kernel_id: str) -> bool:
        """Whether all notebooks on a kernel are hidden, if there are any."""
        users = self._users(kernel_id)
        return bool(users) and all(_hidden(user) for user in users)

    def _hides(self, kernel_id: str) -> bool:
        """Whether a notebook on this kernel has something to hide."""
        return any(_hidden(user) or access.levels(user).hidden for user in self._users(kernel_id))

    def _hides_live(self, path: str) -> bool:
        live = self._inner.notebook(path)
        return live is not None and _hidden(live)

    async def _level(self, path: str) -> Level:
        """The level of the notebook at a path; its file tells where it is not open."""
        live = self._inner.notebook(path)
        if live is not None:
            return access.levels(live).notebook
        try:
            content = await self._inner.read_notebook(path)
        except ToolError:
            # Not there, or no notebook: whoever reads it is told so.
            return "write"
        return Levels.of_file(content).notebook


def _hidden(live: Notebook) -> bool:
    return access.levels(live).notebook == "none"


def _missing(path: str) -> ToolError:
    return ToolError(
        Code.FILE_NOT_FOUND, f'There is no file "{path}": check the path (jupyter_get_context).'
    )


def _focus(focus: FocusState | None, live: Notebook, levels: Levels) -> FocusState | None:
    """The focus without hidden cells and what is selected in them.

    Of text selected in an output nobody tells which cell's it is, so none of it is told.
    """
    if focus is None:
        return None
    concealed = {cell_id for at, cell_id in enumerate(live.ids()) if at in levels.hidden}
    shown = FocusState(**focus)
    shown.pop("selectedOutputText", None)
    if "selectedCellIds" in shown:
        shown["selectedCellIds"] = [
            each for each in shown["selectedCellIds"] if each not in concealed
        ]
    if shown.get("activeCellId") in concealed:
        for name in ("activeCellId", "cursor", "selectedText"):
            shown.pop(name, None)  # type: ignore[misc]
    return shown


def _names_own(value: Any) -> bool:
    """Whether a command of ours is named somewhere in these arguments, for another to run."""
    if isinstance(value, str):
        return value.strip().startswith(_OWN_COMMANDS)
    if isinstance(value, dict):
        return any(_names_own(each) for each in value.values())
    return isinstance(value, list) and any(_names_own(each) for each in value)
