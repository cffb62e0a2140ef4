"""The errors of tasks as JSON-RPC has them: a code, a message, and data where that helps."""

from __future__ import annotations

from typing import Any

INVALID_PARAMS = -32602
"""JSON-RPC 2.0: the request itself is wrong, or comes at a time when it cannot be answered."""

INTERNAL_ERROR = -32603
"""JSON-RPC 2.0: the work or the store failed."""

_ECHOED = 200


class TaskError(Exception):
    """What a request about tasks is refused with; becomes a JSON-RPC error object."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_json(self) -> dict[str, Any]:
        """The ``error`` member of a JSON-RPC response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class StoreFailed(TaskError):  # noqa: N818
    """The store raised, hung or answered something else than it has to."""

    def __init__(self, what: str) -> None:
        super().__init__(INTERNAL_ERROR, f"The task store failed: {what}.")


def invalid(message: str) -> TaskError:
    """A request that is wrong in itself."""
    return TaskError(INVALID_PARAMS, message)


def no_such_task(task_id: str) -> TaskError:
    """The same for an expired task as for one that never was: nobody learns which ids existed."""
    return invalid(f"No such task: {task_id[:_ECHOED]}")


def key_taken(key: str, tool: str) -> TaskError:
    """The idempotency key belongs to a task of another call."""
    return invalid(
        f"The idempotency key {key[:_ECHOED]!r} belongs to the task of a different call (of "
        f"{tool}): repeat that call as it was, or give this one a key of its own."
    )
