"""The rules of results, one after the other: pending calls, dialogs, retention.

Each test's docstring says the rule it proves, in the order of docs/results.md.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from desk import Abort, Desk
from pywebmcp.settings import Settings
from pywebmcp.testing import stream

SLEEP = "import asyncio\nprint('so far')\nawait asyncio.sleep({})\nprint('end')"


def long(seconds: float) -> str:
    return SLEEP.format(seconds)


async def ready(*cells: Any, **more: Any) -> Desk:
    desk = Desk(*cells, **more)
    await desk.open()
    return desk


def command(desk: Desk, run: Any, command_id: str = "app:do", **more: Any) -> None:
    desk.frontend.registry.add(command_id, run, **more)


async def run_command(desk: Desk, command_id: str = "app:do", **args: Any) -> dict[str, Any]:
    return await desk.call("jupyter_execute_command", command_id=command_id, args=args)


async def stop(desk: Desk) -> None:
    """End what still runs."""
    await desk.ok("jupyter_kernel_action", action="restart")


async def pending_ids(desk: Desk) -> list[str]:
    context = await desk.ok("jupyter_get_context")
    return [entry["pendingId"] for entry in context["pending"]]


# --- shapes


async def test_a_failure_has_is_error() -> None:
    """Every result with success false has isError true."""
    desk = await ready("1 / 0")
    failed = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert failed["success"] is False
    assert failed["isError"] is True


async def test_warning_when_the_command_was_not_enabled() -> None:
    """Such a command runs and succeeds, with a warning."""
    desk = await ready("x")

    async def nothing(args: dict[str, Any]) -> None:
        return None

    command(desk, nothing, enabled=False)
    assert "not enabled" in (await run_command(desk))["warning"]
    command(desk, nothing, "app:fine")
    assert "warning" not in await run_command(desk, "app:fine")


@pytest.mark.parametrize("argument", ["widgetId", "semanticWidget"])
async def test_no_warning_when_a_widget_is_named(argument: str) -> None:
    """Whether it was enabled is not checked when args name a widget."""
    desk = await ready("x")
    seen = []

    async def record(args: dict[str, Any]) -> None:
        seen.append(args)

    command(desk, record, "notebook:restart-kernel", enabled=False)
    answer = await run_command(desk, "notebook:restart-kernel", **{argument: "id-1"})
    assert answer == {"success": True}
    assert seen == [{argument: "id-1"}]


@pytest.mark.parametrize("argument", ["widgetId", "semanticWidget"])
async def test_other_commands_take_no_widget(argument: str) -> None:
    """Only notebook:* and console:* commands take these arguments: else they are an error."""
    desk = await ready("x")

    async def nothing(args: dict[str, Any]) -> None:
        raise AssertionError("must not run")

    command(desk, nothing)
    failed = await run_command(desk, **{argument: "id-1"})
    assert failed["code"] == "INVALID_ARGUMENT"


# --- pending calls


async def test_a_long_call_answers_pending_and_goes_on() -> None:
    """Past executionTimeout a call answers pending and continues in the background."""
    desk = await ready(long(60))
    start = asyncio.get_running_loop().time()
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert asyncio.get_running_loop().time() - start == pytest.approx(20)
    assert pending["status"] == "pending"
    assert pending["tool"] == "jupyter_run_cells"
    assert "success" not in pending
    assert "isError" not in pending
    assert pending["cells"] == [
        {"id": "cell-0", "status": "running", "outputs": [stream("so far\n")]}
    ]
    assert "jupyter_wait_for_result" in pending["message"]
    assert await pending_ids(desk) == [pending["pendingId"]]
    await stop(desk)


async def test_the_time_limit_is_a_setting() -> None:
    """executionTimeout is what the settings say when the call starts."""
    desk = await ready(long(60), settings=Settings(execution_timeout=3))
    start = asyncio.get_running_loop().time()
    await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert asyncio.get_running_loop().time() - start == pytest.approx(3)
    await stop(desk)


async def test_wait_for_result_gives_the_result_in_the_tools_own_shape() -> None:
    """wait_for_result returns the final result, or pending again."""
    desk = await ready(long(30))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert result["cells"][0]["outputs"] == [stream("so far\nend\n")]
    assert await pending_ids(desk) == []


@pytest.mark.parametrize(("asked", "waited"), [(5, 5), (None, 20), (500, 20), (0, 0)])
async def test_wait_for_result_waits_at_most_its_timeout(asked: int | None, waited: float) -> None:
    """The caller may shorten the wait; the setting is its upper end."""
    desk = await ready(long(600))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    start = asyncio.get_running_loop().time()
    again = await desk.call(
        "jupyter_wait_for_result", pendingId=pending["pendingId"], timeout=asked
    )
    assert asyncio.get_running_loop().time() - start == pytest.approx(waited)
    assert again["status"] == "pending"
    assert again["pendingId"] == pending["pendingId"]
    await stop(desk)


async def test_a_cancelled_call_continues_and_its_result_is_there_later() -> None:
    """When the agent cancels a call, the command continues; its result comes later."""
    desk = await ready(long(30))
    signal = Abort()
    call = asyncio.ensure_future(desk.call("jupyter_run_cells", signal, cellIds=["cell-0"]))
    await asyncio.sleep(2)
    signal.abort()
    await call
    [pending] = await pending_ids(desk)
    result = await desk.call("jupyter_wait_for_result", pendingId=pending, timeout=20)
    if result.get("status") == "pending":
        result = await desk.call("jupyter_wait_for_result", pendingId=pending)
    assert result["cells"][0]["outputs"] == [stream("so far\nend\n")]


async def test_an_aborted_wait_leaves_the_call_alone() -> None:
    desk = await ready(long(30))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    signal = Abort()
    wait = asyncio.ensure_future(
        desk.call("jupyter_wait_for_result", signal, pendingId=pending["pendingId"])
    )
    await asyncio.sleep(1)
    signal.abort()
    await wait
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert result["cells"][0]["status"] == "ok"


async def test_an_interrupt_settles_the_pending_call() -> None:
    """Interrupted where the kernel can: the pending call settles with a KeyboardInterrupt."""
    desk = await ready(long(600), can_interrupt=True)
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert "interrupt" in pending["message"]
    await desk.ok("jupyter_kernel_action", action="interrupt")
    result = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert result["success"] is False
    assert result["errorName"] == "KeyboardInterrupt"
    assert result["cells"][0]["outputs"] == [stream("so far\n")]


async def test_a_restart_settles_the_pending_call_where_no_interrupt_can() -> None:
    desk = await ready(long(600))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert "restart" in pending["message"]
    await desk.ok("jupyter_kernel_action", action="restart")
    result = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"], timeout=0)
    assert result["code"] == "KERNEL_RESTARTED"
    assert result["cells"][0]["outputs"] == [stream("so far\n")]


async def test_a_pending_call_is_kept_ten_minutes_after_it_settled() -> None:
    """Available for 10 minutes after it settles, fetched or not."""
    desk = await ready(long(30))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    await asyncio.sleep(10 + 599)
    first = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"]) == first
    await asyncio.sleep(2)
    await desk.fail("PENDING_NOT_FOUND", "jupyter_wait_for_result", pendingId=pending["pendingId"])


async def test_at_most_fifty_settled_calls_are_kept_the_oldest_go_first() -> None:
    desk = await ready("x", settings=Settings(execution_timeout=1))

    async def slow(args: dict[str, Any]) -> int:
        await asyncio.sleep(args["seconds"])
        return int(args["seconds"])

    command(desk, slow)
    calls = [asyncio.ensure_future(run_command(desk, seconds=10 + number)) for number in range(52)]
    running = asyncio.ensure_future(run_command(desk, seconds=500))
    pending = [(await call)["pendingId"] for call in calls]
    kept_running = (await running)["pendingId"]
    await asyncio.sleep(100)
    for gone in pending[:2]:
        await desk.fail("PENDING_NOT_FOUND", "jupyter_wait_for_result", pendingId=gone)
    for kept in pending[2:]:
        await desk.ok("jupyter_wait_for_result", pendingId=kept)
    still = await desk.call("jupyter_wait_for_result", pendingId=kept_running, timeout=0)
    assert still["status"] == "pending"
    await asyncio.sleep(500)


async def test_a_running_call_is_always_kept() -> None:
    desk = await ready(long(7200))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    await asyncio.sleep(3600)
    again = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"], timeout=0)
    assert again["status"] == "pending"
    await asyncio.sleep(3600)


async def test_a_call_that_returned_its_result_is_not_kept() -> None:
    desk = await ready(long(5))
    await desk.ok("jupyter_run_cells", cellIds=["cell-0"])
    assert await pending_ids(desk) == []
    await desk.fail("PENDING_NOT_FOUND", "jupyter_wait_for_result", pendingId="call-1")


# --- one kernel, several calls


async def test_a_second_run_waits_for_the_first_and_says_so() -> None:
    desk = await ready(long(60), "print('quick')", settings=Settings(execution_timeout=2))
    first = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    second = await desk.call("jupyter_run_cells", cellIds=["cell-1"])
    assert second["queuedBehind"] == first["pendingId"]
    await asyncio.sleep(60)
    done = await desk.ok("jupyter_wait_for_result", pendingId=first["pendingId"])
    after = await desk.ok("jupyter_wait_for_result", pendingId=second["pendingId"])
    assert done["cells"][0]["executionCount"] == 1
    assert after["cells"][0]["executionCount"] == 2


async def test_a_failing_first_run_does_not_drop_the_second() -> None:
    desk = await ready("import asyncio\nawait asyncio.sleep(5)\n1 / 0", "print('runs')")
    first = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0"]))
    second = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-1"]))
    assert (await first)["errorName"] == "ZeroDivisionError"
    assert (await second)["cells"][0]["outputs"] == [stream("runs\n")]


async def test_a_persons_failing_cell_does_not_drop_the_agents() -> None:
    desk = await ready("import asyncio\nawait asyncio.sleep(5)\n1 / 0", "print('runs')")
    theirs = desk.person.start_run(0)
    await asyncio.sleep(1)
    answer = await desk.ok("jupyter_run_cells", cellIds=["cell-1"])
    assert answer["cells"][0]["outputs"] == [stream("runs\n")]
    assert (await theirs).status == "error"


async def test_a_restart_settles_what_waited_for_its_turn() -> None:
    desk = await ready(long(600), "print('never')", settings=Settings(execution_timeout=2))
    await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    second = await desk.call("jupyter_run_cells", cellIds=["cell-1"])
    await desk.ok("jupyter_kernel_action", action="restart")
    result = await desk.call("jupyter_wait_for_result", pendingId=second["pendingId"])
    assert result["code"] == "KERNEL_RESTARTED"
    assert result["notRun"] == ["cell-1"]


# --- input()


async def test_a_prompt_makes_the_call_pending_at_once_and_says_what_it_asks() -> None:
    """A kernel's input() prompt is reported like a dialog; only the person answers it."""
    desk = await ready("topic = input('Topic? ')\nprint(topic.upper())")
    start = asyncio.get_running_loop().time()
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert asyncio.get_running_loop().time() == start
    assert pending["input"] == {"prompt": "Topic? ", "password": False}
    context = await desk.ok("jupyter_get_context")
    assert context["pending"][0]["status"] == "input_required"
    assert context["notebook"]["kernel"]["input"] == {"prompt": "Topic? ", "password": False}
    wait = asyncio.ensure_future(
        desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    )
    await asyncio.sleep(3)
    desk.person.answer("tides")
    result = await wait
    assert result["success"] is True
    assert "TIDES" in result["cells"][0]["outputs"][-1]["text"]


async def test_a_prompt_is_told_once_and_each_further_one_again() -> None:
    desk = await ready("a = input('A? ')\nb = input('B? ')\nprint(a + b)")
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    start = asyncio.get_running_loop().time()
    again = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert asyncio.get_running_loop().time() - start == pytest.approx(20)
    assert again["input"]["prompt"] == "A? "
    wait = asyncio.ensure_future(
        desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    )
    await asyncio.sleep(1)
    desk.person.answer("x")
    assert (await wait)["input"]["prompt"] == "B? "
    desk.person.answer("y")
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert "xy" in result["cells"][0]["outputs"][-1]["text"]


async def test_a_password_is_flagged_and_appears_nowhere() -> None:
    desk = await ready("import getpass\nvalue = getpass.getpass('Key: ')\nprint(len(value))")
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert pending["input"]["password"] is True
    desk.person.answer("s3cret-value")
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert "s3cret-value" not in str(result)
    assert "12" in result["cells"][0]["outputs"][-1]["text"]


# --- dialogs


async def test_open_dialogs_are_listed_as_news_once_and_in_the_context_always() -> None:
    """Results list open dialogs as {id, title, body, buttons, shown, input?}."""
    desk = await ready("x")
    desk.frontend.screen.open("Rename", "New name", ("Cancel", "Rename"), input="a.ipynb")
    listed = [
        {
            "id": "dialog-1",
            "title": "Rename",
            "body": "New name",
            "buttons": ["Cancel", "Rename"],
            "shown": True,
            "input": "a.ipynb",
        }
    ]
    assert (await desk.ok("jupyter_get_cells"))["dialogs"] == listed
    assert "dialogs" not in await desk.ok("jupyter_get_cells")
    assert (await desk.ok("jupyter_get_context"))["dialogs"] == listed
    assert (await desk.ok("jupyter_get_context"))["dialogs"] == listed


async def test_a_queued_dialog_is_not_shown() -> None:
    """shown is false for a queued dialog."""
    desk = await ready("x")
    desk.frontend.screen.open("One")
    desk.frontend.screen.open("Two")
    dialogs = (await desk.ok("jupyter_get_context"))["dialogs"]
    assert [dialog["shown"] for dialog in dialogs] == [True, False]


async def test_a_dialog_that_opens_while_one_call_is_waited_for_belongs_to_it() -> None:
    """The tool returns pending with the dialog; the answer returns the call's result."""
    desk = await ready("x")

    # The dialog opens in the very turn in which the call begins.
    async def ask(args: dict[str, Any]) -> bool:
        return await desk.frontend.screen.ask(
            "Restart Kernel?", "Lost.", ("Cancel", "Restart")
        ) == ("Restart")

    command(desk, ask)
    start = asyncio.get_running_loop().time()
    pending = await run_command(desk)
    assert asyncio.get_running_loop().time() == start
    assert pending["status"] == "pending"
    assert pending["dialog"]["title"] == "Restart Kernel?"
    assert "jupyter_answer_dialog" in pending["message"]
    answer = await desk.call("jupyter_answer_dialog", button="restart")
    assert answer == {
        "success": True,
        "result": True,
        "answered": {"dialogId": "dialog-1", "button": "Restart"},
    }
    assert await pending_ids(desk) == []


async def test_a_dialog_is_reported_as_it_is_once_it_is_on_the_screen() -> None:
    """shown is false for a queued dialog, not for one that the page is about to show."""
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> None:
        dialog = desk.frontend.screen.open("Sure?", drawn=False)
        asyncio.get_running_loop().call_soon(setattr, dialog, "drawn", True)
        await dialog.result

    command(desk, ask)
    pending = await run_command(desk)
    assert pending["dialog"]["shown"] is True
    assert "behind another" not in pending["message"]
    assert await desk.ok("jupyter_answer_dialog", button="OK")


async def test_a_dialog_that_is_never_shown_does_not_hold_a_call_beyond_its_limit() -> None:
    """A call that runs longer than executionTimeout returns pending, whatever is open."""
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> None:
        await desk.frontend.screen.open("Sure?", drawn=False).result

    command(desk, ask)
    start = asyncio.get_running_loop().time()
    pending = await run_command(desk)
    assert asyncio.get_running_loop().time() - start == pytest.approx(20)
    assert pending["dialog"]["shown"] is False
    assert "behind another" not in pending["message"]
    desk.frontend.screen.answer("dialog-1", 0)


async def test_with_several_calls_waited_for_a_dialog_belongs_to_none() -> None:
    desk = await ready(long(5))

    async def ask(args: dict[str, Any]) -> str:
        await asyncio.sleep(1)
        return await desk.frontend.screen.ask("Sure?", "", ("Yes",))

    command(desk, ask)
    run = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0"]))
    asking = asyncio.ensure_future(run_command(desk))
    await asyncio.sleep(2)
    ran = await run
    assert ran["success"] is True
    assert ran["dialogs"][0]["title"] == "Sure?"
    assert await desk.ok("jupyter_answer_dialog", button="Yes") == {
        "success": True,
        "answered": {"dialogId": "dialog-1", "button": "Yes"},
    }
    assert (await asking)["result"] == "Yes"


async def test_a_dialog_that_opens_while_nobody_waits_belongs_to_no_call() -> None:
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> str:
        await asyncio.sleep(30)
        return await desk.frontend.screen.ask("Late?", "", ("Yes",))

    command(desk, ask)
    pending = await run_command(desk)
    await asyncio.sleep(15)
    context = await desk.ok("jupyter_get_context")
    assert context["pending"][0]["status"] == "working"
    assert context["dialogs"][0]["title"] == "Late?"
    start = asyncio.get_running_loop().time()
    again = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert asyncio.get_running_loop().time() - start == pytest.approx(20)
    assert "dialog" not in again
    await desk.ok("jupyter_answer_dialog", button=0)
    assert (await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"]))["result"]


async def test_while_its_dialog_is_open_waiting_returns_at_once() -> None:
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> str:
        return await desk.frontend.screen.ask("Sure?", "", ("No", "Yes"))

    command(desk, ask)
    pending = await run_command(desk)
    start = asyncio.get_running_loop().time()
    for _ in range(2):
        again = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
        assert again["dialog"]["title"] == "Sure?"
    assert asyncio.get_running_loop().time() == start
    desk.frontend.screen.answer("dialog-1", 0)
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert result["result"] == "No"


async def test_an_error_dialog_is_reported_once() -> None:
    """Afterwards waiting waits as usual, and pending still has the dialog."""
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> str:
        return await desk.frontend.screen.ask("File Load Error", "No such file", ("Dismiss",))

    command(desk, ask)
    pending = await run_command(desk)
    assert "probably failed" in pending["message"]
    start = asyncio.get_running_loop().time()
    again = await desk.call("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert asyncio.get_running_loop().time() - start == pytest.approx(20)
    assert again["dialog"]["title"] == "File Load Error"
    await desk.ok("jupyter_answer_dialog", button="Dismiss")


async def test_a_call_settles_with_its_dialogs_left_open() -> None:
    """A result is the outcome of the command; its dialogs stay and appear in dialogs."""
    desk = await ready("x")

    async def tell(args: dict[str, Any]) -> str:
        desk.frontend.screen.open("Note", "It is done", ("OK",))
        await asyncio.sleep(3)
        return "done"

    command(desk, tell)
    pending = await run_command(desk)
    assert pending["dialog"]["title"] == "Note"
    result = await desk.ok("jupyter_wait_for_result", pendingId=pending["pendingId"])
    assert result["result"] == "done"
    assert result["dialogs"][0]["title"] == "Note"
    assert (await desk.ok("jupyter_get_context"))["dialogs"][0]["title"] == "Note"


@pytest.mark.parametrize(
    ("button", "index"), [("yes", 1), ("YES", 1), (" Yes ", 1), (1, 1), (0, 0), ("1", 1)]
)
async def test_a_button_by_label_or_index(button: Any, index: int) -> None:
    """Given by label, whatever its case, or by 0-based index."""
    desk = await ready("x")
    dialog = desk.frontend.screen.open("Sure?", "", ("No", "Yes"))
    await desk.ok("jupyter_answer_dialog", button=button)
    assert dialog.result.result() == index


@pytest.mark.parametrize("button", ["Maybe", 2, -1, "7"])
async def test_a_button_that_is_not_there(button: Any) -> None:
    desk = await ready("x")
    dialog = desk.frontend.screen.open("Sure?", "", ("No", "Yes"))
    failed = await desk.fail("BUTTON_NOT_FOUND", "jupyter_answer_dialog", button=button)
    assert '"No", "Yes"' in failed["error"]
    assert not dialog.result.done()


async def test_without_an_id_exactly_one_dialog_must_be_open() -> None:
    desk = await ready("x")
    await desk.fail("DIALOG_NOT_FOUND", "jupyter_answer_dialog", button=0)
    desk.frontend.screen.open("One")
    desk.frontend.screen.open("Two")
    failed = await desk.fail("DIALOG_AMBIGUOUS", "jupyter_answer_dialog", button=0)
    assert [dialog["title"] for dialog in failed["dialogs"]] == ["One", "Two"]
    await desk.fail("DIALOG_NOT_FOUND", "jupyter_answer_dialog", button=0, dialogId="dialog-9")


async def test_a_queued_dialog_cannot_be_answered() -> None:
    """It is behind another one, of which the pending answer tells."""
    desk = await ready("x")
    desk.frontend.screen.open("The person's", "", ("OK",))

    async def ask(args: dict[str, Any]) -> str:
        return await desk.frontend.screen.ask("Mine", "", ("Go",))

    command(desk, ask)
    pending = await run_command(desk)
    assert pending["dialog"]["title"] == "Mine"
    assert pending["dialog"]["shown"] is False
    assert pending["shownDialog"]["title"] == "The person's"
    failed = await desk.fail(
        "DIALOG_QUEUED", "jupyter_answer_dialog", button="Go", dialogId="dialog-2"
    )
    assert failed["dialog"]["title"] == "The person's"
    desk.frontend.screen.answer("dialog-1", 0)
    answer = await desk.ok("jupyter_answer_dialog", button="Go")
    assert answer["result"] == "Go"


async def test_an_answer_that_leads_to_another_dialog_reports_that_one() -> None:
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> list[str]:
        first = await desk.frontend.screen.ask("First?", "", ("Next",))
        return [first, await desk.frontend.screen.ask("Second?", "", ("Done", "Back"))]

    command(desk, ask)
    await run_command(desk)
    second = await desk.call("jupyter_answer_dialog", button="Next")
    assert second["status"] == "pending"
    assert second["dialog"]["title"] == "Second?"
    assert second["answered"] == {"dialogId": "dialog-1", "button": "Next"}
    final = await desk.ok("jupyter_answer_dialog", button="Done")
    assert final["result"] == ["Next", "Done"]


async def test_after_an_error_dialog_it_waits_one_second() -> None:
    """A call that failed often never settles: after a second, pending says so."""
    desk = await ready("x")
    release = asyncio.get_running_loop().create_future()

    async def stuck(args: dict[str, Any]) -> str:
        await desk.frontend.screen.ask("File Load Error", "No such file", ("Dismiss",))
        await release
        return "late"

    command(desk, stuck)
    await run_command(desk)
    start = asyncio.get_running_loop().time()
    answer = await desk.call("jupyter_answer_dialog", button="Dismiss")
    assert asyncio.get_running_loop().time() - start == pytest.approx(1)
    assert answer["status"] == "pending"
    assert "never" in answer["message"]
    [still] = await pending_ids(desk)
    release.set_result(None)
    assert (await desk.ok("jupyter_wait_for_result", pendingId=still))["result"] == "late"


async def test_a_dialog_the_person_closes_leaves_no_trace() -> None:
    desk = await ready("x")
    desk.frontend.screen.open("Theirs", "", ("OK",))
    await desk.ok("jupyter_get_context")
    desk.frontend.screen.answer("dialog-1", 0)
    assert (await desk.ok("jupyter_get_context"))["dialogs"] == []


async def test_nothing_is_closed_for_the_agent() -> None:
    desk = await ready("x")
    dialog = desk.frontend.screen.open("Theirs", "", ("OK",))
    await desk.ok("jupyter_get_cells")
    await asyncio.sleep(1000)
    assert not dialog.result.done()
    desk.frontend.screen.answer("dialog-1", 0)


async def test_a_dialog_of_no_call_is_news_in_a_pending_answer_too() -> None:
    desk = await ready(long(60))
    desk.frontend.screen.open("Theirs", "", ("OK",))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    assert pending["dialogs"][0]["title"] == "Theirs"
    assert "dialog" not in pending
    desk.frontend.screen.answer("dialog-1", 0)
    await stop(desk)


async def test_only_the_dialog_in_the_answer_counts_as_told() -> None:
    desk = await ready("x")

    async def ask(args: dict[str, Any]) -> None:
        first = desk.frontend.screen.open("Sure?", "", ("No", "Yes"))
        second = desk.frontend.screen.open("Load Error", "No file", ("Dismiss",))
        await first.result
        await second.result

    command(desk, ask)
    pending = await run_command(desk)
    assert pending["dialog"]["title"] == "Sure?"
    start = asyncio.get_running_loop().time()
    following = await desk.call(
        "jupyter_answer_dialog", button="Yes", dialogId=pending["dialog"]["id"]
    )
    assert following["dialog"]["title"] == "Load Error"
    assert asyncio.get_running_loop().time() - start < 1
    await desk.ok("jupyter_answer_dialog", button="Dismiss")


@pytest.mark.parametrize("given", ["NaN", "1e999", "-Infinity"])
async def test_no_timeout_goes_beyond_the_limit(given: str) -> None:
    desk = await ready(long(600))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    start = asyncio.get_running_loop().time()
    await desk.server.call(
        "jupyter_wait_for_result",
        f'{{"pendingId": "{pending["pendingId"]}", "timeout": {given}}}',
    )
    assert asyncio.get_running_loop().time() - start <= 20.001
    await stop(desk)


async def test_an_abort_in_the_turn_of_the_result_loses_nothing() -> None:
    desk = await ready("x")
    signal = Abort()

    async def late(args: dict[str, Any]) -> str:
        await asyncio.sleep(1)
        signal.abort()
        return "RESULT"

    command(desk, late)
    await desk.call("jupyter_execute_command", signal, command_id="app:do")
    [kept] = await pending_ids(desk)
    assert (await desk.ok("jupyter_wait_for_result", pendingId=kept))["result"] == "RESULT"


async def test_a_cancelled_caller_loses_nothing() -> None:
    desk = await ready(long(10))
    task = asyncio.ensure_future(desk.call("jupyter_run_cells", cellIds=["cell-0"]))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [kept] = await pending_ids(desk)
    result = await desk.ok("jupyter_wait_for_result", pendingId=kept)
    assert result["cells"][0]["outputs"] == [stream("so far\nend\n")]


async def test_an_aborted_wait_does_not_mark_the_call_as_aborted() -> None:
    desk = await ready(long(60))
    pending = await desk.call("jupyter_run_cells", cellIds=["cell-0"])
    signal = Abort()
    wait = asyncio.ensure_future(
        desk.call("jupyter_wait_for_result", signal, pendingId=pending["pendingId"])
    )
    await asyncio.sleep(1)
    signal.abort()
    await wait
    [listed] = (await desk.ok("jupyter_get_context"))["pending"]
    assert "aborted" not in listed
    await stop(desk)


@pytest.mark.parametrize("button", ["²", "1" * 5000, ""])
async def test_an_odd_button_is_not_found(button: str) -> None:
    desk = await ready("x")
    dialog = desk.frontend.screen.open("Sure?", "", ("No", "Yes"))
    await desk.fail("BUTTON_NOT_FOUND", "jupyter_answer_dialog", button=button)
    assert not dialog.result.done()


async def test_settings_that_change_meanwhile_hold_for_the_calls_after() -> None:
    desk = await ready(long(5))
    run = asyncio.ensure_future(desk.server.call("jupyter_run_cells", {"cellIds": ["cell-0"]}))
    await asyncio.sleep(1)
    desk.server.settings = Settings(envelope="text")
    assert "structuredContent" in await run
    assert "structuredContent" not in await desk.server.call("jupyter_get_context")
