"""A task from the shell: begun, waited for, and cancelled when the person stops the command."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import click

from pywebmcp.mcp.jsonrpc import RpcError
from pywebmcp.mcp.session import Session

_TERMINAL = ("completed", "failed", "cancelled")


async def finished(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    """The tool's result, a failed one too. Raises ``RpcError`` where there is none."""
    created = await session.request("tools/call", {**params, "task": {}})
    task = created["task"]
    told = None
    try:
        while task["status"] not in _TERMINAL:
            said = task.get("statusMessage")
            if said and said != told:
                click.echo(f"{task['status']}: {said}", err=True)
            told = said
            await asyncio.sleep(task.get("pollInterval", 1000) / 1000)
            task = await session.request("tasks/get", {"taskId": task["taskId"]})
    except asyncio.CancelledError:
        with contextlib.suppress(RpcError, TimeoutError):
            async with asyncio.timeout(10):
                await session.request("tasks/cancel", {"taskId": task["taskId"]})
        raise
    try:
        result: dict[str, Any] = await session.request("tasks/result", {"taskId": task["taskId"]})
    except RpcError as error:
        # A failed task raises; the tool's own result is in the data.
        kept = error.data.get("result") or error.data.get("partial") if error.data else None
        if not isinstance(kept, dict):
            raise
        return {**kept, "isError": True}
    return result
