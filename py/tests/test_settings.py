"""Settings are read as a person may have written them."""

from __future__ import annotations

import pytest
from pywebmcp.settings import Settings, camel


def test_defaults() -> None:
    settings = Settings()
    assert settings.execution_timeout == 20
    assert settings.max_result_length == 40_000
    assert settings.blocked_commands == ("apputils:run-*",)
    assert settings.envelope == "full"
    assert not settings.record_provenance


def test_values_are_taken_by_their_json_names() -> None:
    settings = Settings.from_mapping(
        {
            "executionTimeout": 5,
            "maxResultLength": 2000,
            "disabledTools": ["jupyter_run_cells"],
            "blockedCommands": ["filebrowser:*"],
            "taskStoreClass": "a:B",
            "recordProvenance": True,
            "envelope": "text",
        }
    )
    assert settings == Settings(
        5.0, 2000, ("jupyter_run_cells",), ("filebrowser:*",), "a:B", True, "text"
    )


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
        {"taskStoreClass": 3},
        {"recordProvenance": "yes"},
        {"envelope": "both"},
        {"envelope": ["full"]},
        {"unknown": 1},
    ],
)
def test_a_value_of_the_wrong_kind_keeps_its_default(values: dict[str, object]) -> None:
    assert Settings.from_mapping(values) == Settings()


def test_blocked_commands_are_globs() -> None:
    settings = Settings(blocked_commands=("apputils:run-*", "docmanager:delete"))
    assert settings.blocks("apputils:run-all-enabled")
    assert settings.blocks("docmanager:delete")
    assert not settings.blocks("docmanager:delete-file")


def test_camel_case() -> None:
    assert camel("expected_source_hash") == "expectedSourceHash"
    assert camel("path") == "path"
