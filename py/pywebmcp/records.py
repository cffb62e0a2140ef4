"""What is known of one call while it runs and after it settled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from pywebmcp.frontend import Prompt
from pywebmcp.types import Payload


class State(StrEnum):
    """The states of a call; the last three are terminal (the same five as a task's)."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True, eq=False)
class Record:
    """One call. Its handler fills ``progress``, ``stop_hint``, ``queued_behind`` and ``prompt``."""

    id: str
    tool: str
    started: float
    stop_hint: str = ""
    """What stops the work, for the pending answer."""
    progress: Callable[[], Payload] = dict
    """Fields of the result as far as it has come."""
    behind: Callable[[], str | None] = lambda: None
    """The id of the call that holds the kernel this one waits for, as it is now."""
    others: Callable[[], Prompt | bool] = lambda: False
    """Whether it waits for code that no call started, the person's, and what that asks for."""
    prompt: Prompt | None = None
    proposal: Payload | None = None
    """The change that waits for the person, as it is told: ``{id, cellId}`` or ``{id, path}``."""
    dialogs: list[str] = field(default_factory=list)
    aborted: bool = False
    promised: bool = False
    """Whether the caller was told the pendingId, or lost the call by aborting it."""
    fetched: bool = False
    payload: Payload | None = None
    blocks: list[dict[str, str]] = field(default_factory=list)
    """Content blocks beside the payload: images that the caller asked for."""
    settled: float | None = None
    waiters: int = 0
    reported: set[str] = field(default_factory=set)
    """What is told once: error dialogs by id, and the present prompt."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    changed: Callable[[], None] = lambda: None
    """Told when its state may be another one, for whoever shows it."""

    @property
    def state(self) -> State:
        """Derived, so that no two fields can disagree."""
        if self.payload is not None:
            return State.FAILED if self.payload.get("isError") else State.COMPLETED
        waits = self.dialogs or self.prompt or self.proposal
        return State.INPUT_REQUIRED if waits else State.WORKING

    def queue(self) -> Payload:
        """What the call waits behind in the kernel, for an answer."""
        if self.payload is not None:
            return {}
        behind = self.behind()
        if behind:
            return {"queuedBehind": behind}
        others = self.others()
        if not others:
            return {}
        told: Payload = {"queuedBehind": "code that the person started"}
        return told if others is True else {**told, "kernelInput": others}

    def ask(self, prompt: Prompt | None) -> None:
        """The kernel waits for a person's input, or (None) does no longer."""
        self.prompt = prompt
        self.reported.discard(PROMPT)
        self.news.set()
        self.changed()

    def propose(self, proposal: Payload | None) -> None:
        """A change waits for the person's word, or (None) does no longer."""
        self.proposal = proposal
        self.changed()


PROMPT = "prompt"
"""What stands for the present prompt in `Record.reported`."""
