"""The one door behind every other: a tool's name and arguments in, a bounded result out."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pywebmcp import envelope, jsontext
from pywebmcp.bounding import bound_text
from pywebmcp.calls import Calls
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend
from pywebmcp.guard import GuardedFrontend
from pywebmcp.images import omitted, taken
from pywebmcp.middleware import build, handle
from pywebmcp.middleware.failures import unexpected
from pywebmcp.records import Record
from pywebmcp.settings import Settings
from pywebmcp.tasks import Cancellation, follow, register_interrupt
from pywebmcp.tools import Call, Follow, Tool, utc_now
from pywebmcp.types import AbortSignal, NeverAborted, Payload

log = logging.getLogger("pywebmcp")


@dataclass(frozen=True, slots=True)
class Answer:
    """A result before it is put into an envelope: the payload and its JSON text."""

    payload: Payload
    text: str
    blocks: Sequence[Mapping[str, str]] = ()
    """Content blocks beside the payload's text: images."""

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.payload.get("isError") is True


class ToolServer:
    """Runs tools against a front end; never raises for what a caller does.

    ``settings`` may be replaced at any time and holds for the calls that start after that.
    ``frontend`` is the real one, for people's code; tools get it guarded.
    """

    def __init__(
        self,
        frontend: Frontend,
        tools: Iterable[Tool],
        *,
        settings: Settings | None = None,
        new_id: Callable[[], str] | None = None,
        now: Callable[[], float] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.frontend = frontend
        self.settings = settings or Settings()
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._new_id = new_id or _new_id
        self._clock = clock
        self._endpoint = build(handle)
        self.calls = Calls(now or _loop_time, frontend.dialogs)
        frontend.watch_dialogs(self.calls.dialog_opened, self.calls.dialog_closed)

    async def answer(
        self,
        name: str,
        arguments: Any = None,
        signal: AbortSignal | None = None,
        *,
        images: bool = False,
        followed: Follow | None = None,
    ) -> Answer:
        """Run a tool; the answer's text fits into ``settings.max_result_length``.

        With ``images`` those of a run come along as content blocks: for clients that take such
        blocks as images, and not as so many characters of base64. ``followed`` waits for the
        call, in the place of its time limit.
        """
        settings = self.settings
        try:
            tool = self.tools.get(name)
            if tool is None:
                payload = ToolError(
                    Code.INVALID_ARGUMENT,
                    f'There is no tool "{name}". The tools are {", ".join(self.tools)}.',
                ).payload()
                return self._bounded(payload, settings)
            call = Call(
                tool,
                arguments,
                GuardedFrontend(self.frontend),
                settings,
                self._new_id,
                self.calls,
                signal or NeverAborted(),
                self.tools,
                follow=followed,
                clock=self._clock,
            )
            payload = await self._endpoint(call)
            settled = call.record is not None and call.record.payload is not None
            blocks = [*call.record.blocks] if settled and call.record is not None else []
            if images:
                payload, drawn = taken(payload)
                blocks += drawn
            return self._bounded(payload, settings, blocks)
        except Exception as error:
            # Only our own encoding is left to fail here; even then the caller gets a result.
            log.exception("the result of %s could not be encoded", name)
            payload = unexpected(error)
            return Answer(payload, jsontext.dumps(payload))

    async def call(
        self, name: str, arguments: Any = None, signal: AbortSignal | None = None
    ) -> str:
        """Run a tool and answer the JSON text of its envelope."""
        # A change of the settings holds for the calls that start after it.
        mode = self.settings.envelope
        answer = await self.answer(name, arguments, signal)
        return envelope.encode(answer.text, answer.is_error, answer.blocks, mode)

    def work(
        self, name: str, arguments: Any = None, *, images: bool = False
    ) -> Callable[[], Awaitable[dict[str, Any]]]:
        """A call of a tool as the work of a task: what `TaskService.create` takes.

        It has no time limit, answers the envelope, and keeps the output so far for whoever cancels
        the task. Cancelled, it is aborted.
        """

        async def run() -> dict[str, Any]:
            settings = self.settings

            def enveloped(answer: Answer) -> dict[str, Any]:
                blocks, mode = answer.blocks, settings.envelope
                text = envelope.encode(answer.text, answer.is_error, blocks, mode)
                result: dict[str, Any] = jsontext.loads(text)
                return result

            def shown(payload: Payload) -> dict[str, Any]:
                return enveloped(self._bounded(payload, settings))

            def followed(record: Record) -> Awaitable[Payload]:
                return follow(record, shown, settings.execution_timeout)

            signal = Cancellation()
            # The kernel's own interrupt takes the place of this one once the call has a kernel.
            await register_interrupt(signal.abort)
            try:
                answer = await self.answer(
                    name, arguments, signal, images=images, followed=followed
                )
            except asyncio.CancelledError:
                signal.abort()
                raise
            return enveloped(answer)

        return run

    def _bounded(
        self, payload: Payload, settings: Settings, blocks: Sequence[Mapping[str, str]] = ()
    ) -> Answer:
        fitted = bound_text(payload, settings.max_result_length, omitted)
        return Answer(*fitted, blocks)


def _loop_time() -> float:
    """Seconds of the running event loop's clock."""
    return asyncio.get_running_loop().time()


def _new_id() -> str:
    """A cell id as nbformat recommends: the first 8 hex digits of a random UUID."""
    return uuid.uuid4().hex[:8]
