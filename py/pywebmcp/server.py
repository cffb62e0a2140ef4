"""The one door behind every other: a tool's name and arguments in, a bounded result out."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pywebmcp import envelope, jsontext, provenance
from pywebmcp.activity import Activity, Who
from pywebmcp.bounding import bound_text
from pywebmcp.calls import Calls
from pywebmcp.changes import Plan
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend
from pywebmcp.guard import GuardedFrontend
from pywebmcp.images import omitted, taken
from pywebmcp.middleware import build, handle
from pywebmcp.middleware.failures import unexpected
from pywebmcp.proposals import Proposals
from pywebmcp.records import Record
from pywebmcp.settings import Settings
from pywebmcp.tasks import Cancellation, follow
from pywebmcp.tools import Call, Follow, Tool, utc_now
from pywebmcp.types import AbortSignal, NeverAborted, Payload
from pywebmcp.undo import Edit

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
        self.activity = Activity(frontend, clock)
        self.proposals = Proposals(clock)
        frontend.watch_closed(self.proposals.closed)
        frontend.watch_closed(self.activity.closed)
        frontend.watch_dialogs(self.calls.dialog_opened, self.calls.dialog_closed)

    async def answer(
        self,
        name: str,
        arguments: Any = None,
        signal: AbortSignal | None = None,
        *,
        images: bool = False,
        followed: Follow | None = None,
        door: str = "mcp",
        who: Who = "agent",
    ) -> Answer:
        """Run a tool; the answer's text fits into ``settings.max_result_length``.

        With ``images`` those of a run come along as content blocks: for clients that take such
        blocks as images, and not as so many characters of base64. ``followed`` waits for the
        call, in the place of its time limit. ``door`` and ``who`` are for the log of what happens;
        what a person does by hand waits for nobody's word.
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
            call = self._call(tool, arguments, signal or NeverAborted(), door, who)
            call.follow = followed
            payload = await self._logged(call)
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

    def _call(self, tool: Tool, arguments: Any, signal: AbortSignal, door: str, who: Who) -> Call:
        """A call on its way in, with its entry in the log."""
        entry = self.activity.begin(tool.name, None, who=who, door=door, signal=signal)

        def applied(plan: Plan) -> None:
            self.activity.edited(entry, Edit.of(plan))
            if self.settings.record_provenance and who == "agent":
                provenance.record(self.frontend, plan, tool.name, self._clock())

        return Call(
            tool,
            arguments,
            GuardedFrontend(
                self.frontend, entry, lambda: who == "agent" and self.proposals.enabled
            ),
            self.settings,
            self._new_id,
            self.calls,
            entry.signal,
            self.tools,
            clock=self._clock,
            proposals=self.proposals if who == "agent" else None,
            applied=applied,
            entry=entry,
            settled=lambda payload: self.activity.settle(entry, payload),
        )

    async def _logged(self, call: Call) -> Payload:
        """The result of a call, which settles its entry unless the call goes on without us."""
        payload: Payload = {"isError": True, "code": str(Code.ABORTED)}
        try:
            payload = await self._endpoint(call)
        finally:
            assert call.entry is not None
            if call.entry.call is None:
                # It was refused, or waits for other calls and has no result of its own.
                call.settled(payload)
        return payload

    async def call(
        self, name: str, arguments: Any = None, signal: AbortSignal | None = None
    ) -> str:
        """Run a tool and answer the JSON text of its envelope."""
        # A change of the settings holds for the calls that start after it.
        mode = self.settings.envelope
        answer = await self.answer(name, arguments, signal, door="webmcp")
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
