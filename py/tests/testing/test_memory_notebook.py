"""What notebooks, files and the person in memory do beyond the contract."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.errors import Code, ToolError
from pywebmcp.testing import (
    MemoryFrontend,
    code,
    counter,
    error,
    markdown,
    notebook,
    raw,
    result,
    stream,
)
from pywebmcp.testing.cells import MemoryCell


async def test_a_notebook_without_a_kernel_does_not_run():
    for start in ("none", "select"):
        frontend = MemoryFrontend({"a.ipynb": notebook("1")}, kernel_start=start)
        model = await frontend.open_notebook("a.ipynb")
        assert model.kernel() is None
        with pytest.raises(ToolError) as caught:
            await model.run_cell(0)
        assert caught.value.code == Code.KERNEL_UNAVAILABLE
        frontend.person.choose_kernel("python")
        assert (await model.run_cell(0)).status == "ok"
        frontend.person.shut_down_kernel()
        assert model.kernel() is None


async def test_a_kernel_is_the_named_one_and_outlives_its_tab():
    spec = {"kernelspec": {"name": "other"}}
    frontend = MemoryFrontend(
        {"a.ipynb": notebook("x = 1", "x", metadata=spec)}, kernels=("python", "other", "third")
    )
    model = await frontend.open_notebook("a.ipynb")
    kernel = await model.ready_kernel()
    assert kernel.state()["name"] == "other"
    await model.run_cell(0)
    frontend.person.close("a.ipynb")
    model = await frontend.open_notebook("a.ipynb")
    assert model.kernel() is kernel
    assert (await model.run_cell(1)).outputs[0]["data"] == {"text/plain": "1"}
    await frontend.open_notebook("a.ipynb", kernel="other")
    assert model.kernel() is kernel
    await frontend.open_notebook("a.ipynb", kernel="third")
    assert (await model.ready_kernel()).state()["name"] == "third"
    assert kernel.state()["status"] == "dead"
    assert (await model.run_cell(1)).status == "error"


async def test_a_format_before_4_opens_as_one_empty_cell():
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}
    frontend = MemoryFrontend({"old.ipynb": old})
    model = await frontend.open_notebook("old.ipynb")
    (cell,) = model.cells(0, 9)
    assert (cell["cell_type"], cell["source"]) == ("code", "")
    assert await frontend.read_notebook("old.ipynb") == old


async def test_carriage_returns_stay_in_the_file_until_the_cell_is_changed():
    frontend = MemoryFrontend({"a.ipynb": notebook("a\r\nb", "c\rd")})
    model = await frontend.open_notebook("a.ipynb")
    model.replace_text(1, 1, 2, "\n\n")
    await model.save()
    saved = await frontend.read_notebook("a.ipynb")
    assert [cell["source"] for cell in saved["cells"]] == ["a\r\nb", "c\n\nd"]


async def test_attachments_and_unknown_keys_are_saved():
    cell = markdown("![x](attachment:x)") | {"attachments": {"x": {"image/png": "AA=="}}}
    frontend = MemoryFrontend({"a.ipynb": notebook(cell)})
    model = await frontend.open_notebook("a.ipynb")
    model.replace_text(0, 0, 0, "!")
    await model.save()
    saved = await frontend.read_notebook("a.ipynb")
    assert saved["cells"][0]["attachments"] == {"x": {"image/png": "AA=="}}
    model.change_type(0, "code")
    await model.save()
    assert "attachments" not in (await frontend.read_notebook("a.ipynb"))["cells"][0]


async def test_a_deleted_file_is_saved_again():
    frontend = MemoryFrontend({"a.ipynb": notebook("1")})
    model = await frontend.open_notebook("a.ipynb")
    await frontend.delete("a.ipynb")
    await model.save()
    assert "a.ipynb" in frontend.files


async def test_reverting_forgets_what_was_not_saved():
    frontend = MemoryFrontend({"a.ipynb": notebook("1")})
    model = await frontend.open_notebook("a.ipynb")
    model.replace_text(0, 0, 1, "2")
    frontend.person.edit_file("a.ipynb", notebook("3", "4"))
    revision = model.state()["revision"]
    model.reload()
    assert [cell["source"] for cell in model.cells(0, 9)] == ["3", "4"]
    assert model.state()["revision"] > revision
    assert not model.state()["dirty"]
    await model.save()


async def test_a_persons_keystrokes_join_until_they_pause():
    frontend = MemoryFrontend({"a.ipynb": notebook("")})
    model = await frontend.open_notebook("a.ipynb")
    frontend.person.click(0)
    for key in "abc":
        frontend.person.type(key)
    await asyncio.sleep(1)
    frontend.person.type("d")
    model.replace_text(0, 0, 0, "# ")
    frontend.person.type("e")
    seen = []
    while frontend.person.undo():
        seen.append(model.cells(0, 1)[0]["source"])
    assert seen == ["# abcd", "abcd", "abc", ""]
    while frontend.person.redo():
        seen.append(model.cells(0, 1)[0]["source"])
    assert seen[4:] == ["abc", "abcd", "# abcd", "# abcde"]


async def test_what_the_person_does_shows_in_the_workspace():
    frontend = MemoryFrontend({"a.ipynb": notebook("one\ntwo", "x", raw("y")), "n.txt": "text"})
    person = frontend.person
    person.open("a.ipynb")
    person.select(0, 6, 1)
    person.select_output("42")
    assert frontend.workspace()["focus"] == {
        "activeCellId": "cell-0",
        "selectedCellIds": ["cell-0"],
        "mode": "edit",
        "cursor": {"line": 0, "column": 1},
        "selectedText": "ne\ntw",
        "selectedOutputText": "42",
    }
    person.type("!")
    assert frontend.notebooks["a.ipynb"].cells(0, 1)[0]["source"] == "o!o"
    person.select_output("")
    person.select_cells([2, 1])
    assert frontend.workspace()["focus"] == {
        "activeCellId": "cell-1",
        "selectedCellIds": ["cell-1", "cell-2"],
        "mode": "command",
    }
    person.click(0)
    person.escape()
    with pytest.raises(AssertionError, match="keyboard focus"):
        person.type("x")
    person.open("n.txt")
    assert frontend.workspace() == {
        "directory": "",
        "documents": [
            {"path": "a.ipynb", "type": "notebook", "dirty": True},
            {"path": "n.txt", "type": "file", "dirty": False},
        ],
        "focus": None,
        "notebook": None,
        "kernel": None,
        "own": None,
    }
    assert frontend.notebook() is None
    person.rename("n.txt", "m.txt")
    person.rename("a.ipynb", "b.ipynb")
    person.close("m.txt")
    current = frontend.notebook()
    assert current is not None
    assert current.state()["path"] == "b.ipynb"
    assert (await current.run_cell(1)).status == "error"
    person.close("b.ipynb")
    assert frontend.workspace()["documents"] == []


async def test_files_have_sizes_and_times():
    frontend = MemoryFrontend({"d/ä.txt": "ä\ud800"}, folders=("empty",))
    assert await frontend.entry("d/ä.txt") == {
        "name": "ä.txt",
        "path": "d/ä.txt",
        "type": "file",
        "size": 5,
        "modified": "2026-01-01T00:00:00Z",
    }
    await asyncio.sleep(61)
    frontend.person.edit_file("d/ä.txt", "")
    entry = await frontend.entry("d/ä.txt")
    assert entry is not None
    assert entry.get("modified") == "2026-01-01T00:01:01Z"
    for path in ("", "d", "empty"):
        folder = await frontend.entry(path)
        assert folder is not None
        assert folder["type"] == "directory"


async def test_json_that_is_no_object_is_no_notebook():
    frontend = MemoryFrontend({"a.ipynb": "[1]"})
    with pytest.raises(ToolError, match="no JSON object"):
        await frontend.read_notebook("a.ipynb")


def test_builders_give_the_format():
    built = notebook(code("1", outputs=[error("E", "v")], execution_count=2), markdown("m", "own"))
    assert built == {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "id": "cell-0",
                "cell_type": "code",
                "source": "1",
                "metadata": {},
                "execution_count": 2,
                "outputs": [
                    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["E: v"]}
                ],
            },
            {"id": "own", "cell_type": "markdown", "source": "m", "metadata": {}},
        ],
    }
    assert "id" not in notebook(code("1", "dropped"), minor=4)["cells"][0]
    ids = counter("x")
    assert [ids(), ids()] == ["x-1", "x-2"]


def test_builders_give_what_nbformat_takes(nbformat):
    made = notebook(
        code("1", outputs=[stream("a"), result({"text/plain": "1"}), error("E", "v")]),
        markdown("m"),
        raw("r"),
    )
    nbformat.validate(made)
    nbformat.validate(notebook("1", minor=4))


@given(
    st.text("ab\n\U0001f600", max_size=12),
    st.data(),
    st.text("xy\r\n\U0001f680", max_size=5),
)
def test_an_edit_elsewhere_leaves_the_selection_on_the_same_text(source, data, text):
    places = st.integers(0, len(source))
    start, end = sorted((data.draw(places), data.draw(places)))
    anchor, head = data.draw(places), data.draw(places)
    cell = MemoryCell("c", "code", source, anchor=anchor, head=head)
    selected = cell.selected_text()
    cell.replace(start, end, text)
    assert 0 <= min(cell.anchor, cell.head) <= max(cell.anchor, cell.head) <= len(cell.text)
    low, high = sorted((anchor, head))
    if high <= start or low >= end:
        assert cell.selected_text() == selected
    assert cell.step_back()
    assert cell.text == source
