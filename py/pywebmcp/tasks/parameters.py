"""Reads the parameters of requests about tasks; what is wrong with them is said at once."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

from pywebmcp import constants, jsontext
from pywebmcp.tasks.errors import invalid

IDEMPOTENCY_KEY = "io.datalayer/idempotency-key"
"""The key of ``_meta`` that names a call, so that a retry of it is the same task."""


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A tools/call that asks for a task."""

    tool: str
    arguments: dict[str, Any]
    ttl: int
    key: str | None


def asked_for(params: Any) -> TaskCall | None:
    """The task that a tools/call asks for, None when it asks for none.

    Raises ``TaskError`` -32602 for task metadata that cannot be read.
    """
    params = _object(params, "params")
    if params.get("task") is None:
        return None
    task = _object(params["task"], "task")
    tool = params.get("name")
    if not isinstance(tool, str) or not tool:
        raise invalid("name has to be the name of a tool.")
    arguments = params.get("arguments")
    meta = params.get("_meta")
    return TaskCall(
        tool,
        {} if arguments is None else _object(arguments, "arguments"),
        _ttl(task.get("ttl")),
        None if meta is None else _key(_object(meta, "_meta")),
    )


def task_id(params: Any) -> str:
    """The ``taskId`` of a request. Raises ``TaskError`` -32602."""
    given = _object(params, "params").get("taskId")
    if not isinstance(given, str):
        raise invalid("taskId has to be a string.")
    return given


def fingerprint(tool: str, arguments: dict[str, Any]) -> str:
    """The same for two calls exactly when they are the same call, whatever the order of arguments.

    ``true`` and ``1`` differ, as in JSON.
    """
    # Made plain first: what is nested too deep for the page's stack is not followed down.
    text = json.dumps(jsontext.plain([tool, arguments]), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


Place = tuple[float, str]
"""Where a record stands in the order of tasks: its ``created_at`` and id."""


def cursor(place: Place) -> str:
    """The opaque text by which tasks/list goes on after a record."""
    return base64.urlsafe_b64encode(f"{place[0]!r} {place[1]}".encode()).decode()


def place(params: Any) -> Place | None:
    """Where tasks/list goes on, None for its beginning. Raises ``TaskError`` -32602."""
    given = None if params is None else _object(params, "params").get("cursor")
    if given is None:
        return None
    try:
        text = base64.b64decode(given, altchars=b"-_", validate=True).decode()
        created, space, identity = text.partition(" ")
        moment = float(created)
    except (TypeError, ValueError, binascii.Error):
        raise _no_cursor() from None
    if not (space and identity and math.isfinite(moment)):
        raise _no_cursor()
    return moment, identity


def _no_cursor() -> Exception:
    return invalid("cursor has to be the nextCursor of an earlier answer.")


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise invalid(f"{name} has to be an object.")
    return value


def _ttl(given: Any) -> int:
    """Milliseconds within bounds. A ttl of nothing means the default, as leaving it out does."""
    if given is None:
        return constants.TASK_TTL
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given != given:
        raise invalid("task.ttl has to be a number of milliseconds.")
    if given <= 0:
        return constants.TASK_TTL
    return max(1, int(min(given, constants.MAX_TASK_TTL)))


def _key(meta: dict[str, Any]) -> str | None:
    key = meta.get(IDEMPOTENCY_KEY)
    if key is not None and not isinstance(key, str):
        raise invalid(f"{IDEMPOTENCY_KEY} has to be a string.")
    return key or None
