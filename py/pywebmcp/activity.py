"""What was done in the page and by whom: a bounded log of calls, kept in memory alone.

The server begins an entry for every call, whichever door it comes through; the guard tells it
which cells the call touches. People stop calls from here, and take an agent's edit back.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pywebmcp import constants, jsontext, undo
from pywebmcp.errors import Code
from pywebmcp.frontend import Frontend
from pywebmcp.guard import Touch
from pywebmcp.records import Record, State
from pywebmcp.types import AbortSignal, NeverAborted, Payload
from pywebmcp.undo import Edit

log = logging.getLogger("pywebmcp")

Who = Literal["agent", "person"]

_SHORT = 120
"""Characters of an argument that the log keeps."""

_TOUCHES = 500
"""Cells that one call can mark: more are no mark but the whole notebook."""


@dataclass(slots=True, eq=False)
class Entry:
    """One call in the log; it is what the guard tells of cells (`guard.Observer`).

    ``door`` is the way it came in (webmcp, mcp, panel), ``arguments`` are cut to be read at a
    glance. ``touches`` maps the ids of the cells of ``path`` that it touched to what it did there,
    ``running`` is the one that it runs now. ``note`` says in words how it ended, where that is
    not a plain success.
    """

    id: str
    who: Who
    door: str
    tool: str
    arguments: dict[str, Any]
    started: datetime
    signal: Stoppable
    changed: Callable[[], None]
    settled: datetime | None = None
    path: str | None = None
    touches: dict[str, Touch] = field(default_factory=dict)
    running: str | None = None
    kernel: str | None = None
    edit: Edit | None = None
    note: str = ""
    record: Record | None = None
    """The registered call as long as it runs."""
    call: str | None = None
    """The pendingId of the call, where it has one."""
    final: State = State.WORKING

    @property
    def state(self) -> State:
        """One of the five states of a call."""
        return self.final if self.record is None else self.record.state

    def register(self, record: Record) -> None:
        """The call is in the registry."""
        self.record, self.call = record, record.id
        record.changed = self.changed

    def touched(self, path: str, cell_ids: Sequence[str], kind: Touch) -> None:
        """What the call does is seen at these cells; looking at a cell is the least of it."""
        if path != self.path:
            self.path, self.touches = path, {}
        for cell_id in cell_ids:
            if len(self.touches) >= _TOUCHES:
                break
            if kind != "read" or cell_id not in self.touches:
                self.touches[cell_id] = kind
        if kind == "run":
            self.running = cell_ids[-1]
        self.changed()

    def left(self, path: str, cell_id: str) -> None:
        """A cell has ended."""
        if self.running == cell_id:
            self.running = None
        self.changed()

    def used(self, kernel_id: str) -> None:
        """The call runs code."""
        self.kernel = kernel_id
        self.changed()


class Activity:
    """The latest entries, the oldest first.

    ``clock`` gives the time of day in UTC; ``frontend`` is the real one, for what people do.
    """

    def __init__(self, frontend: Frontend, clock: Callable[[], datetime]) -> None:
        self.frontend = frontend
        self._clock = clock
        self._entries: list[Entry] = []
        self._numbers = itertools.count(1)
        self._watchers: list[Callable[[], None]] = []

    def entries(self) -> list[Entry]:
        """What is in the log."""
        return list(self._entries)

    def get(self, entry_id: str) -> Entry | None:
        """An entry by its id; None when it is no longer in the log."""
        return next((entry for entry in self._entries if entry.id == entry_id), None)

    def watch(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back in the turn of every change; answers the way to undo that.

        It is called often, so it should do no more than note that there is something to draw.
        """
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback)

    def begin(
        self, tool: str, arguments: Any, *, who: Who, door: str, signal: AbortSignal
    ) -> Entry:
        """A call begins. Of too many the oldest leaves the log that has settled, if one has: what runs
        is there to be stopped.
        """
        entry = Entry(
            f"entry-{next(self._numbers)}",
            who,
            door,
            tool,
            short(arguments),
            self._clock(),
            Stoppable(signal),
            self._changed,
        )
        if len(self._entries) >= constants.ACTIVITY:
            settled = (at for at, old in enumerate(self._entries) if old.settled is not None)
            del self._entries[next(settled, 0)]
        self._entries.append(entry)
        self._changed()
        return entry

    def settle(self, entry: Entry, payload: Payload) -> None:
        """The call has its result."""
        if entry.settled is not None:
            return
        entry.settled, entry.running, entry.record = self._clock(), None, None
        if payload.get("code") == Code.ABORTED:
            entry.final = State.CANCELLED
        else:
            entry.final = State.FAILED if payload.get("isError") else State.COMPLETED
        if payload.get("isError"):
            entry.note = str(payload.get("error", ""))[: 2 * _SHORT]
        elif payload.get("status") == "denied":
            reason = payload.get("reason")
            entry.note = f"Denied: {reason}" if reason else "Denied."
        self._changed()

    def edited(self, entry: Entry, edit: Edit) -> None:
        """The call has changed something."""
        entry.edit = edit
        if edit.cell_id is not None:
            edit.notebook = self.frontend.notebook(edit.path)
        if edit.cell_id is not None and edit.after is not None:
            entry.touched(edit.path, [edit.cell_id], "edit")
        self._forget(edit)
        self._changed()

    def closed(self) -> None:
        """A notebook was closed: nothing of the log keeps it."""
        for entry in self._entries:
            if entry.edit is not None:
                entry.edit.follow(self.frontend)

    def _forget(self, newest: Edit) -> None:
        """Bound what edits keep; the newest is always kept whole."""
        kept = newest.size
        for entry in reversed(self._entries):
            edit = entry.edit
            if edit is None or edit is newest or not edit.kept:
                continue
            kept += edit.size
            if kept > constants.KEPT_TEXT:
                edit.forget()

    def undoable(self, entry: Entry) -> bool:
        """Whether the edit of an entry can be taken back now."""
        return entry.edit is not None and undo.possible(self.frontend, entry.edit)

    async def undo(self, entry: Entry) -> Entry:
        """Take the edit of an entry back, for the person; answers the entry that this is.

        A notebook's is done before this first waits. Raises ``ToolError`` as `undo.undo` does, and
        ValueError for an entry without an edit.
        """
        if entry.edit is None:
            raise ValueError(f"{entry.id} changed nothing")
        edit = await undo.undo(self.frontend, entry.edit)
        arguments = {"tool": entry.tool, "entry": entry.id}
        own = self.begin("undo", arguments, who="person", door="panel", signal=NeverAborted())
        self.edited(own, edit)
        self.settle(own, {})
        return own

    def stop(self, entry: Entry) -> Literal["restart"] | None:
        """Abort a call as its own caller could; the code it runs is interrupted where that works.

        Answers ``restart`` when nothing but a restart of the kernel stops the code (see
        `restart`), which loses the variables and so is the person's to choose.
        """
        if entry.settled is not None:
            return None
        entry.signal.stop()
        self._changed()
        kernel = None if entry.kernel is None else self.frontend.kernel(entry.kernel)
        if entry.settled is not None or kernel is None:
            return None
        return None if kernel.state()["canInterrupt"] else "restart"

    async def restart(self, entry: Entry) -> None:
        """Restart the kernel that a call runs on. Raises ``ToolError`` KERNEL_UNAVAILABLE."""
        kernel = None if entry.kernel is None else self.frontend.kernel(entry.kernel)
        if kernel is not None:
            await kernel.restart()

    def _changed(self) -> None:
        for watcher in list(self._watchers):
            try:
                watcher()
            except Exception:
                log.exception("what shows the activity failed")


class Stoppable:
    """A caller's signal that the person can give as well."""

    def __init__(self, signal: AbortSignal) -> None:
        self._signal = signal
        self._stopped = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether the caller gave up, or the person stopped the call."""
        return self._stopped or self._signal.aborted

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once, at the first of the two; answers the way to undo that."""
        undo = self._signal.on_abort(callback)
        self._callbacks.append(callback)

        def forget() -> None:
            undo()
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return forget

    def stop(self) -> None:
        """The person stops the call; nothing happens the second time."""
        if self.aborted:
            return
        self._stopped = True
        for callback in list(self._callbacks):
            callback()


def short(arguments: Any) -> dict[str, Any]:
    """Arguments as a line of the log has them: long texts cut, the rest as JSON text."""
    if not isinstance(arguments, dict):
        return {}
    return {str(name): _short(value) for name, value in arguments.items() if value is not None}


def _short(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    text = value if isinstance(value, str) else jsontext.dumps(value)
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"
