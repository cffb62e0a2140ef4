"""The settings of the Settings Editor and ``overrides.json``, also while the page is open."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pywebmcp.browser import ffi
from pywebmcp.browser.ffi import Connections, Js
from pywebmcp.settings import Settings

log = logging.getLogger("pywebmcp")

PLUGIN = "pywebmcp:plugin"


async def follow(registry: Js | None, apply: Callable[[Settings], None]) -> None:
    """Call ``apply`` with the settings as they are, and again after every change.

    Without a settings registry, or when it fails, the defaults stay.
    """
    if registry is None:
        return
    try:
        settings = await registry.load(PLUGIN)
    except ffi.JsException as error:
        log.warning("the settings cannot be read, the defaults hold: %s", ffi.reason(error))
        return

    def changed() -> None:
        apply(Settings.from_mapping(ffi.data(settings.composite) or {}))

    Connections().connect(settings.changed, changed)
    changed()
