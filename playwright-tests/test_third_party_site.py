"""Anybody's site: `pip install`, `jupyter lite build`, and the tools are there; and it is deployed anew.

One venv and one Pyodide for all of these tests; what differs is built with them in some seconds.
"""

from __future__ import annotations

import json
import re
import socket
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import _server
import pytest
from files import close_all, listing
from lab import Lab, Watch
from notebooks import cell, notebook
from playwright.sync_api import Browser, BrowserContext
from pywebmcp.toolset import TOOLS
from third_party import Project, Venv, copy_of

BOOT = "extensions/pywebmcp/static/boot"
PYODIDE = "static/pyodide"
_TOOLS = """async () => (await document.modelContext.getTools()).map((tool) => tool.name).sort()"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Venv:
    made = Venv(tmp_path_factory.mktemp("third-party"))
    made.install()
    return made


@pytest.fixture(scope="module")
def project(venv: Venv) -> Project:
    """A site with a Pyodide of its own, built."""
    made = Project(venv.home / "project", venv, pyodide="npm")
    made.lite("build")
    return made


@pytest.fixture(scope="module")
def pyodide(project: Project) -> str:
    """The Pyodide that this made, for others: a folder that needs nothing more."""
    return str(project.folder / ".cache" / "pywebmcp" / "pyodide")


@pytest.fixture(scope="module")
def plain(venv: Venv) -> Project:
    """A site whose author chose nothing, built where no program of the machine can be found."""
    made = Project(venv.home / "plain", venv)
    made.lite("build", path="")
    return made


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[tuple[Lab, Watch]]:
    """A page of a browser that has never been there."""
    context = browser.new_context()
    try:
        # JupyterLite's service worker has its heartbeat at the root of the host, whatever the path.
        host = re.match(r"\w+://[^/]+/", url)
        assert host is not None
        yield Lab(context.new_page(), url), Watch(context, host[0])
    finally:
        context.close()


def core_loop(lab: Lab) -> None:
    """Open, read, edit, run: what everything else is made of."""
    assert lab.page.evaluate(_TOOLS) == sorted(tool.name for tool in TOOLS)
    lab.must("jupyter_open_notebook", path="first.ipynb")
    cells = lab.must("jupyter_get_cells")["cells"]
    assert [each["source"] for each in cells] == ["word = 'made'", "word.upper()"]
    edits = [{"oldText": "made", "newText": "kept"}]
    lab.must("jupyter_update_cell", cellId="a", edits=edits)
    lab.until_kernel()
    answer = lab.must("jupyter_run_cells", cellIds=["a", "b"])
    assert "'KEPT'" in json.dumps(answer)
    assert lab.sources() == ["word = 'kept'", "word.upper()"]


def reason(lab: Lab) -> str:
    """What the status says when the mouse is on it."""
    item = lab.page.locator("[data-pywebmcp-status].jp-StatusBar-TextItem")
    return str(item.get_attribute("title"))


def without_tools(browser: Browser, site: Path, words: str) -> None:
    """Visit a site where Pyodide cannot be had: the status says why, and JupyterLab works."""
    with _server.serving(site) as url, visiting(browser, url) as (lab, _):
        lab.open()
        assert lab.status == "failed"
        assert words in reason(lab)
        assert lab.page.evaluate(_TOOLS) == []
        lab.page.get_by_role("menuitem", name="Help").click()
        lab.page.get_by_role("menuitem", name="About").wait_for()


def test_three_commands_make_a_site_with_all_tools(browser: Browser, project: Project) -> None:
    with project.served() as url, visiting(browser, url) as (lab, watch):
        lab.open()
        assert lab.status == "ready"
        core_loop(lab)
        watch.check()


def test_the_same_site_works_under_a_path(browser: Browser, project: Project) -> None:
    with (
        _server.serving(project.site, prefix="/some/prefix") as url,
        visiting(browser, url) as (lab, watch),
    ):
        lab.open()
        assert lab.status == "ready"
        core_loop(lab)
        watch.check()


def test_a_second_build_does_nothing_of_ours_and_the_checks_agree(project: Project) -> None:
    def state() -> dict[Path, int]:
        ours = [project.site / "extensions/pywebmcp", project.site / PYODIDE]
        files = [path for folder in ours for path in folder.rglob("*") if path.is_file()]
        return {path: path.stat().st_mtime_ns for path in files}

    before, configuration = state(), project.json("jupyter-lite.json")
    said = project.lite("build")
    assert "-- post_build:pywebmcp:manifest" in said
    assert not re.findall(r"^\.  \w*build:pywebmcp:.*$", said, re.MULTILINE)
    assert state() == before
    assert project.json("jupyter-lite.json") == configuration
    assert ".  check:pywebmcp:files" in project.lite("check")
    assert "Pyodide:   npm" in project.lite("status")
    project.lite("archive")
    [archive] = project.site.glob("*.tgz")
    with tarfile.open(archive) as opened:
        assert {f"package/{BOOT}/manifest.json", f"package/{PYODIDE}/pyodide.mjs"} <= set(
            opened.getnames()
        )


def test_the_wheels_parts_for_the_shell_stay_out_of_the_page(project: Project) -> None:
    [ours] = (project.site / BOOT).glob("*/pywebmcp-*.zip")
    with zipfile.ZipFile(ours) as archive:
        names = archive.namelist()
    assert "pywebmcp/browser/__init__.py" in names
    assert not [name for name in names if name.startswith(("pywebmcp/addon", "pywebmcp/cli"))]


@pytest.mark.parametrize(
    ("pattern", "content", "words"),
    [
        (f"{PYODIDE}/*", None, "/static/pyodide/pyodide."),
        (f"{BOOT}/*/pywebmcp-*.zip", b"PK\x03\x04", "not what the manifest says"),
        (f"{BOOT}/manifest.json", lambda old: re.sub(rb'"sha256": "....', b'"sha256": "0000', old),
         "not what the manifest says"),
    ],
    ids=["pyodide missing", "truncated package", "wrong hash"],
)  # fmt: skip
def test_where_something_is_wrong_the_status_says_so_and_jupyterlite_works(
    browser: Browser, project: Project, tmp_path: Path, pattern: str, content: object, words: str
) -> None:
    site = copy_of(project.site, tmp_path / "site")
    for path in site.glob(pattern):
        old = path.read_bytes()
        path.unlink()
        if content is not None:
            path.write_bytes(content(old) if callable(content) else content)  # type: ignore[arg-type]
    without_tools(browser, site, words)


def test_without_a_choice_the_page_loads_the_kernels_pyodide(plain: Project) -> None:
    address = plain.json(f"{BOOT}/manifest.json")["pyodide"]
    assert re.fullmatch(r"https://[\w./-]+/v314\.\d+\.\d+/full/pyodide\.mjs", address)
    assert not (plain.site / PYODIDE).exists()
    plain.lite("check", path="")


def test_where_the_cdn_cannot_be_reached_the_status_says_so(
    browser: Browser, plain: Project
) -> None:
    # The browsers of the tests reach nothing but this machine.
    without_tools(browser, plain.site, "/full/pyodide.")


def test_where_the_host_of_pyodide_hangs_the_status_says_so(
    browser: Browser, plain: Project, tmp_path: Path
) -> None:
    site = copy_of(plain.site, tmp_path / "site")
    # It takes connections and never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/pyodide.mjs"
        manifest = {**plain.json(f"{BOOT}/manifest.json"), "pyodide": address}
        configuration = plain.json("jupyter-lite.json")
        configuration["jupyter-config-data"]["pywebmcpBootTimeout"] = 3
        for name, content in (
            (f"{BOOT}/manifest.json", manifest),
            ("jupyter-lite.json", configuration),
        ):
            (site / name).unlink()
            (site / name).write_text(json.dumps(content))
        without_tools(browser, site, "not ready within 3 s")


def test_the_site_may_take_packages_from_the_cdn_and_does_not_need_it(
    browser: Browser, venv: Venv, pyodide: str, tmp_path: Path
) -> None:
    project = Project(tmp_path / "packages", venv, pyodide=pyodide, packages_url="cdn")
    project.lite("build")
    packages = project.json(f"{PYODIDE}/pyodide-lock.json")["packages"]
    assert packages["numpy"]["file_name"].startswith("https://")
    assert packages["pandas"]["file_name"].startswith("https://")
    assert packages["ipython"]["file_name"].startswith("ipython-")
    settings = project.json("jupyter-lite.json")["jupyter-config-data"]["litePluginSettings"]
    [kernel] = [each for name, each in settings.items() if name.endswith(":kernel")]
    assert kernel["pyodideUrl"] == "./static/pyodide/pyodide.mjs"
    with _server.serving(project.site) as url, visiting(browser, url) as (lab, watch):
        lab.open()
        core_loop(lab)
        # The browsers of the tests reach nothing but this machine.
        assert watch.left == []
        failed = lab.call("jupyter_run_code", code="import numpy")
        assert failed["success"] is False
        assert "'KEPT'" in json.dumps(lab.must("jupyter_run_code", code="word.upper()"))


def deployed(context: BrowserContext, url: str) -> Lab:
    """A visit to the site, in whatever state it is deployed."""
    lab = Lab(context.new_page(), url).open()
    assert lab.status == "ready"
    return lab


def shown(lab: Lab, path: str) -> list[str]:
    """The sources in a notebook of the site, as an agent reads it."""
    lab.must("jupyter_open_notebook", path=path)
    return [each["source"] for each in lab.must("jupyter_get_cells")["cells"]]


def test_a_new_deployment_shows_what_is_new_and_keeps_what_the_person_changed(
    browser: Browser, venv: Venv, pyodide: str, tmp_path: Path
) -> None:
    project = Project(tmp_path / "again", venv, pyodide=pyodide)
    project.lite("build")
    with _server.serving(project.site) as url:
        context = browser.new_context()
        lab = deployed(context, url)
        assert shown(lab, "second.ipynb") == ["# as it was first published"]
        assert shown(lab, "first.ipynb") == ["word = 'made'", "word.upper()"]
        edits = [{"oldText": "made", "newText": "mine"}]
        lab.must("jupyter_update_cell", cellId="a", edits=edits)
        lab.must("jupyter_save_notebook")
        lab.page.close()

        for name in ("first", "second", "third"):
            project.write(f"files/{name}.ipynb", notebook(cell("# published anew", "a")))
        project.lite("build")
        lab = deployed(context, url)
        assert {"first.ipynb", "second.ipynb", "third.ipynb"} <= set(listing(lab))
        assert shown(lab, "second.ipynb") == ["# published anew"]
        assert shown(lab, "third.ipynb") == ["# published anew"]
        assert shown(lab, "first.ipynb") == ["word = 'mine'", "word.upper()"]

        # Without their own version the person has the site's again.
        close_all(lab)
        lab.page.evaluate("pywebmcp.app.serviceManager.contents.delete('first.ipynb')")
        assert shown(lab, "first.ipynb") == ["# published anew"]
        context.close()
