"""The virtual clock, and what the front end in memory does beyond the contract."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pywebmcp.errors import Code, ToolError
from pywebmcp.testing import (
    Deadlock,
    MemoryFrontend,
    MemoryKernel,
    MemoryNotebook,
    Unfinished,
    VirtualLoop,
    code,
    counter,
    error,
    markdown,
    mime_bundle,
    notebook,
    raw,
    result,
    run,
    stream,
)
from pywebmcp.testing.cells import MemoryCell

# The loop


def now() -> float:
    return asyncio.get_running_loop().time()


def test_an_hour_passes_at_once():
    async def nap():
        await asyncio.sleep(3600)
        return now()

    assert run(nap()) == 3600


def test_timers_fire_in_their_order_and_at_their_time():
    seen = []

    async def sleeper(name, seconds):
        await asyncio.sleep(seconds)
        seen.append((name, now()))

    async def main():
        await asyncio.gather(sleeper("c", 86400 * 30), sleeper("a", 1), sleeper("b", 1.5))

    run(main())
    assert seen == [("a", 1), ("b", 1.5), ("c", 86400 * 30)]


def test_what_is_ready_comes_before_any_timer():
    async def main():
        for _ in range(1000):
            await asyncio.sleep(0)
        return now()

    assert run(main()) == 0


def test_time_limits_work():
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 20)
        async with asyncio.timeout(10):
            await asyncio.sleep(9)
        return now()

    assert run(main()) == 29


def test_waiting_for_what_cannot_come_is_a_deadlock_that_names_the_place():
    async def stuck():
        await asyncio.Event().wait()

    async def main():
        await asyncio.create_task(stuck(), name="the stuck one")

    with pytest.raises(Deadlock, match=r"the stuck one in .*locks\.py") as caught:
        run(main())
    assert "Task-" in str(caught.value)


def test_a_deadlock_after_some_time_is_one_too():
    async def main():
        await asyncio.sleep(5)
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock, match=r"test_a_deadlock_after.*test_testing\.py"):
        run(main())


def test_a_future_nobody_works_on_is_a_deadlock():
    loop = VirtualLoop()
    with pytest.raises(Deadlock, match="nothing but a future"):
        loop.run_until_complete(loop.create_future())
    loop.close()


def test_the_error_of_the_coroutine_comes_out():
    async def main():
        asyncio.get_running_loop().create_task(asyncio.sleep(100))
        raise LookupError("this one")

    with pytest.raises(LookupError, match="this one"):
        run(main())


def test_a_task_left_behind_is_a_failure():
    async def main():
        asyncio.get_running_loop().create_task(asyncio.sleep(1), name="forgotten")

    with pytest.raises(Unfinished, match="forgotten in sleep"):
        run(main())


def test_a_task_that_stubbornly_goes_on_does_not_hang_the_end():
    async def stubborn():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1)

    async def main():
        asyncio.get_running_loop().create_task(stubborn(), name="stubborn")
        await asyncio.sleep(0)

    with pytest.raises(Unfinished, match="stubborn"):
        run(main())
    gc.collect()


def test_a_cancelled_task_may_end_after_the_coroutine():
    ended = []

    async def worker():
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(0)
            ended.append(now())

    async def main():
        task = asyncio.get_running_loop().create_task(worker())
        await asyncio.sleep(1)
        task.cancel()

    run(main())
    assert ended == [1]


@pytest.mark.parametrize("kept", [True, False])
def test_an_exception_nobody_has_seen_is_a_failure(kept):
    tasks = []

    async def fails():
        raise ValueError("unseen")

    async def main():
        task = asyncio.get_running_loop().create_task(fails())
        if kept:
            tasks.append(task)
        del task
        await asyncio.sleep(1)

    with pytest.raises(Unfinished, match="unseen") as caught:
        run(main())
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_unseen_exception_of_a_future_is_a_failure():
    futures = []

    async def main():
        future = asyncio.get_running_loop().create_future()
        future.set_exception(ValueError("of a future"))
        futures.append(future)

    with pytest.raises(Unfinished, match="of a future"):
        run(main())


def test_an_exception_in_a_callback_is_a_failure():
    async def main():
        asyncio.get_running_loop().call_later(1, lambda: 1 / 0)
        await asyncio.sleep(2)

    with pytest.raises(Unfinished, match="ZeroDivisionError"):
        run(main())


def test_an_exception_that_was_seen_is_none():
    async def fails():
        raise ValueError

    async def main():
        outcomes = await asyncio.gather(fails(), fails(), return_exceptions=True)
        return len(outcomes)

    assert run(main()) == 2


def test_asynchronous_generators_are_closed():
    closed = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    kept = numbers()

    async def main():
        return await anext(kept)

    assert run(main()) == 1
    assert closed == [True]


def test_there_are_no_threads():
    async def main():
        await asyncio.get_running_loop().run_in_executor(None, int)

    with pytest.raises(RuntimeError, match="no threads"):
        run(main())


def test_a_callback_may_claim_to_come_from_a_thread():
    async def main():
        event = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(event.set)
        await event.wait()

    run(main())


async def test_a_loop_in_a_loop_is_refused():
    with pytest.raises(RuntimeError, match="running already"):
        run(asyncio.sleep(1))


# Kernels


def ran(*sources: str) -> list[list[dict]]:
    """The outputs of some cells that run one after the other in one kernel."""

    async def main():
        frontend = MemoryFrontend({"a.ipynb": notebook(*sources)})
        opened = await frontend.open_notebook("a.ipynb")
        return [(await opened.run_cell(index)).outputs for index in range(len(sources))]

    return run(main())


async def opened(*sources: str, **options) -> tuple[MemoryFrontend, MemoryNotebook, MemoryKernel]:
    """An open notebook with its kernel, however that is."""
    frontend = MemoryFrontend({"a.ipynb": notebook(*sources)}, **options)
    model = await frontend.open_notebook("a.ipynb")
    kernel = model.kernel()
    assert kernel is not None
    return frontend, model, kernel


def test_streams_join_until_another_comes_between():
    source = "import sys\nprint(1)\nprint(2)\nprint(3, file=sys.stderr)\nprint(4)"
    assert ran(source) == [[stream("1\n2\n"), stream("3\n", "stderr"), stream("4\n")]]


def test_the_last_expression_is_the_result():
    assert ran("1\n2 + 3", "'no';", "None", "x = 4", "_ + x") == [
        [result({"text/plain": "5"}, 1)],
        [],
        [],
        [],
        [result({"text/plain": "9"}, 5)],
    ]


def test_rich_objects_have_all_their_formats():
    class Rich:
        def __repr__(self):
            return "<rich>"

        def _repr_html_(self):
            return "<b>rich</b>"

        def _repr_png_(self):
            return b"\x89PNG", {"width": 3}

        def _repr_json_(self):
            return {"a": 1}

        def _repr_latex_(self):
            return None

        def _repr_mimebundle_(self, include, exclude):
            return {"text/x-own": "own"}

    assert mime_bundle(Rich()) == (
        {
            "text/plain": "<rich>",
            "text/html": "<b>rich</b>",
            "image/png": "iVBORw==",
            "application/json": {"a": 1},
            "text/x-own": "own",
        },
        {"image/png": {"width": 3}},
    )
    assert mime_bundle(Rich)[0]["text/plain"].startswith("<class")


def test_a_format_that_fails_leaves_the_others():
    source = "class R:\n    _repr_html_ = lambda self: 1 / 0\n    __repr__ = lambda self: 'R'\nR()"
    ((said, value),) = ran(source)
    assert said["name"] == "stderr"
    assert "ZeroDivisionError" in said["text"]
    assert value["data"] == {"text/plain": "R"}


def test_display_and_clear_output():
    ((shown,),) = ran("display(1)\nclear_output()\ndisplay(2)\nclear_output(wait=True)\ndisplay(3)")
    assert shown == {
        "output_type": "display_data",
        "data": {"text/plain": "3"},
        "metadata": {},
    }
    assert len(ran("print(1)\nclear_output(wait=True)")[0]) == 1


def test_an_error_has_a_coloured_traceback_of_the_cells_lines():
    ((said,),) = ran("def f(n):\n    return 1 / n\n\nf(0)")
    assert (said["ename"], said["evalue"]) == ("ZeroDivisionError", "division by zero")
    text = "\n".join(said["traceback"])
    assert "\x1b[31mZeroDivisionError\x1b[39m" in text
    assert "Traceback (most recent call last)" in text
    assert "Cell In[1]" in text
    assert "----> 4\x1b[39m f(0)" in text
    assert "----> 2\x1b[39m     return 1 / n" in text
    assert "execution.py" not in text


def test_a_syntax_error_points_at_its_place():
    ((said,),) = ran("a = 1\nb = = 2")
    assert said["ename"] == "SyntaxError"
    assert "Cell\x1b[39m\x1b[32m In[1], line 2" in said["traceback"][0]
    assert "    b = = 2\n        ^" in said["traceback"][0]


@pytest.mark.parametrize("source", ["raise SystemExit(3)", "raise KeyboardInterrupt"])
def test_no_exception_of_a_cell_ends_the_test(source):
    assert ran(source)[0][0]["output_type"] == "error"


async def test_a_cell_awaits_on_virtual_time_and_prints_as_it_goes(capsys):
    source = "import asyncio\nfor n in range(3):\n    print(n)\n    await asyncio.sleep(10)\nn"
    frontend, model, kernel = await opened(source)
    task = frontend.person.start_run(0)
    await asyncio.sleep(15)
    print("from the test")
    assert model.cells(0, 1, outputs=True)[0]["outputs"] == [stream("0\n1\n")]
    assert kernel.state()["status"] == "busy"
    finished = await task
    assert now() == 30
    assert finished.outputs == [stream("0\n1\n2\n"), result({"text/plain": "2"})]
    assert capsys.readouterr().out == "from the test\n"


async def test_time_limits_inside_a_cell_work():
    source = "import asyncio\ntry:\n    await asyncio.wait_for(asyncio.sleep(9), 5)\n"
    _, model, _ = await opened(source + "except TimeoutError:\n    print('late')")
    assert (await model.run_cell(0)).outputs == [stream("late\n")]
    assert now() == 5


async def test_a_restart_settles_what_runs_and_what_waits_at_once():
    frontend, model, kernel = await opened(
        "x = 1\nprint('begun')\nimport asyncio\nawait asyncio.sleep(100)",
        "print('never')",
        "x",
        restart_after=14,
    )
    first, second = frontend.person.start_run(0), frontend.person.start_run(1)
    await asyncio.sleep(1)
    restart = asyncio.create_task(kernel.restart())
    outcomes = [await first, await second]
    assert now() == 1
    assert [outcome.status for outcome in outcomes] == ["restarted", "restarted"]
    assert outcomes[0].outputs == [stream("begun\n")]
    assert kernel.state()["status"] == "restarting"
    later = await model.run_cell(2)
    assert now() == 15
    await restart
    assert (later.status, later.execution_count) == ("error", 1)
    assert later.error is not None
    assert later.error["ename"] == "NameError"


async def test_a_dead_kernel_settles_its_runs_and_a_restart_brings_it_back():
    frontend, model, kernel = await opened("import asyncio\nawait asyncio.sleep(100)", "1")
    task = frontend.person.start_run(0)
    await asyncio.sleep(1)
    kernel.die()
    assert (await task).status == "died"
    assert now() == 1
    assert kernel.state()["status"] == "dead"
    with pytest.raises(ToolError) as caught:
        await model.ready_kernel()
    assert caught.value.code == Code.KERNEL_UNAVAILABLE
    assert (await kernel.submit("1", print).done).status == "died"
    await kernel.restart()
    assert (await model.run_cell(1)).status == "ok"


async def test_a_kernel_may_not_come_back():
    _, _, kernel = await opened("1")
    kernel.comes_back = False
    with pytest.raises(ToolError, match="come back"):
        await kernel.restart()
    assert kernel.state()["status"] == "dead"


async def test_a_kernel_that_dies_while_it_starts_is_told_to_who_waits():
    _, model, kernel = await opened("1", start_after=10)
    waiting = asyncio.create_task(model.ready_kernel())
    await asyncio.sleep(1)
    kernel.die()
    with pytest.raises(ToolError):
        await waiting
    await asyncio.sleep(20)
    assert kernel.state()["status"] == "dead"


async def test_a_starting_kernel_is_waited_for():
    _, model, kernel = await opened("1", start_after=9)
    assert kernel.state()["status"] == "starting"
    assert (await model.run_cell(0)).status == "ok"
    assert now() == 9


async def test_an_error_throws_out_the_whole_queue():
    frontend, model, _ = await opened("1 / 0", "print('never')", "2")
    tasks = [frontend.person.start_run(index) for index in (0, 1)]
    outcomes = [await task for task in tasks]
    assert [outcome.status for outcome in outcomes] == ["error", "cancelled"]
    assert outcomes[1].outputs == []
    assert (await model.run_cell(2)).execution_count == 2


async def test_an_error_can_be_asked_to_leave_the_queue():
    _, _, kernel = await opened("1")
    first = kernel.submit("1 / 0", lambda _: None, stop_on_error=False)
    second = kernel.submit("1", lambda _: None, store_history=False)
    assert ((await first.done).status, (await first.done).execution_count) == ("error", 1)
    assert ((await second.done).status, (await second.done).execution_count) == ("ok", None)
    assert kernel.execution_count == 1


async def test_an_interrupt_raises_in_the_cell_which_may_catch_it():
    frontend, _, kernel = await opened(
        "import asyncio\ntry:\n    await asyncio.sleep(100)\nexcept KeyboardInterrupt:\n    print('no')",
        "import asyncio\nawait asyncio.sleep(100)",
        can_interrupt=True,
    )
    for index, status in ((0, "ok"), (1, "error")):
        task = frontend.person.start_run(index)
        await asyncio.sleep(1)
        await kernel.interrupt()
        assert (await task).status == status
    await kernel.interrupt()
    assert now() == 2


async def test_an_interrupt_that_cannot_stop_a_cell_drops_the_queue():
    frontend, _, kernel = await opened("import asyncio\nawait asyncio.sleep(100)", "1")
    tasks = [frontend.person.start_run(index) for index in (0, 1)]
    await asyncio.sleep(1)
    await kernel.interrupt()
    assert [(await task).status for task in tasks] == ["ok", "cancelled"]
    assert now() == 100


async def test_a_prompt_waits_for_the_person():
    frontend, model, kernel = await opened(
        "names = [input('Name?') for _ in range(2)]\nnames",
        "import getpass\nlen(getpass.getpass('Word?'))",
    )
    task = frontend.person.start_run(0)
    await asyncio.sleep(60)
    assert kernel.state().get("input") == {"prompt": "Name?", "password": False}
    for name in ("Ada", "Bob"):
        frontend.person.answer(name)
        await asyncio.sleep(1)
    assert (await task).outputs == [
        stream("Name? Ada\nName? Bob\n", "stdin"),
        result({"text/plain": "['Ada', 'Bob']"}),
    ]
    task = frontend.person.start_run(1)
    await asyncio.sleep(1)
    assert kernel.state().get("input") == {"prompt": "Word?", "password": True}
    frontend.person.answer("secret")
    assert (await task).outputs == [
        stream("Word? ······\n", "stdin"),
        result({"text/plain": "6"}, 2),
    ]
    with pytest.raises(AssertionError, match="asks nothing"):
        frontend.person.answer("late")
    assert model.state()["dirty"]


def test_a_prompt_deeper_than_the_cell_says_that_it_cannot_be():
    ((said,),) = ran("def ask():\n    return input('?')\nask()")
    assert "top level" in said["evalue"]
    ((said,),) = ran("class A:\n    a = input()")
    assert "top level" in said["evalue"]
    ((said,),) = ran("(lambda: input())()")
    assert "top level" in said["evalue"]


async def test_a_restart_takes_a_prompt_away():
    frontend, _, kernel = await opened("input()")
    task = frontend.person.start_run(0)
    await asyncio.sleep(1)
    await kernel.restart()
    assert (await task).status == "restarted"
    assert "input" not in kernel.state()


# Notebooks


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
    await frontend.delete_file("a.ipynb")
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
        "writable": True,
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
