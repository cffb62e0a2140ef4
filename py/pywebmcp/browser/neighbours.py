"""Other pages of the site that use the same task store: which of them live, and whose work is lost.

A page holds a Web Lock named after its task service for as long as it lives; the browser releases it
when the page goes away, however that happens.
"""

from __future__ import annotations

import asyncio
import logging

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Js
from pywebmcp.tasks import TaskError, TaskService

log = logging.getLogger("pywebmcp")

PREFIX = "pywebmcp-tasks:"

FRESH = 2.0
"""Seconds for which one look at the others holds."""


class Neighbours:
    """What this page's tasks have to know of other pages'."""

    def __init__(self, tasks: TaskService) -> None:
        self._tasks = tasks
        self._looked = float("-inf")
        self._locks: Js | None = ffi.given(getattr(ffi.window.navigator, "locks", None))

    async def arrive(self) -> None:
        """Be known to live; before any task of this page is kept, so that none is taken for lost."""
        if self._locks is None:
            log.warning(
                "This page is not secure (https or localhost): tasks that ran in a page which is "
                "gone stay working."
            )
            return
        await ffi.bridge().hold(self._locks, PREFIX + self._tasks.owner)

    async def look(self) -> None:
        """Fail the tasks whose page is gone."""
        now = asyncio.get_running_loop().time()
        if self._locks is None or now - self._looked < FRESH:
            return
        self._looked = now
        try:
            lost = await self._tasks.recover(self._alive)
        except TaskError as error:
            log.warning("the tasks of other pages cannot be looked at: %s", error)
            return
        if lost:
            log.info("%d tasks ran in pages that are gone", lost)

    async def _alive(self, owner: str) -> bool:
        # Asked anew for each record: a page that has one had its lock before.
        state = ffi.data(await ffi.window.navigator.locks.query())
        return any(lock["name"] == PREFIX + owner for lock in state["held"])
