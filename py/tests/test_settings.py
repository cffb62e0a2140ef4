"""Settings are read as a person may have written them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from pywebmcp import constants
from pywebmcp.settings import Settings, camel

SCHEMA = Path(__file__).parents[2] / "lite/extension/schemas/pywebmcp/plugin.json"


def test_the_schema_of_the_settings_editor_has_the_same_names_and_defaults() -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    defaults = {
        camel(name): list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(Settings()).items()
    }
    assert {name: part["default"] for name, part in schema["properties"].items()} == defaults
    assert schema["properties"]["envelope"]["enum"] == list(constants.ENVELOPES)


def test_defaults() -> None:
    settings = Settings()
    assert settings.execution_timeout == 20
    assert settings.max_result_length == 40_000
    assert settings.blocked_commands == ("apputils:run-*",)
    assert settings.envelope == "full"


def test_values_are_taken_by_their_json_names() -> None:
    settings = Settings.from_mapping(
        {
            "executionTimeout": 5,
            "maxResultLength": 2000,
            "disabledTools": ["jupyter_run_cells"],
            "blockedCommands": ["filebrowser:*"],
            "envelope": "text",
        }
    )
    assert settings == Settings(5.0, 2000, ("jupyter_run_cells",), ("filebrowser:*",), "text")


@pytest.mark.parametrize(
    "values",
    [
        {"executionTimeout": "soon"},
        {"executionTimeout": 0},
        {"executionTimeout": True},
        {"maxResultLength": 10},
        {"maxResultLength": None},
        {"disabledTools": "jupyter_run_cells"},
        {"blockedCommands": None},
        {"envelope": "both"},
        {"envelope": ["full"]},
        {"unknown": 1},
    ],
)
def test_a_value_of_the_wrong_kind_keeps_its_default(values: dict[str, object]) -> None:
    assert Settings.from_mapping(values) == Settings()


def test_blocked_commands_are_globs() -> None:
    settings = Settings(blocked_commands=("apputils:run-*", "docmanager:delete", "[gh]elp:?pen"))
    assert settings.blocks("apputils:run-all-enabled")
    assert settings.blocks("docmanager:delete")
    assert not settings.blocks("docmanager:delete-file")
    assert settings.blocks("help:open")
    assert not settings.blocks("help:reopen")


def test_camel_case() -> None:
    assert camel("expected_source_hash") == "expectedSourceHash"
    assert camel("path") == "path"
