"""The Jupyter application in memory: what tools of your own can be tested against, in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import (
    CommandState,
    DialogState,
    DocumentState,
    Entry,
    Frontend,
    Workspace,
)
from pywebmcp.testing.commands import MemoryCommands
from pywebmcp.testing.dialogs import MemoryDialogs
from pywebmcp.testing.files import Content, MemoryFiles
from pywebmcp.testing.kernel import MemoryKernel
from pywebmcp.testing.notebook import MemoryNotebook
from pywebmcp.testing.notebooks import counter
from pywebmcp.testing.person import Person

Starting = Literal["start", "none", "select"]
"""What opening a notebook does: starts a kernel, starts none, or asks the person for one."""


class MemoryFrontend(Frontend):
    """JupyterLab without a browser; ``person`` is whoever sits in front of it.

    ``files`` maps paths to nbformat dicts or texts, ``folders`` are empty folders, ``kernels`` the
    names of the kernels that can be started. ``kernel_start`` is what opening a notebook does,
    ``start_after`` and ``restart_after`` how many seconds of the loop's clock that takes.

    >>> from pywebmcp.testing import notebook, run
    >>> async def session() -> list[dict[str, object]]:
    ...     frontend = MemoryFrontend({"a.ipynb": notebook("print(6 * 7)")})
    ...     opened = await frontend.open_notebook("a.ipynb")
    ...     return (await opened.run_cell(0)).outputs
    >>> run(session())
    [{'output_type': 'stream', 'name': 'stdout', 'text': '42\\n'}]
    """

    def __init__(
        self,
        files: Mapping[str, Content] | None = None,
        *,
        folders: Iterable[str] = (),
        kernels: Sequence[str] = ("python",),
        kernel_start: Starting = "start",
        start_after: float = 0.0,
        restart_after: float = 0.0,
        can_interrupt: bool = False,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.files = MemoryFiles(files, folders)
        self.directory = ""
        self.kernel_start: Starting = kernel_start
        self.start_after = start_after
        self.restart_after = restart_after
        self.can_interrupt = can_interrupt
        self.notebooks: dict[str, MemoryNotebook] = {}
        self.texts: dict[str, bool] = {}
        """Open text documents and whether they are dirty."""
        self.order: list[str] = []
        """The open documents in the order of their tabs."""
        self.current: str | None = None
        """The path of the document that the person looks at."""
        self.sessions: dict[str, MemoryKernel] = {}
        """The kernels by the path of their notebook; they outlive its tab."""
        self.on_close: list[Callable[[], None]] = []
        self.screen = MemoryDialogs()
        self.registry = MemoryCommands()
        self.person = Person(self)
        self._kernels = tuple(kernels)
        self._new_id = new_id or counter("memory")

    def workspace(self) -> Workspace:
        """Directory, open documents and focus."""
        current = self.notebook()
        kernel = None if current is None else current.kernel()
        return Workspace(
            directory=self.directory,
            documents=[self._document(path) for path in self.order],
            focus=None if current is None else current.focus(),
            notebook=None if current is None else current.state(),
            kernel=None if kernel is None else kernel.state(),
            own=None if current is None else current.metadata().get(METADATA_KEY),
        )

    def notebook(self, path: str | None = None) -> MemoryNotebook | None:
        """The open notebook at a path, or the current one."""
        wanted = self.current if path is None else path
        return None if wanted is None else self.notebooks.get(wanted)

    def kernel(self, kernel_id: str) -> MemoryKernel | None:
        """A running kernel by its id."""
        return next((kern for kern in self.sessions.values() if kern.id == kernel_id), None)

    def kernel_names(self) -> Sequence[str]:
        """The names of the kernels that can be started, the default one first."""
        return self._kernels

    async def entry(self, path: str) -> Entry | None:
        """What is at a path, without its body."""
        return self.files.entry(path)

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """A notebook file's JSON. Raises ``ToolError`` FILE_NOT_FOUND or NOTEBOOK_READ_FAILED."""
        return self.files.notebook(path)

    async def open_notebook(
        self, path: str, *, kernel: str | None = None, activate: bool = True
    ) -> MemoryNotebook:
        """Open a notebook, or answer the open one with its unsaved state."""
        notebook = self.notebooks.get(path)
        if notebook is None:
            notebook = MemoryNotebook(path, self.files, self.sessions.get, self._new_id)
            self.notebooks[path] = notebook
            self.order.append(path)
        running = self.sessions.get(path)
        if kernel is not None and (running is None or running.name != kernel):
            self.start_kernel(path, kernel)
        elif running is None and self.kernel_start == "start":
            named = notebook.metadata().get("kernelspec", {}).get("name")
            self.start_kernel(path, named if named in self._kernels else self._kernels[0])
        if activate or self.current is None:
            self.current = path
        return notebook

    async def create_notebook(self, path: str, content: dict[str, Any]) -> None:
        """Write a new notebook file and its missing folders; leaves nothing when it fails."""
        if self.files.entry(path) is not None:
            raise ToolError(Code.PATH_EXISTS, f"{path} exists.")
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in self.files:
                raise ToolError(Code.INVALID_PATH, f"{'/'.join(parts[:depth])} is not a folder.")
        self.files.write(path, content)

    async def delete(self, path: str) -> None:
        """Delete a file or an empty folder that this call made, after a failure."""
        self.files.remove(path)

    def start_kernel(self, path: str, name: str) -> MemoryKernel:
        """Give the notebook at a path a new kernel, in the place of the one it has."""
        if path in self.sessions:
            self.sessions[path].die()
        self.sessions[path] = MemoryKernel(
            self._new_id(),
            name,
            can_interrupt=self.can_interrupt,
            start_after=self.start_after,
            restart_after=self.restart_after,
        )
        return self.sessions[path]

    def document(self, path: str) -> DocumentState | None:
        """The open document at a path."""
        return self._document(path) if path in self.order else None

    async def list_directory(self, path: str) -> list[Entry]:
        """A directory's entries. Raises ``ToolError`` FILE_NOT_FOUND."""
        return self.files.directory(path)

    async def read_text(self, path: str) -> str | None:
        """A file's text, None when it is not text. Raises ``ToolError`` FILE_NOT_FOUND."""
        content: Any = self.files.read(path)
        return content if isinstance(content, str) and "\0" not in content else None

    async def write_text(self, path: str, content: str) -> None:
        """Create or replace a text file, with its missing folders."""
        self.files.write(path, content)

    def watch_closed(self, closed: Callable[[], None]) -> None:
        """Tell when a notebook was closed."""
        self.on_close.append(closed)

    def dialogs(self) -> list[DialogState]:
        """The open dialogs in their order."""
        return self.screen.listing()

    def answer_dialog(self, dialog_id: str, button: int) -> None:
        """Click a button of the dialog that is shown."""
        self.screen.answer(dialog_id, button)

    def watch_dialogs(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """Tell the ids of dialogs as they open and close."""
        self.screen.watch(opened, closed)

    async def commands(self) -> list[CommandState]:
        """Every command."""
        return self.registry.listing()

    def has_command(self, command_id: str) -> bool:
        """Whether there is such a command."""
        return command_id in self.registry

    def command_enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether a command is enabled for these arguments."""
        return self.registry.enabled(command_id, args)

    async def execute_command(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command. Raises ``ToolError`` COMMAND_FAILED with its message."""
        return await self.registry.execute(command_id, args)

    def _document(self, path: str) -> DocumentState:
        notebook = self.notebooks.get(path)
        if notebook is not None:
            return DocumentState(path=path, type="notebook", dirty=notebook.dirty)
        return DocumentState(path=path, type="file", dirty=self.texts[path])
