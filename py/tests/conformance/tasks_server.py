"""A stdio MCP server with the three tools that the conformance kit wants: quick, boom and slow."""

from __future__ import annotations

import asyncio
from typing import Any

from pywebmcp.mcp.server import Server
from pywebmcp.mcp.stdio import run
from pywebmcp.mcp.tasks import task_methods
from pywebmcp.tasks import MemoryTaskStore, TaskService, capabilities, record_output


async def quick(x: int = 1) -> str:
    return f"v{x}"


async def boom() -> str:
    raise ValueError("kernel is dead")


async def slow(n: float = 30, say: str = "line1") -> str:
    if say:
        await record_output([say])
    await asyncio.sleep(n)
    return "slept"


TOOLS = {tool.__name__: tool for tool in (quick, boom, slow)}


class Tools:
    def descriptors(self) -> list[dict[str, Any]]:
        schema = {"type": "object"}
        return [{"name": name, "description": name, "inputSchema": schema} for name in TOOLS]

    def work(self, name: str, arguments: dict[str, Any]) -> Any:
        async def work() -> dict[str, Any]:
            text = await TOOLS[name](**arguments)
            return {"content": [{"type": "text", "text": text}]}

        return work

    async def call(self, name: str, arguments: dict[str, Any], call: Any) -> dict[str, Any]:
        result: dict[str, Any] = await self.work(name, arguments)()
        return result


if __name__ == "__main__":
    tasks = TaskService(MemoryTaskStore())
    run(Server("tasks", "0", "Tasks", task_methods(Tools(), tasks), capabilities()))
