"""The tab in which a person tries the tools: what it shows and what it sends."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from pywebmcp.browser.ui.forms import Form, FormError
from pywebmcp.browser.ui.tools_tab import ToolsTab
from pywebmcp.settings import Settings
from pywebmcp.tools import Call, tool
from pywebmcp.toolset import TOOLS
from pywebmcp.types import Payload
from shown import Sheet, act, called, drawn, fill, press, text, walk

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Trying:
    """A person at the tab."""

    def __init__(self, *cells: Any, **more: Any) -> None:
        self.desk = Desk(*cells, **more)
        self.sheet = Sheet()
        self.tab = ToolsTab(self.desk.server, self.sheet)

    def open(self, name: str) -> None:
        press(self.tab, f"{self.desk.server.tools[name].title} {name}")

    def submit(self) -> None:
        [form] = [attributes for tag, attributes, _ in walk(drawn(self.tab)) if tag == "form"]
        assert form["on"]["keydown"] == {"Control+Enter": form["on"]["submit"]}
        act(self.tab, form["on"]["submit"], None)

    async def run(self) -> str:
        self.submit()
        await self.sheet.finish()
        return text(drawn(self.tab))

    def alert(self) -> str:
        return " ".join(
            text(children)
            for _, attributes, children in walk(drawn(self.tab))
            if attributes.get("role") == "alert"
        )


async def test_all_tools_are_listed_and_a_search_finds_some() -> None:
    trying = Trying("x")
    shown = text(drawn(trying.tab))
    assert all(tool.name in shown and tool.title in shown for tool in TOOLS)
    assert f"{len(TOOLS)} tools" in shown
    fill(trying.tab, "input", "Find a tool", "kernel restart")
    shown = text(drawn(trying.tab))
    assert "jupyter_kernel_action" in shown
    assert "jupyter_get_context" not in shown
    assert f"1 of {len(TOOLS)} tools" in shown


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS])
async def test_every_argument_has_a_labelled_field(name: str) -> None:
    trying = Trying("x")
    trying.open(name)
    shown = text(drawn(trying.tab))
    schema = trying.desk.server.tools[name].signature.schema
    for argument, described in schema["properties"].items():
        assert argument in shown
        assert described.get("description", "") in shown
    ids = [attributes["id"] for _, attributes, _ in walk(drawn(trying.tab)) if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for tag, attributes, _ in walk(drawn(trying.tab)):
        if tag == "label":
            assert attributes["for"] in ids
        if "aria-describedby" in attributes:
            assert attributes["aria-describedby"] in ids


async def test_a_run_goes_through_the_server_and_shows_its_result() -> None:
    trying = Trying("x", "y")
    await trying.desk.open()
    trying.open("jupyter_get_cells")
    fill(trying.tab, "input", "startIndex", "1")
    fill(trying.tab, "select", "includeSource", "true")
    shown = await trying.run()
    assert '"source": "y"' in shown
    assert '"source": "x"' not in shown
    assert "Done." in shown
    assert trying.alert() == ""


async def test_what_was_entered_and_answered_stays_when_another_tool_is_looked_at() -> None:
    trying = Trying("x", "y")
    await trying.desk.open()
    trying.open("jupyter_get_cells")
    fill(trying.tab, "input", "startIndex", "1")
    await trying.run()
    trying.open("jupyter_get_context")
    assert '"source"' not in text(drawn(trying.tab))
    trying.open("jupyter_get_cells")
    assert called(drawn(trying.tab), "input", "startIndex")["value"] == "1"
    assert '"source": "y"' in text(drawn(trying.tab))


async def test_lists_of_objects_grow_and_shrink() -> None:
    trying = Trying("one two")
    await trying.desk.open()
    [cell] = (await trying.desk.ok("jupyter_get_cells"))["cells"]
    trying.open("jupyter_update_cell")
    fill(trying.tab, "input", "cellId required", cell["id"])
    for _ in range(3):
        press(trying.tab, "Add to edits")
    assert len(trying.sheet.focused) == 3
    numbers = "0", "1", "2"
    for number, old, new in zip(numbers, ("one", "gone", "two"), ("1", "", ""), strict=True):
        for part, value in (("oldText", old), ("newText", new)):
            act(trying.tab, ["enter", "jupyter_update_cell", f"edits.{number}.{part}"], value)
    press(trying.tab, "Remove edits 2")
    await trying.run()
    assert trying.alert() == ""
    [cell] = (await trying.desk.ok("jupyter_get_cells"))["cells"]
    assert cell["source"] == "1 "


async def test_what_is_no_json_is_said_and_not_sent() -> None:
    trying = Trying("x")
    trying.open("jupyter_execute_command")
    fill(trying.tab, "input", "command_id required", "app:x")
    fill(trying.tab, "textarea", "args", "{")
    trying.submit()
    assert trying.sheet.begun == []
    assert "args is no JSON" in trying.alert()
    fill(trying.tab, "textarea", "args", '{"a": 1}')
    assert "no command" in await trying.run()


async def test_a_failure_is_an_alert_and_shows_its_payload() -> None:
    trying = Trying("x")
    await trying.desk.open()
    trying.open("jupyter_delete_cell")
    shown = await trying.run()
    assert 'Argument "cellId" is missing' in trying.alert()
    assert '"code": "INVALID_ARGUMENT"' in shown
    assert "Done." not in shown


async def test_a_disabled_tool_says_so_and_does_not_run() -> None:
    trying = Trying("x", settings=Settings(disabled_tools=("jupyter_get_cells",)))
    trying.open("jupyter_get_cells")
    assert "disabled in the settings" in text(drawn(trying.tab))
    assert called(drawn(trying.tab), "button", "Run Read cells")["disabled"] is True
    trying.submit()
    assert trying.sheet.begun == []


async def test_a_pending_call_says_how_to_go_on() -> None:
    trying = Trying("x", settings=Settings(execution_timeout=2))
    await trying.desk.open()
    trying.open("jupyter_run_code")
    fill(trying.tab, "textarea", "code required", "import asyncio; await asyncio.sleep(3); 'late'")
    assert "Pending: " in await trying.run()
    press(trying.tab, "Wait for the result")
    await trying.sheet.finish()
    assert "'late'" in text(drawn(trying.tab))
    assert trying.desk.server.calls.listing() == []


async def test_images_are_shown_with_words_for_them() -> None:
    @tool("Draw")
    async def draw(call: Call) -> Payload:
        """Draw something."""
        return {"outputs": [{"output_type": "display_data", "data": {"image/png": PNG}}]}

    trying = Trying("x")
    trying.desk.server.tools = {"draw": draw}
    trying.open("draw")
    await trying.run()
    [image] = [attributes for tag, attributes, _ in walk(drawn(trying.tab)) if tag == "img"]
    assert image["src"] == f"data:image/png;base64,{PNG}"
    assert image["alt"] == "Image 1 of the result of Draw (image/png)"


async def test_texts_are_never_elements() -> None:
    trying = Trying("<img src=x onerror=alert(1)>")
    await trying.desk.open()
    trying.open("jupyter_get_cells")
    assert "<img src=x onerror=alert(1)>" in await trying.run()
    assert not [tag for tag, _, _ in walk(drawn(trying.tab)) if tag == "img"]


def test_numbers_and_words_of_a_field_that_takes_both() -> None:
    properties = {"button": {"type": ["string", "integer"]}, "at": {"type": "number"}}
    form = Form("t", {"type": "object", "properties": properties})
    form.enter("button", "1")
    assert form.arguments() == {"button": 1}
    form.enter("button", "OK")
    form.enter("at", "0.5")
    assert form.arguments() == {"button": "OK", "at": 0.5}
    form.enter("at", "x")
    with pytest.raises(FormError, match="at is no JSON"):
        form.arguments()
