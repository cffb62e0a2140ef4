"""The person's side where things differ: in the notebooks app, without WebMCP, under a strict policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import _chromium
import _server
import pytest
from background import begin
from lab import Lab, Watch
from panel import flaws, overflowing, palette, payload, show
from playwright.sync_api import Browser, expect

SITE = Path(__file__).resolve().parent.parent / "build" / "site"


@contextmanager
def page(browser: Browser, site: str) -> Iterator[Lab]:
    """A page of its own, watched."""
    context = browser.new_context()
    watch = Watch(context, site)
    yield Lab(context.new_page(), site)
    watch.check()
    context.close()


def person_works(lab: Lab, path: str) -> None:
    """What a person does with comments, access and tools, as far as a page shows it."""
    tab = show(lab, "Tools")
    tab.get_by_role("button", name="Get context").click()
    tab.get_by_role("button", name="Run Get context").click()
    expect(tab.get_by_role("status").filter(has_text="Done.")).to_be_visible()
    assert payload(tab, "Get context")["notebook"]["path"] == path
    expect(show(lab, "Activity").get_by_role("list", name="Activity")).to_contain_text("You")
    palette(lab, "Comment on Cell")
    field = show(lab, "Comments").get_by_role("textbox", name="Comment on")
    expect(field).to_be_focused()
    lab.type("Good?")
    lab.page.keyboard.press("Control+Enter")
    expect(show(lab, "Comments").get_by_role("listitem")).to_contain_text("Good?")
    show(lab, "Access").get_by_label(path).select_option("May read")
    expect(show(lab, "Access")).to_contain_text("changes and runs no cell")
    show(lab, "Access").get_by_label(path).select_option("May edit")


def test_it_works_in_the_notebooks_app(jl: Lab) -> None:
    jl.open("fix-me.ipynb", app="notebooks")
    person_works(jl, "fix-me.ipynb")
    show(jl, "Activity").get_by_role("checkbox", name="Ask before edits").check()
    call = begin(jl, "jupyter_insert_cell", source="x = 1")
    banner = jl.page.get_by_role("region", name="The agent proposes:")
    expect(banner).to_be_visible()
    assert flaws(jl, ".pywebmcp-proposal") == []
    assert flaws(jl, "#pywebmcp-agent-panel") == []
    assert overflowing(jl, "#pywebmcp-agent-panel") == []
    banner.get_by_role("button", name="Accept").click()
    assert call.answer()["success"] is True
    assert jl.sources()[-1] == "x = 1"


def test_it_works_without_webmcp(launch_browser: Callable[..., Browser], site: str) -> None:
    browser = launch_browser(args=_chromium.arguments(webmcp=False))
    with page(browser, site) as lab:
        lab.open("fix-me.ipynb")
        assert lab.status == "unavailable"
        person_works(lab, "fix-me.ipynb")
    browser.close()


class Strict(_server.SiteHandler):
    """Serves the site with a policy that only reports: JupyterLab has styles in the page."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy-Report-Only", "style-src 'self'")
        super().end_headers()


def test_nothing_of_ours_is_a_style_or_a_script_in_the_page(
    browser: Browser, pytestconfig: pytest.Config
) -> None:
    if pytestconfig.getoption("base_url"):
        pytest.skip("headers of a site that is served elsewhere are not ours")
    with _server.SiteServer(SITE) as server:
        server.RequestHandlerClass = Strict
        thread = Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        context = browser.new_context()
        lab = Lab(context.new_page(), server.url)
        lab.open("fix-me.ipynb")
        # From here on each breach is noted with the place it comes from.
        lab.js(
            "(globalThis.breaches = [], document.addEventListener('securitypolicyviolation',"
            " (event) => breaches.push(event.sourceFile)), 0)"
        )
        person_works(lab, "fix-me.ipynb")
        ours = lab.js("breaches.filter((file) => /pywebmcp|pyodide/.test(file))")
        assert ours == []
        links = lab.page.locator("link[rel=stylesheet][href*='extensions/pywebmcp']")
        assert links.count() == 1
        context.close()
        server.shutdown()
        thread.join()
