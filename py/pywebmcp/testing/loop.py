"""An event loop on virtual time, so that a test of a 20-second wait takes none and a stuck one fails."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SETTLING = 100
"""Turns of the loop that tasks get to end after the main coroutine: time stands still in them."""


class Deadlock(RuntimeError):  # noqa: N818
    """Nothing is ready and no timer is set: what the tasks wait for can never come."""


class Unfinished(AssertionError):  # noqa: N818
    """A task was left behind, or an exception reached nobody."""


class _Advance:
    """Stands in for the selector of a loop: where that would wait, the clock is set forward."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = weakref.ref(loop)

    def select(self, timeout: float | None) -> list[Any]:
        loop = self._loop()
        if loop is not None and timeout != 0:
            loop.advance()
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without selector, sockets or threads, whose clock is the timers themselves.

    ``time()`` starts at 0 and stands still while anything is ready; then it jumps to the next
    timer. Runs in CPython and inside Pyodide, there without stack switching too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        # The name under which BaseEventLoop looks for what it waits on.
        self._selector = _Advance(self)
        self._made: weakref.WeakSet[asyncio.Future[Any]] = weakref.WeakSet()

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now

    def advance(self) -> None:
        """Set the clock to the next timer. Raises ``Deadlock`` when there is none."""
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if not timers:
            raise Deadlock(_deadlock(asyncio.all_tasks(self)))
        self._now = max(self._now, timers[0].when())

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """As every loop does; the task is remembered, so that its failure cannot go unseen."""
        task = super().create_task(coro, **options)
        self._made.add(task)
        return task

    def create_future(self) -> asyncio.Future[Any]:
        """As every loop does; remembered like a task."""
        future = super().create_future()
        self._made.add(future)
        return future

    def unseen(self) -> list[BaseException]:
        """The exceptions of tasks and futures that nobody has asked for."""
        found = []
        for future in list(self._made):
            if getattr(future, "_log_traceback", False):
                error = future.exception()
                if error is not None:
                    found.append(error)
        return found

    def run_forever(self) -> None:
        """Run until ``stop``."""
        with _alone():
            super().run_forever()

    def run_until_complete(self, future: Generator[Any, None, T] | Awaitable[T]) -> T:
        """Run until the future is done and answer its result; raises ``Deadlock`` if it never is."""
        with _alone():
            return super().run_until_complete(future)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """There are no threads: their time is not virtual."""
        raise RuntimeError("a VirtualLoop has no threads")

    def _process_events(self, events: list[Any]) -> None:
        """There are none: the hook that BaseEventLoop asks its subclasses for."""

    def _write_to_self(self) -> None:
        """Nothing sleeps that would have to be woken: the other hook."""


def _is_pages(loop: asyncio.AbstractEventLoop) -> bool:
    return sys.platform == "emscripten" and not isinstance(loop, VirtualLoop)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Inside Pyodide, step out of the page's own loop, which counts as running all the time."""
    outer = asyncio._get_running_loop()
    if outer is None or not _is_pages(outer):
        yield
        return
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a fresh ``VirtualLoop`` and answer its result.

    Raises what the coroutine raises, ``Deadlock`` when it can never end, and ``Unfinished``
    when it ends but leaves a task behind or an exception that nobody has seen.

    >>> async def nap() -> float:
    ...     await asyncio.sleep(3600)
    ...     return asyncio.get_running_loop().time()
    >>> run(nap())
    3600.0
    """
    outer = asyncio._get_running_loop()
    if outer is not None and not _is_pages(outer):
        main.close()
        raise RuntimeError("an event loop is running already: await the coroutine there")
    loop = VirtualLoop()
    unseen: list[str] = []
    causes: list[BaseException] = []

    def swallowed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        unseen.append(f"{context['message']}: {context.get('exception')!r}")
        if "exception" in context:
            causes.append(context["exception"])

    loop.set_exception_handler(swallowed)
    try:
        result = loop.run_until_complete(main)
        loop.run_until_complete(_settle())
        left = sorted(map(_where, asyncio.all_tasks(loop)))
    finally:
        _end(loop)
    for error in loop.unseen():
        unseen.append(f"exception was never retrieved: {error!r}")
        causes.append(error)
    if left:
        raise Unfinished("tasks left behind: " + "; ".join(left))
    if unseen:
        raise Unfinished("; ".join(unseen)) from (causes[0] if causes else None)
    return result


async def _settle() -> None:
    """Let what is ready end, cancelled tasks above all, without any time passing."""
    for _ in range(SETTLING):
        if len(asyncio.all_tasks()) == 1:
            return
        await asyncio.sleep(0)


def _end(loop: VirtualLoop) -> None:
    """Cancel what still runs and close the loop; what goes wrong here is of no interest."""
    try:
        for _ in range(SETTLING):
            tasks = asyncio.all_tasks(loop)
            if not tasks:
                break
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks, timeout=0))
            for task in tasks:
                if task.done() and not task.cancelled():
                    task.exception()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _deadlock(tasks: set[asyncio.Task[Any]]) -> str:
    waiting = "; ".join(sorted(map(_where, tasks))) or "nothing but a future"
    return f"nothing is ready, no timer is set, and there wait: {waiting}"


def _where(task: asyncio.Task[Any]) -> str:
    """The name of a task and the innermost line that it waits in."""
    awaited: Any = task.get_coro()
    place = getattr(awaited, "__qualname__", repr(awaited))
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            place = f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return f"{task.get_name()} in {place}"
