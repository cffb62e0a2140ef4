"""What is there to see of Jupyter at one moment, as plain data: the values behind the front end's
Protocols.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from pywebmcp.types import Position

RunStatus = Literal["ok", "error", "restarted", "died", "cancelled", "deleted", "lost"]


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


class DialogState(TypedDict):
    """An open dialog. ``shown`` is false while it waits behind another one.

    ``plain`` is true when its body is text and no widget; ``input`` is the value of its first
    field (a boolean for a checkbox), never that of a password field.
    """

    id: str
    title: str
    body: str
    buttons: list[str]
    shown: bool
    plain: bool
    input: NotRequired[str | bool]


class CommandState(TypedDict):
    """A command of the application; ``args`` is the JSON Schema of its arguments if it has one."""

    id: str
    label: str
    enabled: bool
    args: NotRequired[dict[str, Any]]


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


class NotebookState(TypedDict):
    """An open notebook in short; ``revision`` grows with every change of its model.

    ``access`` is there where an agent may only ``read`` it.
    """

    path: str
    dirty: bool
    revision: int
    cellCount: int
    access: NotRequired[str]


class CellBeginning(TypedDict):
    """A cell's type, and up to 200 characters of its source from the first that is no space."""

    cell_type: str
    beginning: str


class AccessMarks(TypedDict):
    """What the metadata says of access, unchecked: the notebook's level, and the cells' by index.

    Cells without one are left out.
    """

    notebook: Any
    cells: dict[int, Any]


class Workspace(TypedDict):
    """The front end as a whole: the directory the person looks at, documents, focus.

    ``notebook`` and ``kernel`` are the current notebook's, None where there is none; ``own`` is what
    its metadata has under ``constants.METADATA_KEY``.
    """

    directory: str | None
    documents: list[DocumentState] | None
    focus: FocusState | None
    notebook: NotebookState | None
    kernel: KernelState | None
    own: NotRequired[Any]


class Entry(TypedDict):
    """A file or directory of the contents service, without its body.

    ``size`` in bytes, ``modified`` as ISO 8601; ``writable`` only where it is false.
    """

    name: str
    path: str
    type: str
    size: NotRequired[int]
    modified: NotRequired[str]
    writable: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class CellRun:
    """How the run of one cell ended.

    ``cancelled``: dropped from the kernel's queue unrun, by an error before it. ``deleted``: the
    cell is gone. ``lost``: it was made anew while it ran (type changed, reverted), and what the
    kernel still answers finds no way back.

    ``error`` holds ``ename``, ``evalue`` and ``traceback`` for status ``error``; ``outputs``
    are nbformat outputs as far as they came, ``execution_count`` the count the kernel gave.
    """

    status: RunStatus
    execution_count: int | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
