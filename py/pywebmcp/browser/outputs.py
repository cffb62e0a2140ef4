"""An output area that is not on the page: merges the outputs of code that has no cell."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp.browser import dialogs, ffi
from pywebmcp.browser.ffi import Js, Spec

_OUTPUTS = Spec("toJSON()")
_REQUEST = Spec({"prompt": "content.prompt", "password": "content.password"})


class Area:
    """The outputs of one request; without JupyterLab's own area only what runs is known."""

    def __init__(self, future: Js, rendermime: Js | None) -> None:
        self._area: Js | None = None
        self._model: Js | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._future = future
        module = ffi.module("outputarea")
        if module is not None and rendermime is not None:
            self._model = module.OutputAreaModel.new()
            options = ffi.struct(model=self._model, rendermime=rendermime)
            self._area = module.OutputArea.new(options)
            self._area.future = future
        # After the area has set its own: nobody would see its input box.
        self._ask = ffi.create_proxy(self._asked)
        future.onStdin = self._ask

    def read(self) -> list[dict[str, Any]]:
        """The nbformat outputs so far."""
        return [] if self._model is None else _OUTPUTS.read(self._model) or []

    def close(self) -> None:
        """The request is over."""
        for task in self._tasks:
            task.cancel()
        if not self._future.isDisposed:
            self._future.onStdin = ffi.bridge().nothing
        if self._area is not None:
            self._area.dispose()
        self._ask.destroy()

    def _asked(self, message: Js) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Js) -> None:
        request = _REQUEST.read(message)
        value = await dialogs.ask_person(str(request["prompt"] or ""), request["password"] is True)
        reply = ffi.parsed({"status": "ok", "value": value})
        self._future.sendInputReply(reply, message.header)
