"""In the app that shows one notebook and nothing else, the tools work on that one."""

from __future__ import annotations

import pytest
from files import dialogs, outcome, put, saved, sketch
from lab import Lab
from playwright.sync_api import Page
from pywebmcp.edits import source_hash
from pywebmcp.toolset import TOOLS

PATH = "fix-me.ipynb"


@pytest.fixture(scope="module")
def lab(shared_page: Page, site: str) -> Lab:
    return Lab(shared_page, site).open(PATH, app="notebooks", kernel=True)


def test_the_tools_are_there(lab: Lab) -> None:
    assert lab.status == "ready"
    assert {tool["name"] for tool in lab.page.webmcp.tools()} == {tool.name for tool in TOOLS}


def test_the_context_is_the_notebook(lab: Lab) -> None:
    lab.must("jupyter_focus_cell", cellId="load", cursor={"line": 0, "column": 6})
    context = lab.must("jupyter_get_context")
    assert [document["path"] for document in context["documents"]] == [PATH]
    assert (context["notebook"]["path"], context["notebook"]["cellCount"]) == (PATH, 3)
    assert context["notebook"]["kernel"]["name"] == "python"
    assert context["focus"]["activeCellId"] == "load"
    assert context["focus"]["cursor"] == {"line": 0, "column": 6}


def test_cells_are_read_changed_run_and_saved(lab: Lab) -> None:
    payload = outcome(lab, "jupyter_run_cells", startIndex=0)
    assert (payload["code"], payload["errorName"]) == ("EXECUTION_ERROR", "ValueError")
    [broken] = lab.must("jupyter_get_cells", only="error")["cells"]
    lab.must(
        "jupyter_update_cell",
        cellId=broken["id"],
        edits=[{"oldText": 'int(row["northbound"])', "newText": 'int(row["northbound"] or 0)'}],
    )
    assert outcome(lab, "jupyter_run_cells", cellIds=[broken["id"]])["success"] is True
    new = lab.must("jupyter_insert_cell", source="gone")
    assert new["index"] == 3
    lab.must("jupyter_delete_cell", cellId=new["id"], expectedSourceHash=source_hash("gone"))
    assert lab.must("jupyter_save_notebook") == {"success": True, "path": PATH, "dirty": False}
    cell = saved(lab, PATH)["cells"][2]
    assert "or 0" in "".join(cell["source"])
    assert cell["outputs"][0]["output_type"] == "stream"


def test_another_notebook_is_read_but_not_opened(lab: Lab) -> None:
    put(lab, "other.ipynb", sketch("there"))
    pages = len(lab.page.context.pages)
    [cell] = lab.must("jupyter_get_cells", notebookPath="other.ipynb")["cells"]
    assert cell["source"] == "there"
    failed = lab.call("jupyter_open_notebook", {"path": "other.ipynb"})
    assert failed["code"] == "INVALID_PATH"
    assert "ask the person to open it" in failed["error"]
    failed = lab.call("jupyter_insert_cell", {"notebookPath": "other.ipynb", "source": "new"})
    assert failed["code"] == "NOTEBOOK_NOT_FOUND"
    assert len(lab.page.context.pages) == pages
    assert dialogs(lab) == []
    assert lab.must("jupyter_open_notebook", path=PATH)["cellCount"] == 3


def test_a_notebook_is_not_made_where_it_cannot_be_shown(lab: Lab) -> None:
    failed = lab.call("jupyter_open_notebook", {"path": "folder/made.ipynb", "create": True})
    assert failed["code"] == "INVALID_PATH"
    contents = lab.must("jupyter_get_contents")
    names = [entry["path"] for entry in contents["entries"]]
    assert "folder" not in names
    failed = lab.call("jupyter_get_cells", {"notebookPath": "folder/made.ipynb"})
    assert failed["code"] == "FILE_NOT_FOUND"


def test_the_kernel_restarts(lab: Lab) -> None:
    assert outcome(lab, "jupyter_run_code", code="kept = 1")["success"] is True
    assert outcome(lab, "jupyter_kernel_action", action="restart")["success"] is True
    payload = outcome(lab, "jupyter_run_code", code="kept")
    assert payload["errorName"] == "NameError"
