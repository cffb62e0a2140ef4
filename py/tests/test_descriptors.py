"""What an agent is told of the tools: a golden file shows in review what would change for it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fastjsonschema
import pytest
from pywebmcp import jsontext, reference
from pywebmcp.tools import Tool
from pywebmcp.toolset import TOOLS

GOLDEN = Path(__file__).with_name("descriptors.json")
BUDGET = 16_000  # characters, for all 22 tools together

HINTS = {
    "jupyter_get_context": "RU",
    "jupyter_get_contents": "RU",
    "jupyter_write_file": "C",
    "jupyter_open_notebook": "U",
    "jupyter_save_notebook": "",
    "jupyter_get_cells": "RU",
    "jupyter_insert_cell": "U",
    "jupyter_update_cell": "U",
    "jupyter_delete_cell": "CU",
    "jupyter_focus_cell": "U",
    "jupyter_run_cells": "CU",
    "jupyter_run_code": "CU",
    "jupyter_read_output": "RU",
    "jupyter_kernel_action": "C",
    "jupyter_list_commands": "RU",
    "jupyter_execute_command": "CU",
    "jupyter_answer_dialog": "CU",
    "jupyter_wait_for_result": "RU",
    "jupyter_list_comments": "RU",
    "jupyter_create_comment": "U",
    "jupyter_reply_comment": "U",
    "jupyter_focus_comment": "U",
}
NAMES = {"R": "readOnlyHint", "U": "untrustedContentHint", "C": "consequentialHint"}


def test_the_descriptors_are_as_reviewed() -> None:
    """Set PYWEBMCP_UPDATE_GOLDEN=1 to write the file anew."""
    text = json.dumps([tool.descriptor() for tool in TOOLS], indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("PYWEBMCP_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


def test_names_are_unique_and_known() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert set(names) <= set(HINTS)


def test_the_order_is_the_documented_one() -> None:
    names = [tool.name for tool in TOOLS]
    assert names == [name for name in HINTS if name in names]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_hints(tool: Tool) -> None:
    assert tool.descriptor()["annotations"] == {NAMES[hint]: True for hint in HINTS[tool.name]}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_closed_valid_and_described(tool: Tool) -> None:
    schema = tool.descriptor()["inputSchema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    fastjsonschema.compile(schema)
    assert tool.description
    assert tool.title


def test_the_budget_is_kept() -> None:
    length = jsontext.length(jsontext.dumps([tool.descriptor() for tool in TOOLS]))
    assert length <= BUDGET * len(TOOLS) / len(HINTS) * 1.2
    assert length <= BUDGET


def test_the_page_of_tools_is_up_to_date() -> None:
    """Run scripts/make_tools_page to write it anew."""
    written = Path(__file__).parents[2] / "docs" / "tools.md"
    assert written.read_text(encoding="utf-8") == reference.page(TOOLS)
