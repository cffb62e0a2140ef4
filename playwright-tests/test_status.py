"""What the page says of itself where WebMCP is missing, forbidden or taken; JupyterLab works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import _chromium
import _server
import pytest
from lab import Lab, Watch
from playwright.sync_api import Browser

_TITLE = "document.querySelector('.jp-StatusBar-TextItem[role=status]').title"
_TOOLS = "async () => (await document.modelContext.getTools()).map((tool) => tool.name)"
_TAKE_A_NAME = """document.modelContext.registerTool({
    name: "jupyter_get_context", description: "Another extension's", execute: () => null })"""
_OPEN = """async () => {
    const widget = await pywebmcp.app.commands.execute("notebook:create-new", {});
    await widget.context.ready;
    widget.content.model.sharedModel.getCell(0).setSource("works");
    return widget.content.model.sharedModel.getCell(0).getSource();
}"""


class Forbidding(_server.SiteHandler):
    """Serves the site with a header that forbids tools."""

    def end_headers(self) -> None:
        self.send_header("Permissions-Policy", "tools=()")
        super().end_headers()


@pytest.fixture
def forbidding(pytestconfig: pytest.Config) -> Iterator[str]:
    folder = Path(__file__).resolve().parent.parent / "build" / "site"
    if pytestconfig.getoption("base_url"):
        pytest.skip("headers of a site that is served elsewhere are not ours")
    with _server.SiteServer(folder) as server:
        server.RequestHandlerClass = Forbidding
        thread = Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


@contextmanager
def watched(browser: Browser, site: str) -> Iterator[Lab]:
    """JupyterLab from another site, or in another browser, than the fixtures'."""
    context = browser.new_context()
    watch = Watch(context, site)
    yield Lab(context.new_page(), site).open()
    watch.check()
    context.close()


def works_on(lab: Lab) -> bool:
    """Whether JupyterLab and our Python behind it still do what they do."""
    made = lab.page.evaluate(_OPEN)
    seen = lab.python("return nb.cells(0, 1)[0]['source']")
    return bool(made == seen == "works")


def test_ready_says_how_many_tools_there_are(jl: Lab) -> None:
    jl.open()
    assert jl.status == "ready"
    count = len(jl.page.evaluate(_TOOLS))
    assert jl.page.evaluate(_TITLE).startswith(f"{count} tools")
    assert jl.page.locator(".jp-StatusBar-TextItem[role=status]").inner_text() == "WebMCP ready"


def test_a_second_activation_registers_nothing(jl: Lab) -> None:
    jl.open()
    before = jl.page.evaluate(_TOOLS)
    jl.python("""
    import logging
    logging.disable(logging.WARNING)
    page = js.pywebmcp
    await activation.start(page.app, page.tokens, page.modules)
    """)
    assert jl.page.evaluate(_TOOLS) == before


def test_a_name_that_another_extension_took_leaves_none_of_our_tools(jl: Lab) -> None:
    jl.page.add_init_script(_TAKE_A_NAME)
    jl.open()
    assert jl.status == "unavailable"
    assert "another extension" in jl.page.evaluate(_TITLE)
    assert jl.page.evaluate(_TOOLS) == ["jupyter_get_context"]
    assert works_on(jl)


def test_a_site_that_forbids_tools_says_so(browser: Browser, forbidding: str) -> None:
    with watched(browser, forbidding) as lab:
        assert lab.status == "unavailable"
        assert "Permissions-Policy" in lab.page.evaluate(_TITLE)
        assert works_on(lab)


def test_a_browser_without_webmcp_says_how_to_turn_it_on(
    launch_browser: Callable[..., Browser], site: str
) -> None:
    browser = launch_browser(args=_chromium.arguments(webmcp=False))
    with watched(browser, site) as lab:
        assert lab.page.evaluate("document.modelContext === undefined")
        assert lab.status == "unavailable"
        assert "chrome://flags" in lab.page.evaluate(_TITLE)
        assert works_on(lab)
    browser.close()


def test_settings_hold_at_once(jl: Lab) -> None:
    jl.open()
    assert jl.call("jupyter_get_context")["success"] is True
    change: Any = "pywebmcp.tokens.settings.set('pywebmcp:plugin', 'disabledTools', argument)"
    jl.js(change, ["jupyter_get_context"])
    assert jl.call("jupyter_get_context")["code"] == "TOOL_DISABLED"
    jl.js(change, [])
    assert jl.call("jupyter_get_context")["success"] is True
