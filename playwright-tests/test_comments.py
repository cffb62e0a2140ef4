"""Threads in JupyterLab: made through WebMCP, saved, and still in place after a person's work."""

from __future__ import annotations

from typing import Any

import pytest
from files import close_all, dialogs, put, put_and_open, saved, sketch
from lab import Lab
from pywebmcp.testing import code, markdown, stream

SOURCE = (
    "import math\n\nvalues = [1, 2, 3]  # three of them\ntotal = sum(values)\n\n"
    "mean = total / len(values)\nprint('the mean is', mean)"
)
CURRENT = "pywebmcp.tokens.tracker.currentWidget.content"
# With a language: JupyterLab adds one where there is none, and the notebook would be dirty.
THEIRS = {
    "language_info": {"name": "none"},
    "comments": {"owner": "another extension"},
    "zz_last": [1, {"deep": None}],
}


@pytest.fixture(autouse=True)
def book(lab: Lab) -> None:
    """An open notebook without threads."""
    close_all(lab)
    content = sketch(
        markdown("# Sums", "title"),
        code(SOURCE, "sums", outputs=[stream("the mean is 2.0\n")], execution_count=1),
        code("print('😀', 'last')", "last"),
    )
    content["metadata"].update(THEIRS)
    put_and_open(lab, "book.ipynb", content)


def comment(lab: Lab, message: str = "why?", **anchor: Any) -> str:
    anchor = {"kind": "cell", "cellId": "sums"} | anchor
    answer = lab.must("jupyter_create_comment", anchor=anchor, message=message)
    return str(answer["threadId"])


def where(lab: Lab, thread_id: str) -> tuple[Any, ...]:
    """The state of a thread, the source of its cell, and the text that is selected there now."""
    thread = lab.must("jupyter_list_comments", threadId=thread_id)
    source = thread.get("cell", {}).get("source")
    chosen = thread.get("selection")
    if chosen is not None:
        lines = source.split("\n")
        assert chosen["start"]["line"] == chosen["end"]["line"]
        line = lines[chosen["start"]["line"]]
        chosen = line[chosen["start"]["column"] : chosen["end"]["column"]]
    return thread.get("state", "anchored"), thread.get("cell", {}).get("index"), chosen


def person(lab: Lab, *commands: str, at: int | None = None) -> None:
    """Run JupyterLab's commands, as its menus and shortcuts do, on a cell."""
    if at is not None:
        lab.js("(nb.deselectAll(), nb.activeCellIndex = argument, nb.mode = 'command')", at)
    for command in commands:
        # What a person does is not done within half a second, which would be one undo step.
        lab.js("nb.model.sharedModel.undoManager.stopCapturing()")
        # Of what a command answers nothing can go to the test.
        lab.page.evaluate("async (id) => void (await pywebmcp.app.commands.execute(id))", command)


def test_create_list_reply_resolve_reopen(lab: Lab) -> None:
    on_cell = comment(lab, "why three?")
    on_text = comment(lab, "empty?", kind="source-range", text="len(values)")
    on_output = comment(lab, "units?", kind="output")
    threads = lab.must("jupyter_list_comments")["threads"]
    assert [each["threadId"] for each in threads] == [on_cell, on_text, on_output]
    assert [each["comments"][0]["by"] for each in threads] == ["agent"] * 3
    assert (threads[1]["text"], threads[1]["line"]) == ("len(values)", 5)
    assert threads[2]["outputIndex"] == 0
    lab.must("jupyter_reply_comment", threadId=on_cell, message="see above", status="resolved")
    again = lab.must("jupyter_reply_comment", threadId=on_cell, status="resolved")
    assert again["changed"] is False
    assert lab.must("jupyter_get_context")["review"] == {"open": 2, "resolved": 1}
    lab.must("jupyter_reply_comment", threadId=on_cell, status="open")
    assert lab.must("jupyter_get_context")["review"] == {"open": 3, "resolved": 0}
    whole = lab.must("jupyter_list_comments", threadId=on_cell)
    assert [each.get("message") for each in whole["comments"]] == ["why three?", "see above", None]
    assert dialogs(lab) == []


def test_focus_selects_the_text_in_the_editor(lab: Lab) -> None:
    on_text = comment(lab, kind="source-range", cellId="last", text="'last'")
    person(lab, at=0)
    lab.must("jupyter_focus_comment", threadId=on_text)
    focus = lab.must("jupyter_get_context")["focus"]
    assert (focus["activeCellId"], focus["selectedText"]) == ("last", "'last'")
    on_cell = comment(lab, cellId="title")
    lab.must("jupyter_focus_comment", threadId=on_cell)
    assert lab.must("jupyter_get_context")["focus"]["activeCellId"] == "title"


def test_a_comment_is_no_step_of_the_persons_undo(lab: Lab) -> None:
    lab.click(1, 0)
    lab.type("x")
    thread_id = comment(lab, kind="source-range", text="sum(values)")
    lab.page.keyboard.press("Control+z")
    lab.until(f"{CURRENT}.activeCell.model.sharedModel.getSource().startsWith('import')")
    assert where(lab, thread_id) == ("anchored", 1, "sum(values)")
    assert lab.sources()[1] == SOURCE


def test_threads_are_there_after_saving_and_reopening(lab: Lab) -> None:
    before = saved(lab, "book.ipynb")
    on_text = comment(lab, "why? 😀 \ud83d", kind="source-range", text="sum(values)")
    lab.must("jupyter_reply_comment", threadId=on_text, message="so", status="resolved")
    lab.must("jupyter_save_notebook")
    after = saved(lab, "book.ipynb")
    assert list(after["metadata"])[-1] == "pywebmcp"
    own = after["metadata"].pop("pywebmcp")
    assert list(own) == ["comments"]
    assert after == before
    whole = lab.must("jupyter_list_comments", threadId=on_text)
    lab.open()
    assert lab.must("jupyter_list_comments", notebookPath="book.ipynb", status="all")["threads"]
    lab.must("jupyter_open_notebook", path="book.ipynb")
    assert lab.must("jupyter_list_comments", threadId=on_text) == whole
    assert lab.must("jupyter_get_context")["review"] == {"open": 0, "resolved": 1}


def test_a_notebook_with_broken_metadata_opens_and_is_left_alone(lab: Lab) -> None:
    content = sketch("1")
    content["metadata"].update(THEIRS)
    content["metadata"]["pywebmcp"] = {"comments": {"version": "x", "threads": [{"id": 1}, 7]}}
    put_and_open(lab, "broken.ipynb", content)
    assert lab.must("jupyter_list_comments")["unreadable"] == 2
    anchor = {"kind": "cell", "cellId": "cell-0"}
    failed = lab.call("jupyter_create_comment", anchor=anchor, message="m")
    assert failed["code"] == "NOTEBOOK_ACCESS_DENIED"
    assert lab.must("jupyter_get_context")["notebook"]["dirty"] is False


def test_a_notebook_nested_too_deep_has_a_context(lab: Lab) -> None:
    content = sketch("1")
    deep: Any = []
    for _ in range(600):
        deep = [deep]
    content["metadata"]["pywebmcp"] = deep
    put(lab, "deep.ipynb", content)
    lab.page.evaluate(
        "() => void pywebmcp.app.commands.execute('docmanager:open', { path: 'deep.ipynb' })"
    )
    lab.until("pywebmcp.tokens.tracker.currentWidget?.context.path === 'deep.ipynb'")
    lab.until("pywebmcp.tokens.tracker.currentWidget.context.isReady")
    context = lab.must("jupyter_get_context")
    assert context["notebook"]["path"] == "deep.ipynb"
    assert context["review"] == {"open": 0, "resolved": 0}


def test_threads_stay_with_what_they_are_about(lab: Lab) -> None:
    """Move, change the type, copy, delete and undo, as a person does."""
    on_text = comment(lab, kind="source-range", text="len(values)")
    on_cell = comment(lab)

    def both() -> list[tuple[Any, ...]]:
        return [where(lab, on_text), where(lab, on_cell)]

    person(lab, "notebook:move-cell-down", at=1)
    assert both() == [("anchored", 2, "len(values)"), ("anchored", 2, None)]
    person(lab, "notebook:change-cell-to-markdown", at=2)
    assert both() == [("anchored", 2, "len(values)"), ("anchored", 2, None)]
    person(lab, "notebook:copy-cell", "notebook:paste-cell-above", at=2)
    assert lab.sources()[2] == lab.sources()[3]
    assert both() == [("anchored", 3, "len(values)"), ("anchored", 3, None)]
    person(lab, "notebook:undo-cell-action")
    person(lab, "notebook:delete-cell", at=2)
    assert both() == [("orphaned", None, None), ("orphaned", None, None)]
    failed = lab.call("jupyter_focus_comment", {"threadId": on_cell})
    assert failed["code"] == "COMMENT_ANCHOR_STALE"
    person(lab, "notebook:undo-cell-action")
    assert both() == [("anchored", 2, "len(values)"), ("anchored", 2, None)]


def test_threads_go_with_their_text_when_cells_are_split_and_merged(lab: Lab) -> None:
    head = comment(lab, kind="source-range", text="# three of them")
    tail = comment(lab, kind="source-range", text="len(values)")
    lab.js("(nb.activeCellIndex = 1, nb.mode = 'edit')")
    lab.until(f"{CURRENT}.activeCell.editor")
    lab.js("nb.activeCell.editor.setCursorPosition({ line: 5, column: 0 })")
    person(lab, "notebook:split-cell-at-cursor")
    assert len(lab.sources()) == 4
    assert where(lab, head)[1:] == (1, "# three of them")
    assert where(lab, tail)[1:] == (2, "len(values)")
    person(lab, "notebook:merge-cell-below", at=1)
    assert len(lab.sources()) == 3
    assert where(lab, head)[1:] == (1, "# three of them")
    assert where(lab, tail)[1:] == (1, "len(values)")
    person(lab, "notebook:merge-cell-below", at=1)
    assert where(lab, head)[1:] == (1, "# three of them")
    assert where(lab, tail)[1:] == (1, "len(values)")


def test_a_run_that_changes_an_output_is_seen(lab: Lab) -> None:
    on_output = comment(lab, kind="output")
    assert "output" not in lab.must("jupyter_list_comments")["threads"][0]
    lab.js(
        "nb.model.cells.get(1).outputs.set(0, "
        "{ output_type: 'stream', name: 'stdout', text: 'the mean is 3.0\\n' })"
    )
    [thread] = lab.must("jupyter_list_comments")["threads"]
    assert (thread["threadId"], thread["output"]) == (on_output, "changed")
    person(lab, "notebook:clear-cell-output", at=1)
    [thread] = lab.must("jupyter_list_comments")["threads"]
    assert (thread["output"], thread["state"]) == ("gone", "orphaned")
