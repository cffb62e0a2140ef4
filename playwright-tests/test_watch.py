"""The guards of the other tests notice what they are there for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lab import Watch
from playwright.sync_api import Browser, BrowserContext, Page

# No name is needed for it, and nothing is there: an address for documentation (RFC 5737).
AWAY = "//192.0.2.1:9/away"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A context that no guard looks at yet."""
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def watched(context: BrowserContext, site: str) -> tuple[Page, Watch]:
    watch = Watch(context, site)
    page = context.new_page()
    page.goto(f"{site}files/README.md")
    watch.check()
    return page, watch


@pytest.mark.parametrize(
    "request_",
    [
        f"fetch('http:{AWAY}').catch(() => null)",
        f"(new Image().src = 'http:{AWAY}', null)",
        f"(navigator.sendBeacon('http:{AWAY}'), null)",
        f"(new WebSocket('ws:{AWAY}'), null)",
        f"(new EventSource('http:{AWAY}'), null)",
        f"(new Worker(URL.createObjectURL(new Blob(['fetch(`http:{AWAY}`)']))), null)",
        f"(open('http:{AWAY}'), null)",
    ],
    ids=["fetch", "image", "beacon", "websocket", "event source", "worker", "window"],
)
def test_a_request_that_leaves_the_machine_fails_the_test(
    watched: tuple[Page, Watch], request_: str
) -> None:
    page, watch = watched
    page.evaluate(request_)
    seen(page, watch.left)
    assert AWAY in watch.left[0]
    with pytest.raises(AssertionError):
        watch.check()


@pytest.mark.parametrize(
    "fault",
    [
        "console.error('a fault')",
        "console.warn('[pywebmcp] a fault')",
        "void setTimeout(() => { throw new Error('a fault'); })",
        "void Promise.reject(new Error('a fault'))",
    ],
    ids=["error", "warning", "exception", "rejection"],
)
def test_a_fault_in_the_console_fails_the_test(watched: tuple[Page, Watch], fault: str) -> None:
    page, watch = watched
    page.evaluate(f"() => {{ {fault}; }}")
    seen(page, watch.errors)
    assert "a fault" in watch.errors[0]
    with pytest.raises(AssertionError):
        watch.check()


def seen(page: Page, events: list[str]) -> None:
    """Let the page go on until the guard has noted something; one that does not fails the test."""
    for _ in range(300):
        if events:
            return
        page.evaluate("new Promise(requestAnimationFrame).then(() => null)")
    pytest.fail("the guard saw nothing")
