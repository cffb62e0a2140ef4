"""Tasks: created, looked at, listed, cancelled and asked for their result, whoever does the work.

The truth about a task that runs here is in memory; its store gets every change as soon as it takes
it. So a store that is slow, raises or hangs delays answers and can refuse new tasks, but it loses
no result and holds no work up.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from pywebmcp import constants, jsontext
from pywebmcp.records import State
from pywebmcp.tasks import cancelling
from pywebmcp.tasks.bounded import seen
from pywebmcp.tasks.current import running
from pywebmcp.tasks.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    TaskError,
    key_taken,
    no_such_task,
)
from pywebmcp.tasks.keeping import Keeper
from pywebmcp.tasks.parameters import Place, TaskCall, fingerprint
from pywebmcp.tasks.record import TaskRecord
from pywebmcp.tasks.results import described, error_of, is_error, partial_result
from pywebmcp.tasks.run import Notify, Outcome, Run, Work
from pywebmcp.tasks.store import TaskStore

log = logging.getLogger("pywebmcp")


class TaskService:
    """The tasks of one server or page.

    ``store`` keeps them, ``now`` is a clock in seconds since the epoch (the store's expiry goes by
    the same one), ``new_id`` gives ids that nobody can guess.
    """

    def __init__(
        self,
        store: TaskStore,
        *,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.store = store
        self._now = now
        self._new_id = new_id or _new_id
        self.owner = self._new_id()
        """Stands in the records whose work runs here."""
        self._keeper = Keeper(store, now)
        self._runs = self._keeper.runs
        self._creating: dict[str, asyncio.Task[TaskRecord]] = {}
        self._doubtful: set[str] = set()
        """Ids that the store failed to create: it may have kept them all the same."""
        self._last_created = 0.0
        self._closing = False

    # --- creation

    async def create(self, call: TaskCall, work: Work, notify: Notify | None = None) -> TaskRecord:
        """Start work as a task and answer its record at once.

        A retry (the idempotency key of a task that is kept) answers that task and starts nothing,
        however many of them come at once.

        Raises ``TaskError``: -32602 where the key belongs to another call, -32603 where the store
        fails (then nothing was started).
        """
        mark = fingerprint(call.tool, call.arguments)
        if self._closing:
            raise TaskError(INTERNAL_ERROR, "The server is stopping: nothing was begun.")
        while call.key is not None and (busy := self._creating.get(call.key)):
            # Somebody is at it with this key: theirs is ours, unless it fails.
            await asyncio.wait({busy})
            if not busy.cancelled() and busy.exception() is None:
                return self._again(call, busy.result(), mark, work, notify)
        creation = self._keeper.spawn(self._create(call, mark, work, notify))
        if call.key is not None:
            self._creating[call.key] = creation
            creation.add_done_callback(lambda _: self._created(call.key))
        # Whoever asked may go away meanwhile; half a creation must not stay behind.
        creation.add_done_callback(seen)
        return await asyncio.shield(creation)

    def _created(self, key: str | None) -> None:
        self._creating.pop(key or "", None)

    async def _create(
        self, call: TaskCall, mark: str, work: Work, notify: Notify | None
    ) -> TaskRecord:
        if call.key is not None:
            found = await self._keeper.ask(self.store.find_by_key, call.key)
            if found is not None:
                return self._again(call, found, mark, work, notify)
        moment = self._now()
        self._last_created = max(moment, self._last_created + 1e-6)
        record = TaskRecord(
            task_id=self._new_id(),
            tool=call.tool,
            created_at=self._last_created,
            updated_at=self._last_created,
            ttl=call.ttl,
            idempotency_key=call.key,
            fingerprint=mark,
            owner=self.owner,
        )
        run = self._keeper.open(record, notify)
        try:
            stored = await self._keeper.ask(self.store.create, record)
        except TaskError:
            del self._runs[record.task_id]
            self._doubtful.add(record.task_id)
            raise
        if stored.task_id != record.task_id:
            # Another server or page that shares the store was faster.
            del self._runs[record.task_id]
            return self._again(call, stored, mark, work, notify)
        self._start(run, work)
        return record

    def _again(
        self, call: TaskCall, found: TaskRecord, mark: str, work: Work, notify: Notify | None
    ) -> TaskRecord:
        if found.fingerprint != mark:
            raise key_taken(call.key or "", found.tool)
        run = self._runs.get(found.task_id)
        if run is None and self._orphan(found):
            run = self._keeper.open(found)
            self._start(run, work)
        if run is None:
            return found
        if notify is not None and notify not in run.notifiers:
            run.notifiers.append(notify)
        return run.record

    # --- the four methods

    async def get(self, task_id: str) -> TaskRecord:
        """One task as it is now. Raises ``TaskError``."""
        run = self._runs.get(task_id)
        record = run.record if run else await self._keeper.ask(self.store.get, task_id)
        if record is not None:
            record = self._latest(record)
        if record is None or record.expired(self._now()):
            raise no_such_task(task_id)
        return record

    async def page(self, after: Place | None = None) -> tuple[list[TaskRecord], Place | None]:
        """The tasks after a place, newest first, and the place to go on from if there are more."""
        size = constants.TASK_PAGE
        limit = size + 1
        while True:
            found = await self._keeper.ask(self.store.list, limit=limit)
            # By their own order, for stores of others know ties and clocks that are set back.
            found = sorted(found, key=_place, reverse=True)
            rest = [record for record in found if after is None or _place(record) < after]
            if len(rest) > size or len(found) < limit:
                break
            limit *= 2
        page = [self._latest(record) for record in rest[:size]]
        return page, _place(page[-1]) if len(rest) > size else None

    async def cancel(self, task_id: str) -> TaskRecord:
        """Interrupt the work, then stop waiting for it; a task that settled is answered as it is."""
        record = await self.get(task_id)
        run = self._runs.get(task_id)
        if record.terminal:
            return record
        if run is None:
            raise TaskError(
                INTERNAL_ERROR,
                f"Task {task_id} runs in another server or page and can be cancelled only there.",
            )
        if run.cancelling is None:
            run.cancelling = self._keeper.spawn(cancelling.cancel(run))
        # The cancellation goes on when the client that asked for it goes away.
        await asyncio.shield(run.cancelling)
        return run.record

    async def result(self, task_id: str) -> Any:
        """The output of a task that is terminal.

        Raises ``TaskError``: -32602 while it is not, or when it was cancelled and had no output;
        -32603 for a failed one, with what it had put out in ``data``.
        """
        record = await self.get(task_id)
        data: dict[str, Any] = {"taskId": task_id, "status": str(record.status)}
        match record.status:
            case State.COMPLETED:
                return record.result
            case State.FAILED:
                if record.result is not None:
                    data["result"] = record.result
                elif record.partial is not None:
                    data["partial"] = partial_result(record.partial)
                raise TaskError(INTERNAL_ERROR, record.error or "The task failed.", data)
            case State.CANCELLED:
                if record.result is not None:
                    return record.result
                if record.partial is not None:
                    return partial_result(record.partial)
                message = f"Task {task_id} was cancelled before it had put out anything."
            case State.INPUT_REQUIRED:
                message = (
                    f"Task {task_id} is input_required and has no result yet: a person has to act "
                    f"first ({record.status_message}). Poll tasks/get until it has settled."
                )
            case _:
                message = (
                    f"Task {task_id} is working and has no result yet: poll tasks/get every "
                    f"{constants.TASK_POLL_INTERVAL} ms until it has settled."
                )
        raise TaskError(INVALID_PARAMS, message, data)

    # --- begin and end of the service

    async def recover(self, alive: Callable[[str], Awaitable[bool]]) -> int:
        """Fail the tasks whose ``owner`` is gone, as after a reload; answers how many those were.

        ``alive`` is asked for the owners of running tasks. What the tasks had put out stays.
        """
        count, after = 0, None
        while True:
            page, after = await self.page(after)
            for record in page:
                if record.terminal or record.owner == self.owner or await alive(record.owner):
                    continue
                run = self._keeper.open(record)
                self._fail(run, "The page or server that ran it went away before it was done.")
                count += 1
            if after is None:
                return count

    async def close(self) -> None:
        """End all work, as failed, and let the store have that; notifications are not waited for."""
        self._closing = True
        workers = {run.worker for run in self._runs.values() if run.worker}
        for worker in workers:
            worker.cancel()
        if workers:
            await asyncio.wait(workers, timeout=constants.CANCEL_GRACE)
        for run in list(self._runs.values()):
            self._fail(run, "The server was stopped while it ran.")
        await self._keeper.close()

    # --- a run

    def _start(self, run: Run, work: Work) -> None:
        if run.record.terminal:
            # Somebody who saw it in the list has cancelled it already.
            return
        self._doubtful.discard(run.task_id)
        run.worker = self._keeper.spawn(self._work(run, work))

    async def _work(self, run: Run, work: Work) -> None:
        running.set(run)
        try:
            result = jsontext.plain(await work())
            run.outcome = Outcome(result, failed=is_error(result))
        except asyncio.CancelledError:
            if run.cancelling is None and not self._closing:
                run.outcome = Outcome(raised="The work stopped itself and has no result.")
        except Exception as error:
            log.info("the work of task %s failed", run.task_id, exc_info=True)
            run.outcome = Outcome(raised=described(error))
        except BaseException as error:
            # It ends the program; nobody shall wait for the task in what is left of that.
            self._fail(run, described(error))
            raise
        if run.cancelling is None and run.outcome is not None:
            self._settle(run, run.outcome)

    def _settle(self, run: Run, outcome: Outcome) -> None:
        if outcome.raised is not None:
            self._fail(run, outcome.raised)
        elif outcome.failed:
            self._fail(run, error_of(outcome.result), result=outcome.result)
        else:
            run.move(State.COMPLETED, result=outcome.result)

    def _fail(self, run: Run, message: str, **more: Any) -> None:
        run.move(State.FAILED, message, error=message[: constants.TASK_ERROR], **more)

    def _latest(self, record: TaskRecord) -> TaskRecord:
        """The record as it is here; one that the store kept against its word has failed."""
        run = self._runs.get(record.task_id)
        if run is None and self._orphan(record):
            run = self._keeper.open(record)
            self._fail(run, "It was never begun: the store failed when it was created.")
        return run.record if run else record

    def _orphan(self, record: TaskRecord) -> bool:
        """Whether its creation was refused, and its work never begun, although it is stored."""
        return record.task_id in self._doubtful and not record.terminal


def _place(record: TaskRecord) -> Place:
    return record.created_at, record.task_id


def _new_id() -> str:
    """122 random bits: whoever knows an id was told it."""
    return f"tsk_{uuid.uuid4().hex}"
