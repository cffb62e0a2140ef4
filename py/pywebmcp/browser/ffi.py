"""The rules of crossing between Python and the page, in the one module that imports `js`.

Values cross as JSON text, once: attribute by attribute a notebook of 1,000 cells takes seven times
as long, and `null`, `undefined`, lone surrogates and dicts each have a trap of their own. JavaScript
objects stay on their side; Python holds proxies (`Js`) and says with a `Spec` what it wants to know.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import js  # noqa: TID251
from pyodide.ffi import (  # noqa: TID251
    JsException,
    create_once_callable,
    create_proxy,
    jsnull,
    to_js,
)

from pywebmcp import jsontext
from pywebmcp.errors import Code, ToolError

Js = Any
"""A JavaScript object (``pyodide.ffi.JsProxy``)."""

SpecParts = str | Mapping[str, Any]

document = js.document
window = js.window
null = jsnull

_modules: Js = None
_bridge: Js = None


def use_modules(modules: Js) -> None:
    """Take the loader's modules; everything that reads from the page needs its ``bridge.mjs``."""
    global _modules, _bridge
    _modules, _bridge = modules, modules.bridge


def bridge() -> Js:
    """The loader's ``bridge.mjs``."""
    return _bridge


def dom() -> Js:
    """The loader's ``dom.mjs``."""
    return _modules.dom


def module(name: str) -> Js | None:
    """A module that the page shares, by its last name; None where it does not."""
    return given(getattr(_modules, name, None))


class Spec:
    """What to read of a JavaScript object in one crossing; a constant of its module.

    A path ``"a.b().c(0,9)"`` of attributes and calls, with numbers if any (``""`` is the object
    itself), a dict of specs, or ``{"$of": path, "$each": spec}`` for the items of a list. What is missing, or
    raises when it is read, is None.
    """

    def __init__(self, parts: SpecParts) -> None:
        self.text = json.dumps(parts)

    @cached_property
    def _reader(self) -> Js:
        # Kept: looking up a function and handing over the text cost more than the reading.
        return _bridge.reader(self.text)

    def read(self, root: Js) -> Any:
        """The parts as Python data."""
        return _loads(self._reader(root))

    def read_items(self, root: Js, start: int, stop: int) -> Any:
        """The same with only the items ``start <= index < stop`` of its lists."""
        return _loads(self._reader(root, start, stop))


def _loads(text: str | Js) -> Any:
    try:
        return jsontext.loads(_crossed(text))
    except ValueError as error:
        raise ToolError(
            Code.NOTEBOOK_READ_FAILED, f"What is open in the page cannot be read: {error}."
        ) from None


def _crossed(text: str | Js) -> str | bytes:
    """A JSON text from the bridge, which sends long ones as UTF-8."""
    return text if isinstance(text, str) else bytes(text.to_bytes())


def given(value: Js) -> Js | None:
    """The value, or None for what JavaScript calls null or undefined."""
    return None if value is None or value is jsnull else value


def data(value: Js) -> Any:
    """A JavaScript value as Python data; None for what JSON does not know."""
    text = given(_bridge.json(value))
    return None if text is None else jsontext.loads(_crossed(text))


def parsed(value: Any) -> Js:
    """Python data as plain JavaScript objects; lone surrogates and None stay what they are."""
    return js.JSON.parse(json.dumps(value))


def struct(**parts: Any) -> Js:
    """A plain JavaScript object of scalars and JavaScript objects."""
    return to_js(parts, dict_converter=js.Object.fromEntries)


def string(text: str) -> Js:
    """A string for JavaScript; a lone surrogate would not cross by itself."""
    return text if text.isascii() else js.JSON.parse(json.dumps(text))


def reason(error: BaseException) -> str:
    """The message of an exception, of JavaScript or Python, on one line, to end in a sentence."""
    message = " ".join(str(error).split()).removeprefix("Error: ").rstrip(".")
    return message or type(error).__name__


def call_once(function: Callable[[], None]) -> Js:
    """A JavaScript function that is called once, within the call it is handed to."""
    return create_once_callable(lambda *_: function())


async def within(seconds: float, promise: Js) -> Any:
    """What a promise gives; TimeoutError when it takes longer."""
    return await asyncio.wait_for(asyncio.ensure_future(promise), seconds)


def watch_quietly(promise: Js) -> asyncio.Future[Any]:
    """A future of a promise whose failure need not interest anybody."""
    future: asyncio.Future[Any] = asyncio.ensure_future(promise)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future


class Connections:
    """The Lumino signals that one owner listens to; ends them, and their proxies, in one place."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def connect(self, signal: Js, slot: Callable[[], None]) -> None:
        """Call a slot at every emission of a signal."""
        proxy = create_proxy(lambda *_: slot())
        signal.connect(proxy)
        self._undo += [proxy.destroy, lambda: signal.disconnect(proxy)]

    def connect_with(self, signal: Js, slot: Callable[[Js], None]) -> None:
        """Call a slot with what each emission of a signal carries."""
        proxy = create_proxy(lambda _, carried: slot(carried))
        signal.connect(proxy)
        self._undo += [proxy.destroy, lambda: signal.disconnect(proxy)]

    def listen(
        self,
        signal: Js,
        spec: Spec,
        slot: Callable[[dict[str, Any]], None],
        *,
        when: Mapping[str, list[Any]],
    ) -> None:
        """Call a slot with what the spec picks of ``{sender, args}``.

        Only for the emissions in which each path of ``when`` has one of its values: the others do
        not enter Python.
        """
        proxy = create_proxy(lambda text: slot(jsontext.loads(text)))
        stop = _bridge.listen(signal, spec.text, json.dumps(when), proxy)
        self._undo += [proxy.destroy, stop]

    def close(self) -> None:
        """Disconnect from everything."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def emissions(*signals: Js) -> Iterator[asyncio.Event]:
    """An event that is set by each emission of any of these signals; whoever waits clears it."""
    event = asyncio.Event()
    connections = Connections()
    try:
        for signal in signals:
            connections.connect(signal, event.set)
        yield event
    finally:
        connections.close()


@contextmanager
def borrowed(function: Callable[..., Any]) -> Iterator[Js]:
    """A function for JavaScript to call while the block runs, and not after."""
    proxy = create_proxy(function)
    try:
        yield proxy
    finally:
        proxy.destroy()


class Signal:
    """A DOM ``AbortSignal`` as the tools know it (`pywebmcp.types.AbortSignal`)."""

    def __init__(self, signal: Js | None) -> None:
        self._signal = given(signal)
        self._undo: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether the caller gave up."""
        return self._signal is not None and bool(self._signal.aborted)

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once when the caller gives up; answers the way to undo that."""
        if self._signal is None:
            return lambda: None
        signal, proxy = self._signal, create_proxy(lambda *_: callback())
        signal.addEventListener("abort", proxy, struct(once=True))

        def undo() -> None:
            if undo in self._undo:
                self._undo.remove(undo)
                signal.removeEventListener("abort", proxy)
                proxy.destroy()

        self._undo.append(undo)
        return undo

    def close(self) -> None:
        """Forget every callback: the call is over."""
        for undo in list(self._undo):
            undo()


__all__ = [
    "Connections",
    "Js",
    "JsException",
    "Signal",
    "Spec",
    "borrowed",
    "bridge",
    "call_once",
    "create_proxy",
    "data",
    "document",
    "dom",
    "emissions",
    "given",
    "module",
    "null",
    "parsed",
    "reason",
    "string",
    "struct",
    "use_modules",
    "watch_quietly",
    "window",
    "within",
]
