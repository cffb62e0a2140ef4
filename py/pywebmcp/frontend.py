"""What the tools need from Jupyter, as Protocols: the browser and the in-memory front end fill them.

Everything that reads or changes a model is synchronous, so that a check and the edit that
relies on it happen in one turn of the event loop and no keystroke of a person can fall between.
Indexes are 0-based positions in the notebook; offsets count Unicode characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol, TypedDict

from pywebmcp.errors import Code, ToolError
from pywebmcp.types import CellData, Position, Selection

RunStatus = Literal["ok", "error", "restarted", "died", "cancelled", "deleted"]


class Prompt(TypedDict):
    """What a kernel's ``input()`` asks a person (Jupyter messaging: ``input_request``)."""

    prompt: str
    password: bool


class KernelState(TypedDict):
    """A kernel as it is now; ``status`` is one of Jupyter's kernel or connection states."""

    id: str
    name: str
    status: str
    canInterrupt: bool
    input: NotRequired[Prompt]


class DocumentState(TypedDict):
    """An open document; ``type`` is notebook or file."""

    path: str
    type: str
    dirty: bool


class FocusState(TypedDict):
    """Where the person is in the current notebook; what does not apply is absent."""

    activeCellId: NotRequired[str]
    selectedCellIds: NotRequired[list[str]]
    mode: NotRequired[str]
    cursor: NotRequired[Position]
    selectedText: NotRequired[str]
    selectedOutputText: NotRequired[str]


class Workspace(TypedDict):
    """The front end as a whole: the directory the person looks at, documents, focus."""

    directory: str
    documents: list[DocumentState]
    focus: FocusState | None


class NotebookState(TypedDict):
    """An open notebook in short; ``revision`` grows with every change of its model."""

    path: str
    dirty: bool
    revision: int
    cellCount: int


class Entry(TypedDict):
    """A file or directory of the contents service, without its body."""

    name: str
    path: str
    type: str
    size: NotRequired[int]
    modified: NotRequired[str]
    writable: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class CellRun:
    """How the run of one cell ended.

    ``error`` holds ``ename``, ``evalue`` and ``traceback`` for status ``error``; ``outputs``
    are nbformat outputs as far as they came, ``execution_count`` the count the kernel gave.
    """

    status: RunStatus
    execution_count: int | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None


def no_kernel(path: str) -> ToolError:
    """The failure of every front end for a notebook without a kernel, with the way out."""
    return ToolError(
        Code.KERNEL_UNAVAILABLE,
        f'"{path}" has no kernel: start one with jupyter_open_notebook and its "kernel".',
    )


class Kernel(Protocol):
    """A running kernel that a notebook or a console uses."""

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

    def find(self, cell_id: str) -> list[int]:
        """The indexes of all cells with this id: several in a file with duplicate ids."""
        ...

    def ids(self) -> list[str]:
        """The id of every cell, in order."""
        ...

    def cells(self, start: int, stop: int, *, outputs: bool = False) -> list[CellData]:
        """The cells ``start <= index < stop``; outputs (nbformat) only when asked for."""
        ...

    def replace_text(self, index: int, start: int, end: int, text: str) -> None:
        """Replace a part of a cell's source as one undo step; cursor and selection stay.

        The offsets refer to the source as ``cells`` gives it.
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

    async def run_cell(self, index: int) -> CellRun:
        """Run one cell as the notebook itself does; the person's view and focus stay."""
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
        """Write a new notebook file and its missing folders; leaves nothing when it fails."""
        ...

    async def delete_file(self, path: str) -> None:
        """Delete a file that this call created, after a failure."""
        ...
