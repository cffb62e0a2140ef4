"""Notebooks that open beside the person: no dialog, no stolen focus, nothing left after a failure."""

from __future__ import annotations

import pytest
from files import close_all, listing, outcome, put, put_and_open, sketch
from lab import Lab
from pywebmcp.testing import code, notebook

_OPEN_BY_HAND = """(path) => void pywebmcp.app.commands.execute(
    "docmanager:open", { path, factory: "Notebook" })"""
_DIALOGS = "[...document.querySelectorAll('.jp-Dialog-header')].map((node) => node.textContent)"
_FAIL_NOTEBOOKS = """() => {
    const { contents } = pywebmcp.app.serviceManager;
    const save = contents.save;
    contents.save = async (path, model) => {
        if (model.type === "notebook") throw new Error("the disk is full");
        return await save.call(contents, path, model);
    };
    globalThis.mend = () => { contents.save = save; };
}"""

_WRITE_PROTECT = """() => {
    const { context } = pywebmcp.tokens.tracker.currentWidget;
    const contentsModel = { ...context.contentsModel, writable: false };
    Object.defineProperty(context, "contentsModel", { value: contentsModel });
}"""


def r_notebook() -> dict[str, object]:
    spec = {"name": "ir", "display_name": "R", "language": "R"}
    return notebook(code("x <- 1", "a"), metadata={"kernelspec": spec})


def dismiss(lab: Lab) -> None:
    """Answer a dialog that is shown with its first button."""
    while lab.page.evaluate(_DIALOGS):
        lab.page.locator(".jp-Dialog .jp-mod-reject").click()
        lab.page.locator(".jp-Dialog").wait_for(state="detached")


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> None:
    dismiss(lab)
    close_all(lab)


def test_a_notebook_of_another_language_opens_without_dialog_and_without_kernel(lab: Lab) -> None:
    opened = put_and_open(lab, "r.ipynb", r_notebook())
    assert "kernel" not in opened
    assert lab.page.evaluate(_DIALOGS) == []
    found = lab.python("""
    try:
        await nb.ready_kernel()
    except ToolError as error:
        return [str(error.code), error.message]
    """)
    assert found == [
        "KERNEL_UNAVAILABLE",
        "The notebook has no kernel: name one in jupyter_open_notebook.",
    ]


def test_while_the_person_is_asked_for_a_kernel_a_run_says_so_and_does_not_wait(lab: Lab) -> None:
    put(lab, "asked.ipynb", r_notebook())
    lab.page.evaluate(_OPEN_BY_HAND, "asked.ipynb")
    lab.until(f"{_DIALOGS}.length > 0")
    failed = outcome(lab, "jupyter_run_cells", cellIds=["a"])
    title = lab.page.evaluate(_DIALOGS)[0]
    assert failed["code"] == "KERNEL_UNAVAILABLE"
    assert f'"{title}"' in failed["error"]
    dismiss(lab)
    failed = outcome(lab, "jupyter_run_cells", cellIds=["a"])
    assert failed["code"] == "KERNEL_UNAVAILABLE"


def test_opening_in_the_background_leaves_the_person_typing(lab: Lab) -> None:
    put(lab, "behind.ipynb", sketch("later"))
    put_and_open(lab, "front.ipynb", sketch("ab"))
    lab.click(0, 1)
    lab.must("jupyter_open_notebook", path="behind.ipynb", activate=False)
    lab.type("12")
    assert lab.sources() == ["a12b"]
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["path"] == "front.ipynb"
    paths = sorted(document["path"] for document in context["documents"])
    assert paths == ["behind.ipynb", "front.ipynb"]


def test_behind_another_tab_the_notebook_stays_the_current_one_without_a_focus(lab: Lab) -> None:
    put(lab, "text.txt", "plain")
    put_and_open(lab, "current.ipynb", sketch("x"))
    assert lab.must("jupyter_get_context")["focus"]["mode"] == "command"
    lab.page.evaluate("pywebmcp.app.commands.execute('docmanager:open', { path: 'text.txt' })")
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["path"] == "current.ipynb"
    assert not context.get("focus")
    assert {"path": "text.txt", "type": "file"}.items() <= context["documents"][1].items()


def test_text_selected_in_an_output_is_part_of_the_focus(lab: Lab) -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": "one\ntwo \U0001f600\n"}
    put_and_open(lab, "output.ipynb", sketch(code("print()", "a", outputs=[shown])))
    output = lab.cell(0).locator(".jp-OutputArea-output pre")
    output.dblclick(position={"x": 5, "y": 5})
    assert lab.must("jupyter_get_context")["focus"]["selectedOutputText"] == "one"


def test_a_notebook_that_cannot_be_written_leaves_no_folder_behind(lab: Lab) -> None:
    before = listing(lab)
    lab.page.evaluate(_FAIL_NOTEBOOKS)
    failed = lab.call("jupyter_open_notebook", path="full/of/it.ipynb", create=True)
    lab.page.evaluate("mend()")
    assert failed["code"] == "INVALID_PATH"
    assert "the disk is full" in failed["error"]
    assert listing(lab) == before


def test_a_read_only_file_is_not_saved(lab: Lab) -> None:
    put_and_open(lab, "fixed.ipynb", sketch("x"))
    lab.page.evaluate(_WRITE_PROTECT)
    failed = lab.call("jupyter_save_notebook")
    assert failed["code"] == "INVALID_PATH"
    assert "read-only" in failed["error"]


def test_the_notebooks_app_edits_what_it_shows_and_opens_nothing_else(jl: Lab) -> None:
    jl.open("fix-me.ipynb", app="notebooks")
    assert jl.status == "ready"
    assert jl.must("jupyter_get_context")["notebook"]["path"] == "fix-me.ipynb"
    count = len(jl.sources())
    jl.must("jupyter_insert_cell", source="new")
    assert len(jl.sources()) == count + 1
    again = jl.must("jupyter_open_notebook", path="fix-me.ipynb")
    assert again["cellCount"] == count + 1
    failed = jl.call("jupyter_open_notebook", path="analysis.ipynb")
    assert failed["code"] == "INVALID_PATH"
    assert len(jl.page.context.pages) == 1
