"""The server's side of an MCP session: the lifecycle (initialize, ping) around methods that are
given, and the two methods of tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pywebmcp.mcp.jsonrpc import ErrorCode, JsonText, Request, RpcError
from pywebmcp.mcp.session import Call, Listener, Method, Session

VERSIONS = ("2025-11-25", "2025-06-18")
"""The protocol's revisions that are spoken, newest first."""


@dataclass(frozen=True, slots=True)
class Server:
    """What every session of a server has in common.

    ``capabilities`` and ``methods`` belong together: what is advertised has to be there.
    """

    name: str
    version: str
    title: str
    methods: Mapping[str, Method]
    capabilities: Mapping[str, Any]
    listeners: Mapping[str, Listener] = field(default_factory=dict)
    instructions: str | None = None

    def connect(self, send: Callable[[str], None]) -> ServerSession:
        """A new session; ``send`` takes the text of each message to the client."""
        return ServerSession(self, send)


class ServerSession(Session):
    """One client. ``protocol_version`` is None until it has sent ``initialize``."""

    def __init__(self, server: Server, send: Callable[[str], None]) -> None:
        methods = {**server.methods, "initialize": self._initialize, "ping": _ping}
        super().__init__(send, methods, server.listeners)
        self._server = server
        self.protocol_version: str | None = None
        self.client_capabilities: dict[str, Any] = {}

    async def perform(self, request: Request) -> Any:
        """Run the request's method; before ``initialize`` there is only ``ping``."""
        if self.protocol_version is None and request.method not in ("initialize", "ping"):
            raise RpcError(ErrorCode.INVALID_REQUEST, "The session is not initialized yet")
        return await super().perform(request)

    async def _initialize(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise RpcError(ErrorCode.INVALID_PARAMS, "protocolVersion is a string")
        if self.protocol_version is not None:
            raise RpcError(ErrorCode.INVALID_REQUEST, "The session is initialized already")
        capabilities = params.get("capabilities")
        self.client_capabilities = capabilities if isinstance(capabilities, dict) else {}
        # A client that does not speak the revision we answer ends the session.
        self.protocol_version = wanted if wanted in VERSIONS else VERSIONS[0]
        server = self._server
        answer: dict[str, Any] = {
            "protocolVersion": self.protocol_version,
            "capabilities": dict(server.capabilities),
            "serverInfo": {
                "name": server.name,
                "title": server.title,
                "version": server.version,
            },
        }
        if server.instructions is not None:
            answer["instructions"] = server.instructions
        return answer


class Tools(Protocol):
    """The tools of a server."""

    def descriptors(self) -> Sequence[Mapping[str, Any]]:
        """MCP's ``Tool`` objects: name, description, inputSchema, annotations."""
        ...

    async def call(
        self, name: str, arguments: dict[str, Any], call: Call
    ) -> Mapping[str, Any] | JsonText:
        """Run one of them: MCP's ``CallToolResult``, in which what went wrong is ``isError``."""
        ...


def tool_methods(tools: Tools) -> dict[str, Method]:
    """The methods ``tools/list`` and ``tools/call``."""

    async def list_tools(params: dict[str, Any], call: Call) -> Any:
        if params.get("cursor") is not None:
            raise RpcError(ErrorCode.INVALID_PARAMS, "All tools are on the first page")
        return {"tools": list(tools.descriptors())}

    async def call_tool(params: dict[str, Any], call: Call) -> Any:
        name = params.get("name")
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise RpcError(ErrorCode.INVALID_PARAMS, "name is a string, arguments are an object")
        if all(each["name"] != name for each in tools.descriptors()):
            # MCP: an unknown tool is an error of the protocol, not of a tool.
            raise RpcError(ErrorCode.INVALID_PARAMS, f"Unknown tool: {name:.100}")
        return await tools.call(name, arguments, call)

    return {"tools/list": list_tools, "tools/call": call_tool}


async def _ping(params: dict[str, Any], call: Call) -> dict[str, Any]:
    return {}
