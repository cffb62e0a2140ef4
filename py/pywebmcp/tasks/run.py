"""One task while its work goes on: the newest record of it, and what stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pywebmcp import jsontext
from pywebmcp.records import State
from pywebmcp.tasks.current import Interrupt
from pywebmcp.tasks.record import TaskRecord
from pywebmcp.tasks.results import line

Notify = Callable[[str, dict[str, Any]], Awaitable[None]]
"""How a session sends a notification: its method and params. It may raise."""

Work = Callable[[], Awaitable[Any]]
"""Does what a tool does and answers its result, or raises."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the work came to: a result, perhaps a failed one, or what it raised in words."""

    result: Any = None
    failed: bool = False
    raised: str | None = None


@dataclass(slots=True, eq=False)
class Run:
    """A task that a service runs, until its store has the last of it."""

    record: TaskRecord
    now: Callable[[], float]
    changed: Callable[[Run], None]
    """Told of every change."""
    notifiers: list[Notify] = field(default_factory=list)
    interrupt: Interrupt | None = None
    worker: asyncio.Task[None] | None = None
    outcome: Outcome | None = None
    cancelling: asyncio.Task[None] | None = None
    unwritten: dict[str, Any] = field(default_factory=dict)
    """What the store has not got yet."""
    writer: asyncio.Task[None] | None = None
    told: bool = False

    @property
    def task_id(self) -> str:
        """The task's id."""
        return self.record.task_id

    def change(self, **changes: Any) -> None:
        """Change the record; a terminal one stays as it is."""
        if self.record.terminal:
            return
        self.record = self.record.changed(**changes)
        self.unwritten.update(changes)
        self.changed(self)

    def move(self, status: State, message: str | None = None, **changes: Any) -> None:
        """Go to another state; out of a terminal one nothing leads."""
        # A clock that is set back must not make it look older than its creation.
        moment = max(self.now(), self.record.updated_at)
        told = None if message is None else line(message)
        self.change(status=status, status_message=told, updated_at=moment, **changes)

    # --- what the work says of itself

    def interrupted_by(self, interrupt: Interrupt) -> bool:
        """The last one wins."""
        if self.record.terminal or self.cancelling is not None:
            return False
        self.interrupt = interrupt
        return True

    def put_out(self, output: Any) -> bool:
        """A copy: the caller goes on appending to its list."""
        if self.record.terminal:
            return False
        kept = output if output else None
        if kept is not None:
            kept = jsontext.loads(jsontext.dumps(kept))
        if kept != self.record.partial:
            self.change(partial=kept)
        return True

    def needs(self, message: str | None) -> bool:
        """A person is asked, or has answered."""
        if self.record.terminal:
            return False
        status = State.WORKING if message is None else State.INPUT_REQUIRED
        said = None if message is None else line(message)
        if (status, said) != (self.record.status, self.record.status_message):
            self.move(status, said)
        return True
