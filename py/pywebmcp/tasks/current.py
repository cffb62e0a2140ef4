"""What a tool says of its work while it goes on; outside a task each of these does nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Protocol

Interrupt = Callable[[], Any | Awaitable[Any]]
"""Stops the work. A text that it answers becomes part of the task's status message."""


class Running(Protocol):
    """The running task as its own work sees it; each method answers whether it took effect."""

    @property
    def task_id(self) -> str:
        """Its id."""
        ...

    def interrupted_by(self, interrupt: Interrupt) -> bool:
        """How its work is stopped from now on."""
        ...

    def put_out(self, output: Any) -> bool:
        """Its whole output so far."""
        ...

    def needs(self, message: str | None) -> bool:
        """What it waits for a person to give, or None."""
        ...


running: ContextVar[Running | None] = ContextVar("pywebmcp_task", default=None)
"""Inherited by the coroutines and threads that the work starts, and by nobody else."""


def current_task() -> str | None:
    """The id of the task that this code is the work of, or None."""
    task = running.get()
    return None if task is None else task.task_id


async def register_interrupt(interrupt: Interrupt) -> bool:
    """Say how the work of the current task is stopped, in the place of what was said before.

    ``interrupt`` is a function or coroutine function without arguments. Answers False, and does
    nothing, where there is no task: the caller of a synchronous call can just go away.
    """
    task = running.get()
    return task is not None and task.interrupted_by(interrupt)


async def record_output(output: Any) -> bool:
    """Keep the whole output so far, in the place of what was kept before.

    ``output`` is any JSON value; a tool result (an object with ``content``) is served as it is.
    Nothing (None or empty) is kept as nothing. Answers False where there is no task.
    """
    task = running.get()
    return task is not None and task.put_out(output)


async def needs_input(message: str | None) -> bool:
    """The work waits for something that only a person can give, or (None) goes on.

    Answers False where there is no task.
    """
    task = running.get()
    return task is not None and task.needs(message)
