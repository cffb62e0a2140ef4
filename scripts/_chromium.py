"""Chromium with WebMCP on, opened for a page on this machine and closed with it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from _setup import ensure_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Nothing of a demo or a test needs the network, and Chromium's own background traffic would only
# wait for answers that do not come on a closed one.
QUIET = (
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
WEBMCP = "WebMCP"
# Chromium's sampling heap profiler, which runs in some processes by chance, walks past the end of a
# WebAssembly stack (JavaScript Promise Integration, which Pyodide uses) and ends the renderer:
# certain to happen within a few pages at a sampling rate of 4 KiB, seen once in some hundred pages without.
# Turned off by its parameters, since --disable-features would undo Playwright's own list.
NO_HEAP_SAMPLES = "HeapProfilerReporting:stable-probability/0/nonstable-probability/0"


def arguments(*, webmcp: bool = True) -> list[str]:
    """Chromium's command line: quiet, WebMCP on or off, without a sandbox only for root."""
    features = [NO_HEAP_SAMPLES, *([WEBMCP] if webmcp else [])]
    chosen = [*QUIET, f"--enable-features={','.join(features)}"]
    # Chromium refuses to start its sandbox as root, which is what containers run as.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--no-sandbox")
    return chosen


def has_display() -> bool:
    """Whether a window can be shown."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True


@contextlib.contextmanager
def chromium(
    *, headless: bool = True, webmcp: bool = True, extra: Sequence[str] = ()
) -> Iterator[Browser]:
    """A running Chromium (Playwright's sync API), closed at the end of the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(ensure_chromium()),
            headless=headless,
            args=[*arguments(webmcp=webmcp), *extra],
        )
        try:
            yield browser
        except KeyboardInterrupt:
            # The same Ctrl-C ends Playwright's driver; that it is gone is no news to anybody.
            logging.getLogger("asyncio").disabled = True
            with contextlib.suppress(Exception):
                browser.close()
            raise
        finally:
            with contextlib.suppress(Exception):
                browser.close()
