"""Nothing of a hidden cell or notebook is in any result, however any tool is called."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from desk import Abort, Desk
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.access import set_level
from pywebmcp.edits import source_hash
from pywebmcp.settings import Settings
from pywebmcp.testing import notebook, run
from pywebmcp.toolset import TOOLS
from secrets_book import KINDS, LEVELS, MARK, book, cell, mixed

PATHS = [None, "a.ipynb", "closed.ipynb", "old.ipynb", "twins.ipynb"]
HIDDEN_ID = f"{MARK}-1"
HIDDEN_THREAD = f"{MARK}-t1-0"


def twins() -> dict[str, Any]:
    """A hidden and a visible cell with one id, and two visible ones with another."""
    cells = [
        cell(0, "code", secret=False, cell_id="twin"),
        cell(1, "code", secret=True, cell_id="twin"),
        cell(2, "code", secret=False, cell_id="pair"),
        cell(3, "code", secret=False, cell_id="pair"),
    ]
    return book(cells, ["write", "none", "write", "write"], threads=False)


SECRET = book([cell(0, "code", secret=True)], ["write"], level="none")
FILES = {
    "a.ipynb": mixed(),
    "closed.ipynb": mixed(),
    "old.ipynb": mixed(minor=4),
    "twins.ipynb": twins(),
    "secret.ipynb": SECRET,
    "shut.ipynb": SECRET,
    "copy.json": json.dumps(mixed()),
    "notes.txt": "notes",
}


async def desk() -> Desk:
    """The mixed notebook open and focused on hidden things; the others beside it."""
    made = Desk(files=FILES, settings=Settings(execution_timeout=5))
    await made.open("twins.ipynb")
    await made.open("secret.ipynb")
    await made.open("old.ipynb")
    await made.open("a.ipynb")
    made.person.select(1, 0, 9)
    made.person.select_output(f"{MARK} out")
    return made


def hidden_names(path: str | None) -> list[str]:
    return {"twins.ipynb": ["@1"], "old.ipynb": ["@1", "@3"]}.get(
        path or "", [HIDDEN_ID, f"{MARK}-3", "@1", "@6"]
    )


def calls() -> list[tuple[str, dict[str, Any]]]:
    """Every tool, in every way."""
    found: list[tuple[str, dict[str, Any]]] = [("jupyter_get_context", {})]

    def add(tool: str, **arguments: Any) -> None:
        found.append((tool, {key: value for key, value in arguments.items() if value is not None}))

    for path in PATHS:
        for form, outputs, sources in itertools.product(
            ["json", "markdown"], [False, True], [False, True]
        ):
            for only in (None, "error", "code", "markdown"):
                for search in (None, "needle", MARK, "print"):
                    add(
                        "jupyter_get_cells",
                        notebookPath=path,
                        format=form,
                        includeOutputs=outputs,
                        includeSource=sources,
                        only=only,
                        search=search,
                    )
        add("jupyter_get_cells", notebookPath=path, startIndex=1, endIndex=4)
        add("jupyter_run_cells", notebookPath=path, startIndex=0, endIndex=2)
        add("jupyter_run_cells", notebookPath=path, startIndex=0)
        add("jupyter_run_cells", notebookPath=path)
        add("jupyter_run_cells", notebookPath=path, startIndex=0, endIndex=2, stopOnError=False)
        for index in range(8):
            add("jupyter_read_output", notebookPath=path, cellIndex=index)
            for output in range(5):
                add("jupyter_read_output", notebookPath=path, cellIndex=index, outputIndex=output)
                add(
                    "jupyter_read_output",
                    notebookPath=path,
                    cellIndex=index,
                    outputIndex=output,
                    offset=2,
                    limit=3,
                )
        for name in [*hidden_names(path), "plain-0", "twin", "pair", "@0"]:
            digest = source_hash("something else")
            add("jupyter_get_cells", notebookPath=path, cellIds=[name], includeOutputs=True)
            add("jupyter_read_output", notebookPath=path, cellId=name)
            add("jupyter_read_output", notebookPath=path, cellId=name, outputIndex=0)
            add("jupyter_focus_cell", notebookPath=path, cellId=name)
            add(
                "jupyter_focus_cell",
                notebookPath=path,
                cellId=name,
                cursor={"line": 9, "column": 0},
            )
            add("jupyter_run_cells", notebookPath=path, cellIds=[name])
            add("jupyter_delete_cell", notebookPath=path, cellId=name, expectedSourceHash=digest)
            add(
                "jupyter_update_cell",
                notebookPath=path,
                cellId=name,
                source="x",
                expectedSourceHash=digest,
            )
            add(
                "jupyter_update_cell",
                notebookPath=path,
                cellId=name,
                edits=[{"oldText": "absent", "newText": "x"}],
            )
            add(
                "jupyter_update_cell",
                notebookPath=path,
                cellId=name,
                edits=[{"oldText": "needle", "newText": "x"}],
            )
            for cell_type in ("raw", "markdown", "code"):
                add(
                    "jupyter_update_cell",
                    notebookPath=path,
                    cellId=name,
                    cellType=cell_type,
                    expectedSourceHash=digest,
                )
            add("jupyter_update_cell", notebookPath=path, cellId=name, index=1)
            add("jupyter_insert_cell", notebookPath=path, referenceCellId=name, source="1")
            for kind in ("cell", "source-range", "output"):
                add(
                    "jupyter_create_comment",
                    notebookPath=path,
                    anchor={"kind": kind, "cellId": name},
                    message="hello",
                )
            add(
                "jupyter_create_comment",
                notebookPath=path,
                anchor={"kind": "source-range", "cellId": name, "text": "absent"},
                message="hello",
            )
        for status in ("open", "all", "resolved"):
            for scope in ("notebook", "current-cell"):
                add("jupyter_list_comments", notebookPath=path, status=status, scope=scope)
        for thread in (HIDDEN_THREAD, "plain-t0-0", "plain-t0-1", "plain-t0-2"):
            add("jupyter_list_comments", notebookPath=path, threadId=thread)
            add("jupyter_focus_comment", notebookPath=path, threadId=thread)
            add("jupyter_reply_comment", notebookPath=path, threadId=thread, message="hello")
        add("jupyter_insert_cell", notebookPath=path, source="1", activate=True)
        add("jupyter_save_notebook", notebookPath=path)
        add("jupyter_run_code", notebookPath=path, code="1")
        add("jupyter_kernel_action", notebookPath=path, action="restart")
        add("jupyter_kernel_action", notebookPath=path, action="interrupt")
    for path in ("", "a.ipynb", "secret.ipynb", "shut.ipynb", "copy.json", "notes.txt"):
        add("jupyter_get_contents", path=path)
        add("jupyter_get_contents", path=path, recursive=True, limit=3)
        add("jupyter_write_file", path=path or "new.txt", content="x")
        add("jupyter_write_file", path=path or "new.txt", content="x", expectedHash="0")
    for path in ("a.ipynb", "closed.ipynb", "secret.ipynb", "shut.ipynb"):
        for name in (None, HIDDEN_ID, "plain-0", "@1"):
            add("jupyter_open_notebook", path=path, cellId=name)
        add("jupyter_open_notebook", path=path, create=True)
    for path in ("secret.ipynb", "shut.ipynb"):
        add("jupyter_get_cells", notebookPath=path)
        add("jupyter_read_output", notebookPath=path, cellIndex=0)
        add("jupyter_save_notebook", notebookPath=path)
        add("jupyter_run_cells", notebookPath=path, startIndex=0)
        add("jupyter_run_code", notebookPath=path, code="1")
        add("jupyter_list_comments", notebookPath=path)
        add("jupyter_insert_cell", notebookPath=path, source="1")
        add("jupyter_kernel_action", notebookPath=path, action="restart")
    add("jupyter_list_commands")
    add("jupyter_execute_command", command_id="app:echo")
    add("jupyter_execute_command", command_id="absent")
    add("jupyter_answer_dialog", button=0)
    add("jupyter_wait_for_result", pendingId="call-1")
    return found


CALLS = calls()
READ_ONLY = {each.name for each in TOOLS if each.read_only}


def said(payload: Any, arguments: Any) -> str:
    """A result without what its caller said first."""
    text = json.dumps(payload)
    words = [value for value in _strings(arguments) if MARK in value]
    for word in sorted(words, key=len, reverse=True):
        # A message names the id, thread or text that the caller gave.
        text = text.replace(json.dumps(word)[1:-1], "…")
    return text


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [found for each in value.values() for found in _strings(each)]
    if isinstance(value, list):
        return [found for each in value for found in _strings(each)]
    return []


def test_every_tool_is_called() -> None:
    assert {tool for tool, _ in CALLS} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("tool", sorted({tool for tool, _ in CALLS}))
async def test_no_marker_is_in_any_result(tool: str) -> None:
    made = None
    for name, arguments in CALLS:
        if name != tool:
            continue
        if made is None or tool not in READ_ONLY:
            made = await desk()
            made.frontend.registry.add("app:echo", _echo(made))
        payload = await made.call(tool, **arguments)
        assert MARK not in said(payload, arguments), (arguments, payload)
        assert payload.get("code") != "INTERNAL_ERROR", (arguments, payload)
        context = await made.call("jupyter_get_context")
        assert MARK not in said(context, arguments), (arguments, context)


def _echo(made: Desk) -> Any:
    async def run(args: dict[str, Any]) -> Any:
        live = made.frontend.notebook("a.ipynb")
        assert live is not None
        return live.cells(0, 9, outputs=True)

    return run


def test_the_markers_are_found_where_nothing_is_hidden() -> None:
    """The test can fail: without levels the same calls show every kind of marker."""

    async def look() -> str:
        made = await desk()
        live = made.frontend.notebook("a.ipynb")
        assert live is not None
        for index in range(len(LEVELS)):
            set_level(live, index, "write")
        texts = [
            await made.call("jupyter_get_context"),
            await made.call("jupyter_get_cells", includeOutputs=True),
            await made.call("jupyter_list_comments", status="all"),
        ]
        return json.dumps(texts)

    text = run(look())
    for kind in (f"{MARK}-1", f"{MARK} out", f"{MARK} failed", f"{MARK} comment", f"# {MARK}"):
        assert kind in text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(tool, arguments) for tool, arguments in CALLS if HIDDEN_ID in _strings(arguments)],
)
async def test_a_hidden_id_is_answered_like_one_that_does_not_exist(
    tool: str, arguments: dict[str, Any]
) -> None:
    hidden = await (await desk()).call(tool, **arguments)
    absent = json.loads(json.dumps(arguments).replace(HIDDEN_ID, "qqq-9"))
    other = await (await desk()).call(tool, **absent)
    assert json.dumps(hidden).replace(HIDDEN_ID, "qqq-9") == json.dumps(other)


@pytest.mark.parametrize("path", ["secret.ipynb", "shut.ipynb"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("jupyter_get_cells", {}),
        ("jupyter_read_output", {"cellIndex": 0}),
        ("jupyter_run_cells", {"startIndex": 0}),
        ("jupyter_run_code", {"code": "1"}),
        ("jupyter_save_notebook", {}),
        ("jupyter_list_comments", {}),
        ("jupyter_insert_cell", {"source": "x"}),
        ("jupyter_kernel_action", {"action": "restart"}),
    ],
)
async def test_a_hidden_notebook_is_answered_like_one_that_does_not_exist(
    tool: str, arguments: dict[str, Any], path: str
) -> None:
    hidden = await (await desk()).call(tool, notebookPath=path, **arguments)
    other = await (await desk()).call(tool, notebookPath="qqq.ipynb", **arguments)
    assert json.dumps(hidden).replace(path, "qqq.ipynb") == json.dumps(other)


async def test_a_pending_run_shows_nothing_of_a_cell_hidden_meanwhile() -> None:
    slow = f"import asyncio\nprint('{MARK}')\nawait asyncio.sleep(30)\nprint('{MARK} end')"
    made = Desk(slow, f"print('{MARK} second')", settings=Settings(execution_timeout=5))
    await made.open()
    signal = Abort()
    calling = asyncio.ensure_future(made.call("jupyter_run_cells", signal, startIndex=0))
    await asyncio.sleep(1)
    live = made.frontend.notebook()
    assert live is not None
    set_level(live, 0, "none")
    set_level(live, 1, "none")
    pending = await calling
    assert pending["status"] == "pending"
    assert MARK not in json.dumps(pending)
    await asyncio.sleep(30)
    done = await made.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert MARK not in json.dumps(done)
    assert live.content[1].execution_count is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["code", "markdown", "raw"]),
            st.sampled_from(["write", "read", "none"]),
            st.sampled_from([None, "twin", "pair"]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([4, 5]),
    st.lists(
        st.tuples(
            st.sampled_from(CALLS),
            st.integers(0, 6),
            st.sampled_from(["write", "read", "none", None]),
        ),
        max_size=8,
    ),
)
def test_no_marker_leaves_whatever_the_levels_are(
    plan: list[tuple[str, Any, str | None]],
    minor: int,
    steps: list[tuple[tuple[str, dict[str, Any]], int, Any]],
) -> None:
    async def play() -> None:
        cells = [cell(at, kind, lev == "none", name) for at, (kind, lev, name) in enumerate(plan)]
        levels = [level for _, level, _ in plan]
        made = Desk(
            files={
                "a.ipynb": book(cells, levels, minor=minor, threads=minor == 5),
                "closed.ipynb": book(cells, levels, minor=minor),
                "old.ipynb": notebook("1"),
                "twins.ipynb": twins(),
            },
            settings=Settings(execution_timeout=5),
        )
        await made.open()
        live = made.frontend.notebook()
        assert live is not None
        for (tool, arguments), index, level in steps:
            if tool == "jupyter_execute_command" or MARK in json.dumps(arguments):
                continue
            if level is not None and index < len(live.content):
                secret = MARK in json.dumps(live.content[index].saved(with_id=True))
                if not secret:
                    set_level(live, index, level)
            payload = await made.call(tool, **arguments)
            assert MARK not in json.dumps(payload), (tool, arguments)
            if made.frontend.notebook("a.ipynb") is None:
                break

    run(play())


def test_the_kinds_and_levels_go_together() -> None:
    assert len(KINDS) == len(LEVELS)
