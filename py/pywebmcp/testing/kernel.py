"""A kernel in memory: a first-in, first-out queue in front of Python that really runs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import QUIET, CellRun, Kernel, KernelState, Prompt, RunEvents
from pywebmcp.testing import execution
from pywebmcp.testing.cells import MemoryCell
from pywebmcp.testing.notebooks import crossed

Status = Literal["ok", "error", "restarted", "died", "cancelled"]


@dataclass(frozen=True, slots=True)
class Reply:
    """How a request ended; ``cancelled`` is one that an earlier error threw out of the queue."""

    status: Status
    execution_count: int | None = None
    error: dict[str, Any] | None = None


@dataclass(slots=True, eq=False)
class Request:
    """Code in the queue; ``done`` always gets a result, never an exception."""

    code: str
    emit: execution.Emit
    done: asyncio.Future[Reply]
    store_history: bool = True
    stop_on_error: bool = True
    replied: Callable[[Reply], None] = field(default=lambda _: None)
    events: RunEvents = QUIET

    def settle(self, reply: Reply) -> None:
        """End the request, once."""
        if not self.done.done():
            self.done.set_result(reply)
            self.replied(reply)


class MemoryKernel(Kernel):
    """A kernel whose Python runs in this very process.

    ``start_after`` and ``restart_after`` are seconds of the loop's clock until it can run code.
    Like Pyodide's kernel it cannot be interrupted, unless ``can_interrupt``. Set ``comes_back`` to
    False for a kernel that a restart does not bring back.
    """

    def __init__(
        self,
        kernel_id: str,
        name: str = "python",
        *,
        can_interrupt: bool = False,
        start_after: float = 0.0,
        restart_after: float = 0.0,
    ) -> None:
        self.id = kernel_id
        self.name = name
        self.can_interrupt = can_interrupt
        self.restart_after = restart_after
        self.comes_back = True
        self.variables = execution.namespace()
        self.execution_count = 0
        self.status = "idle"
        self._generation = 0
        self._queue: deque[Request] = deque()
        self._running: Request | None = None
        self._worker: asyncio.Task[None] | None = None
        self._interrupted = False
        self._prompt: Prompt | None = None
        self._answer: asyncio.Future[str] | None = None
        self._waiting: list[asyncio.Future[None]] = []
        if start_after > 0:
            self.status = "starting"
            asyncio.get_running_loop().call_later(start_after, self._started)

    def state(self) -> KernelState:
        """Id, name, status, whether it can be interrupted, the prompt it waits for."""
        state = KernelState(
            id=self.id, name=self.name, status=self.status, canInterrupt=self.can_interrupt
        )
        if self._prompt is not None:
            state["input"] = Prompt(**self._prompt)
        return state

    def generation(self) -> int:
        """Grows with every restart."""
        return self._generation

    async def idle(self) -> None:
        """Return when nothing runs and nothing is queued."""
        while self.status == "busy" or self._queue:
            await self._change()

    async def execute(
        self,
        code: str,
        *,
        stop_on_error: bool = True,
        events: RunEvents = QUIET,
    ) -> CellRun:
        """Run code outside any cell, not in the history."""
        await self.ready()
        shown = MemoryCell("", "code", code)

        events.outputs(lambda: list(crossed(shown.outputs)))
        reply = await asyncio.shield(
            self.submit(
                code,
                shown.add_output,
                store_history=False,
                stop_on_error=stop_on_error,
                events=events,
            ).done
        )
        return CellRun(reply.status, None, crossed(shown.outputs), crossed(reply.error))

    async def ready(self) -> None:
        """Return once it can take code. Raises ``ToolError`` KERNEL_UNAVAILABLE when it is dead."""
        while self.status in ("starting", "restarting"):
            await self._change()
        if self.status == "dead":
            raise ToolError(Code.KERNEL_UNAVAILABLE, "The kernel is dead; restart it.")

    async def _change(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def submit(
        self,
        code: str,
        emit: execution.Emit,
        *,
        store_history: bool = True,
        stop_on_error: bool = True,
        replied: Callable[[Reply], None] = lambda _: None,
        events: RunEvents = QUIET,
    ) -> Request:
        """Queue code; ``emit`` gets its outputs and ``replied`` its end, in the same turn."""
        done = asyncio.get_running_loop().create_future()
        request = Request(code, emit, done, store_history, stop_on_error, replied, events)
        if self.status == "dead":
            request.settle(Reply("died"))
        else:
            self._queue.append(request)
            self._wake()
        return request

    async def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running cell, where that is possible.

        Where it is not, what is queued is dropped all the same and what runs goes on.
        """
        if not self.can_interrupt:
            self._drop(Reply("cancelled"))
        elif self._running is not None and self._worker is not None:
            self._interrupted = True
            self._worker.cancel()

    async def restart(self) -> None:
        """Lose the variables, end what runs and what is queued; return when it is usable."""
        self._generation += 1
        if not self.comes_back:
            self.die()
            raise ToolError(Code.KERNEL_UNAVAILABLE, "The kernel does not come back.")
        self._stop(Reply("restarted"))
        self.variables = execution.namespace()
        self.execution_count = 0
        self.status = "restarting"
        if self.restart_after > 0:
            asyncio.get_running_loop().call_later(self.restart_after, self._started)
        else:
            self._started()
        await self.ready()

    def die(self) -> None:
        """The kernel's process ends; a restart brings it back."""
        self._stop(Reply("died"))
        self.status = "dead"
        self._release()

    def answer(self, text: str) -> None:
        """What the person types at the prompt."""
        if self._answer is None or self._answer.done():
            raise AssertionError("the kernel asks nothing")
        self._answer.set_result(text)

    def _started(self) -> None:
        if self.status in ("starting", "restarting"):
            self.status = "idle"
            self._release()
            self._wake()

    def _release(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    def _wake(self) -> None:
        if self._worker is None and self._queue and self.status == "idle":
            self._worker = asyncio.get_running_loop().create_task(
                self._work(), name=f"kernel {self.id}"
            )

    def _stop(self, reply: Reply) -> None:
        worker, self._worker = self._worker, None
        running, self._running = self._running, None
        self._prompt = None
        if running is not None:
            running.settle(reply)
        self._drop(reply)
        if worker is not None:
            worker.cancel()

    def _drop(self, reply: Reply) -> None:
        while self._queue:
            self._queue.popleft().settle(reply)

    async def _work(self) -> None:
        me = asyncio.current_task()
        while self._queue and self._worker is me:
            request = self._running = self._queue.popleft()
            self.status = "busy"
            self._interrupted = False
            request.events.started()
            reply = await self._execute(request)
            if self._worker is not me:
                return
            self._running = None
            request.settle(reply)
            if reply.status == "error" and request.stop_on_error:
                # One error reply throws out all that is queued, whoever queued it.
                self._drop(Reply("cancelled"))
        if self._worker is me:
            self._worker = None
            self.status = "idle"
            self._release()

    async def _execute(self, request: Request) -> Reply:
        if request.store_history:
            self.execution_count += 1
        count = self.execution_count

        def emit(output: dict[str, Any]) -> None:
            if not request.done.done():
                request.emit(output)

        async def ask(prompt: str, password: bool) -> str:
            return await self._ask(request, prompt, password, emit)

        error = await execution.execute(
            request.code, self.variables, count, emit, ask, self._thrown
        )
        counted = count if request.store_history else None
        if error is None:
            return Reply("ok", counted)
        emit({"output_type": "error", **error.content()})
        return Reply("error", counted, error.content())

    def _thrown(self, error: BaseException) -> BaseException:
        if self._interrupted and isinstance(error, asyncio.CancelledError):
            self._interrupted = False
            return KeyboardInterrupt()
        return error

    async def _ask(
        self, request: Request, prompt: str, password: bool, emit: execution.Emit
    ) -> str:
        self._prompt = Prompt(prompt=prompt, password=password)
        request.events.asked(Prompt(**self._prompt))
        self._answer = asyncio.get_running_loop().create_future()
        try:
            answer = await self._answer
        finally:
            self._prompt = self._answer = None
            request.events.asked(None)
        shown = "·" * len(answer) if password else answer
        # JupyterLab keeps the exchange as a stream of its own name.
        emit({"output_type": "stream", "name": "stdin", "text": f"{prompt} {shown}\n"})
        return answer
