"""What is saved is there after a reload; what somebody else saved is not overwritten; nothing stray."""

from __future__ import annotations

import pytest
from files import close_all, dialogs, listing, put, put_and_open, saved, sketch, tabs
from lab import Lab
from pywebmcp.edits import source_hash
from pywebmcp.testing import code, markdown


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> None:
    close_all(lab)


def test_saved_edits_are_there_after_a_reload(lab: Lab) -> None:
    content = sketch(code("x = 1", "x"), code("gone", "gone"), markdown("text", "text"))
    put_and_open(lab, "kept.ipynb", content)
    new = lab.must("jupyter_insert_cell", referenceCellId="x", source="s = '\U0001f600'")["id"]
    lab.must("jupyter_update_cell", cellId="x", edits=[{"oldText": "1", "newText": "2"}])
    lab.must("jupyter_update_cell", cellId="text", cellType="code", index=0)
    lab.must("jupyter_delete_cell", cellId="gone", expectedSourceHash=source_hash("gone"))
    context = lab.must("jupyter_get_context")["notebook"]
    assert (context["dirty"], context["cellCount"]) == (True, 3)
    assert lab.must("jupyter_save_notebook") == {
        "success": True,
        "path": "kept.ipynb",
        "dirty": False,
    }
    before = lab.must("jupyter_get_cells", notebookPath="kept.ipynb")["cells"]
    # Without the tabs as they were: JupyterLab would ask for a kernel for this one.
    lab.open()
    assert lab.must("jupyter_get_cells", notebookPath="kept.ipynb")["cells"] == before
    lab.must("jupyter_open_notebook", path="kept.ipynb")
    assert lab.must("jupyter_get_cells")["cells"] == before
    assert [(cell["id"], cell["source"]) for cell in before] == [
        ("text", "text"),
        ("x", "x = 2"),
        (new, "s = '\U0001f600'"),
    ]


def test_unsaved_edits_are_not_written(lab: Lab) -> None:
    put_and_open(lab, "draft.ipynb", sketch("a"))
    lab.must("jupyter_insert_cell", source="b")
    assert len(saved(lab, "draft.ipynb")["cells"]) == 1
    [_, live] = lab.must("jupyter_get_cells", notebookPath="draft.ipynb")["cells"]
    assert live["source"] == "b"
    opened = lab.must("jupyter_open_notebook", path="draft.ipynb")
    assert (opened["dirty"], opened["cellCount"]) == (True, 2)


def test_a_file_that_changed_elsewhere_is_not_overwritten(lab: Lab) -> None:
    put_and_open(lab, "shared.ipynb", sketch("mine"))
    lab.must("jupyter_insert_cell", source="more of mine")
    put(lab, "shared.ipynb", sketch("theirs"))
    failed = lab.call("jupyter_save_notebook")
    assert failed["code"] == "STALE_FILE"
    assert "shared.ipynb" in failed["error"]
    assert dialogs(lab) == []
    assert [cell["source"] for cell in saved(lab, "shared.ipynb")["cells"]] == ["theirs"]
    assert lab.sources() == ["mine", "more of mine"]
    assert lab.must("jupyter_get_context")["notebook"]["dirty"] is True


def test_saving_twice_and_saving_in_the_background(lab: Lab) -> None:
    put_and_open(lab, "behind.ipynb", sketch("a"))
    put_and_open(lab, "front.ipynb", sketch("b"))
    for source in ("one", "two"):
        lab.must("jupyter_insert_cell", notebookPath="behind.ipynb", source=source)
        answer = lab.must("jupyter_save_notebook", notebookPath="behind.ipynb")
        assert answer["path"] == "behind.ipynb"
    assert [cell["source"] for cell in saved(lab, "behind.ipynb")["cells"]] == ["a", "one", "two"]


def test_a_new_notebook_in_a_new_folder(lab: Lab) -> None:
    before = listing(lab)
    answer = lab.must("jupyter_open_notebook", path="new/er/made.ipynb", create=True)
    assert answer["cellCount"] == 1
    assert tabs(lab) == ["new/er/made.ipynb"]
    assert sorted(listing(lab)) == sorted([*before, "new", "new/er", "new/er/made.ipynb"])
    lab.until_kernel()
    assert lab.must("jupyter_get_context")["notebook"]["kernel"]["name"] == "python"
    lab.must("jupyter_insert_cell", source="1 + 1")
    lab.must("jupyter_save_notebook")
    content = saved(lab, "new/er/made.ipynb")
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert content["metadata"]["kernelspec"]["name"] == "python"


@pytest.mark.parametrize(
    ("path", "code_"),
    [
        ("there.ipynb", "PATH_EXISTS"),
        ("analysis.ipynb", "PATH_EXISTS"),
        ("folder/note.txt/new.ipynb", "INVALID_PATH"),
        ("folder/new.txt", "INVALID_PATH"),
        ("../new.ipynb", "INVALID_PATH"),
        ("/new.ipynb", "INVALID_PATH"),
        ("folder//new.ipynb", "INVALID_PATH"),
        ("", "INVALID_PATH"),
    ],
)
def test_a_notebook_that_cannot_be_made_leaves_nothing_behind(
    lab: Lab, path: str, code_: str
) -> None:
    put(lab, "there.ipynb", sketch("mine"))
    put(lab, "folder/note.txt", "text")
    before = listing(lab)
    failed = lab.call("jupyter_open_notebook", {"path": path, "create": True})
    assert failed["code"] == code_
    assert listing(lab) == before
    assert tabs(lab) == []
    assert dialogs(lab) == []
    assert saved(lab, "there.ipynb")["cells"][0]["source"] == "mine"


def test_an_unknown_kernel_leaves_no_notebook_behind(lab: Lab) -> None:
    before = listing(lab)
    failed = lab.call(
        "jupyter_open_notebook", {"path": "julia.ipynb", "create": True, "kernel": "julia"}
    )
    assert failed["code"] == "INVALID_ARGUMENT"
    assert listing(lab) == before


def test_a_notebook_that_was_deleted_behind_its_tab_can_be_saved_anew(lab: Lab) -> None:
    put_and_open(lab, "lost.ipynb", sketch("a"))
    lab.must("jupyter_insert_cell", source="b")
    lab.page.evaluate("() => pywebmcp.app.serviceManager.contents.delete('lost.ipynb')")
    lab.must("jupyter_save_notebook", notebookPath="lost.ipynb")
    assert len(saved(lab, "lost.ipynb")["cells"]) == 2
    assert dialogs(lab) == []
