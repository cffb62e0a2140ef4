"""A task store in the browser's IndexedDB: what it has been given survives a reload of the page.

The setting ``taskStoreClass`` names it: ``pywebmcp.browser.store:IndexedDBTaskStore``.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pywebmcp import constants, jsontext
from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.tasks.record import TaskRecord

T = TypeVar("T")
Records = list[TaskRecord]

VERSION = 1
"""Of the database's layout."""

KEPT = 500
"""Tasks at most. Beyond them settled ones go before their time, those first whose time is over first."""

_TASKS = "tasks"


class StorageError(Exception):
    """The browser did not do what it was asked; the message has its reason."""


class IndexedDBTaskStore:
    """The tasks of every tab of this site, in this browser.

    Each method is one transaction, so that look-up and insertion of a key cannot be torn apart, not
    by another tab either. An error of the browser (no room left, a database that another tab blocks,
    private windows without storage) is raised.

    ``now`` is a clock in seconds since the epoch, ``name`` the database's; ``kept`` as `KEPT`.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        name: str | None = None,
        kept: int = KEPT,
    ) -> None:
        self._now = now
        self._name = name or f"pywebmcp-tasks:{_site()}"
        self._kept = kept
        self._database: asyncio.Future[Js] | None = None

    async def create(self, record: TaskRecord) -> TaskRecord:
        """Keep a new task, or answer the one that holds its key."""

        def body(work: _Transaction) -> None:
            def insert(_: Any = None) -> None:
                work.answer = record
                self._put(work, record)
                work.request(work.tasks.count(), thin)

            def thin(count: int) -> None:
                if count > self._kept:
                    settled = work.tasks.index("expires")
                    work.request(settled.getAllKeys(ffi.null, count - self._kept), work.delete)

            def decide(found: Js) -> None:
                if ffi.given(found) is None:
                    insert()
                else:
                    work.answer = _record(found)

            key = record.idempotency_key
            if key is None:
                insert()
            else:
                work.request(work.tasks.index("key").get(ffi.string(key)), decide)

        made: TaskRecord = await self._do(body)
        return made

    async def get(self, task_id: str) -> TaskRecord | None:
        """One task, None when it expired."""

        def body(work: _Transaction) -> None:
            work.request(work.tasks.get(ffi.string(task_id)), work.found)

        found: TaskRecord | None = await self._do(body)
        return found

    async def list(self, *, limit: int = constants.TASK_PAGE) -> Records:
        """The newest tasks, newest first; of two with the same time, that with the greater id."""

        def body(work: _Transaction) -> None:
            work.answer = []

            def step(cursor: Js) -> None:
                if ffi.given(cursor) is None:
                    return
                work.answer.append(_record(cursor.value))
                if len(work.answer) < limit:
                    getattr(cursor, "continue")()

            work.request(work.tasks.index("created").openCursor(ffi.null, "prev"), step)

        found: Records = await self._do(body)
        return found[:limit]

    async def update(self, task_id: str, **changes: Any) -> TaskRecord | None:
        """Change a task that runs; a terminal one stays as it is."""

        def body(work: _Transaction) -> None:
            def change(found: Js) -> None:
                work.found(found)
                if work.answer is not None and not work.answer.terminal:
                    work.answer = work.answer.changed(**changes)
                    self._put(work, work.answer)

            work.request(work.tasks.get(ffi.string(task_id)), change)

        changed: TaskRecord | None = await self._do(body)
        return changed

    async def find_by_key(self, idempotency_key: str) -> TaskRecord | None:
        """The task that holds a key, None when it expired."""

        def body(work: _Transaction) -> None:
            work.request(work.tasks.index("key").get(ffi.string(idempotency_key)), work.found)

        found: TaskRecord | None = await self._do(body)
        return found

    def _put(self, work: _Transaction, record: TaskRecord) -> None:
        row: dict[str, Any] = {
            "id": record.task_id,
            "created": record.created_at,
            # As text: a record is larger than the parts that are looked for.
            "record": jsontext.dumps(record.as_json()),
        }
        if record.idempotency_key is not None:
            row["key"] = record.idempotency_key
        if record.terminal:
            row["expires"] = record.updated_at + record.ttl / 1000
        work.request(work.tasks.put(ffi.parsed(row)), lambda _: None)

    async def _do(self, body: Callable[[_Transaction], None]) -> Any:
        """Clear away what has expired, and do something in the same transaction."""
        try:
            work = _Transaction(await self._open())
        except ffi.JsException:
            # The browser closed the database, as when its data are cleared: it opens anew.
            self._database = None
            work = _Transaction(await self._open())

        def begin(expired: Js) -> None:
            work.delete(expired)
            body(work)

        over = ffi.window.IDBKeyRange.upperBound(self._now())
        work.request(work.tasks.index("expires").getAllKeys(over), begin)
        return await work.done()

    async def _open(self) -> Js:
        if self._database is None or (
            self._database.done()
            and (self._database.cancelled() or self._database.exception() is not None)
        ):
            self._database = asyncio.ensure_future(self._opened())
        # Whoever is given up on must not take the database from the others.
        return await asyncio.shield(self._database)

    async def _opened(self) -> Js:
        try:
            database = await ffi.bridge().openDatabase(
                ffi.window.indexedDB,
                self._name,
                VERSION,
                json.dumps({_TASKS: {"keyPath": "id", "indexes": ["created", "expires", "key"]}}),
            )
        except ffi.JsException as error:
            raise StorageError(
                f"the browser's storage cannot be used: {ffi.reason(error)}"
            ) from None
        return database


class _Transaction:
    """One transaction: requests with callbacks, in which further requests can be made."""

    def __init__(self, database: Js) -> None:
        transaction = database.transaction(_TASKS, "readwrite")
        self.tasks = transaction.objectStore(_TASKS)
        self.answer: Any = None
        self._transaction = transaction
        self._proxies: list[Js] = []
        self._trouble: Exception | None = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for event, ended in (("complete", self._completed), ("abort", self._aborted)):
            proxy = ffi.create_proxy(ended)
            self._proxies.append(proxy)
            setattr(transaction, f"on{event}", proxy)
        self._end.add_done_callback(self._free)

    def request(self, request: Js, then: Callable[[Any], None]) -> None:
        """Call ``then`` with the request's result, while the transaction is still open."""

        def succeeded(*_: Any) -> None:
            try:
                then(request.result)
            except ffi.JsException as error:
                self._fail(StorageError(f"the browser refused it: {ffi.reason(error)}"))
            except Exception as error:
                self._fail(error)

        proxy = ffi.create_proxy(succeeded)
        self._proxies.append(proxy)
        request.onsuccess = proxy

    def _fail(self, error: Exception) -> None:
        self._trouble = error
        self._transaction.abort()

    def found(self, row: Js) -> None:
        """The record of a row is the answer; None where there is none."""
        self.answer = None if ffi.given(row) is None else _record(row)

    def delete(self, keys: Js) -> None:
        """Delete the rows of these keys."""
        for key in keys:
            self.tasks.delete(key)

    async def done(self) -> Any:
        """The answer, once all is on the disk."""
        # Whoever no longer waits does not end it: what is under way has its callbacks still.
        await asyncio.shield(self._end)
        return self.answer

    def _completed(self, *_: Any) -> None:
        if not self._end.done():
            self._end.set_result(None)

    def _aborted(self, *_: Any) -> None:
        if self._end.done():
            return
        if self._trouble is not None:
            self._end.set_exception(self._trouble)
            return
        error = ffi.given(self._transaction.error)
        reason = "it was aborted" if error is None else _reason(error)
        self._end.set_exception(StorageError(f"the browser did not keep it: {reason}"))

    def _free(self, end: asyncio.Future[None]) -> None:
        end.exception()  # if nobody waits, it is nobody's
        for proxy in self._proxies:
            proxy.destroy()


def _record(row: Js) -> TaskRecord:
    return TaskRecord.from_json(jsontext.loads(row.record))


def _reason(error: Any) -> str:
    """A DOMException's name and message: QuotaExceededError says more than its message does."""
    name, message = getattr(error, "name", ""), str(getattr(error, "message", error))
    return f"{name}: {message}" if name else message


def _site() -> str:
    """Which of the sites of this address: what is stored is shared by all of an origin."""
    data = ffi.document.getElementById("jupyter-config-data")
    root = ffi.given(getattr(data.dataset, "jupyterLiteRoot", None)) if ffi.given(data) else None
    if root is None:
        root = ffi.data(ffi.window.JSON.parse(data.textContent)).get("baseUrl", "/")
    return str(ffi.window.URL.new(root, ffi.window.location.href).pathname)
