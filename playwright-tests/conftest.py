"""A built site, a Chromium with WebMCP, and JupyterLab pages for the browser tests.

``pytest playwright-tests --base-url URL`` tests a site that is served elsewhere; else ``build/site``
is served (``scripts/build_site`` makes it).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "py" / "tests")]

import _chromium  # noqa: E402
import _server  # noqa: E402
import _setup  # noqa: E402
from lab import Lab, Watch  # noqa: E402


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_type_launch_args,
        "executable_path": str(_setup.ensure_chromium()),
        "args": _chromium.arguments(),
    }


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Iterator[str]:
    """The address of the site, with a slash at its end."""
    given = pytestconfig.getoption("base_url")
    if given:
        yield given.rstrip("/") + "/"
        return
    folder = ROOT / "build" / "site"
    if not folder.is_dir():
        pytest.exit("there is no build/site: run scripts/build_site", returncode=1)
    with _server.serving(folder) as url:
        yield url


@pytest.fixture
def jl(browser: Browser, site: str) -> Iterator[Lab]:
    """A page of a browser that has never been here; `Lab.open` loads an app."""
    context = browser.new_context()
    watch = Watch(context, site)
    yield Lab(context.new_page(), site)
    watch.check()
    context.close()


@pytest.fixture(scope="module")
def shared_page(browser: Browser, site: str) -> Iterator[Page]:
    """One page for all tests of a module that clean up after themselves."""
    context = browser.new_context()
    watch = Watch(context, site)
    yield context.new_page()
    watch.check()
    context.close()


@pytest.fixture(scope="module")
def lab(shared_page: Page, site: str) -> Lab:
    """JupyterLab on that page; nothing is open yet."""
    return Lab(shared_page, site).open()
