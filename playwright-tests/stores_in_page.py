"""The page's side of the store tests: those of CPython, on the IndexedDB store and the page's own loop.

Time is a test's there: it goes to the next timer when nothing is on its way to the store.
"""

from __future__ import annotations

import asyncio
import heapq
import importlib
import inspect
import itertools
import json
import sys
import traceback
from types import ModuleType, SimpleNamespace
from typing import Any

from pywebmcp.browser.store import IndexedDBTaskStore

QUIET = 4
"""Turns of the page in which nothing happens, before time goes on."""


class Clock:
    """Time that goes on when everything waits for it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.busy = 0
        self._timers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def time(self) -> float:
        return self.now

    async def sleep(self, delay: float, result: Any = None) -> Any:
        if delay <= 0:
            return await asyncio.sleep(0, result)
        timer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._timers, (self.now + delay, next(self._numbers), timer))
        await timer
        return result

    async def drive(self) -> None:
        while True:
            quiet = 0
            while quiet < QUIET:
                await asyncio.sleep(0.001)
                quiet = 0 if self.busy else quiet + 1
            while self._timers:
                when, _, timer = heapq.heappop(self._timers)
                if not timer.done():
                    self.now = max(self.now, when)
                    timer.set_result(None)
                    break


clock = Clock()


class Store(IndexedDBTaskStore):
    """Tells the clock when something is on its way."""

    async def _do(self, body: Any) -> Any:
        clock.busy += 1
        try:
            return await super()._do(body)
        finally:
            clock.busy -= 1


class Asyncio(ModuleType):
    """asyncio with the test's time."""

    sleep = staticmethod(lambda delay, result=None: clock.sleep(delay, result))
    get_running_loop = staticmethod(lambda: clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)


class Raises:
    """``pytest.raises``."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self.value: Any = None

    def __enter__(self) -> Raises:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        assert isinstance(error, self._kind), f"{error!r} is no {self._kind}"
        self.value = error
        return True


def parametrize(name: str, values: Any) -> Any:
    def mark(function: Any) -> Any:
        function.cases = [{name: value} for value in values]
        return function

    return mark


def load() -> Any:
    """The module of the tests, with what it needs of pytest."""
    sys.modules["pytest"] = SimpleNamespace(  # type: ignore[assignment]
        fixture=lambda **_: lambda function: function,
        mark=SimpleNamespace(parametrize=parametrize),
        raises=Raises,
        FixtureRequest=None,
    )
    try:
        tests = importlib.import_module("test_stores")
        for module in (tests, sys.modules["office"]):
            module.asyncio = Asyncio("asyncio")  # type: ignore[attr-defined]
    finally:
        del sys.modules["pytest"]
    return tests


async def run() -> str:
    """Run every test that takes a store; the names, each with its traceback or null, as JSON."""
    outcomes = {}
    driving = asyncio.ensure_future(clock.drive())
    tests = load()
    for name, function in vars(tests).items():
        if not name.startswith("test_") or "made" not in inspect.signature(function).parameters:
            continue
        for number, case in enumerate(getattr(function, "cases", [{}])):
            database = f"{name} {number}"
            try:
                made = lambda: Store(tests.clock, database)  # noqa: B023, E731
                await function(made=made, **case)
                outcomes[database] = None
            except Exception:
                outcomes[database] = traceback.format_exc()
    driving.cancel()
    return json.dumps(outcomes)
