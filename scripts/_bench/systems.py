"""What is compared: per system its packages, and how each job of the bench is asked of its tools.

Only public behaviour is used here: the names, schemas and descriptions that a page's tools list.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from pywebmcp.toolset import TOOLS

Payload = dict[str, Any]


class CallFailedError(Exception):
    """A call did not do its job; the message says what it answered or what is wrong."""


class NotPossibleError(Exception):
    """A system has no way to do a job; the message says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's name and arguments."""

    tool: str
    arguments: Payload


@dataclass(frozen=True, slots=True)
class Page:
    """The cells of one answer, and from which index to go on (None: that was all)."""

    cells: list[Payload]
    next_index: int | None


class System(ABC):
    """One system under test. Payloads are a tool's answer without its envelope."""

    key: ClassVar[str]
    name: ClassVar[str]
    tool_count: ClassVar[int]
    # Requirements that pip installs without their dependencies; empty for ours, which is built.
    packages: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def payload(self, text: str) -> Payload:
        """What an answer says; raises CallFailedError where it says that the call failed."""

    @abstractmethod
    def context(self) -> Call:
        """Describe the page."""

    @abstractmethod
    def cell_count(self, context: Payload, path: str) -> int | None:
        """How many cells the context says the notebook has; None where it does not list it."""

    @abstractmethod
    def read(self, path: str, start: int, end: int) -> Call:
        """Read the cells from `start` to before `end`, with source and without outputs."""

    @abstractmethod
    def page(self, answer: Payload, start: int, end: int) -> Page:
        """The cells of an answer to `read`; raises NotPossibleError if the rest cannot be asked for."""

    @abstractmethod
    def read_cell(self, path: str, cell_id: str) -> Call:
        """Read one cell, as an agent does before it edits."""

    @abstractmethod
    def insert(self, path: str, reference: str, source: str) -> Call:
        """Insert a code cell below another one, without running or activating it."""

    @abstractmethod
    def update(self, path: str, cell_id: str, source: str, before: Payload) -> Call:
        """Replace a cell's source; `before` is the answer to `read_cell`."""

    @abstractmethod
    def run(self, path: str, cell_id: str) -> Call:
        """Run one cell."""

    @abstractmethod
    def command(self, command_id: str) -> Call:
        """Run a command of JupyterLab; raises NotPossibleError where no tool does that."""


def _parsed(text: str) -> Payload:
    try:
        answer = json.loads(text)
    except ValueError:
        raise CallFailedError(f"the answer is not JSON: {text[:200]}") from None
    if not isinstance(answer, dict):
        raise CallFailedError(f"the answer is not an object: {text[:200]}")
    return answer


class JupyterLiteWebMCP(System):
    """The labextension of PyPI's jupyterlite-webmcp."""

    key = "a"
    name = "jupyterlite-webmcp"
    tool_count = 22
    packages = ("jupyterlite-webmcp==0.1.1",)

    def payload(self, text: str) -> Payload:
        """Answers are MCP results, with the payload in structuredContent."""
        answer = _parsed(text)
        payload = answer.get("structuredContent")
        if answer.get("isError") or not isinstance(payload, dict):
            raise CallFailedError(text[:300])
        return payload

    def context(self) -> Call:
        """Describe the page."""
        return Call("jupyter_get_context", {})

    def cell_count(self, context: Payload, path: str) -> int | None:
        """The context has one notebook, the current one."""
        notebook = context.get("notebook") or {}
        return notebook.get("cellCount") if notebook.get("path") == path else None

    def read(self, path: str, start: int, end: int) -> Call:
        """Outputs are left out by default."""
        return Call(
            "jupyter_get_cells", {"notebookPath": path, "startIndex": start, "endIndex": end}
        )

    def page(self, answer: Payload, start: int, end: int) -> Page:
        """An answer holds 100 cells at most and counts those it left out."""
        cells = answer["cells"]
        left = answer.get("omittedCount") or 0
        return Page(cells, start + len(cells) if left and cells else None)

    def read_cell(self, path: str, cell_id: str) -> Call:
        """The same tool, by id."""
        return Call("jupyter_get_cells", {"notebookPath": path, "cellIds": [cell_id]})

    def insert(self, path: str, reference: str, source: str) -> Call:
        """By default it activates the new cell and waits until it is scrolled into view."""
        arguments = {"notebookPath": path, "referenceCellId": reference, "position": "below"}
        return Call("jupyter_insert_cell", {**arguments, "source": source, "activate": False})

    def update(self, path: str, cell_id: str, source: str, before: Payload) -> Call:
        """Guarded by the hash that was read."""
        arguments = {"notebookPath": path, "cellId": cell_id, "source": source}
        source_hash = before["cells"][0]["sourceHash"]
        return Call("jupyter_update_cell", {**arguments, "expectedSourceHash": source_hash})

    def run(self, path: str, cell_id: str) -> Call:
        """Run one cell."""
        return Call("jupyter_run_cells", {"notebookPath": path, "cellIds": [cell_id]})

    def command(self, command_id: str) -> Call:
        """No tool runs commands."""
        raise NotPossibleError("it has no tool that runs a command")


class JupyterWebMCP(System):
    """The labextension of PyPI's jupyter-webmcp, with those it is built on."""

    key = "b"
    name = "jupyter-webmcp"
    tool_count = 21
    # jupyter-webmcp has the notebook tools from jupyterlab-ai-commands, which shows its edits with
    # jupyterlab-diff, which needs the footer. Their other dependency is JupyterLab itself, which a
    # JupyterLite site brings.
    packages = (
        "jupyter-webmcp==0.1.0",
        "jupyterlab-ai-commands==0.4.0",
        "jupyterlab-diff==0.7.1",
        "jupyterlab-cell-input-footer==0.3.2",
    )

    def payload(self, text: str) -> Payload:
        """Answers are plain objects with a `success`."""
        answer = _parsed(text)
        if answer.get("success") is not True or answer.get("status") == "pending":
            raise CallFailedError(text[:300])
        return answer

    def context(self) -> Call:
        """Describe the page."""
        return Call("get_context", {})

    def cell_count(self, context: Payload, path: str) -> int | None:
        """The context has every widget."""
        counts = [
            widget["notebook"]["cellCount"]
            for widget in context.get("widgets", [])
            if widget.get("path") == path and widget.get("notebook")
        ]
        return counts[0] if counts else None

    def read(self, path: str, start: int, end: int) -> Call:
        """There are no ranges: the tool answers the notebook, outputs included."""
        return Call("read_notebook", {"notebookPath": path})

    def page(self, answer: Payload, start: int, end: int) -> Page:
        """What does not fit the limit of a result cannot be asked for."""
        cells = answer["content"]["cells"]
        if len(cells) < end:
            raise NotPossibleError(f"read_notebook answers the first {len(cells)} cells, no more")
        return Page(cells[start:end], None)

    def read_cell(self, path: str, cell_id: str) -> Call:
        """Read one cell."""
        return Call("read_cell", {"notebookPath": path, "cellId": cell_id})

    def insert(self, path: str, reference: str, source: str) -> Call:
        """It never activates the new cell."""
        arguments = {"notebookPath": path, "referenceCellId": reference, "position": "below"}
        return Call("add_cell", {**arguments, "content": source, "cellType": "code"})

    def update(self, path: str, cell_id: str, source: str, before: Payload) -> Call:
        """There is no guard."""
        return Call("edit_cell", {"notebookPath": path, "cellId": cell_id, "content": source})

    def run(self, path: str, cell_id: str) -> Call:
        """Run one cell."""
        return Call("run_cell", {"notebookPath": path, "cellId": cell_id})

    def command(self, command_id: str) -> Call:
        """Run a command."""
        return Call("execute_command", {"command_id": command_id})


class PyWebMCP(System):
    """Ours, as the demo site has it."""

    key = "ours"
    name = "pywebmcp"
    tool_count = len(TOOLS)

    def payload(self, text: str) -> Payload:
        """Answers are envelopes with the payload in structuredContent."""
        answer = _parsed(text)
        payload = answer.get("structuredContent")
        if not isinstance(payload, dict) or payload.get("success") is not True:
            raise CallFailedError(text[:300])
        if payload.get("pendingId"):
            raise CallFailedError(f"the call went on in the background: {text[:300]}")
        return payload

    def context(self) -> Call:
        """Describe the page."""
        return Call("jupyter_get_context", {})

    def cell_count(self, context: Payload, path: str) -> int | None:
        """The context has one notebook, the current one."""
        notebook = context.get("notebook") or {}
        return notebook.get("cellCount") if notebook.get("path") == path else None

    def read(self, path: str, start: int, end: int) -> Call:
        """As many cells as fit one result."""
        arguments = {"notebookPath": path, "startIndex": start, "endIndex": end}
        return Call("jupyter_get_cells", {**arguments, "includeOutputs": False})

    def page(self, answer: Payload, start: int, end: int) -> Page:
        """`nextIndex` is there when cells are left."""
        return Page(answer["cells"], answer.get("nextIndex"))

    def read_cell(self, path: str, cell_id: str) -> Call:
        """The same tool, by id."""
        return Call("jupyter_get_cells", {"notebookPath": path, "cellIds": [cell_id]})

    def insert(self, path: str, reference: str, source: str) -> Call:
        """By default the new cell is not activated."""
        arguments = {"notebookPath": path, "referenceCellId": reference, "position": "below"}
        return Call("jupyter_insert_cell", {**arguments, "source": source})

    def update(self, path: str, cell_id: str, source: str, before: Payload) -> Call:
        """Guarded by the hash that was read."""
        arguments = {"notebookPath": path, "cellId": cell_id, "source": source}
        source_hash = before["cells"][0]["sourceHash"]
        return Call("jupyter_update_cell", {**arguments, "expectedSourceHash": source_hash})

    def run(self, path: str, cell_id: str) -> Call:
        """Run one cell."""
        return Call("jupyter_run_cells", {"notebookPath": path, "cellIds": [cell_id]})

    def command(self, command_id: str) -> Call:
        """Run a command."""
        return Call("jupyter_execute_command", {"command_id": command_id})


SYSTEMS: tuple[System, ...] = (JupyterLiteWebMCP(), JupyterWebMCP(), PyWebMCP())
