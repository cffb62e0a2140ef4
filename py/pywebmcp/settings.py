"""The settings a site or a person can change, with one place for every default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

from pywebmcp import constants
from pywebmcp.types import EnvelopeMode


@dataclass(frozen=True, slots=True)
class Settings:
    """Values as the settings schema names them, in camelCase there and snake_case here."""

    execution_timeout: float = constants.EXECUTION_TIMEOUT
    max_result_length: int = constants.MAX_RESULT_LENGTH
    disabled_tools: tuple[str, ...] = ()
    blocked_commands: tuple[str, ...] = constants.BLOCKED_COMMANDS
    envelope: EnvelopeMode = "full"
    task_store_class: str = ""
    """``module:Class``; in memory when empty. Read once, when the page starts."""
    record_provenance: bool = False

    def blocks(self, command: str) -> bool:
        """Whether a command id matches one of the blocked globs."""
        return any(fnmatchcase(command, glob) for glob in self.blocked_commands)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Settings:
        """Read the settings registry's composite; a value of the wrong kind keeps its default.

        The registry validates against the schema, but an ``overrides.json`` written by hand
        reaches us unchecked, and a typing error there must not take the tools away.
        """
        known = {camel(field.name): field for field in fields(cls)}
        chosen = {}
        for name, value in values.items():
            field = known.get(name)
            if field is None:
                continue
            checked = _checked(field.name, value)
            if checked is not None:
                chosen[field.name] = checked
        return cls(**chosen)


def camel(name: str) -> str:
    """The JSON name of a Python one: ``cell_ids`` to ``cellIds``."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _checked(name: str, value: Any) -> Any:
    match name:
        case "execution_timeout":
            return float(value) if _number(value) and value > 0 else None
        case "max_result_length":
            return int(value) if _number(value) and value >= 1000 else None
        case "disabled_tools" | "blocked_commands":
            return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else None
        case "task_store_class":
            return value if isinstance(value, str) else None
        case "record_provenance":
            return value if isinstance(value, bool) else None
        case _:
            return value if value in constants.ENVELOPES else None


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
