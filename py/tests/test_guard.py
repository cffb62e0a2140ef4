"""The guard: nothing restricted is like no guard at all, and each level allows what it says."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

import contract
import pytest
from desk import Desk
from pywebmcp import access
from pywebmcp import frontend as protocols
from pywebmcp.access import set_level
from pywebmcp.comments import Comment, Places, Thread
from pywebmcp.comments.model import MAX_THREADS, Author
from pywebmcp.comments.store import read, with_comment, with_thread
from pywebmcp.constants import METADATA_KEY
from pywebmcp.edits import source_hash
from pywebmcp.errors import ToolError
from pywebmcp.guard import GuardedFrontend, GuardedKernel, GuardedNotebook
from pywebmcp.settings import Settings
from pywebmcp.testing import MemoryFrontend, code, markdown, notebook
from test_contract_memory import Adapter

# What these write under our key, only people write.
PEOPLES = {
    "test_access_marks_are_told_by_index_as_they_are_now",
    "test_saving_writes_metadata",
    "test_the_workspace_has_our_own_metadata_of_the_current_notebook",
}
CASES = [case for case in contract.cases() if case.name not in PEOPLES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_without_levels_the_guard_keeps_the_front_ends_contract(case: contract.Case) -> None:
    adapter = Adapter()

    async def provide(files: contract.Files) -> protocols.Frontend:
        adapter.frontend = MemoryFrontend(files)
        return GuardedFrontend(adapter.frontend)

    try:
        await contract.run_case(case, provide, adapter)
    except contract.Skipped as why:
        pytest.skip(str(why))


@pytest.mark.parametrize(
    ("guard", "protocol"),
    [
        (GuardedFrontend, protocols.Frontend),
        (GuardedNotebook, protocols.Notebook),
        (GuardedKernel, protocols.Kernel),
    ],
)
def test_the_guard_decides_about_every_method(guard: type, protocol: type) -> None:
    methods = [
        name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if name[0] != "_"
    ]
    assert methods
    assert [name for name in methods if name not in vars(guard)] == []


async def desk(*cells: Any, levels: dict[int | None, Any], **options: Any) -> tuple[Desk, Any]:
    made = Desk(*cells, **options)
    await made.open()
    live = made.frontend.notebook()
    for index, level in levels.items():
        set_level(live, index, level)  # type: ignore[arg-type]
    return made, live


def edits(cell_id: str, source: str) -> list[tuple[str, dict[str, Any]]]:
    """Every way to change a cell."""
    digest = source_hash(source)
    return [
        ("jupyter_update_cell", {"source": "x", "expectedSourceHash": digest}),
        ("jupyter_update_cell", {"edits": [{"oldText": source, "newText": "x"}]}),
        ("jupyter_update_cell", {"cellType": "markdown"}),
        ("jupyter_update_cell", {"index": 1}),
        ("jupyter_delete_cell", {"expectedSourceHash": digest}),
    ]


@pytest.mark.parametrize(("tool", "arguments"), edits("cell-0", "1"))
async def test_a_cell_to_read_is_not_changed(tool: str, arguments: dict[str, Any]) -> None:
    made, live = await desk("1", "2", levels={0: "read"})
    revision = live.revision
    await made.fail("CELL_ACCESS_DENIED", tool, cellId="cell-0", **arguments)
    assert live.revision == revision


@pytest.mark.parametrize(
    "arguments", [{"cellIds": ["cell-1"]}, {"startIndex": 0}, {"cellIds": ["cell-0", "cell-1"]}]
)
async def test_a_cell_to_read_is_not_run_and_no_other_of_its_call(
    arguments: dict[str, Any],
) -> None:
    made, live = await desk("1", "2", levels={1: "read"})
    await made.fail("CELL_ACCESS_DENIED", "jupyter_run_cells", **arguments)
    assert [cell.execution_count for cell in live.content] == [None, None]


async def test_a_text_cell_to_read_is_rendered_with_the_others() -> None:
    made, _ = await desk("1", markdown("text"), levels={1: "read"})
    assert len((await made.ok("jupyter_run_cells", startIndex=0))["cells"]) == 2


async def test_a_cell_to_read_is_read_and_says_so() -> None:
    made, _ = await desk("1", "2", levels={0: "read"})
    cells = (await made.ok("jupyter_get_cells"))["cells"]
    assert [cell.get("access") for cell in cells] == ["read", None]
    assert cells[0]["source"] == "1"


NOTEBOOK_CHANGES = [
    *[(tool, {"cellId": "cell-0", **arguments}) for tool, arguments in edits("cell-0", "1")],
    ("jupyter_insert_cell", {"source": "x"}),
    ("jupyter_insert_cell", {"source": "x", "referenceCellId": "cell-0"}),
    ("jupyter_save_notebook", {}),
    ("jupyter_run_cells", {"startIndex": 0}),
    ("jupyter_run_cells", {"cellIds": ["cell-0"]}),
    ("jupyter_run_code", {"code": "1"}),
    ("jupyter_kernel_action", {"action": "restart"}),
    ("jupyter_kernel_action", {"action": "interrupt"}),
    ("jupyter_open_notebook", {"path": "a.ipynb", "kernel": "python"}),
]


@pytest.mark.parametrize(("tool", "arguments"), NOTEBOOK_CHANGES)
async def test_a_notebook_to_read_is_not_changed(tool: str, arguments: dict[str, Any]) -> None:
    made, live = await desk("1", "2", levels={None: "read"}, can_interrupt=True)
    revision, generation = live.revision, live.kernel().generation()
    payload = await made.call(tool, **arguments)
    assert payload["code"] in ("NOTEBOOK_ACCESS_DENIED", "CELL_ACCESS_DENIED"), payload
    assert (live.revision, live.kernel().generation()) == (revision, generation)


async def test_a_notebook_to_read_is_read_and_says_so() -> None:
    made, _ = await desk("1", levels={None: "read"})
    assert (await made.ok("jupyter_get_cells"))["cells"][0]["access"] == "read"
    assert (await made.ok("jupyter_get_context"))["notebook"]["access"] == "read"
    await made.ok("jupyter_open_notebook", path="a.ipynb")
    await made.ok(
        "jupyter_create_comment", anchor={"kind": "cell", "cellId": "cell-0"}, message="hello"
    )


async def test_the_kernel_of_a_notebook_to_read_is_not_used_by_its_id() -> None:
    made, live = await desk("1", levels={None: "read"}, can_interrupt=True)
    kernel = live.kernel().id
    for action in ("restart", "interrupt"):
        await made.fail(
            "NOTEBOOK_ACCESS_DENIED", "jupyter_kernel_action", action=action, kernelId=kernel
        )
    await made.fail("NOTEBOOK_ACCESS_DENIED", "jupyter_run_code", code="1", kernelId=kernel)
    set_level(live, None, "none")
    await made.fail("KERNEL_UNAVAILABLE", "jupyter_run_code", code="1", kernelId=kernel)


async def test_a_hidden_cell_is_not_found_by_its_place_either() -> None:
    made, _ = await desk("1", "2", "3", levels={1: "none"})
    await made.fail("CELL_NOT_FOUND", "jupyter_get_cells", cellIds=["@1"])
    await made.fail("CELL_NOT_FOUND", "jupyter_insert_cell", referenceCellId="@1", source="x")
    await made.fail("CELL_NOT_FOUND", "jupyter_focus_cell", cellId="@1")
    await made.fail("CELL_NOT_FOUND", "jupyter_run_cells", cellIds=["@1"])


@pytest.mark.parametrize("closed", [False, True])
async def test_the_outputs_of_a_hidden_cell_are_not_found(closed: bool) -> None:
    made, live = await desk("1", "2", levels={1: "none"})
    if closed:
        await live.save()
        made.person.close("a.ipynb")
    for arguments in ({"cellIndex": 1}, {"cellId": "cell-1"}, {"cellId": "@1"}):
        await made.fail(
            "CELL_NOT_FOUND", "jupyter_read_output", notebookPath="a.ipynb", **arguments
        )


async def test_ranges_and_searches_say_how_many_cells_are_hidden() -> None:
    made, _ = await desk("a1", "a2", "a3", "b4", "a5", levels={1: "none", 3: "none"})
    whole = await made.ok("jupyter_get_cells")
    assert [cell["index"] for cell in whole["cells"]] == [0, 2, 4]
    assert whole["hidden"] == 2
    assert (await made.ok("jupyter_get_cells", startIndex=2))["hidden"] == 1
    assert (await made.ok("jupyter_get_cells", search="a"))["hidden"] == 2
    assert (await made.ok("jupyter_get_cells", only="markdown"))["hidden"] == 2
    assert (await made.ok("jupyter_get_cells", format="markdown"))["hidden"] == 2
    assert "hidden" not in await made.ok("jupyter_get_cells", startIndex=4)


async def test_pages_count_each_hidden_cell_once() -> None:
    cells = [str(number) * 300 for number in range(10)]
    made, _ = await desk(
        *cells, levels={1: "none", 5: "none", 9: "none"}, settings=Settings(max_result_length=1500)
    )
    hidden, shown, start = 0, [], 0
    while start is not None:
        page = await made.ok("jupyter_get_cells", startIndex=start)
        hidden += page.get("hidden", 0)
        shown += [cell["index"] for cell in page["cells"]]
        start = page.get("nextIndex")
    assert hidden == 3
    assert shown == [0, 2, 3, 4, 6, 7, 8]


async def test_a_run_of_a_range_leaves_hidden_cells_out_and_says_so() -> None:
    made, live = await desk("1", "2", "3", levels={1: "none"})
    answer = await made.ok("jupyter_run_cells", startIndex=0, endIndex=3)
    assert [cell["id"] for cell in answer["cells"]] == ["cell-0", "cell-2"]
    assert answer["hidden"] == 1
    assert live.content[1].execution_count is None


async def test_a_cell_hidden_during_a_run_is_not_started() -> None:
    slow = "import asyncio\nawait asyncio.sleep(2)"
    made, live = await desk(slow, "2", "3", levels={})
    running = asyncio.ensure_future(made.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(1)
    set_level(live, 1, "none")
    answer = await running
    assert live.content[1].execution_count is None
    assert live.content[2].execution_count is not None
    assert [cell["status"] for cell in answer["cells"]] == ["ok", "deleted", "ok"]


async def test_a_notebook_made_read_only_during_a_run_runs_no_further_cell() -> None:
    made, live = await desk("import asyncio\nawait asyncio.sleep(2)", "2", levels={})
    running = asyncio.ensure_future(made.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(1)
    set_level(live, None, "read")
    answer = await running
    assert answer["code"] == "NOTEBOOK_ACCESS_DENIED"
    assert answer["notRun"] == ["cell-1"]
    assert live.content[1].execution_count is None


async def test_a_notebook_hidden_during_a_run_tells_nothing_more_and_the_call_settles() -> None:
    slow = "import asyncio\nprint('zqx')\nawait asyncio.sleep(9)"
    made, live = await desk(slow, "2", levels={}, settings=Settings(execution_timeout=5))
    running = asyncio.ensure_future(made.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(1)
    set_level(live, None, "none")
    pending = await running
    assert pending["status"] == "pending"
    assert "zqx" not in json.dumps(pending)
    done = await made.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert done["code"] == "NOTEBOOK_NOT_FOUND"
    assert "zqx" not in json.dumps(done)
    assert live.content[1].execution_count is None


async def test_a_closed_notebook_to_read_keeps_its_kernel_and_says_what_it_is() -> None:
    made, live = await desk("1", levels={None: "read"}, kernels=("python", "other"))
    await live.save()
    made.person.close("a.ipynb")
    cells = (await made.ok("jupyter_get_cells", notebookPath="a.ipynb"))["cells"]
    assert [cell["access"] for cell in cells] == ["read"]
    await made.fail(
        "NOTEBOOK_ACCESS_DENIED", "jupyter_open_notebook", path="a.ipynb", kernel="other"
    )
    assert made.frontend.notebooks == {}


async def test_a_prompt_of_a_hidden_cell_is_not_told() -> None:
    made, live = await desk("input('secret? ')", "1", levels={0: "none"})
    running = made.person.start_run(0)
    await asyncio.sleep(1)
    context = await made.ok("jupyter_get_context")
    assert context["notebook"]["kernel"]["input"] == {"prompt": "", "password": False}
    pending = await made.call("jupyter_run_code", code="1")
    assert "secret" not in json.dumps(pending)
    made.person.answer("x")
    await running
    set_level(live, 0, "write")


async def test_a_hidden_notebook_is_nowhere() -> None:
    made, _ = await desk("1", levels={None: "none"}, files={"b.ipynb": notebook("2")})
    context = await made.ok("jupyter_get_context")
    assert context["documents"] == []
    assert context["notebook"] is None
    assert context["focus"] is None
    entries = (await made.ok("jupyter_get_contents"))["entries"]
    assert [entry["path"] for entry in entries] == ["b.ipynb"]
    await made.fail("FILE_NOT_FOUND", "jupyter_get_contents", path="a.ipynb")
    await made.fail("NO_ACTIVE_NOTEBOOK", "jupyter_get_cells")


async def test_a_closed_hidden_notebook_is_not_opened() -> None:
    made, live = await desk("1", levels={None: "none"})
    await live.save()
    made.person.close("a.ipynb")
    await made.fail("FILE_NOT_FOUND", "jupyter_open_notebook", path="a.ipynb")
    await made.fail("FILE_NOT_FOUND", "jupyter_get_cells", notebookPath="a.ipynb")
    await made.fail("FILE_NOT_FOUND", "jupyter_get_contents", path="a.ipynb")
    await made.fail("PATH_EXISTS", "jupyter_open_notebook", path="a.ipynb", create=True)
    assert made.frontend.notebooks == {}


async def test_the_live_levels_count_and_not_those_of_the_file() -> None:
    made, live = await desk("1", levels={0: "none"})
    await live.save()
    set_level(live, 0, "write")
    assert len((await made.ok("jupyter_get_cells"))["cells"]) == 1


async def test_levels_cannot_be_written_by_way_of_the_metadata() -> None:
    made, live = await desk("1", "2", levels={0: "none", None: "read"})
    guarded = GuardedFrontend(made.frontend).notebook()
    assert guarded is not None
    guarded.set_metadata(METADATA_KEY, {"access": {"version": 1, "level": "write"}})
    guarded.set_metadata(METADATA_KEY, None)
    assert live.metadata()[METADATA_KEY]["access"]["level"] == "read"
    with pytest.raises(ToolError, match="read-only"):
        guarded.set_cell_metadata(1, METADATA_KEY, None)
    with pytest.raises(ToolError, match="No cell"):
        guarded.set_cell_metadata(0, METADATA_KEY, None)
    set_level(live, None, "write")
    inserted: Any = {
        "id": "new",
        "cell_type": "code",
        "source": "",
        "metadata": {METADATA_KEY: {"access": {"level": "none"}}},
    }
    guarded.insert_cell(0, inserted)
    assert live.content[0].metadata == {}


async def test_comments_on_hidden_cells_are_kept_where_they_were() -> None:
    made, live = await desk("one and text", "two and text", "three and text", levels={})
    sources = made.sources()
    places = Places(made.ids(), sources, lambda _: ())
    own: Any = None
    for index in range(3):
        anchor = places.cell_anchor(f"cell-{index}", index)
        talk = Comment(Author("person"), "", f"about {index}")
        own = with_thread(own, Thread(f"t{index}", anchor, (talk,)))
    live.set_metadata(METADATA_KEY, own)
    set_level(live, 1, "none")
    guarded = GuardedFrontend(made.frontend).notebook()
    assert guarded is not None
    seen = guarded.metadata()[METADATA_KEY]
    assert list(read(seen).threads) == ["t0", "t2"]
    reply = Comment(Author("agent"), "", "yes")
    guarded.set_metadata(METADATA_KEY, with_comment(seen, "t2", reply))
    kept = read(live.metadata()[METADATA_KEY])
    assert list(kept.threads) == ["t0", "t1", "t2"]
    assert [len(thread.comments) for thread in kept.threads.values()] == [1, 1, 2]
    assert (await made.ok("jupyter_get_context"))["review"] == {"open": 2, "resolved": 0}


@pytest.mark.parametrize("levels", [{0: "none"}, {None: "read"}, {0: "read"}])
async def test_commands_do_not_go_around_the_levels(levels: dict[int | None, Any]) -> None:
    made, live = await desk("1", "2", levels=levels)
    ran: list[str] = []

    def add(command_id: str) -> None:
        async def run(args: dict[str, Any]) -> None:
            ran.append(command_id)

        made.frontend.registry.add(command_id, run)

    for name in ("notebook:delete-cell", "other:read", "apputils:change-theme"):
        add(name)
    await made.fail("COMMAND_BLOCKED", "jupyter_execute_command", command_id="notebook:delete-cell")
    await made.fail("COMMAND_BLOCKED", "jupyter_execute_command", command_id="other:read")
    await made.ok("jupyter_execute_command", command_id="apputils:change-theme")
    for index in levels:
        set_level(live, index, "write")
    await made.ok("jupyter_execute_command", command_id="other:read")
    assert ran == ["apputils:change-theme", "other:read"]


async def test_the_commands_of_people_are_not_the_agents() -> None:
    made, _ = await desk("1", levels={}, settings=Settings(blocked_commands=()))
    ran: list[Any] = []

    async def run(args: dict[str, Any]) -> None:
        ran.append(args)

    made.frontend.registry.add("pywebmcp:set-access", run)
    made.frontend.registry.add("apputils:run-all-enabled", run)
    listed = (await made.ok("jupyter_list_commands"))["commands"]
    assert [command["id"] for command in listed] == ["apputils:run-all-enabled"]
    await made.fail("COMMAND_BLOCKED", "jupyter_execute_command", command_id="pywebmcp:set-access")
    await made.fail(
        "COMMAND_BLOCKED",
        "jupyter_execute_command",
        command_id="apputils:run-all-enabled",
        args={"commands": ["pywebmcp:set-access"], "args": [{}]},
    )
    assert ran == []


async def test_the_guard_itself_gives_nothing_away() -> None:
    """Whatever a tool would do with it: the notebook it gets has nothing of the hidden cell."""
    made, live = await desk(code("zqx", "zqx"), "2", levels={0: "none"})
    guarded = GuardedFrontend(made.frontend).notebook()
    assert guarded is not None
    assert guarded.ids() == ["", "cell-1"]
    assert guarded.find("zqx") == []
    assert "zqx" not in json.dumps(guarded.cells(0, 9, outputs=True))
    revision = live.revision
    for act in (
        lambda: guarded.replace_texts(0, [(0, 1, "x")]),
        lambda: guarded.replace_text(0, 0, 1, "x"),
        lambda: guarded.delete_cell(0),
        lambda: guarded.move_cell(0, 1),
        lambda: guarded.change_type(0, "raw"),
        lambda: guarded.activate_cell(0),
        lambda: guarded.source_changed(0),
    ):
        with pytest.raises(ToolError, match='No cell "@0"'):
            act()
    for wait in (guarded.run_cell(0), guarded.focus_cell(0, None)):
        with pytest.raises(ToolError, match='No cell "@0"'):
            await wait
    assert live.revision == revision


async def test_threads_that_an_agent_does_not_see_count_as_well() -> None:
    """An agent could else leave thread after thread at cells that it deletes again."""
    made, live = await desk("secret and text", "two and text", levels={0: "none"})
    gone = {"kind": "cell", "cellId": "gone", "sourceHash": "0", "length": 9, "excerpt": "lost"}
    entries = [
        {"id": f"t{n}", "anchor": gone, "comments": [{"message": "m"}]} for n in range(MAX_THREADS)
    ]
    own = {**live.metadata().get(METADATA_KEY, {}), "comments": {"version": 1, "threads": entries}}
    live.set_metadata(METADATA_KEY, own)
    anchor = {"kind": "cell", "cellId": "cell-1"}
    failed = await made.fail(
        "INVALID_ARGUMENT", "jupyter_create_comment", anchor=anchor, message="one more"
    )
    assert str(MAX_THREADS) in failed["error"]
    assert live.metadata()[METADATA_KEY] == own


@pytest.mark.parametrize("level", ["none", "a level of a newer version"])
async def test_a_copy_as_text_of_what_hides_something_is_not_read(level: str) -> None:
    secret = notebook("zqx")
    secret["cells"][0]["metadata"] = {METADATA_KEY: {"access": {"level": level}}}
    whole = notebook("zqx")
    whole["metadata"] = {METADATA_KEY: {"access": {"level": level}}}
    made = Desk("1", files={"c.json": json.dumps(secret), "w.txt": json.dumps(whole)})
    for path in ("c.json", "w.txt"):
        failed = await made.fail("FILE_NOT_FOUND", "jupyter_get_contents", path=path)
        assert "zqx" not in str(failed)


async def test_notebooks_of_one_name_in_two_folders_have_their_own_levels() -> None:
    hidden, shown = notebook("zqx"), notebook("plain")
    hidden["metadata"] = {METADATA_KEY: {"access": {"version": 1, "level": "none"}}}
    made = Desk("1", files={"a/same.ipynb": hidden, "b/same.ipynb": shown})
    for opened in (False, True):
        if opened:
            await made.open("b/same.ipynb")
            await made.open("a/same.ipynb")
        await made.fail("FILE_NOT_FOUND", "jupyter_get_cells", notebookPath="a/same.ipynb")
        answer = await made.ok("jupyter_get_cells", notebookPath="b/same.ipynb")
        assert answer["cells"][0]["source"] == "plain"
        assert "zqx" not in str(await made.call("jupyter_get_context"))


@pytest.mark.parametrize(
    "path", ["./a.ipynb", "x/../a.ipynb", "x//a.ipynb", "/a.ipynb", "x/./a.ipynb", "a.ipynb/"]
)
async def test_other_spellings_of_a_path_are_no_way_to_a_hidden_notebook(path: str) -> None:
    made, live = await desk("zqx", levels={None: "none"})
    await live.save()
    for tool, name in (
        ("jupyter_get_cells", "notebookPath"),
        ("jupyter_read_output", "notebookPath"),
        ("jupyter_list_comments", "notebookPath"),
        ("jupyter_open_notebook", "path"),
        ("jupyter_get_contents", "path"),
    ):
        more = {"cellIndex": 0} if tool == "jupyter_read_output" else {}
        failed = await made.fail("INVALID_PATH", tool, **{name: path}, **more)
        assert "zqx" not in str(failed)
    await made.fail("INVALID_PATH", "jupyter_write_file", path=path, content="x")


@pytest.mark.parametrize("metadata", [None, 3, "text", [], [1]])
def test_a_level_can_be_set_where_the_metadata_is_no_object(metadata: Any) -> None:
    assert access.mark_of(access.marked(metadata, "none")) == "none"
    assert access.marked(metadata, "write") == {}


async def test_nothing_of_a_hidden_cell_is_in_what_cells_begin_with() -> None:
    made, live = await desk(code("zqx"), markdown("# two"), levels={0: "none"})
    guarded = GuardedFrontend(made.frontend).notebook()
    assert guarded is not None
    assert [each["beginning"] for each in guarded.beginnings()] == ["", "# two"]
    assert guarded.beginnings()[0]["cell_type"] == "raw"
    set_level(live, None, "none")
    with pytest.raises(ToolError, match="no longer open"):
        guarded.beginnings()
