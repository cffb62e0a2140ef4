"""The settings hold from the next call on, without a reload, and never change what is registered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from background import ask, configure, settings
from files import put_and_open, sketch
from lab import Lab
from playwright.sync_api import Route
from pywebmcp.testing import code, stream
from pywebmcp.toolset import TOOLS


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    long = code("x", "long", outputs=[stream("y" * 30_000)])
    put_and_open(lab, "settings.ipynb", sketch(long))


@pytest.fixture(autouse=True)
def defaults(lab: Lab) -> Iterator[None]:
    yield
    names = ("executionTimeout", "maxResultLength", "disabledTools", "envelope")
    configure(lab, **dict.fromkeys(names))


def names(lab: Lab) -> list[str]:
    return sorted(tool["name"] for tool in lab.page.webmcp.tools())


def envelope(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lab.raw("jupyter_get_cells", {"includeOutputs": True}))
    return found


def test_a_disabled_tool_says_so_and_stays_registered(lab: Lab) -> None:
    before = names(lab)
    assert before == sorted(tool.name for tool in TOOLS)
    lab.js("document.modelContext.ontoolchange = () => { globalThis.changed = true; }")
    with settings(lab, disabledTools=["jupyter_get_cells", "jupyter_run_code"]):
        for name, arguments in (
            ("jupyter_get_cells", {}),
            ("jupyter_run_code", {"code": "1"}),
            ("jupyter_run_code", {"wrong": "arguments"}),
        ):
            failed = ask(lab, name, **arguments)
            assert (failed["success"], failed["isError"]) == (False, True)
            assert failed["code"] == "TOOL_DISABLED"
            assert name in failed["error"]
        assert names(lab) == before
        assert ask(lab, "jupyter_get_context")["success"] is True
    assert ask(lab, "jupyter_get_cells")["success"] is True
    assert names(lab) == before
    assert lab.js("globalThis.changed ?? false") is False


def test_the_longest_result_is_a_setting(lab: Lab) -> None:
    whole = ask(lab, "jupyter_get_cells", includeOutputs=True)
    assert "truncated" not in whole
    assert len(whole["cells"][0]["outputs"][0]["text"]) == 30_000
    with settings(lab, maxResultLength=8000):
        cut = ask(lab, "jupyter_get_cells", includeOutputs=True)
        assert cut["truncated"] is True
        assert len(json.dumps(cut)) <= 8000
        assert cut["truncation"] == [
            {"path": "cells[0].outputs[0].text", "omittedCharacters": 30_000 - 2 * 2000}
        ]
    assert ask(lab, "jupyter_get_cells", includeOutputs=True) == whole


def test_the_form_of_the_answers_is_a_setting(lab: Lab) -> None:
    full = envelope(lab)
    payload = full["structuredContent"]
    [block] = full["content"]
    assert json.loads(block["text"]) == payload
    assert full["isError"] is False
    with settings(lab, envelope="structured"):
        assert envelope(lab) == {"content": [], "structuredContent": payload, "isError": False}
    with settings(lab, envelope="text"):
        assert envelope(lab) == {"content": [block], "isError": False}
    assert envelope(lab) == full


def test_the_settings_are_in_the_settings_editor(lab: Lab) -> None:
    schema = lab.page.evaluate(
        """async () => (await pywebmcp.tokens.settings.load("pywebmcp:plugin")).schema"""
    )
    for name, default in (
        ("executionTimeout", 20),
        ("maxResultLength", 40_000),
        ("disabledTools", []),
        ("blockedCommands", ["apputils:run-*"]),
        ("envelope", "full"),
    ):
        described = schema["properties"][name]
        assert described["default"] == default
        assert described["title"]
        assert described["description"]


def test_a_site_gives_its_own_defaults(jl: Lab) -> None:
    def overridden(route: Route) -> None:
        response = route.fetch()
        config = response.json()
        config["jupyter-config-data"]["settingsOverrides"] = {
            "pywebmcp:plugin": {"disabledTools": ["jupyter_run_code"], "maxResultLength": 2000}
        }
        route.fulfill(response=response, json=config)

    # Only the file of the whole site; the app's own has nothing of it.
    jl.page.route(f"{jl.site}jupyter-lite.json*", overridden)
    jl.open()
    assert names(jl) == sorted(tool.name for tool in TOOLS)
    assert jl.call("jupyter_run_code", {"code": "1"})["code"] == "TOOL_DISABLED"
    listed = jl.must("jupyter_list_commands")
    assert len(json.dumps(listed)) < 3000
    assert listed["nextOffset"] < 30
