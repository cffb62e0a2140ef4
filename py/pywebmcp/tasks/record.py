"""What is known of one task: a value that stores keep, and its form in the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from pywebmcp import constants
from pywebmcp.records import State

TERMINAL = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})
"""The states that a task never leaves again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A task as a store keeps it; every value is JSON, or a number or string.

    Times are seconds since the epoch, ``ttl`` is in milliseconds.
    """

    task_id: str
    tool: str
    created_at: float
    """Grows strictly from task to task of one service, which is what newest first goes by."""
    updated_at: float
    """When the state or its message changed last; of a settled task, when it settled."""
    ttl: int = constants.TASK_TTL
    status: State = State.WORKING
    status_message: str | None = None
    idempotency_key: str | None = None
    fingerprint: str = ""
    """Tells the call of this task from other calls that come with its idempotency key."""
    owner: str = ""
    """The service that runs the work: another one that shares the store cannot stop it."""
    result: Any = None
    """The tool's own result, once it answered one."""
    error: str | None = None
    """What tasks/result raises for a failed task."""
    partial: Any = None
    """The output so far, as `record_output` was told last."""

    @property
    def terminal(self) -> bool:
        """Whether the record stopped changing."""
        return self.status in TERMINAL

    def expired(self, now: float) -> bool:
        """Whether its time is over: counted from the moment it settled, so never while it runs."""
        return self.terminal and now - self.updated_at >= self.ttl / 1000

    def changed(self, **changes: Any) -> TaskRecord:
        """The record with other values. Raises ``TypeError`` for a name that is no field."""
        return replace(self, **changes)

    def wire(self) -> dict[str, Any]:
        """The ``Task`` object of MCP 2025-11-25: its status, never its result."""
        task: dict[str, Any] = {"taskId": self.task_id, "status": str(self.status)}
        if self.status_message:
            task["statusMessage"] = self.status_message
        task["createdAt"] = timestamp(self.created_at)
        task["lastUpdatedAt"] = timestamp(self.updated_at)
        task["ttl"] = self.ttl
        if not self.terminal:
            task["pollInterval"] = constants.TASK_POLL_INTERVAL
        return task

    def as_json(self) -> dict[str, Any]:
        """A JSON object for a store that keeps texts; the inverse is `from_json`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TaskRecord:
        """The record of such an object; names that another version added are left out.

        Raises ``TypeError`` or ``ValueError`` for an object that is no record.
        """
        known = {field.name for field in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        return cls(**{**kept, "status": State(kept.get("status", State.WORKING))})


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds, as JavaScript's ``toISOString`` writes it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
