"""jupyter_list_commands and jupyter_execute_command."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from pywebmcp import jsontext
from pywebmcp.settings import Settings

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


async def done(args: dict[str, Any]) -> Any:
    return {"args": args}


def desk_with(count: int = 0, **more: Any) -> Desk:
    desk = Desk("x", **more)
    add = desk.frontend.registry.add
    add("docmanager:save", done, label="Save Notebook")
    add("docmanager:open", done, label="Open", args=SCHEMA)
    add("notebook:run", done, label="Run", enabled=False, args={"type": "object", "properties": {}})
    add("apputils:run-first", done)
    for number in range(count):
        add(f"app:number-{number:04}", done, label=f"Number {number}")
    return desk


async def test_the_list_has_ids_labels_arguments_and_what_is_not_enabled() -> None:
    answer = await desk_with().ok("jupyter_list_commands")
    assert answer["commands"] == [
        {"id": "apputils:run-first"},
        {"id": "docmanager:open", "label": "Open", "args": SCHEMA},
        {"id": "docmanager:save", "label": "Save Notebook"},
        {"id": "notebook:run", "label": "Run", "enabled": False},
    ]
    assert answer["total"] == 4
    assert "nextOffset" not in answer


@pytest.mark.parametrize(
    ("query", "found"),
    [("save", ["docmanager:save"]), ("notebook", ["docmanager:save", "notebook:run"]), ("zzz", [])],
)
async def test_a_query_looks_into_ids_and_labels(query: str, found: list[str]) -> None:
    answer = await desk_with().ok("jupyter_list_commands", query=query)
    assert [command["id"] for command in answer["commands"]] == found


async def test_every_word_of_a_query_has_to_be_there() -> None:
    answer = await desk_with().ok("jupyter_list_commands", query="Notebook SAVE")
    assert [command["id"] for command in answer["commands"]] == ["docmanager:save"]


async def test_pages_reach_every_command() -> None:
    desk = desk_with(500, settings=Settings(max_result_length=5000))
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await desk.ok("jupyter_list_commands", offset=offset)
        assert jsontext.length(jsontext.dumps(page)) <= 5000
        seen += [command["id"] for command in page["commands"]]
        offset = page.get("nextOffset")
    assert len(seen) == len(set(seen)) == 504
    limited = await desk.ok("jupyter_list_commands", offset=2, limit=3)
    assert len(limited["commands"]) == 3


async def test_a_command_gets_its_arguments_and_answers_its_result() -> None:
    answer = await desk_with().ok(
        "jupyter_execute_command", command_id="docmanager:open", args={"path": "a", "x": None}
    )
    assert answer == {"success": True, "result": {"args": {"path": "a", "x": None}}}


async def test_a_blocked_command_is_refused() -> None:
    desk = desk_with()
    refused = await desk.fail(
        "COMMAND_BLOCKED", "jupyter_execute_command", command_id="apputils:run-first"
    )
    assert "settings" in refused["error"]
    desk.server.settings = Settings(blocked_commands=("docmanager:*",))
    await desk.ok("jupyter_execute_command", command_id="apputils:run-first")
    await desk.fail("COMMAND_BLOCKED", "jupyter_execute_command", command_id="docmanager:save")


async def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    refused = await desk_with().fail(
        "COMMAND_NOT_FOUND", "jupyter_execute_command", command_id="docmanager:sav"
    )
    assert "docmanager:save" in refused["error"]


async def test_a_failing_command_says_why() -> None:
    desk = desk_with()

    async def fails(args: dict[str, Any]) -> None:
        raise RuntimeError("no such kernel")

    desk.frontend.registry.add("app:fails", fails)
    refused = await desk.fail("COMMAND_FAILED", "jupyter_execute_command", command_id="app:fails")
    assert "no such kernel" in refused["error"]
