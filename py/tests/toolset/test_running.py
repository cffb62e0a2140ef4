"""jupyter_run_cells and jupyter_kernel_action on a kernel that really runs Python."""

from __future__ import annotations

import asyncio

import pytest
from desk import Abort, Desk
from pywebmcp.testing import code, markdown, raw, stream


async def test_each_cell_answers_status_count_and_outputs() -> None:
    desk = Desk("print(1)", "2 + 2", markdown("# T"), raw("r"), "")
    await desk.open()
    answer = await desk.ok("jupyter_run_cells", startIndex=0)
    assert answer["cells"] == [
        {
            "id": "cell-0",
            "status": "ok",
            "executionCount": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
        },
        {
            "id": "cell-1",
            "status": "ok",
            "executionCount": 2,
            "outputs": [{"output_type": "execute_result", "data": {"text/plain": "4"}}],
        },
        {"id": "cell-2", "status": "ok"},
        {"id": "cell-3", "status": "ok"},
        {"id": "cell-4", "status": "ok"},
    ]


async def test_named_cells_run_in_the_order_given() -> None:
    desk = Desk("x = 'a'", "x = 'b'", "x")
    await desk.open()
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-1", "cell-0", "cell-2"])
    assert answer["cells"][2]["outputs"][0]["data"]["text/plain"] == "'a'"


async def test_the_active_cell_runs_by_default() -> None:
    desk = Desk("1", "2")
    await desk.open()
    desk.person.click(1)
    answer = await desk.ok("jupyter_run_cells")
    assert [cell["id"] for cell in answer["cells"]] == ["cell-1"]


async def test_the_default_is_not_guessed_for_a_notebook_in_the_background() -> None:
    desk = Desk("1", files={})
    await desk.open()
    await desk.ok("jupyter_open_notebook", path="b.ipynb", create=True)
    await desk.fail("INVALID_ARGUMENT", "jupyter_run_cells", notebookPath="a.ipynb")


async def test_a_failing_cell_stops_the_run_and_says_why_once() -> None:
    desk = Desk("print('before')\nundefined_name", "print('never')")
    await desk.open()
    answer = await desk.fail("EXECUTION_ERROR", "jupyter_run_cells", startIndex=0)
    assert answer["status"] == "error"
    assert answer["errorName"] == "NameError"
    assert answer["errorValue"] == "name 'undefined_name' is not defined"
    assert answer["error"] == "NameError: name 'undefined_name' is not defined"
    assert "undefined_name" in "\n".join(answer["traceback"])
    assert "\x1b" not in "\n".join(answer["traceback"])
    [cell] = answer["cells"]
    assert cell["status"] == "error"
    assert cell["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "before\n"}]
    assert answer["notRun"] == ["cell-1"]


async def test_a_run_can_go_on_after_an_error() -> None:
    desk = Desk("1 / 0", "print('on')", "undefined")
    await desk.open()
    answer = await desk.fail(
        "EXECUTION_ERROR", "jupyter_run_cells", startIndex=0, stopOnError=False
    )
    assert [cell["status"] for cell in answer["cells"]] == ["error", "ok", "error"]
    assert answer["errorName"] == "ZeroDivisionError"
    assert answer["cells"][2]["error"].startswith("NameError")
    assert "notRun" not in answer


async def test_images_are_placeholders() -> None:
    desk = Desk(
        "class P:\n"
        "    def _repr_png_(self): return b'\\x89PNG' + b'x' * 500\n"
        "    def __repr__(self): return '<P>'\n"
        "P()"
    )
    await desk.open()
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    data = answer["cells"][0]["outputs"][0]["data"]
    assert data["text/plain"] == "<P>"
    assert data["image/png"].startswith("[omitted image/png data,")


async def test_a_long_output_keeps_its_ends() -> None:
    desk = Desk("print('\\n'.join(f'line {n}' for n in range(100_000)))")
    await desk.open()
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    text = answer["cells"][0]["outputs"][0]["text"]
    assert text.startswith("line 0\n")
    assert text.endswith("line 99999\n")
    assert "characters omitted" in text
    assert answer["truncated"] is True


async def test_a_cell_with_cr_runs() -> None:
    desk = Desk("x = 1\r\nprint(x)\r\n")
    await desk.open()
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    assert answer["cells"][0]["outputs"][0]["text"] == "1\n"


@pytest.mark.parametrize(
    ("arguments", "code_"),
    [
        ({"cellIds": ["gone"]}, "CELL_NOT_FOUND"),
        ({"cellIds": []}, "INVALID_ARGUMENT"),
        ({"cellIds": ["cell-0"], "startIndex": 0}, "INVALID_ARGUMENT"),
        ({"startIndex": 5}, "INVALID_ARGUMENT"),
    ],
)
async def test_refused(arguments: dict[str, object], code_: str) -> None:
    desk = Desk("print(1)")
    await desk.open()
    await desk.fail(code_, "jupyter_run_cells", **arguments)


async def test_nothing_runs_when_one_name_is_wrong() -> None:
    desk = Desk("print(1)")
    await desk.open()
    await desk.fail("CELL_NOT_FOUND", "jupyter_run_cells", cellIds=["cell-0", "gone"])
    live = desk.frontend.notebook()
    assert live is not None
    assert live.cells(0, 1)[0]["execution_count"] is None


async def test_without_a_kernel_it_says_how_to_start_one() -> None:
    desk = Desk("print(1)", kernel_start="none")
    await desk.open()
    failed = await desk.fail("KERNEL_UNAVAILABLE", "jupyter_run_cells", cellIds=["cell-0"])
    assert "jupyter_open_notebook" in failed["error"]


async def test_markdown_needs_no_kernel() -> None:
    desk = Desk(markdown("# T"), kernel_start="none")
    await desk.open()
    await desk.ok("jupyter_run_cells", cellIds=["cell-0"])


async def test_it_waits_for_a_kernel_that_starts() -> None:
    desk = Desk("print(1)", start_after=9.0)
    desk.person.open("a.ipynb")
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    assert answer["cells"][0]["status"] == "ok"


async def test_restart_settles_a_running_call_with_the_outputs_so_far() -> None:
    desk = Desk("print('so far')\nimport asyncio\nawait asyncio.sleep(1000)", "print('next')")
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0", "cell-1"]))
    await asyncio.sleep(5)
    await desk.ok("jupyter_kernel_action", action="restart")
    answer = await run
    assert answer["code"] == "KERNEL_RESTARTED"
    assert answer["cells"][0]["outputs"][0]["text"] == "so far\n"
    assert answer["notRun"] == ["cell-1"]
    after = await desk.ok("jupyter_run_cells", cellIds=["cell-1"])
    assert after["cells"][0]["executionCount"] == 1


async def test_a_kernel_that_dies_settles_the_call() -> None:
    desk = Desk("import asyncio\nprint('x')\nawait asyncio.sleep(1000)")
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0"]))
    await asyncio.sleep(5)
    live = desk.frontend.notebook()
    assert live is not None
    kernel = live.kernel()
    assert kernel is not None
    kernel.die()
    answer = await run
    assert answer["code"] == "KERNEL_DIED"
    assert answer["cells"][0]["outputs"][0]["text"] == "x\n"


async def test_an_aborted_run_starts_no_further_cell_and_loses_nothing() -> None:
    desk = Desk("import asyncio\nprint('x')\nawait asyncio.sleep(10)", "print('never')")
    await desk.open()
    signal = Abort()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, startIndex=0))
    await asyncio.sleep(5)
    signal.abort()
    answer = await run
    assert answer["status"] == "pending"
    assert answer["cells"] == [
        {"id": "cell-0", "status": "running", "outputs": [stream("x\n")]},
    ]
    assert "restart" in answer["message"]
    [listed] = (await desk.ok("jupyter_get_context"))["pending"]
    assert listed["aborted"] is True
    later = await desk.call("jupyter_wait_for_result", pendingId=listed["pendingId"])
    assert later["code"] == "ABORTED"
    assert [(cell["id"], cell["status"]) for cell in later["cells"]] == [("cell-0", "ok")]
    assert later["notRun"] == ["cell-1"]


async def test_an_abort_interrupts_the_calls_own_cell_where_the_kernel_can() -> None:
    desk = Desk("import asyncio\nprint('x')\nawait asyncio.sleep(1000)", can_interrupt=True)
    await desk.open()
    signal = Abort()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, startIndex=0))
    await asyncio.sleep(5)
    signal.abort()
    pending = await run
    later = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert later["errorName"] == "KeyboardInterrupt"
    assert later["cells"][0]["outputs"] == [stream("x\n")]


async def test_an_abort_never_stops_what_the_person_started() -> None:
    desk = Desk(
        "import asyncio\nawait asyncio.sleep(100)\nprint('done')", "print(2)", can_interrupt=True
    )
    await desk.open()
    theirs = desk.person.start_run(0)
    await asyncio.sleep(1)
    signal = Abort()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, cellIds=["cell-1"]))
    await asyncio.sleep(5)
    signal.abort()
    await run
    assert (await theirs).status == "ok"


async def test_an_aborted_signal_starts_nothing() -> None:
    desk = Desk("print(1)")
    await desk.open()
    answer = await desk.call("jupyter_run_cells", Abort(aborted=True), startIndex=0)
    assert answer["code"] == "ABORTED"
    live = desk.frontend.notebook()
    assert live is not None
    assert live.cells(0, 1)[0]["execution_count"] is None


async def test_a_cell_deleted_meanwhile_is_reported() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(10)", "print(1)", "print(2)")
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(5)
    live = desk.frontend.notebook()
    assert live is not None
    live.delete_cell(1)
    answer = await run
    assert [(cell["id"], cell["status"]) for cell in answer["cells"]] == [
        ("cell-0", "ok"),
        ("cell-1", "deleted"),
        ("cell-2", "ok"),
    ]


async def test_cells_with_one_id_run_by_position() -> None:
    desk = Desk(code("print('one')", "a1"), code("print('two')", "a1"))
    await desk.open()
    await desk.fail("INVALID_ARGUMENT", "jupyter_run_cells", cellIds=["a1"])
    answer = await desk.ok("jupyter_run_cells", cellIds=["@1"])
    assert answer["cells"][0]["outputs"][0]["text"] == "two\n"


async def test_restart_loses_the_variables_and_answers_when_usable() -> None:
    desk = Desk("x = 1", "x", restart_after=14.0)
    await desk.open()
    await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    answer = await desk.ok("jupyter_kernel_action", action="restart")
    assert "variables" in answer["message"]
    failed = await desk.fail("EXECUTION_ERROR", "jupyter_run_cells", cellIds=["cell-1"])
    assert failed["errorName"] == "NameError"


async def test_interrupt_where_the_kernel_cannot_names_restart() -> None:
    desk = Desk("x")
    await desk.open()
    failed = await desk.fail("INTERRUPT_UNSUPPORTED", "jupyter_kernel_action", action="interrupt")
    assert "restart" in failed["error"]


async def test_interrupt_where_it_can() -> None:
    desk = Desk("import asyncio\nprint('x')\nawait asyncio.sleep(1000)", can_interrupt=True)
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0"]))
    await asyncio.sleep(5)
    await desk.ok("jupyter_kernel_action", action="interrupt")
    answer = await run
    assert answer["errorName"] == "KeyboardInterrupt"
    assert answer["error"] == "KeyboardInterrupt"
    assert answer["cells"][0]["outputs"][0]["text"] == "x\n"


async def test_a_kernel_by_its_id() -> None:
    desk = Desk("x")
    await desk.open()
    context = await desk.ok("jupyter_get_context")
    await desk.ok(
        "jupyter_kernel_action", action="restart", kernelId=context["notebook"]["kernel"]["id"]
    )
    await desk.fail("KERNEL_UNAVAILABLE", "jupyter_kernel_action", action="restart", kernelId="no")
    await desk.fail(
        "INVALID_ARGUMENT",
        "jupyter_kernel_action",
        action="restart",
        kernelId="no",
        notebookPath="a.ipynb",
    )


async def test_kernel_action_without_a_kernel() -> None:
    desk = Desk("x", kernel_start="none")
    await desk.open()
    await desk.fail("KERNEL_UNAVAILABLE", "jupyter_kernel_action", action="restart")
    await desk.fail("INVALID_ARGUMENT", "jupyter_kernel_action", action="stop")


async def test_code_runs_without_a_trace_in_the_notebook() -> None:
    desk = Desk("x = 5")
    await desk.open()
    await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    answer = await desk.ok("jupyter_run_code", code="print(x)\nx + 1")
    assert answer == {
        "success": True,
        "status": "ok",
        "outputs": [
            stream("5\n"),
            {"output_type": "execute_result", "data": {"text/plain": "6"}},
        ],
    }
    assert desk.sources() == ["x = 5"]
    again = await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    assert again["cells"][0]["executionCount"] == 2


async def test_code_that_puts_out_nothing_answers_ok() -> None:
    desk = Desk()
    await desk.open()
    assert await desk.ok("jupyter_run_code", code="y = 1") == {"success": True, "status": "ok"}


async def test_failing_code_keeps_its_outputs() -> None:
    desk = Desk()
    await desk.open()
    answer = await desk.fail("EXECUTION_ERROR", "jupyter_run_code", code="print('a')\n1 / 0")
    assert answer["errorName"] == "ZeroDivisionError"
    assert answer["outputs"] == [stream("a\n")]


async def test_code_on_a_kernel_by_its_id_and_its_restart() -> None:
    desk = Desk()
    await desk.open()
    kernel = (await desk.ok("jupyter_get_context"))["notebook"]["kernel"]["id"]
    run = asyncio.ensure_future(
        desk.call(
            "jupyter_run_code",
            code="import asyncio\nprint('a')\nawait asyncio.sleep(99)",
            kernelId=kernel,
        )
    )
    await asyncio.sleep(3)
    await desk.ok("jupyter_kernel_action", action="restart", kernelId=kernel)
    answer = await run
    assert answer["code"] == "KERNEL_RESTARTED"
    assert answer["outputs"] == [stream("a\n")]
    await desk.fail("KERNEL_UNAVAILABLE", "jupyter_run_code", code="1", kernelId="gone")
    await desk.fail("INVALID_ARGUMENT", "jupyter_run_code", code="")


async def test_pending_code_shows_its_outputs_so_far() -> None:
    desk = Desk()
    await desk.open()
    pending = await desk.call(
        "jupyter_run_code", code="import asyncio\nprint('a')\nawait asyncio.sleep(30)"
    )
    assert pending["outputs"] == [stream("a\n")]
    await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])


async def test_a_run_behind_a_persons_code_says_so_and_never_suggests_to_kill_it() -> None:
    desk = Desk("name = input('name? ')", "print('mine')")
    await desk.open()
    theirs = desk.person.start_run(0)
    await asyncio.sleep(1)
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-1"])
    assert pending["cells"] == [{"id": "cell-1", "status": "queued"}]
    assert pending["kernelInput"] == {"prompt": "name? ", "password": False}
    assert "restart" not in pending["message"]
    desk.person.answer("x")
    await theirs
    done = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert done["cells"][0]["outputs"] == [stream("mine\n")]


async def test_who_holds_the_kernel_is_told_as_it_is_now() -> None:
    sleep = "import asyncio\nawait asyncio.sleep({})"
    desk = Desk(sleep.format(30), sleep.format(60), "print(3)")
    await desk.open()
    calls = [
        asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=[f"cell-{n}"]))
        for n in range(3)
    ]
    first, second, third = [await call for call in calls]
    assert third["queuedBehind"] == first["pendingId"]
    await asyncio.sleep(20)
    again = await desk.call("jupyter_wait_for_result", pendingId=third["pendingId"], timeout=0)
    assert again["queuedBehind"] == second["pendingId"]
    await asyncio.sleep(100)
    await desk.ok("jupyter_wait_for_result", pendingId=third["pendingId"])


async def test_an_abort_before_the_kernel_takes_up_the_cell_interrupts_it_then() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(100)", can_interrupt=True)
    await desk.open()
    for turns in range(8):
        signal = Abort()
        run = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, cellIds=["cell-0"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        start = asyncio.get_running_loop().time()
        signal.abort()
        answer = await run
        if answer.get("status") == "pending":
            await desk.call("jupyter_wait_for_result", pendingId=answer["pendingId"])
        assert asyncio.get_running_loop().time() - start < 50


async def test_an_aborted_run_renders_no_further_markdown() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(10)", markdown("# T"), "print(1)")
    await desk.open()
    signal = Abort()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, startIndex=0))
    await asyncio.sleep(5)
    signal.abort()
    pending = await run
    answer = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert [cell["id"] for cell in answer["cells"]] == ["cell-0"]
    assert answer["notRun"] == ["cell-1", "cell-2"]


async def test_positions_are_kept_to_the_cells_they_meant() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(10)", "print('one')", minor=4)
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["@0", "@1"]))
    await asyncio.sleep(5)
    await desk.ok("jupyter_insert_cell", source="print('new')", position="above")
    answer = await run
    assert answer["cells"][1]["outputs"] == [stream("one\n")]


async def test_copies_are_told_apart_by_their_source_or_not_run() -> None:
    wait = "import asyncio\nawait asyncio.sleep(10)"
    for sources, code_ in (("xy", None), ("xx", "STALE_CELL")):
        desk = Desk(
            code(wait, "s"),
            code(f"print('{sources[0]}')", "a"),
            code(f"print('{sources[1]}')", "a"),
        )
        await desk.open()
        run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["s", "@2"]))
        await asyncio.sleep(5)
        await desk.ok("jupyter_insert_cell", source="new", position="above")
        answer = await run
        assert answer.get("code") == code_
        if code_ is None:
            assert answer["cells"][1]["outputs"] == [stream("y\n")]
        else:
            assert answer["notRun"] == ["@2"]


async def test_a_notebook_closed_meanwhile_ends_the_run() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(10)", "print(1)")
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(5)
    desk.person.close("a.ipynb")
    answer = await run
    assert answer["code"] == "NOTEBOOK_NOT_FOUND"
    assert answer["notRun"] == ["cell-1"]


async def test_another_kernel_meanwhile_ends_the_run() -> None:
    desk = Desk("import asyncio\nawait asyncio.sleep(10)", "print(1)", kernels=("python", "other"))
    await desk.open()
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", startIndex=0))
    await asyncio.sleep(5)
    desk.person.choose_kernel("other")
    answer = await run
    assert answer["code"] in ("KERNEL_DIED", "KERNEL_RESTARTED")
    assert "cell-1" in answer["notRun"]
