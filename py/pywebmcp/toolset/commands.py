"""The rest of JupyterLab: its commands, listed and run."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

from pywebmcp import jsontext
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import CommandState
from pywebmcp.tools import Call, tool
from pywebmcp.types import Arg, Payload

# Fields around the commands of a page.
_FRAME = 120
# Only these commands look at an argument that names a widget; the others act on the current one.
_WIDGET_ARGUMENTS = ("widgetId", "semanticWidget")
_WIDGET_COMMANDS = ("notebook:", "console:")


@tool("List commands", "RU")
async def jupyter_list_commands(
    call: Call,
    *,
    query: Annotated[str, Arg("Words in the id or label")] | None = None,
    offset: Annotated[int, Arg(ge=0)] = 0,
    limit: Annotated[int, Arg("At most this many", ge=1)] | None = None,
) -> Payload:
    """The application's commands: id, label, arguments (JSON Schema), enabled: false where it is not.
    As many as fit, with nextOffset to go on from."""
    found = _matching(await call.frontend.commands(), query)
    page: list[Payload] = []
    room = call.room(_FRAME)
    for command in found[offset : None if limit is None else offset + limit]:
        entry = _entry(command)
        size = jsontext.length(jsontext.dumps(entry)) + 1
        if page and size > room:
            break
        room -= size
        page.append(entry)
    answer: Payload = {"commands": page, "total": len(found)}
    if offset + len(page) < len(found):
        answer["nextOffset"] = offset + len(page)
    return answer


def _matching(commands: list[CommandState], query: str | None) -> list[CommandState]:
    words = (query or "").lower().split()
    return [
        command
        for command in sorted(commands, key=lambda command: command["id"])
        if all(word in f"{command['id']} {command['label']}".lower() for word in words)
    ]


def _entry(command: CommandState) -> Payload:
    entry: Payload = {"id": command["id"]}
    if command["label"]:
        entry["label"] = command["label"]
    if not command["enabled"]:
        entry["enabled"] = False
    schema = command.get("args")
    if isinstance(schema, dict) and schema.get("properties"):
        entry["args"] = schema
    return entry


@tool("Run a command", "CU")
async def jupyter_execute_command(
    call: Call,
    *,
    command_id: Annotated[str, Arg(name="command_id")],
    args: dict[str, Any] | None = None,
) -> Payload:
    """Run a command of the application (see jupyter_list_commands). Answers its result where that is
    JSON, and a warning when the command was not enabled."""
    args = args or {}
    await _check(call, command_id)
    named = [name for name in _WIDGET_ARGUMENTS if name in args]
    if named and not command_id.startswith(_WIDGET_COMMANDS):
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'"{named[0]}" is an argument of notebook:* and console:* commands only: '
            f"{command_id} acts on the current widget.",
        )
    enabled = bool(named) or call.frontend.command_enabled(command_id, args)
    result = await call.frontend.execute_command(command_id, args)
    answer: Payload = {}
    if result is not None:
        answer["result"] = result
    if not enabled:
        answer["warning"] = (
            "The command was not enabled when it ran: check that it did what you wanted, and did it "
            "to the notebook or console you meant."
        )
    return answer


async def _check(call: Call, command_id: str) -> None:
    if not call.frontend.has_command(command_id):
        known = [command["id"] for command in await call.frontend.commands()]
        close = difflib.get_close_matches(command_id, known, 3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise ToolError(
            Code.COMMAND_NOT_FOUND,
            f'There is no command "{command_id}": jupyter_list_commands lists them.{hint}',
        )
    if call.settings.blocks(command_id):
        raise ToolError(
            Code.COMMAND_BLOCKED,
            f"{command_id} is blocked by this site's settings: ask the person to run it.",
        )
