"""What the tools need from Jupyter, as Protocols: the browser and the in-memory front end fill them.

Everything that reads or changes a model is synchronous, so that a check and the edit that
relies on it happen in one turn of the event loop and no keystroke of a person can fall between.
Indexes are 0-based positions in the notebook; offsets count Unicode characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pywebmcp.errors import Code, ToolError
from pywebmcp.states import (
    AccessMarks,
    CellBeginning,
    CellRun,
    CommandState,
    DialogState,
    DocumentState,
    Entry,
    FocusState,
    KernelState,
    NotebookState,
    Prompt,
    RunStatus,
    Workspace,
)
from pywebmcp.types import CellData, Selection


def no_kernel(path: str) -> ToolError:
    """The failure of every front end for a notebook without a kernel, with the way out."""
    return ToolError(
        Code.KERNEL_UNAVAILABLE,
        f'"{path}" has no kernel: start one with jupyter_open_notebook and its "kernel".',
    )


def _nothing(*_: Any) -> None:
    """What an event does that nobody asked for."""


@dataclass(frozen=True, slots=True)
class RunEvents:
    """What is told of a run while it goes on.

    ``started``: the kernel took up this very request (until then others' code may run).
    ``asked``: the code waits for a person's input, or (None) that was answered.
    ``outputs``: told once how to read the nbformat outputs so far (code outside cells only; a
    cell's are in its model).
    """

    started: Callable[[], None] = _nothing
    asked: Callable[[Prompt | None], None] = _nothing
    outputs: Callable[[Callable[[], list[dict[str, Any]]]], None] = _nothing


QUIET = RunEvents()


class Kernel(Protocol):
    """A running kernel that a notebook or a console uses."""

    def generation(self) -> int:
        """Grows with every restart: code of two generations shares no variables."""
        ...

    async def idle(self) -> None:
        """Return when nothing runs in the kernel and nothing waits in its queue."""
        ...

    async def execute(
        self,
        code: str,
        *,
        stop_on_error: bool = True,
        events: RunEvents = QUIET,
    ) -> CellRun:
        """Run code outside any cell, not in the history.

        Status ``cancelled``: an error in somebody's code before it dropped it from the queue.
        """
        ...

    def state(self) -> KernelState:
        """Id, name, status, whether it can be interrupted, the prompt it waits for."""
        ...

    async def interrupt(self) -> None:
        """Interrupt what runs; only called when ``canInterrupt``."""
        ...

    async def restart(self) -> None:
        """Restart without a dialog; returns when the kernel answers again.

        Raises ``ToolError`` KERNEL_UNAVAILABLE when it does not come back.
        """
        ...


class Notebook(Protocol):
    """An open notebook: its live model, not its file."""

    def state(self) -> NotebookState:
        """Path, dirty, revision and number of cells."""
        ...

    def metadata(self) -> dict[str, Any]:
        """The notebook's metadata."""
        ...

    def set_metadata(self, key: str, value: Any) -> None:
        """Set one key of the notebook's metadata, or with None take it away.

        The other keys keep content and order. A person's undo does not bring the old value back:
        JupyterLab keeps metadata out of it. What is equal already changes nothing.
        """
        ...

    def set_cell_metadata(self, index: int, key: str, value: Any) -> None:
        """The same for the metadata of a cell."""
        ...

    def access_marks(self) -> AccessMarks:
        """What `pywebmcp.access` reads the levels from, as it is now."""
        ...

    def find(self, cell_id: str) -> list[int]:
        """The indexes of all cells with this id: several in a file with duplicate ids."""
        ...

    def ids(self) -> list[str]:
        """The id of every cell, in order."""
        ...

    def beginnings(self) -> list[CellBeginning]:
        """What every cell begins with, in order: enough for a list, and far less than `cells`."""
        ...

    def cells(self, start: int, stop: int, *, outputs: bool = False) -> list[CellData]:
        """The cells ``start <= index < stop``; outputs (nbformat) only when asked for."""
        ...

    def source_changed(self, index: int) -> bool:
        """Whether a cell's source was changed since it was run, as far as this session saw it."""
        ...

    def replace_text(self, index: int, start: int, end: int, text: str) -> None:
        """Replace a part of a cell's source as one undo step; cursor and selection stay.

        The offsets refer to the source as ``cells`` gives it.
        """
        ...

    def replace_texts(self, index: int, edits: Sequence[tuple[int, int, str]]) -> None:
        """The same for several parts ``(start, end, text)`` as one undo step together.

        They are in order and do not overlap; all offsets refer to the source before the first.
        """
        ...

    def insert_cell(self, index: int, cell: CellData) -> None:
        """Insert a checked cell; what a person does elsewhere is not disturbed."""
        ...

    def delete_cell(self, index: int) -> None:
        """Delete a cell; a person's keystrokes never end up in its neighbour."""
        ...

    def move_cell(self, index: int, to: int) -> None:
        """Move a cell so that it is at index ``to`` afterwards."""
        ...

    def change_type(self, index: int, cell_type: str) -> None:
        """Make it a code, markdown or raw cell with the same id, source and metadata."""
        ...

    async def focus_cell(self, index: int, selection: Selection | None) -> None:
        """Show and activate a cell; with a (checked) selection, edit mode with that selection."""
        ...

    def activate_cell(self, index: int) -> None:
        """Make a cell the active one without scrolling or taking the keyboard focus."""
        ...

    async def save(self) -> None:
        """Save to the file. Raises ``ToolError`` STALE_FILE when the file changed on disk."""
        ...

    def kernel(self) -> Kernel | None:
        """The kernel of this notebook, or None."""
        ...

    async def ready_kernel(self) -> Kernel:
        """The kernel once it can run code; waits while it starts.

        Raises ``ToolError`` KERNEL_UNAVAILABLE when there is none and none is starting.
        """
        ...

    async def run_cell(self, index: int, *, events: RunEvents = QUIET) -> CellRun:
        """Run one cell as the notebook itself does; the person's view and focus stay.

        Status ``cancelled``: an error in somebody's code before it dropped it from the queue.
        """
        ...


class Frontend(Protocol):
    """The Jupyter application on the page."""

    def workspace(self) -> Workspace:
        """Directory, open documents and focus; never raises."""
        ...

    def notebook(self, path: str | None = None) -> Notebook | None:
        """The open notebook at a path, or the current one; None when there is none."""
        ...

    def kernel(self, kernel_id: str) -> Kernel | None:
        """A running kernel by its id."""
        ...

    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels that can be started, the default one first."""
        ...

    async def entry(self, path: str) -> Entry | None:
        """What is at a path, without its body; None when nothing is."""
        ...

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON (nbformat), without opening it.

        Raises ``ToolError`` FILE_NOT_FOUND or NOTEBOOK_READ_FAILED.
        """
        ...

    async def open_notebook(
        self, path: str, *, kernel: str | None = None, activate: bool = True
    ) -> Notebook:
        """Open a notebook, or answer the open one with its unsaved state.

        ``kernel`` is a checked kernel name to use instead of the one it names or has.
        """
        ...

    async def create_notebook(self, path: str, content: dict[str, Any]) -> None:
        """Write a new notebook file and its missing folders; leaves nothing when it fails.

        Raises ``ToolError`` PATH_EXISTS or INVALID_PATH.
        """
        ...

    async def delete(self, path: str) -> None:
        """Delete a file or an empty folder that this call made, after a failure; never raises."""
        ...

    def document(self, path: str) -> DocumentState | None:
        """The open document at a path, whatever shows it."""
        ...

    async def list_directory(self, path: str) -> list[Entry]:
        """A directory's entries; no bodies are downloaded.

        Raises ``ToolError`` FILE_NOT_FOUND.
        """
        ...

    async def read_text(self, path: str) -> str | None:
        """A file's text as it is saved, or None when it is not text (UTF-8).

        Raises ``ToolError`` FILE_NOT_FOUND.
        """
        ...

    async def write_text(self, path: str, content: str) -> None:
        """Create or replace a text file, with its missing folders; an open, clean document shows
        the new text. Leaves nothing when it fails."""
        ...

    def watch_closed(self, closed: Callable[[], None]) -> None:
        """From now on, tell when a notebook was closed; `notebook` no longer finds it then."""
        ...

    def dialogs(self) -> list[DialogState]:
        """The open dialogs in their order."""
        ...

    def answer_dialog(self, dialog_id: str, button: int) -> None:
        """Click a button of the dialog that is shown; its fields keep their values."""
        ...

    def watch_dialogs(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """From now on, tell the ids of dialogs as they open and close."""
        ...

    async def commands(self) -> list[CommandState]:
        """Every command of the application."""
        ...

    def has_command(self, command_id: str) -> bool:
        """Whether there is such a command."""
        ...

    def command_enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether a command is enabled for these arguments now."""
        ...

    async def execute_command(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command and answer what of its result is JSON (else None).

        Raises ``ToolError`` COMMAND_FAILED with the command's own message.
        """
        ...


__all__ = [
    "QUIET",
    "AccessMarks",
    "CellBeginning",
    "CellRun",
    "CommandState",
    "DialogState",
    "DocumentState",
    "Entry",
    "FocusState",
    "Frontend",
    "Kernel",
    "KernelState",
    "Notebook",
    "NotebookState",
    "Prompt",
    "RunEvents",
    "RunStatus",
    "Workspace",
    "no_kernel",
]
