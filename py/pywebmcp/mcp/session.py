"""One conversation in JSON-RPC: requests answered while others run, cancelled when the other side
says so, and requests of our own. It knows no transport; text goes in, text goes out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from pywebmcp import eager
from pywebmcp.mcp import jsonrpc
from pywebmcp.mcp.jsonrpc import (
    ErrorCode,
    InvalidMessageError,
    Notification,
    Request,
    RequestId,
    Response,
    RpcError,
)

log = logging.getLogger("pywebmcp.mcp")

CANCELLED = "notifications/cancelled"


@dataclass(frozen=True, slots=True)
class Call:
    """What a method knows beside its params: which session, and under which id it was asked."""

    session: Session
    id: RequestId


Method = Callable[[dict[str, Any], Call], Awaitable[Any]]
"""Answers a request: a JSON value, or a `JsonText`; raises `RpcError` for an error answer. It is
cancelled when the other side cancels the request."""

Listener = Callable[[dict[str, Any]], None]
"""Takes a notification's params."""


class SessionClosedError(RpcError):
    """The session ended before the other side answered."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.INTERNAL_ERROR, "The session is closed")


class Session:
    """A peer: ``methods`` answer what comes, ``request`` and ``notify`` are for our own.

    Args:
        send: takes each message's text, in the order in which they are to go; must not raise.
        methods: by name; what is not among them is answered "method not found".
        listeners: for notifications, by name; others are ignored, as JSON-RPC asks.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        methods: Mapping[str, Method],
        listeners: Mapping[str, Listener] | None = None,
    ) -> None:
        self._send = send
        self._methods = methods
        self._listeners = {CANCELLED: self._cancel, **(listeners or {})}
        self._running: dict[RequestId, asyncio.Task[None]] = {}
        self._waiting: dict[RequestId, asyncio.Future[Any]] = {}
        self._ids = count(1)
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it has ended: what is sent then goes nowhere."""
        return self._closed

    def receive(self, text: str | bytes) -> None:
        """Take one message; never raises. A method that need not wait has answered on return."""
        try:
            message = jsonrpc.parse(text)
        except InvalidMessageError as error:
            self.refuse(error)
            return
        if isinstance(message, Request):
            self._start(message)
        elif isinstance(message, Notification):
            self._listen(message)
        else:
            self._settle(message)

    def refuse(self, error: InvalidMessageError) -> None:
        """Tell the other side that something it sent is no message."""
        self._post(jsonrpc.error_text(error.request_id, error))

    async def request(self, method: str, params: Any = None) -> Any:
        """Ask the other side; a caller that gives up (a time limit) cancels the request there.

        Raises:
            RpcError: what the other side answered; SessionClosedError when it no longer can.
        """
        if self._closed:
            raise SessionClosedError
        number = next(self._ids)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._post(jsonrpc.request_text(number, method, params))
            return await answer
        except asyncio.CancelledError:
            self.notify(CANCELLED, {"requestId": number})
            raise
        finally:
            del self._waiting[number]

    def notify(self, method: str, params: Any = None) -> None:
        """Tell the other side something."""
        self._post(jsonrpc.notification_text(method, params))

    async def end(self, grace: float = 0) -> None:
        """Nothing more comes: let what runs finish for ``grace`` seconds, then cancel it.

        Answers are still sent in that time. What waits for the other side fails at once.
        """
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(SessionClosedError())
        running = set(self._running.values())
        if running and grace > 0:
            _, running = await asyncio.wait(running, timeout=grace)
        self._closed = True
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _start(self, request: Request) -> None:
        if request.id in self._running:
            # Two answers under one id would be of no use to anyone.
            error = RpcError(ErrorCode.INVALID_REQUEST, "A request with this id is still running")
            self._post(jsonrpc.error_text(request.id, error))
            return
        task = eager.start(self._answer(request))
        if not task.done():
            self._running[request.id] = task
            task.add_done_callback(lambda _: self._forget(request.id, task))

    def _forget(self, request_id: RequestId, task: asyncio.Task[None]) -> None:
        # After a cancellation the id may be in use again.
        if self._running.get(request_id) is task:
            del self._running[request_id]

    async def _answer(self, request: Request) -> None:
        try:
            text = jsonrpc.result_text(request.id, await self.perform(request))
        except RpcError as error:
            text = jsonrpc.error_text(request.id, error)
        except asyncio.CancelledError:
            if _cancelled():
                return
            text = jsonrpc.error_text(
                request.id, RpcError(ErrorCode.INTERNAL_ERROR, "The work was cancelled")
            )
        except Exception as problem:
            log.exception("%s failed", request.method)
            message = f"Internal error: {type(problem).__name__}: {problem}"
            text = jsonrpc.error_text(request.id, RpcError(ErrorCode.INTERNAL_ERROR, message))
        # A cancelled request gets no answer, even when its method came to an end all the same.
        if not _cancelled():
            self._post(text)

    async def perform(self, request: Request) -> Any:
        """Run the request's method."""
        method = self._methods.get(request.method)
        if method is None:
            raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"There is no method {request.method:.100}")
        return await method(request.params, Call(self, request.id))

    def _listen(self, notification: Notification) -> None:
        listener = self._listeners.get(notification.method)
        if listener is None:
            return
        try:
            listener(notification.params)
        except Exception:
            log.exception("%s failed", notification.method)

    def _cancel(self, params: dict[str, Any]) -> None:
        request_id = params.get("requestId")
        task = self._running.pop(request_id, None) if jsonrpc.is_id(request_id) else None
        if task is not None:
            task.cancel()

    def _settle(self, response: Response) -> None:
        answer = None if response.id is None else self._waiting.get(response.id)
        if answer is None or answer.done():
            return
        if response.error is None:
            answer.set_result(response.result)
        else:
            answer.set_exception(response.error)

    def _post(self, text: str) -> None:
        if not self._closed:
            self._send(text)


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
