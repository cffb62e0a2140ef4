"""The browser's front end keeps the contract: the same cases as the one in memory, in a real page."""

from __future__ import annotations

import json
from pathlib import Path

import contract
import pytest
from lab import Lab
from playwright.sync_api import Page

SOURCES = (Path(contract.__file__), Path(__file__).with_name("in_page.py"))
FOLDER = "/home/pyodide/contract"

_LOAD = """async ([folder, sources]) => {
    const { pyodide } = pywebmcp;
    pyodide.FS.mkdirTree(folder);
    for (const [name, text] of Object.entries(sources)) {
        pyodide.FS.writeFile(`${folder}/${name}`, text);
    }
    pyodide.pyimport("sys").path.insert(0, folder);
    globalThis.cases = pyodide.pyimport("in_page");
}"""


@pytest.fixture(scope="module")
def lab(shared_page: Page, site: str) -> Lab:
    """A JupyterLab whose Python has the cases."""
    lab = Lab(shared_page, site).open()
    sources = {path.name: path.read_text("utf-8") for path in SOURCES}
    shared_page.evaluate(_LOAD, [FOLDER, sources])
    return lab


@pytest.mark.parametrize("name", [case.name for case in contract.cases()])
def test_frontend(lab: Lab, name: str) -> None:
    page = lab.page
    page.evaluate("(name) => cases.begin(name)", name)
    while True:
        request = json.loads(page.evaluate("cases.following()"))
        match request.get("do"):
            case None:
                break
            case "click":
                lab.click(request["index"], request["cursor"])
            case "type":
                lab.type(request["text"])
            case "undo":
                page.keyboard.press("Control+z")
            case "answer":
                page.locator(".jp-Stdin-input:visible").fill(request["text"])
                page.keyboard.press("Enter")
        page.evaluate("cases.answered()")
    if request["end"] == "skipped":
        pytest.skip(request["why"])
    assert request["end"] == "passed", request["why"]
