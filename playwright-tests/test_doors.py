"""Every tool through every door that Chromium has for an agent, and one shape of answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from files import listing, put_and_open
from lab import PATIENCE, Lab
from pywebmcp.testing import code, notebook
from pywebmcp.toolset import TOOLS

PATH = "doors.ipynb"

Door = Callable[[Lab, str, dict[str, Any]], Any]


def through_the_page(lab: Lab, name: str, arguments: dict[str, Any]) -> Any:
    """As an agent within the page: ``document.modelContext.executeTool``."""
    return json.loads(lab.raw(name, arguments))


def through_playwright(lab: Lab, name: str, arguments: dict[str, Any]) -> Any:
    return lab.page.webmcp.call_tool(name, arguments, timeout=PATIENCE)


def through_devtools(lab: Lab, name: str, arguments: dict[str, Any]) -> Any:
    """As a bridge over the DevTools protocol: domain ``WebMCP``."""
    session = lab.page.context.new_cdp_session(lab.page)
    try:
        responses: list[dict[str, Any]] = []
        session.on("WebMCP.toolResponded", lambda event: responses.append(event))
        session.send("WebMCP.enable")
        frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        call = session.send(
            "WebMCP.invokeTool", {"frameId": frame, "toolName": name, "input": arguments}
        )
        deadline = time.monotonic() + PATIENCE / 1000
        while not responses:
            assert time.monotonic() < deadline, f"{name} did not answer"
            # Playwright hands out events while it waits for something.
            lab.page.evaluate("new Promise(requestAnimationFrame).then(() => null)")
        [response] = responses
        assert response["invocationId"] == call["invocationId"]
        assert response["status"] == "Completed", response
        return response["output"]
    finally:
        session.detach()


DOORS: dict[str, Door] = {
    "executeTool": through_the_page,
    "playwright": through_playwright,
    "devtools": through_devtools,
}


def fresh_cell(lab: Lab) -> dict[str, Any]:
    added = lab.must("jupyter_insert_cell", source="to be deleted")
    return {"cellId": added["id"], "expectedSourceHash": added["sourceHash"]}


def unsaved(lab: Lab) -> dict[str, Any]:
    lab.must("jupyter_insert_cell", source="unsaved")
    return {"path": PATH, "cellId": "value"}


def new_file(lab: Lab) -> dict[str, Any]:
    return {"path": f"new/{len(listing(lab))}.txt", "content": "text"}


def a_dialog(lab: Lab) -> dict[str, Any]:
    lab.js("void pywebmcp.modules.apputils.showDialog({ title: 'Well?', body: 'A question.' })")
    lab.page.locator(".jp-Dialog").wait_for()
    return {"button": "Cancel"}


def a_pending_call(lab: Lab) -> dict[str, Any]:
    """A command that asks the person, and is answered by them."""
    asked = lab.call("jupyter_execute_command", {"command_id": "notebook:restart-kernel"})
    lab.page.locator(".jp-Dialog").get_by_text("Cancel", exact=True).click()
    return {"pendingId": asked["pendingId"]}


def a_thread(lab: Lab) -> dict[str, Any]:
    anchor = {"kind": "cell", "cellId": "value"}
    made = lab.must("jupyter_create_comment", anchor=anchor, message="why 20?")
    return {"threadId": made["threadId"]}


def a_reply(lab: Lab) -> dict[str, Any]:
    return {**a_thread(lab), "message": "because"}


# Arguments that make sense, and the fields of the answer besides `success`.
CALLS: dict[str, tuple[dict[str, Any] | Callable[[Lab], dict[str, Any]], set[str]]] = {
    "jupyter_get_context": (
        {},
        {"directory", "documents", "notebook", "focus", "review", "pending", "dialogs"},
    ),
    "jupyter_get_contents": ({"path": ""}, {"entries"}),
    "jupyter_write_file": (new_file, {"contentHash"}),
    "jupyter_open_notebook": (unsaved, {"cellCount", "dirty", "kernel"}),
    "jupyter_save_notebook": ({}, {"path", "dirty"}),
    "jupyter_get_cells": ({"cellIds": ["value", "text"], "includeOutputs": True}, {"cells"}),
    "jupyter_insert_cell": (
        {"source": "# new", "referenceCellId": "value"},
        {"id", "index", "sourceHash"},
    ),
    "jupyter_update_cell": (
        {"cellId": "text", "edits": [{"oldText": "note", "newText": "note of mine"}]},
        {"sourceHash"},
    ),
    "jupyter_delete_cell": (fresh_cell, {"cellCount"}),
    "jupyter_focus_cell": ({"cellId": "value", "cursor": {"line": 0, "column": 5}}, set()),
    "jupyter_run_cells": ({"cellIds": ["value"]}, {"cells"}),
    "jupyter_read_output": (
        {"cellId": "value", "outputIndex": 0},
        {
            "schema_version",
            "status",
            "source",
            "output_type",
            "available_mime_types",
            "execution_count",
            "selected",
        },
    ),
    "jupyter_run_code": ({"code": "6 * 7"}, {"status", "outputs"}),
    "jupyter_kernel_action": ({"action": "restart"}, {"message"}),
    "jupyter_list_commands": ({"query": "restart kernel"}, {"commands", "total"}),
    "jupyter_execute_command": ({"command_id": "notebook:enter-command-mode"}, set()),
    "jupyter_answer_dialog": (a_dialog, {"answered"}),
    "jupyter_wait_for_result": (a_pending_call, {"result"}),
    "jupyter_create_comment": (
        {"anchor": {"kind": "cell", "cellId": "value"}, "message": "why 20?"},
        {"threadId"},
    ),
    "jupyter_list_comments": ({}, {"threads"}),
    "jupyter_reply_comment": (a_reply, set()),
    "jupyter_focus_comment": (a_thread, {"cellId", "index"}),
}


@pytest.fixture(scope="module", autouse=True)
def doors_notebook(lab: Lab) -> None:
    put_and_open(
        lab,
        PATH,
        notebook(code("value = 20\nvalue + 1", "value"), code("'note'", "text")),
    )
    lab.until_kernel()


def test_every_tool_is_called_here() -> None:
    assert {tool.name for tool in TOOLS} == set(CALLS)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CALLS)
def test_a_tool_through_a_door(lab: Lab, name: str, door: str) -> None:
    given, fields = CALLS[name]
    arguments = given(lab) if callable(given) else given
    envelope = DOORS[door](lab, name, arguments)
    while envelope["structuredContent"].get("status") == "pending":
        waiting = {"pendingId": envelope["structuredContent"]["pendingId"]}
        envelope = DOORS[door](lab, "jupyter_wait_for_result", waiting)
    assert envelope.keys() == {"content", "structuredContent", "isError"}
    payload = envelope["structuredContent"]
    assert payload["success"] is True, payload
    assert payload.keys() == {"success"} | fields
    assert envelope["isError"] is False
    [block] = envelope["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == payload
    if name == "jupyter_run_cells":
        [cell] = payload["cells"]
        assert cell["outputs"][-1]["data"] == {"text/plain": "21"}


@pytest.mark.parametrize("door", DOORS)
def test_a_failure_through_a_door(lab: Lab, door: str) -> None:
    envelope = DOORS[door](lab, "jupyter_focus_cell", {"cellId": "nowhere"})
    assert envelope["isError"] is True
    payload = envelope["structuredContent"]
    assert payload.keys() == {"success", "isError", "error", "code"}
    assert payload["code"] == "CELL_NOT_FOUND"
    assert json.loads(envelope["content"][0]["text"]) == payload
