"""The registry of calls: what runs, what waits for a person, what settled and was not fetched yet.

A call that takes longer than its time limit, or meets a dialog, answers *pending* and goes on in
here, so that none blocks its caller. The rules are those of docs/results.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pywebmcp import constants, dialogs, jsontext, pending
from pywebmcp.eager import start
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import DialogState
from pywebmcp.lanes import Lanes
from pywebmcp.records import PROMPT, Record
from pywebmcp.types import AbortSignal, Payload


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
        self.lanes = Lanes()

    # --- the life of a call

    def begin(self, tool: str, run: Callable[[Record], Coroutine[Any, Any, Payload]]) -> Record:
        """Start a call whose caller follows the record; it takes itself off ``waiters``."""
        record = Record(f"call-{next(self._numbers)}", tool, self._now())
        self._records[record.id] = record
        # Waited for from the start: a dialog can open before the first thing it waits for.
        record.waiters += 1

        async def settle() -> None:
            record.payload = await run(record)
            record.settled = self._now()
            record.prompt = record.proposal = None
            record.news.set()

        self.in_background(settle())
        return record

    async def call(
        self,
        tool: str,
        run: Callable[[Record], Coroutine[Any, Any, Payload]],
        timeout: float,  # noqa: ASYNC109 (its end is an answer, not an error)
        signal: AbortSignal | None = None,
    ) -> Payload:
        """Start a call and wait for it as `wait` does."""
        record = self.begin(tool, run)
        try:
            payload = await self.wait(record, timeout, signal)
        except BaseException:
            # Whoever awaited this was cancelled; the call goes on, and its result is kept.
            record.promised = True
            raise
        finally:
            record.waiters -= 1
            self._prune()
        if signal is not None and signal.aborted:
            record.aborted = True
        return payload

    async def wait(
        self,
        record: Record,
        timeout: float,  # noqa: ASYNC109 (its end is an answer, not an error)
        signal: AbortSignal | None = None,
    ) -> Payload:
        """The result, or a pending answer after ``timeout`` seconds, at a dialog or a prompt."""
        deadline = self._now() + timeout
        undo: Callable[[], None] | None = None
        record.waiters += 1
        try:
            while record.payload is None:
                if undo is None and signal is not None:
                    # Not before there is something to wait for: most calls settle at once.
                    undo = signal.on_abort(record.news.set)
                blocked = self._blocked(record)
                remaining = deadline - self._now()
                if blocked is not None or remaining <= 0 or (signal and signal.aborted):
                    record.promised = True
                    return blocked or self._pending(record, timeout)
                record.news.clear()
                pause = min(remaining, constants.DIALOG_TURN) if self._opening() else remaining
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await record.news.wait()
            if signal and signal.aborted:
                # It gave up in the very turn in which the call settled, and gets nothing.
                record.promised = True
            else:
                record.fetched = True
            news = self.dialog_news(record)
            return {**record.payload, "dialogs": news} if news else record.payload
        finally:
            if undo is not None:
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
        entry.update(record.queue())
        if record.prompt:
            entry["input"] = record.prompt
        if record.proposal:
            entry["proposal"] = record.proposal
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
            record
            for record in self._records.values()
            # A call that waits for the person's word opens nothing.
            if record.waiters and record.payload is None and record.proposal is None
        ]
        if len(waited) == 1:
            waited[0].dialogs.append(dialog_id)
            waited[0].news.set()
            waited[0].changed()

    def dialog_closed(self, dialog_id: str) -> None:
        """It no longer blocks anything."""
        self._open.pop(dialog_id, None)
        self._told.discard(dialog_id)
        self._release(dialog_id)

    def dialog_answered(self, dialog_id: str) -> None:
        """The agent clicked a button; the page takes a moment to close the dialog."""
        if dialog_id in self._open:
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
                record.changed()

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

    def news_size(self) -> int:
        """Characters that the news of dialogs will take in the next answer: pages leave room."""
        news = [each for each in self.open_dialogs() if each["id"] not in self._told]
        if not news:
            return 0
        return jsontext.length(jsontext.dumps([dialogs.shown(each) for each in news])) + 12

    def dialog_list(self) -> list[Payload]:
        """All open dialogs; after this the caller knows them."""
        listed = self.open_dialogs()
        self._told.update(dialog["id"] for dialog in listed)
        return [dialogs.shown(dialog) for dialog in listed]

    def _blocked(self, record: Record) -> Payload | None:
        """A pending answer for what the call waits behind, as far as that is news."""
        if record.prompt is not None and PROMPT not in record.reported:
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
        payload["message"] = pending.message(
            record,
            own[0] if own else None,
            bool(own) and not own[0]["shown"] and not self._opening(),
            timeout,
        )
        if own:
            payload["dialog"] = dialogs.shown(own[0])
            front = next((each for each in self.open_dialogs() if each["shown"]), None)
            if not own[0]["shown"] and front is not None:
                payload["shownDialog"] = dialogs.shown(front)
                self._told.add(front["id"])
            # Only what is in this answer was told.
            record.reported.add(own[0]["id"])
            self._told.add(own[0]["id"])
        else:
            news = self.dialog_news()
            if news:
                payload["dialogs"] = news
        if record.proposal is not None:
            payload["proposal"] = record.proposal
        if record.prompt is not None:
            payload["input"] = record.prompt
            record.reported.add(PROMPT)
        return {**payload, **record.queue(), **record.progress()}
