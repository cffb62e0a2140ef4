"""Testing tools of your own: a notebook in memory with a real kernel, and a clock that never waits.

``MemoryFrontend`` stands in for JupyterLab, ``run`` for the event loop; see
``docs/architecture.md``.
"""

from pywebmcp.testing.execution import Raised, mime_bundle
from pywebmcp.testing.files import MemoryFiles
from pywebmcp.testing.frontend import MemoryFrontend
from pywebmcp.testing.kernel import MemoryKernel, Reply
from pywebmcp.testing.loop import Deadlock, Unfinished, VirtualLoop, run
from pywebmcp.testing.notebook import MemoryNotebook
from pywebmcp.testing.notebooks import (
    code,
    counter,
    error,
    joined,
    markdown,
    notebook,
    raw,
    result,
    stream,
)
from pywebmcp.testing.person import Person

__all__ = [
    "Deadlock",
    "MemoryFiles",
    "MemoryFrontend",
    "MemoryKernel",
    "MemoryNotebook",
    "Person",
    "Raised",
    "Reply",
    "Unfinished",
    "VirtualLoop",
    "code",
    "counter",
    "error",
    "joined",
    "markdown",
    "mime_bundle",
    "notebook",
    "raw",
    "result",
    "run",
    "stream",
]
