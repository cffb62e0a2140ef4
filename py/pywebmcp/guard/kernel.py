"""A kernel as an agent may use it: its notebook's level decides whether it runs code there."""

from __future__ import annotations

from collections.abc import Callable

import pywebmcp.frontend
from pywebmcp.frontend import QUIET, CellRun, Kernel, KernelState, Prompt, RunEvents
from pywebmcp.guard.observer import Observer


class GuardedKernel(pywebmcp.frontend.Kernel):
    """``require`` raises when no code may be run; ``hides`` says, for a kernel's id, whether a
    notebook on it has something to hide.
    """

    def __init__(
        self,
        kernel: Kernel,
        require: Callable[[], None],
        hides: Callable[[str], bool],
        observer: Observer,
    ) -> None:
        self._inner = kernel
        self._require = require
        self._hides = hides
        self._observer = observer

    def generation(self) -> int:
        """Grows with every restart."""
        return self._inner.generation()

    async def idle(self) -> None:
        """Return when nothing runs in the kernel."""
        await self._inner.idle()

    async def execute(
        self, code: str, *, stop_on_error: bool = True, events: RunEvents = QUIET
    ) -> CellRun:
        """Run code outside any cell."""
        self._require()
        self._observer.used(self._inner.state()["id"])
        return await self._inner.execute(code, stop_on_error=stop_on_error, events=events)

    def state(self) -> KernelState:
        """Its state; what it asks the person for is not told where a hidden cell may ask it."""
        return discreet(self._inner.state(), self._hides)

    async def interrupt(self) -> None:
        """Interrupt what runs."""
        self._require()
        await self._inner.interrupt()

    async def restart(self) -> None:
        """Restart without a dialog."""
        self._require()
        await self._inner.restart()


def discreet(state: KernelState, hides: Callable[[str], bool]) -> KernelState:
    """A kernel's state without the words of its prompt, where a hidden cell may have said them."""
    asked = state.get("input")
    if asked is None or not hides(state["id"]):
        return state
    return KernelState(**{**state, "input": Prompt(prompt="", password=asked["password"])})
