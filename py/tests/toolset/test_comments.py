"""Threads through the tools: what an agent sees of people's comments and what they see of its own."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest
from desk import Desk, Payload
from pywebmcp import jsontext
from pywebmcp.comments.model import MAX_MESSAGE, MAX_TEXT, MAX_THREADS
from pywebmcp.edits import source_hash
from pywebmcp.server import ToolServer
from pywebmcp.settings import Settings
from pywebmcp.testing import code, counter, markdown, notebook, result, stream
from pywebmcp.toolset import TOOLS

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)
SOURCE = "total = sum(values)\nmean = total / len(values)"


async def desk(*cells: Any, settings: Settings | None = None, **more: Any) -> Desk:
    """A desk with an open notebook, where it is always the same time."""
    made = Desk(*(cells or (code(SOURCE, "a"), markdown("# Title", "b"))), **more)
    made.server = ToolServer(
        made.frontend, TOOLS, settings=settings, new_id=counter("t"), clock=lambda: NOW
    )
    await made.open()
    return made


async def comment(at: Desk, message: str = "why?", **anchor: Any) -> str:
    anchor = {"kind": "cell", "cellId": "a"} | anchor
    answer = await at.ok("jupyter_create_comment", anchor=anchor, message=message)
    assert set(answer) == {"success", "threadId"}
    return str(answer["threadId"])


def own(at: Desk, path: str = "a.ipynb") -> Any:
    live = at.frontend.notebook(path)
    assert live is not None
    return live.metadata().get("pywebmcp")


def put(at: Desk, *entries: Any) -> None:
    """Threads as a person left them."""
    live = at.frontend.notebook()
    assert live is not None
    live.set_metadata("pywebmcp", {"comments": {"version": 1, "threads": [*entries]}})


def said(thread_id: str, *messages: str, cell: str = "a", status: str | None = None) -> Payload:
    comments: list[Payload] = [
        {
            "author": {"kind": "person", "name": "Ada"},
            "created": "2026-01-01T00:00:00Z",
            "message": m,
        }
        for m in messages
    ]
    if status:
        comments[-1]["status"] = status
    return {"id": thread_id, "anchor": {"kind": "cell", "cellId": cell}, "comments": comments}


async def listed(at: Desk, **arguments: Any) -> list[Payload]:
    answer = await at.ok("jupyter_list_comments", **arguments)
    threads: list[Payload] = answer["threads"]
    return threads


async def test_a_notebook_without_threads() -> None:
    at = await desk()
    assert await at.ok("jupyter_list_comments") == {"success": True, "threads": []}


async def test_a_comment_is_stored_as_the_agents_and_listed() -> None:
    at = await desk()
    thread_id = await comment(at, "why?")
    assert await listed(at) == [
        {
            "threadId": thread_id,
            "cellId": "a",
            "index": 0,
            "comments": [{"by": "agent", "at": "2026-03-04T05:06:07Z", "message": "why?"}],
        }
    ]
    assert own(at)["comments"]["threads"][0]["comments"][0]["author"] == {"kind": "agent"}


async def test_a_comment_on_text_says_which_and_where_it_is_now() -> None:
    at = await desk()
    await comment(at, kind="source-range", text="sum(values)")
    live = at.frontend.notebook()
    assert live is not None
    [thread] = await listed(at)
    assert (thread["text"], thread["line"], "state" in thread) == ("sum(values)", 0, False)
    live.replace_text(0, 0, 0, "import math\n")
    [thread] = await listed(at)
    assert (thread["line"], thread["state"]) == (1, "moved")
    live.replace_text(0, 12, 31, "total = 0")
    [thread] = await listed(at)
    assert (thread["cellId"], thread["state"], "line" in thread) == ("a", "orphaned", False)
    live.delete_cell(0)
    [thread] = await listed(at)
    assert "cellId" not in thread
    assert thread["text"] == "sum(values)"


async def test_a_selection_chooses_among_equal_texts() -> None:
    at = await desk()
    selection = {"start": {"line": 1, "column": 19}, "end": {"line": 1, "column": 25}}
    thread_id = await comment(at, kind="source-range", selection=selection)
    thread = await at.ok("jupyter_list_comments", threadId=thread_id)
    assert (thread["text"], thread["selection"]) == ("values", selection)
    await comment(at, kind="source-range", selection=selection, text="values")


async def test_a_comment_on_an_output_says_whether_it_changed() -> None:
    at = await desk(code("x", "a", outputs=[stream("hi\n"), result({"image/png": "aGk="})]))
    await comment(at, kind="output", outputIndex=1)
    [thread] = await listed(at)
    assert (thread["outputIndex"], thread["mimeType"]) == (1, "image/png")
    assert "output" not in thread
    live = at.frontend.notebook()
    assert live is not None
    live.content[0].outputs[1] = result({"image/png": "b3RoZXI="})
    [thread] = await listed(at)
    assert thread["output"] == "changed"
    live.content[0].outputs.clear()
    [thread] = await listed(at)
    assert (thread["output"], thread["state"]) == ("gone", "orphaned")


async def test_the_only_output_needs_no_index() -> None:
    at = await desk(code("x", "a", outputs=[stream("hi\n")]))
    await comment(at, kind="output")
    [thread] = await listed(at)
    assert thread["mimeType"] == "application/vnd.jupyter.stdout"


async def test_one_thread_comes_whole_and_with_its_cell() -> None:
    at = await desk()
    put(at, said("t1", *(f"{n}{'m' * 2000}" for n in range(8))))
    thread = await at.ok("jupyter_list_comments", threadId="t1")
    assert [len(each["message"]) for each in thread["comments"]] == [2001] * 8
    assert thread["comments"][0] == {
        "by": "person",
        "name": "Ada",
        "at": "2026-01-01T00:00:00Z",
        "message": "0" + "m" * 2000,
    }
    assert thread["cell"] == {
        "id": "a",
        "index": 0,
        "type": "code",
        "sourceHash": source_hash(SOURCE),
        "source": SOURCE,
    }


async def test_in_a_list_long_threads_are_shortened() -> None:
    at = await desk()
    put(at, said("t1", *(f"{n}{'m' * 2000}" for n in range(8))))
    [thread] = await listed(at)
    assert thread["omittedComments"] == 5
    assert [each["message"][0] for each in thread["comments"]] == ["0", "6", "7"]
    assert all("characters omitted" in each["message"] for each in thread["comments"])


async def test_open_threads_are_the_default() -> None:
    at = await desk()
    put(at, said("t1", "a"), said("t2", "b", status="resolved"), said("t3", "c", status="open"))
    for status, expected in (
        ("open", ["t1", "t3"]),
        ("resolved", ["t2"]),
        ("all", ["t1", "t2", "t3"]),
    ):
        assert [each["threadId"] for each in await listed(at, status=status)] == expected
    assert [each["threadId"] for each in await listed(at)] == ["t1", "t3"]
    [thread] = await listed(at, status="resolved")
    assert thread["status"] == "resolved"


async def test_the_threads_of_the_current_cell() -> None:
    at = await desk()
    put(at, said("t1", "a", cell="a"), said("t2", "b", cell="b"), said("t3", "c", cell="gone"))
    at.person.click(1)
    assert [each["threadId"] for each in await listed(at, scope="current-cell")] == ["t2"]
    at.frontend.files.write("b.ipynb", notebook("1"))
    at.person.open("b.ipynb")
    await at.fail(
        "INVALID_ARGUMENT", "jupyter_list_comments", scope="current-cell", notebookPath="a.ipynb"
    )


async def test_a_list_goes_on_where_it_ended() -> None:
    at = await desk(settings=Settings(max_result_length=4000))
    put(at, *(said(f"t{n}", f"{n} " + "m" * 300) for n in range(40)))
    seen: list[str] = []
    offset = 0
    while True:
        answer = await at.ok("jupyter_list_comments", offset=offset)
        assert jsontext.length(jsontext.dumps(answer)) <= 4000
        assert "truncated" not in answer
        seen += [each["threadId"] for each in answer["threads"]]
        if "nextOffset" not in answer:
            break
        assert answer["total"] == 40
        assert answer["nextOffset"] == len(seen) > offset
        offset = answer["nextOffset"]
    assert seen == [f"t{n}" for n in range(40)]
    answer = await at.ok("jupyter_list_comments", offset=3, limit=2)
    assert [each["threadId"] for each in answer["threads"]] == ["t3", "t4"]
    assert (await at.ok("jupyter_list_comments", offset=99))["threads"] == []


async def test_a_notebook_that_is_not_open_is_read_from_its_file() -> None:
    content = notebook(code(SOURCE, "a", outputs=[stream("hi\n")]))
    content["metadata"]["pywebmcp"] = {"comments": {"version": 1, "threads": [said("t1", "m")]}}
    at = await desk(files={"b.ipynb": content, "note.txt": "x"})
    [thread] = await listed(at, notebookPath="b.ipynb")
    assert thread["cellId"] == "a"
    assert at.frontend.notebook("b.ipynb") is None
    await at.fail("NOTEBOOK_NOT_FOUND", "jupyter_list_comments", notebookPath="note.txt")
    await at.fail("FILE_NOT_FOUND", "jupyter_list_comments", notebookPath="no.ipynb")
    await at.fail(
        "NOTEBOOK_NOT_FOUND",
        "jupyter_reply_comment",
        threadId="t1",
        message="m",
        notebookPath="b.ipynb",
    )


async def test_what_cannot_be_read_is_counted() -> None:
    at = await desk()
    put(at, said("t1", "m"), {"id": "poll"}, 7)
    assert (await at.ok("jupyter_list_comments"))["unreadable"] == 2
    live = at.frontend.notebook()
    assert live is not None
    live.set_metadata("pywebmcp", "something else")
    assert await listed(at) == []
    await at.fail(
        "NOTEBOOK_ACCESS_DENIED",
        "jupyter_create_comment",
        anchor={"kind": "cell", "cellId": "a"},
        message="m",
    )
    assert live.metadata()["pywebmcp"] == "something else"


async def test_reply_resolve_reopen() -> None:
    at = await desk()
    thread_id = await comment(at)
    assert await at.ok("jupyter_reply_comment", threadId=thread_id, message="so") == {
        "success": True
    }
    await at.ok("jupyter_reply_comment", threadId=thread_id, message="done", status="resolved")
    assert await listed(at) == []
    [thread] = await listed(at, status="all")
    assert [each["message"] for each in thread["comments"]] == ["why?", "so", "done"]
    assert await at.ok("jupyter_reply_comment", threadId=thread_id, message="by the way") == {
        "success": True,
        "status": "resolved",
    }
    await at.ok("jupyter_reply_comment", threadId=thread_id, status="open")
    [thread] = await listed(at)
    assert thread["comments"][-1] == {"by": "agent", "at": "2026-03-04T05:06:07Z", "status": "open"}


async def test_resolving_a_resolved_thread_says_so_and_changes_nothing() -> None:
    at = await desk()
    thread_id = await comment(at)
    await at.ok("jupyter_reply_comment", threadId=thread_id, status="resolved")
    before = own(at)
    answer = await at.ok("jupyter_reply_comment", threadId=thread_id, status="resolved")
    assert answer["changed"] is False
    assert "resolved already" in answer["note"]
    assert own(at) == before
    answer = await at.ok(
        "jupyter_reply_comment", threadId=thread_id, status="resolved", message="really"
    )
    assert "changed" not in answer
    assert "message was added" in answer["note"]
    assert own(at)["comments"]["threads"][0]["comments"][-1]["message"] == "really"


async def test_focus_shows_the_range_the_cell_or_says_that_it_is_gone() -> None:
    at = await desk()
    on_text = await comment(at, kind="source-range", text="sum(values)")
    on_cell = await comment(at, cellId="b")
    await at.ok("jupyter_focus_comment", threadId=on_cell)
    assert (await at.ok("jupyter_get_context"))["focus"]["activeCellId"] == "b"
    answer = await at.ok("jupyter_focus_comment", threadId=on_text)
    assert (answer["cellId"], answer["line"]) == ("a", 0)
    focus = (await at.ok("jupyter_get_context"))["focus"]
    assert (focus["activeCellId"], focus["selectedText"]) == ("a", "sum(values)")
    live = at.frontend.notebook()
    assert live is not None
    live.replace_text(0, 0, 19, "total = 0")
    assert (await at.ok("jupyter_focus_comment", threadId=on_text))["state"] == "orphaned"
    live.delete_cell(0)
    await at.fail("COMMENT_ANCHOR_STALE", "jupyter_focus_comment", threadId=on_text)


@pytest.mark.parametrize(
    "tool", ["jupyter_list_comments", "jupyter_reply_comment", "jupyter_focus_comment"]
)
async def test_an_unknown_thread_is_said(tool: str) -> None:
    at = await desk()
    more = {"message": "m"} if "reply" in tool else {}
    failed = await at.fail("COMMENT_NOT_FOUND", tool, threadId="none", **more)
    assert "jupyter_list_comments" in failed["error"]


@pytest.mark.parametrize(
    ("anchor", "code_"),
    [
        ({"kind": "cell"}, "INVALID_ARGUMENT"),
        ({"cellId": "a"}, "INVALID_ARGUMENT"),
        ({"kind": "line", "cellId": "a"}, "INVALID_ARGUMENT"),
        ({"kind": "cell", "cellId": "gone"}, "CELL_NOT_FOUND"),
        ({"kind": "cell", "cellId": "a", "text": "sum"}, "INVALID_ARGUMENT"),
        ({"kind": "cell", "cellId": "a", "outputIndex": 0}, "INVALID_ARGUMENT"),
        ({"kind": "cell", "cellId": "a", "line": 0}, "UNKNOWN_ARGUMENT"),
        ({"kind": "source-range", "cellId": "a"}, "INVALID_ARGUMENT"),
        ({"kind": "source-range", "cellId": "a", "text": "values"}, "INVALID_ARGUMENT"),
        ({"kind": "source-range", "cellId": "a", "text": " "}, "INVALID_ARGUMENT"),
        ({"kind": "source-range", "cellId": "a", "text": "max"}, "COMMENT_ANCHOR_STALE"),
        ({"kind": "source-range", "cellId": "c", "text": "x" * (MAX_TEXT + 1)}, "INVALID_ARGUMENT"),
        ({"kind": "output", "cellId": "a"}, "OUTPUT_NOT_FOUND"),
        ({"kind": "output", "cellId": "b", "outputIndex": 0}, "OUTPUT_NOT_FOUND"),
        ({"kind": "output", "cellId": "c"}, "INVALID_ARGUMENT"),
        ({"kind": "output", "cellId": "c", "outputIndex": 2}, "OUTPUT_NOT_FOUND"),
    ],
)
async def test_an_anchor_that_does_not_fit_is_refused(anchor: Payload, code_: str) -> None:
    twice = [stream("a"), result({"text/plain": "b"})]
    at = await desk(
        code(SOURCE, "a"), markdown("b", "b"), code("x" * (MAX_TEXT + 1), "c", outputs=twice)
    )
    await at.fail(code_, "jupyter_create_comment", anchor=anchor, message="m")
    assert own(at) is None


@pytest.mark.parametrize(
    ("start", "end", "text", "code_"),
    [
        ((0, 0), (0, 0), None, "INVALID_ARGUMENT"),
        ((0, 5), (0, 0), None, "INVALID_ARGUMENT"),
        ((0, 0), (9, 0), None, "INVALID_ARGUMENT"),
        ((0, 0), (0, 99), None, "INVALID_ARGUMENT"),
        ((0, 0), (0, 5), "other", "COMMENT_ANCHOR_STALE"),
    ],
)
async def test_a_selection_that_does_not_fit_is_refused(
    start: tuple[int, int], end: tuple[int, int], text: str | None, code_: str
) -> None:
    at = await desk()
    places = {
        name: {"line": place[0], "column": place[1]}
        for name, place in (("start", start), ("end", end))
    }
    anchor = {"kind": "source-range", "cellId": "a", "selection": places, "text": text}
    failed = await at.fail(code_, "jupyter_create_comment", anchor=anchor, message="m")
    if code_ == "COMMENT_ANCHOR_STALE":
        assert (failed["source"], failed["sourceHash"]) == (SOURCE, source_hash(SOURCE))


async def test_a_cell_that_cannot_be_told_from_its_copy_gets_no_comment() -> None:
    at = await desk(code("x", "a"), code("x", "a"), code("y", "a"))
    anchor = {"kind": "cell", "cellId": "@0"}
    await at.fail("INVALID_ARGUMENT", "jupyter_create_comment", anchor=anchor, message="m")
    thread_id = await comment(at, cellId="@2")
    assert (await at.ok("jupyter_list_comments", threadId=thread_id))["cell"]["id"] == "@2"


@pytest.mark.parametrize("message", ["", " \n", "m" * (MAX_MESSAGE + 1)])
async def test_a_message_that_is_empty_or_too_long_is_refused(message: str) -> None:
    at = await desk()
    thread_id = await comment(at)
    before = own(at)
    anchor = {"kind": "cell", "cellId": "a"}
    await at.fail("INVALID_ARGUMENT", "jupyter_create_comment", anchor=anchor, message=message)
    await at.fail("INVALID_ARGUMENT", "jupyter_reply_comment", threadId=thread_id, message=message)
    await at.fail("INVALID_ARGUMENT", "jupyter_reply_comment", threadId=thread_id)
    assert own(at) == before


async def test_there_is_a_limit_to_the_number_of_threads() -> None:
    at = await desk()
    put(at, *(said(f"t{n}", "m") for n in range(MAX_THREADS)))
    failed = await at.fail(
        "INVALID_ARGUMENT",
        "jupyter_create_comment",
        anchor={"kind": "cell", "cellId": "a"},
        message="m",
    )
    assert str(MAX_THREADS) in failed["error"]


async def test_a_new_thread_has_an_id_of_its_own() -> None:
    at = await desk()
    put(at, said("t-1", "m"), said("t-2", "m"))
    assert await comment(at) == "t-3"


async def test_the_context_counts_threads() -> None:
    at = await desk()
    assert (await at.ok("jupyter_get_context"))["review"] == {"open": 0, "resolved": 0}
    put(at, said("t1", "a"), said("t2", "b", status="resolved"), said("t3", "c"))
    assert (await at.ok("jupyter_get_context"))["review"] == {"open": 2, "resolved": 1}


@pytest.mark.parametrize("odd", [None, 3, [], {"comments": 3}, {"comments": {"threads": 3}}])
async def test_the_context_of_odd_metadata(odd: Any) -> None:
    at = await desk()
    live = at.frontend.notebook()
    assert live is not None
    live.set_metadata("pywebmcp", odd)
    assert (await at.ok("jupyter_get_context"))["review"] == {"open": 0, "resolved": 0}


async def test_other_metadata_stays_as_it_is_and_the_file_keeps_threads() -> None:
    """Several extensions share a notebook's metadata (cmt-01)."""
    theirs = {
        "kernelspec": {"name": "python", "display_name": "Python"},
        "comments": {"owner": "another extension"},
        "zz_last": 1,
    }
    cells = [
        code("a = 1", "a", metadata={"comments": [{"id": "ext-1", "text": "theirs"}]}),
        markdown("text", "b", metadata={"x-future": {"v": 9, "unknown": [1, {"deep": None}]}}),
    ]
    content = notebook(*copy.deepcopy(cells), metadata=copy.deepcopy(theirs))
    at = await desk(files={"b.ipynb": content})
    at.person.open("b.ipynb")
    assert await listed(at) == []
    thread_id = await comment(at)
    await at.ok("jupyter_reply_comment", threadId=thread_id, message="default", status="resolved")
    await at.ok("jupyter_save_notebook")
    saved = at.frontend.files.notebook("b.ipynb")
    assert list(saved["metadata"]) == [*theirs, "pywebmcp"]
    assert {key: saved["metadata"][key] for key in theirs} == theirs
    assert [cell["metadata"] for cell in saved["cells"]] == [cell["metadata"] for cell in cells]
    at.person.close("b.ipynb")
    at.person.open("b.ipynb")
    [thread] = await listed(at, status="all")
    assert (thread["threadId"], thread["status"]) == (thread_id, "resolved")


async def test_a_comment_leaves_the_persons_undo_and_typing_alone() -> None:
    at = await desk()
    at.person.click(0, 0)
    at.person.type("# ")
    await comment(at, kind="source-range", text="sum(values)")
    at.person.type("x")
    assert at.sources()[0] == "# x" + SOURCE
    at.person.undo()
    assert at.sources()[0] == SOURCE
    [thread] = await listed(at)
    assert thread["text"] == "sum(values)"


async def test_threads_follow_moved_and_deleted_cells_and_changes_of_type() -> None:
    at = await desk()
    await comment(at, kind="source-range", text="sum(values)")
    live = at.frontend.notebook()
    assert live is not None
    live.move_cell(0, 1)
    assert [(each["index"], "state" in each) for each in await listed(at)] == [(1, False)]
    live.change_type(1, "markdown")
    assert [(each["index"], "state" in each) for each in await listed(at)] == [(1, False)]
    cell = live.cells(1, 2)[0]
    live.delete_cell(1)
    assert [each["state"] for each in await listed(at)] == ["orphaned"]
    live.insert_cell(0, cell)
    assert [(each["index"], "state" in each) for each in await listed(at)] == [(0, False)]
