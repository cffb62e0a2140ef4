"""The registry of calls: what runs, what waits for a person, what settled and was not fetched yet.

Bridges wait for a call to return and some run one call at a time, so no call may block: one that
takes longer than its time limit, or meets a dialog, answers *pending* and goes on in here. The
rules are those of docs/results.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pywebmcp import constants, dialogs
from pywebmcp.eager import start
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import DialogState, Prompt
from pywebmcp.types import AbortSignal, Payload


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
    queued_behind: str | None = None
    prompt: Prompt | None = None
    dialogs: list[str] = field(default_factory=list)
    aborted: bool = False
    promised: bool = False
    """Whether the caller was told the pendingId, or lost the call by aborting it."""
    fetched: bool = False
    payload: Payload | None = None
    settled: float | None = None
    waiters: int = 0
    reported: set[str] = field(default_factory=set)
    """What is told once: error dialogs by id, and the present prompt."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> State:
        """Derived, so that no two fields can disagree."""
        if self.payload is not None:
            return State.FAILED if self.payload.get("isError") else State.COMPLETED
        return State.INPUT_REQUIRED if self.dialogs or self.prompt else State.WORKING

    def ask(self, prompt: Prompt | None) -> None:
        """The kernel waits for a person's input, or (None) does no longer."""
        self.prompt = prompt
        self.reported.discard(_PROMPT)
        self.news.set()


_PROMPT = "prompt"


class Calls:
    """Every running call, and the settled ones that somebody may still ask for.

    ``now`` is a clock in seconds (the event loop's), ``open_dialogs`` gives the page's dialogs in
    their order.
    """

    def __init__(
        self,
        now: Callable[[], float],
        open_dialogs: Callable[[], Sequence[DialogState]] = tuple,
    ) -> None:
        self._now = now
        self._dialogs = open_dialogs
        self._records: dict[str, Record] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: set[str] = set()
        self._open: dict[str, bool] = {}
        """The ids of open dialogs, and whether the agent answered them already."""
        self._lanes: dict[str, _Lane] = {}

    # --- the life of a call

    def begin(self, tool: str, run: Callable[[Record], Coroutine[Any, Any, Payload]]) -> Record:
        """Start a call that nobody waits for yet."""
        record = self._new(tool)
        self._start(record, run)
        return record

    def _new(self, tool: str) -> Record:
        record = Record(f"call-{next(self._numbers)}", tool, self._now())
        self._records[record.id] = record
        return record

    def _start(self, record: Record, run: Callable[[Record], Coroutine[Any, Any, Payload]]) -> None:

        async def settle() -> None:
            payload = await run(record)
            record.payload = payload
            record.settled = self._now()
            record.prompt = None
            record.news.set()

        self.in_background(settle())

    async def call(
        self,
        tool: str,
        run: Callable[[Record], Coroutine[Any, Any, Payload]],
        timeout: float,  # noqa: ASYNC109 (its end is an answer, not an error)
        signal: AbortSignal | None = None,
    ) -> Payload:
        """Start a call and wait for it as `wait` does."""
        record = self._new(tool)
        # Waited for from the start: a dialog can open before the first thing it waits for.
        record.waiters += 1
        try:
            self._start(record, run)
            return await self.wait(record, timeout, signal)
        finally:
            record.waiters -= 1
            self._prune()

    async def wait(
        self,
        record: Record,
        timeout: float,  # noqa: ASYNC109 (its end is an answer, not an error)
        signal: AbortSignal | None = None,
    ) -> Payload:
        """The result, or a pending answer after ``timeout`` seconds, at a dialog or a prompt."""
        deadline = self._now() + timeout
        undo = signal.on_abort(record.news.set) if signal else lambda: None
        record.waiters += 1
        try:
            while record.payload is None:
                blocked = self._blocked(record)
                remaining = deadline - self._now()
                if blocked is not None or remaining <= 0 or (signal and signal.aborted):
                    record.promised = True
                    record.aborted = record.aborted or bool(signal and signal.aborted)
                    return blocked or self._pending(record, timeout)
                record.news.clear()
                pause = min(remaining, constants.DIALOG_TURN) if self._opening() else remaining
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await record.news.wait()
            record.fetched = True
            news = self.dialog_news(record)
            return {**record.payload, "dialogs": news} if news else record.payload
        finally:
            undo()
            record.waiters -= 1
            self._prune()

    def in_background(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something whose end nobody waits for."""
        task = start(coroutine)
        if not task.done():
            # The loop keeps no strong reference to a task.
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def find(self, pending_id: str) -> Record:
        """A call by its pendingId, or ``ToolError`` PENDING_NOT_FOUND."""
        self._prune()
        record = self._records.get(pending_id)
        if record is None or not (record.promised or record.payload is None):
            raise ToolError(
                Code.PENDING_NOT_FOUND,
                f'There is no call "{pending_id}": a result is kept for '
                f"{constants.RETENTION // 60:g} minutes after the call settled; "
                "jupyter_get_context lists the pending ones.",
            )
        return record

    def listing(self, but: Record | None = None) -> list[Payload]:
        """What ``jupyter_get_context`` shows: what runs, and what settled and was not fetched."""
        self._prune()
        return [
            self._listed(record)
            for record in self._records.values()
            if record is not but and not (record.payload is not None and record.fetched)
        ]

    def _listed(self, record: Record) -> Payload:
        entry: Payload = {
            "pendingId": record.id,
            "tool": record.tool,
            "status": str(record.state),
            "seconds": round((record.settled or self._now()) - record.started, 1),
        }
        if record.queued_behind:
            entry["queuedBehind"] = record.queued_behind
        if record.prompt:
            entry["input"] = record.prompt
        if record.dialogs:
            entry["dialogs"] = list(record.dialogs)
        if record.aborted and record.payload is None:
            entry["aborted"] = True
        return entry

    def _prune(self) -> None:
        """Forget settled calls: nobody waits for them, too old, or too many of them."""
        kept: list[Record] = []
        for record in list(self._records.values()):
            if record.settled is None or record.waiters:
                continue
            if not record.promised or self._now() - record.settled > constants.RETENTION:
                del self._records[record.id]
            else:
                kept.append(record)
        kept.sort(key=lambda record: record.settled or 0)
        for record in kept[: max(0, len(kept) - constants.KEPT_CALLS)]:
            del self._records[record.id]

    # --- dialogs and prompts

    def dialog_opened(self, dialog_id: str) -> None:
        """A dialog belongs to a call when that is the only one that somebody waits for."""
        self._open[dialog_id] = False
        waited = [
            record for record in self._records.values() if record.waiters and record.payload is None
        ]
        if len(waited) == 1:
            waited[0].dialogs.append(dialog_id)
            waited[0].news.set()

    def dialog_closed(self, dialog_id: str) -> None:
        """It no longer blocks anything."""
        self._open.pop(dialog_id, None)
        self._told.discard(dialog_id)
        self._release(dialog_id)

    def dialog_answered(self, dialog_id: str) -> None:
        """The agent clicked a button; the page takes a moment to close the dialog."""
        self._open[dialog_id] = True
        self._release(dialog_id)

    def open_dialogs(self) -> list[DialogState]:
        """The dialogs that wait for an answer, in their order; asks the page only if there are."""
        if not self._open:
            return []
        return [dialog for dialog in self._dialogs() if not self._open.get(dialog["id"], False)]

    def _opening(self) -> bool:
        """Whether a dialog is open and none is on the screen: the page shows it a turn later."""
        opened = self.open_dialogs()
        return bool(opened) and not any(dialog["shown"] for dialog in opened)

    def _release(self, dialog_id: str) -> None:
        for record in self._records.values():
            if dialog_id in record.dialogs:
                record.dialogs.remove(dialog_id)
                record.news.set()

    def owner(self, dialog_id: str) -> Record | None:
        """The call a dialog belongs to, when the agent did not get its result yet."""
        for record in self._records.values():
            if dialog_id in record.dialogs and not record.fetched:
                return record
        return None

    def dialog_news(self, record: Record | None = None) -> list[Payload]:
        """The open dialogs the caller does not know of yet, and those of the call itself."""
        fresh = [
            dialog
            for dialog in self.open_dialogs()
            if dialog["id"] not in self._told or (record and dialog["id"] in record.dialogs)
        ]
        self._told.update(dialog["id"] for dialog in fresh)
        return [dialogs.shown(dialog) for dialog in fresh]

    def dialog_list(self) -> list[Payload]:
        """All open dialogs; after this the caller knows them."""
        listed = self.open_dialogs()
        self._told.update(dialog["id"] for dialog in listed)
        return [dialogs.shown(dialog) for dialog in listed]

    def _blocked(self, record: Record) -> Payload | None:
        """A pending answer for what the call waits behind, as far as that is news."""
        if record.prompt is not None and _PROMPT not in record.reported:
            return self._pending(record, None)
        for dialog in [] if self._opening() else self.open_dialogs():
            if dialog["id"] not in record.dialogs:
                continue
            if not dialogs.is_error(dialog) or dialog["id"] not in record.reported:
                return self._pending(record, None)
        return None

    def _pending(self, record: Record, timeout: float | None) -> Payload:
        """``{status, pendingId, tool, message}``, with the outputs so far and what blocks it."""
        own = [dialog for dialog in self.open_dialogs() if dialog["id"] in record.dialogs]
        payload: Payload = {"status": "pending", "pendingId": record.id, "tool": record.tool}
        payload["message"] = self._message(record, own, timeout)
        if own:
            payload["dialog"] = dialogs.shown(own[0])
            front = next((each for each in self.open_dialogs() if each["shown"]), None)
            if not own[0]["shown"] and front is not None:
                payload["shownDialog"] = dialogs.shown(front)
            record.reported.update(dialog["id"] for dialog in own)
            self._told.update(dialog["id"] for dialog in own)
        if record.prompt is not None:
            payload["input"] = record.prompt
            record.reported.add(_PROMPT)
        if record.queued_behind:
            payload["queuedBehind"] = record.queued_behind
        return {**payload, **record.progress()}

    def _message(self, record: Record, own: list[DialogState], timeout: float | None) -> str:
        then = "then get its result with jupyter_wait_for_result and this pendingId"
        if own and dialogs.is_error(own[0]):
            return (
                "An error dialog opened while the call ran: it probably failed. Read it and close "
                "it with jupyter_answer_dialog, or ask the person if it is not from this call; "
                f"{then}."
            )
        if own and not own[0]["shown"] and not self._opening():
            return (
                "A dialog of this call waits behind another one (shownDialog), which has to be "
                "closed first: by you with jupyter_answer_dialog and its dialogId if it comes from "
                f"one of your calls, else by the person; {then}."
            )
        if own:
            return (
                "A dialog opened while the call ran, and the call probably waits for its answer: "
                "click a button with jupyter_answer_dialog, or ask the person if it is not from "
                "this call. The call then goes on."
            )
        if record.prompt is not None:
            return (
                "The code waits for input that only the person can give, in the notebook: ask "
                f"them, {then}."
            )
        if record.queued_behind:
            return (
                f"The call waits until {record.queued_behind} has left the kernel and goes on by "
                f"itself; {then}."
            )
        after = f" after {timeout:g} seconds" if timeout else ""
        return (
            f"The call still runs{after} and goes on in the background; {then}."
            f"{' ' + record.stop_hint if record.stop_hint else ''}"
        )

    # --- one run at a time on a kernel

    @contextlib.asynccontextmanager
    async def lane(self, kernel_id: str, record: Record) -> AsyncIterator[None]:
        """Hold a kernel for one call's runs: a failing cell drops whatever is queued behind it."""
        lane = self._lanes.setdefault(kernel_id, _Lane())
        if lane.holder is not None:
            record.queued_behind = lane.holder.id
        lane.users += 1
        try:
            async with lane.lock:
                lane.holder, record.queued_behind = record, None
                try:
                    yield
                finally:
                    lane.holder = None
        finally:
            lane.users -= 1
            if not lane.users:
                lane.empty.set()
                self._lanes.pop(kernel_id, None)

    async def left(self, kernel_id: str) -> None:
        """Return when no call holds a kernel or waits for it, as after its restart."""
        lane = self._lanes.get(kernel_id)
        if lane is not None:
            await lane.empty.wait()


@dataclass(slots=True)
class _Lane:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    holder: Record | None = None
    users: int = 0
