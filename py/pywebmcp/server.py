"""The one door behind every other: a tool's name and arguments in, a bounded result out."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pywebmcp import envelope, jsontext
from pywebmcp.bounding import bound_text
from pywebmcp.calls import Calls
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend
from pywebmcp.middleware import build, handle
from pywebmcp.middleware.failures import unexpected
from pywebmcp.settings import Settings
from pywebmcp.tools import Call, Tool
from pywebmcp.types import AbortSignal, NeverAborted, Payload

log = logging.getLogger("pywebmcp")


@dataclass(frozen=True, slots=True)
class Answer:
    """A result before it is put into an envelope: the payload and its JSON text."""

    payload: Payload
    text: str

    @property
    def is_error(self) -> bool:
        """Whether the call failed."""
        return self.payload.get("isError") is True


class ToolServer:
    """Runs tools against a front end; never raises for what a caller does.

    ``settings`` may be replaced at any time and holds for the calls that start after that.
    """

    def __init__(
        self,
        frontend: Frontend,
        tools: Iterable[Tool],
        *,
        settings: Settings | None = None,
        new_id: Callable[[], str] | None = None,
        now: Callable[[], float] | None = None,
    ) -> None:
        self.frontend = frontend
        self.settings = settings or Settings()
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._new_id = new_id or _new_id
        self._endpoint = build(handle)
        self.calls = Calls(now or _loop_time, frontend.dialogs)
        frontend.watch_dialogs(self.calls.dialog_opened, self.calls.dialog_closed)

    async def answer(
        self, name: str, arguments: Any = None, signal: AbortSignal | None = None
    ) -> Answer:
        """Run a tool; the answer fits into ``settings.max_result_length``."""
        settings = self.settings
        try:
            tool = self.tools.get(name)
            if tool is None:
                payload = ToolError(
                    Code.INVALID_ARGUMENT,
                    f'There is no tool "{name}". The tools are {", ".join(self.tools)}.',
                ).payload()
            else:
                payload = await self._endpoint(
                    Call(
                        tool,
                        arguments,
                        self.frontend,
                        settings,
                        self._new_id,
                        self.calls,
                        signal or NeverAborted(),
                        self.tools,
                    )
                )
            return self._bounded(payload, settings)
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
        return envelope.encode(answer.text, answer.is_error, mode=mode)

    def _bounded(self, payload: Payload, settings: Settings) -> Answer:
        return Answer(*bound_text(payload, settings.max_result_length))


def _loop_time() -> float:
    """Seconds of the running event loop's clock."""
    return asyncio.get_running_loop().time()


def _new_id() -> str:
    """A cell id as nbformat recommends: the first 8 hex digits of a random UUID."""
    return uuid.uuid4().hex[:8]
