"""Where the tools cannot be had, the page says so and JupyterLab works as without them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import _chromium
import _server
import pytest
from lab import PATIENCE, Lab, Watch
from playwright.sync_api import Browser, BrowserContext, expect
from pywebmcp.toolset import TOOLS

Changes = dict[str, Callable[[bytes], bytes]]
"""New contents of files of the site, made of the old ones, by patterns that fit one path each."""

STATUS_BAR = "#jp-bottom-panel"
BOOT = "extensions/pywebmcp/static/boot"
MANIFEST = f"{BOOT}/manifest.json"
PACKAGE = f"{BOOT}/*/pywebmcp-*.zip"
PYODIDE = "static/pyodide"
CONFIGURATION = "jupyter-lite.json"
# A Pyodide that starts when the test says so.
LATE = """import { loadPyodide as start } from "./whole.mjs";
const gate = new Promise((open) => { globalThis.letPyodideStart = open; });
export async function loadPyodide(options) {
    await gate;
    const pyodide = await start(options);
    // In a task of its own: after all that the loader does at once.
    setTimeout(() => { globalThis.pyodideStarted = true; });
    return pyodide;
}
"""
_ACTIVATE = """async () => {
    const plugin = (await globalThis._JUPYTERLAB.pywebmcp.get("./extension"))().default;
    plugin.activate(pywebmcp.app);
}"""
# As a hot reload would: the loader's script once more, with a container of its own.
_LOAD_AGAIN = """async () => {
    const [loader] = [...document.scripts].filter((each) => each.src.includes("remoteEntry"))
        .filter((each) => each.src.includes("/pywebmcp/"));
    const again = document.createElement("script");
    again.src = loader.src.split("?")[0] + "?again";
    const loaded = new Promise((resolve) => again.addEventListener("load", resolve));
    document.head.append(again);
    await loaded;
}"""
_TOOLS = """async () => (await document.modelContext.getTools()).map((tool) => tool.name).sort()"""


class Visit:
    """A page in a browser that has never been here, and what its console says."""

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.watch = Watch(context, site)
        self._console: list[str] = []
        context.on("console", lambda message: self._console.append(message.text))
        self.lab = Lab(context.new_page(), site)

    def said(self, words: str) -> None:
        """Assert that we said this in the console, now or in a moment; that is no fault then."""
        for _ in range(300):
            if any("[pywebmcp]" in text and words in text for text in self._console):
                break
            # Playwright hands out events while it waits for something.
            self.lab.page.evaluate("new Promise(requestAnimationFrame).then(() => null)")
        else:
            pytest.fail(f"nothing of {words!r} in {self._console}")
        self._console.clear()
        self.watch.errors = [text for text in self.watch.errors if words not in text]


@contextmanager
def visiting(browser: Browser, site: str) -> Iterator[Visit]:
    """Visit a site; in the end nothing may be in the console that was not expected."""
    context = browser.new_context()
    try:
        visit = Visit(context, site)
        yield visit
        visit.watch.check()
    finally:
        context.close()


@pytest.fixture(scope="module")
def site_folder(pytestconfig: pytest.Config) -> Path:
    """The built site; a site that is served elsewhere cannot be changed."""
    if pytestconfig.getoption("base_url"):
        pytest.skip("the site is somebody else's")
    return Path(__file__).resolve().parent.parent / "build" / "site"


@pytest.fixture
def changed_site(site_folder: Path, tmp_path: Path) -> Iterator[Callable[[Changes], str]]:
    """Serves a copy of the site with changed files."""
    with ExitStack() as stack:

        def serve(changes: Changes) -> str:
            copy = tmp_path / "site"
            shutil.copytree(site_folder, copy, copy_function=os.link)
            for pattern, change in changes.items():
                [file] = list(copy.glob(pattern)) or [copy / pattern]
                old = file.read_bytes() if file.exists() else b""
                # Written to the linked file, the original would change with it.
                file.unlink(missing_ok=True)
                file.write_bytes(change(old))
            return stack.enter_context(_server.serving(copy))

        yield serve


def run_by_hand(lab: Lab) -> None:
    """What a person does: open a notebook, write into a cell, run it, see its output."""
    lab.page.evaluate(
        """() => jupyterapp.commands.execute(
            "docmanager:open", { path: "fix-me.ipynb", factory: "Notebook" }
        )"""
    )
    lab.cell(1).locator(".cm-content").click()
    lab.page.keyboard.press("Control+a")
    lab.type("6 * 7")
    lab.page.keyboard.press("Shift+Enter")
    expect(lab.cell(1).locator(".jp-OutputArea-output")).to_have_text("42", timeout=PATIENCE)


def open_a_menu(lab: Lab) -> None:
    lab.page.get_by_role("menuitem", name="Help").click()
    expect(lab.page.get_by_role("menuitem", name="About")).to_be_visible()


def shows(lab: Lab, text: str) -> None:
    """The status bar has this text."""
    expect(lab.page.locator(STATUS_BAR)).to_contain_text(text)


def reason(lab: Lab) -> str:
    """What the status says when the mouse is on it."""
    return str(lab.page.locator(f"{STATUS_BAR} [data-pywebmcp-status]").get_attribute("title"))


def test_without_webmcp_there_is_no_tool_and_jupyterlab_works(
    launch_browser: Callable[..., Browser], site: str
) -> None:
    browser = launch_browser(args=_chromium.arguments(webmcp=False))
    with visiting(browser, site) as visit:
        lab = visit.lab.open()
        assert lab.status == "unavailable"
        shows(lab, "WebMCP unavailable")
        assert "chrome://flags" in reason(lab)
        assert lab.js("document.modelContext === undefined")
        run_by_hand(lab)
    browser.close()


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        (PACKAGE, lambda old: old[:-1000], "not what the manifest says"),
        (MANIFEST, lambda old: old[:-10], "manifest.json"),
        (f"{PYODIDE}/pyodide.mjs", lambda _: b"export {", "pyodide.mjs"),
        (f"{PYODIDE}/pyodide.asm.wasm", lambda old: old[:100_000], "pyodide.asm.wasm"),
        (f"{PYODIDE}/python_stdlib.zip", lambda _: b"", "Pyodide did not start"),
    ],
    ids=["package", "manifest", "pyodide", "wasm", "standard library"],
)
def test_with_a_damaged_file_the_status_says_so_and_jupyterlab_works(
    browser: Browser,
    changed_site: Callable[[Changes], str],
    path: str,
    change: Callable[[bytes], bytes],
    words: str,
) -> None:
    with visiting(browser, changed_site({path: change})) as visit:
        lab = visit.lab.open()
        assert lab.status == "failed"
        shows(lab, "WebMCP failed")
        assert words in reason(lab)
        visit.said(words)
        # Python's own words, where it does not get far.
        visit.watch.errors = [each for each in visit.watch.errors if "[pywebmcp]" not in each]
        assert lab.page.evaluate(_TOOLS) == []
        if path == PACKAGE:
            run_by_hand(lab)
        else:
            # Pyodide's files are the kernel's too.
            open_a_menu(lab)


def test_an_exception_in_python_is_told_in_its_own_words(
    browser: Browser, site_folder: Path, changed_site: Callable[[Changes], str]
) -> None:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("pywebmcp/__init__.py", "")
        archive.writestr("pywebmcp/browser.py", "raise RuntimeError('out of order')")
    manifest = json.loads((site_folder / MANIFEST).read_text("utf-8"))
    [ours] = [each for each in manifest["packages"] if "pywebmcp" in each["url"]]
    ours["sha256"] = hashlib.sha256(package.getvalue()).hexdigest()
    url = changed_site(
        {
            PACKAGE: lambda _: package.getvalue(),
            MANIFEST: lambda _: json.dumps(manifest).encode(),
        }
    )
    with visiting(browser, url) as visit:
        lab = visit.lab.open()
        assert lab.status == "failed"
        shows(lab, "WebMCP failed")
        assert reason(lab) == "Python: RuntimeError: out of order"
        visit.said("RuntimeError: out of order")
        open_a_menu(lab)


def within_2_seconds(old: bytes) -> bytes:
    """The site's configuration with a short time limit for the boot."""
    configuration = json.loads(old)
    configuration["jupyter-config-data"]["pywebmcpBootTimeout"] = 2
    return json.dumps(configuration).encode()


def test_a_boot_that_hangs_is_given_up(
    browser: Browser, changed_site: Callable[[Changes], str]
) -> None:
    url = changed_site(
        {
            f"{PYODIDE}/pyodide.mjs": lambda _: (
                b"export const loadPyodide = () => new Promise(() => {});"
            ),
            CONFIGURATION: within_2_seconds,
        }
    )
    with visiting(browser, url) as visit:
        lab = visit.lab.open()
        assert lab.status == "failed"
        shows(lab, "WebMCP failed")
        assert "2 s" in reason(lab)
        visit.said("2 s")


def test_a_boot_that_was_given_up_registers_nothing_when_it_ends_after_all(
    browser: Browser, site_folder: Path, changed_site: Callable[[Changes], str]
) -> None:
    whole = (site_folder / f"{PYODIDE}/pyodide.mjs").read_bytes()
    url = changed_site(
        {
            f"{PYODIDE}/whole.mjs": lambda _: whole,
            f"{PYODIDE}/pyodide.mjs": lambda _: LATE.encode(),
            CONFIGURATION: within_2_seconds,
        }
    )
    with visiting(browser, url) as visit:
        lab = visit.lab.open()
        assert lab.status == "failed"
        visit.said("2 s")
        lab.until("'letPyodideStart' in globalThis")
        lab.page.evaluate("letPyodideStart()")
        lab.until("globalThis.pyodideStarted")
        assert lab.page.evaluate(_TOOLS) == []
        assert lab.status == "failed"
        shows(lab, "WebMCP failed")


def test_a_second_activation_does_nothing(browser: Browser, site: str) -> None:
    with visiting(browser, site) as visit:
        lab = visit.lab.open()
        assert lab.status == "ready"
        shows(lab, "WebMCP ready")
        tools = lab.page.evaluate(_TOOLS)
        assert tools == sorted(tool.name for tool in TOOLS)
        lab.js("document.modelContext.ontoolchange = () => { globalThis.changed = true; }")
        for again in ("", _LOAD_AGAIN):
            if again:
                lab.page.evaluate(again)
            lab.page.evaluate(_ACTIVATE)
            visit.said("active on this page already")
        assert lab.page.evaluate(_TOOLS) == tools
        assert lab.status == "ready"
        assert lab.page.locator("[data-pywebmcp-status].jp-StatusBar-TextItem").count() == 1
        assert lab.js("globalThis.changed ?? false") is False
        assert lab.must("jupyter_get_context")["documents"] == []
