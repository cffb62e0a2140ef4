"""The application's commands in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CommandState

Run = Callable[[dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class _Command:
    label: str
    run: Run
    enabled: Callable[[dict[str, Any]], bool]
    args: dict[str, Any] | None


class MemoryCommands:
    """Commands by id; a test adds those it needs."""

    def __init__(self) -> None:
        self._commands: dict[str, _Command] = {}

    def __contains__(self, command_id: str) -> bool:
        return command_id in self._commands

    def add(
        self,
        command_id: str,
        run: Run,
        *,
        label: str = "",
        enabled: bool | Callable[[dict[str, Any]], bool] = True,
        args: dict[str, Any] | None = None,
    ) -> None:
        """Add a command; ``args`` is the JSON Schema of its arguments."""
        check = enabled if callable(enabled) else (lambda _: bool(enabled))
        self._commands[command_id] = _Command(label, run, check, args)

    def listing(self) -> list[CommandState]:
        """Every command."""
        listed = []
        for command_id, command in self._commands.items():
            state = CommandState(id=command_id, label=command.label, enabled=command.enabled({}))
            if command.args is not None:
                state["args"] = command.args
            listed.append(state)
        return listed

    def enabled(self, command_id: str, args: dict[str, Any]) -> bool:
        """Whether a command is enabled for these arguments."""
        return self._commands[command_id].enabled(args)

    async def execute(self, command_id: str, args: dict[str, Any]) -> Any:
        """Run a command. Raises ``ToolError`` COMMAND_FAILED with its message."""
        try:
            return await self._commands[command_id].run(args)
        except Exception as error:
            raise ToolError(Code.COMMAND_FAILED, f"{command_id} failed: {error}") from error
