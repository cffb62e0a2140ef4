"""A tool is one function: its signature is the schema, its docstring the description.

>>> from typing import Annotated
>>> from pywebmcp.schema import Arg
>>> @tool("Say hello", "R")
... async def say_hello(call: Call, *, name: Annotated[str, Arg("Whom to greet")]) -> Payload:
...     '''Greet somebody.'''
...     return {"greeting": f"Hello, {name}"}
>>> say_hello.descriptor()["inputSchema"]["required"]
['name']
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pywebmcp.activity import Entry
from pywebmcp.bounding import MIN_LIMIT
from pywebmcp.calls import Calls
from pywebmcp.changes import Change, Plan
from pywebmcp.frontend import Frontend
from pywebmcp.proposals import Proposals
from pywebmcp.records import Record
from pywebmcp.schema import Signature, Validator, signature
from pywebmcp.settings import Settings
from pywebmcp.types import AbortSignal, NeverAborted, Payload

Handler = Callable[..., Awaitable[Payload | Change]]
Follow = Callable[[Record], Awaitable[Payload]]

_HINTS = {"R": "readOnlyHint", "U": "untrustedContentHint", "C": "consequentialHint"}


def utc_now() -> datetime:
    """The time of day, where nobody gives another clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Tool:
    """A handler with what an agent is told of it.

    ``hints`` are letters: R reads only, U its answer carries untrusted content, C it has
    consequences (WebMCP's ``ToolAnnotations``).
    """

    name: str
    title: str
    description: str
    hints: str
    handler: Handler
    signature: Signature
    validate: Validator
    waits: bool = False
    """Whether it waits for other calls, and so is none that could answer pending itself."""

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing, not even what the person looks at."""
        return "R" in self.hints

    def descriptor(self) -> dict[str, Any]:
        """What ``registerTool`` and MCP's tools/list are told, JSON-safe."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.signature.schema,
            "annotations": {_HINTS[letter]: True for letter in self.hints},
        }


def tool(title: str, hints: str = "", *, waits: bool = False) -> Callable[[Handler], Tool]:
    """Make a handler a tool; see the module's example."""

    def decorate(handler: Handler) -> Tool:
        parts = signature(handler)
        name: str = getattr(handler, "__name__")  # noqa: B009
        description = " ".join((inspect.getdoc(handler) or "").split())
        if not description:
            raise TypeError(f"{name} needs a docstring: it is what an agent reads")
        return Tool(name, title, description, hints, handler, parts, Validator(parts.schema), waits)

    return decorate


@dataclass(slots=True, eq=False)
class Call:
    """One call of one tool on its way through the middleware to the handler.

    ``arguments`` are the caller's until validation replaced them by the handler's keyword
    arguments, and ``record`` is filled once the call is registered: the middleware sets these two,
    since a copy for each would cost every call more than the work of some tools. ``new_id`` gives a fresh nbformat cell id; randomness comes in from outside.
    """

    tool: Tool
    arguments: Any
    frontend: Frontend
    settings: Settings
    new_id: Callable[[], str]
    calls: Calls
    signal: AbortSignal = field(default_factory=NeverAborted)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    record: Record | None = None
    """Where the call is registered, once it is."""
    follow: Follow | None = None
    """Waits for the call in the place of the registry, which would answer pending: a task's."""
    clock: Callable[[], datetime] = utc_now
    """The time of day in UTC, for what is kept."""
    proposals: Proposals | None = None
    """Where changes wait for the person, when they want that; None where it is their own call."""
    applied: Callable[[Plan], None] = lambda plan: None
    """Told of every change that was made."""
    entry: Entry | None = None
    """The call in the log of what happens."""
    settled: Callable[[Payload], None] = lambda payload: None
    """Told of the result, also when the caller no longer waits for it."""

    def room(self, frame: int) -> int:
        """Characters of JSON that the entries of a page may have, beside ``frame`` others."""
        limit = max(self.settings.max_result_length, MIN_LIMIT)
        return max(limit - frame - self.calls.news_size(), limit // 4)
