"""The kernel in memory: outputs, errors, its queue, prompts, restarts and deaths."""

from __future__ import annotations

import asyncio

import pytest
from pywebmcp.errors import Code, ToolError
from pywebmcp.testing import (
    MemoryFrontend,
    MemoryKernel,
    MemoryNotebook,
    mime_bundle,
    notebook,
    result,
    run,
    stream,
)


def now() -> float:
    return asyncio.get_running_loop().time()


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
