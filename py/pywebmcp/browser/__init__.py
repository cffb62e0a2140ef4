"""The one room with a page: JupyterLab's objects and WebMCP behind the package's Protocols.

Nothing here is imported by CPython's tests but what is free of `js`; so the import happens on
activation.
"""

from __future__ import annotations

from typing import Any

__all__ = ["activate"]


async def activate(app: Any, tokens: Any, modules: Any) -> None:
    """Build the tool server on a running JupyterLab and register its tools; the loader calls this.

    ``app`` is the ``JupyterFrontEnd``, ``tokens`` its services by the loader's names (null where an
    app has none) with ``status`` and ``signal``, ``modules`` JupyterLab's modules by their last
    names with ``bridge``.
    """
    from pywebmcp.browser.activation import start

    await start(app, tokens, modules)
