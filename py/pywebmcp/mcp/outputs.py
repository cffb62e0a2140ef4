"""The MCP server with one tool, ``read_notebook_output``, for hosts that only want what notebooks
have saved: no kernel, no browser, and no byte is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fastjsonschema

from pywebmcp import __version__
from pywebmcp.mcp import roots as trust
from pywebmcp.mcp.jsonrpc import RpcError
from pywebmcp.mcp.server import Server, ServerSession, tool_methods
from pywebmcp.mcp.session import Call
from pywebmcp.outputs import (
    DEFAULT_TEXT_LIMIT,
    OutputProtocolError,
    dumps,
    list_notebook_outputs,
    read_notebook_output,
)

ROOTS_PATIENCE = 10.0
"""Seconds for the client to tell its roots."""

TOOL: dict[str, Any] = {
    "name": "read_notebook_output",
    "title": "Read saved notebook output",
    "description": (
        "Reads what a cell has saved in a .ipynb file, or in the notebook paired with a .py file in "
        "the percent format. Without output_index it lists the cell's outputs; with it, it gives "
        "that output: an image as an image, text in pages. Runs nothing and changes no file."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "The file: absolute, or relative to the one trusted folder it is in.",
            },
            "cell_index": {
                "type": "integer",
                "minimum": 0,
                "description": "The cell's place in that file, from 0.",
            },
            "output_index": {
                "type": "integer",
                "minimum": 0,
                "description": "The output's place in the cell, from 0; left out, they are listed.",
            },
            "mime_type": {
                "type": "string",
                "description": "Exactly this representation, instead of the best one.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "Characters of a text to skip: the next_offset of the page before.",
            },
            "limit": {
                "type": ["integer", "null"],
                "minimum": 1,
                "default": DEFAULT_TEXT_LIMIT,
                "description": "Characters of a text at most; null for all.",
            },
        },
        "required": ["file_path", "cell_index"],
        "additionalProperties": False,
    },
    "annotations": {
        "title": "Read saved notebook output",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
}

_check = fastjsonschema.compile(TOOL["inputSchema"], use_default=True)


def outputs_server(roots: Sequence[Path] = ()) -> Server:
    """A server that reads below the roots; without any, below those that its client names."""
    return Server(
        name="pywebmcp-outputs",
        title="Saved notebook outputs",
        version=__version__,
        methods=tool_methods(OutputTools(roots)),
        capabilities={"tools": {"listChanged": False}},
    )


class OutputTools:
    """The tool, for any server that wants to offer it (see `pywebmcp.mcp.server.Tools`)."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = tuple(roots)

    def descriptors(self) -> Sequence[Mapping[str, Any]]:
        """The one tool's descriptor."""
        return (TOOL,)

    async def call(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        """Read; a failure of the outputs protocol is a result with ``isError`` and its code."""
        # Hosts fill what they leave out with null.
        given = {key: each for key, each in arguments.items() if each is not None or key == "limit"}
        try:
            checked: dict[str, Any] = _check(given)
        except fastjsonschema.JsonSchemaValueException as error:
            return _failure(f"Wrong arguments: {error.message}")
        try:
            folders = self._roots or await _roots_of(call)
            # Reading takes a while for a file of 100 MB; other calls and pings go on.
            answer = await asyncio.to_thread(_read, folders, **checked)
        except OutputProtocolError as error:
            body = {"status": "error", "code": error.code, "message": error.message}
            return _failure(dumps(body))
        return content_of(answer)


def content_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the outputs protocol as MCP's ``CallToolResult``.

    A text or an image is a content block; what describes it (metadata too) is in
    ``structuredContent``, without carrying the data twice. JSON and errors are structured alone.
    """
    part = "stream" if "stream" in answer else "selected"
    fields = answer.get(part, {})
    if fields.get("encoding") == "json" or "data" not in fields:
        return {"content": [], "structuredContent": dict(answer), "isError": False}
    data = fields["data"]
    if fields.get("encoding") == "base64":
        block = {"type": "image", "data": data, "mimeType": fields["mime_type"]}
    else:
        block = {"type": "text", "text": data}
    described = {key: value for key, value in fields.items() if key != "data"}
    return {
        "content": [block],
        "structuredContent": {**answer, part: described},
        "isError": False,
    }


def _read(
    folders: Sequence[Path],
    *,
    file_path: str,
    cell_index: int,
    offset: int,
    limit: int | None,
    output_index: int | None = None,
    mime_type: str | None = None,
) -> dict[str, Any]:
    roots = trust.trusted(folders)
    path = trust.locate(file_path, roots)
    # A .py file's notebook lies beside it, and may be a link to anywhere.
    if path.suffix == ".py":
        trust.allowed(path.with_suffix(".ipynb"), roots)
    if output_index is None:
        answer = list_notebook_outputs(path, int(cell_index))
    else:
        answer = read_notebook_output(
            path,
            int(cell_index),
            int(output_index),
            mime_type=mime_type,
            offset=int(offset),
            limit=None if limit is None else int(limit),
        )
    trust.allowed(Path(answer["source"]["path"]), roots)
    return answer


async def _roots_of(call: Call) -> list[Path]:
    session = call.session
    if not isinstance(session, ServerSession) or "roots" not in session.client_capabilities:
        return []
    try:
        async with asyncio.timeout(ROOTS_PATIENCE):
            answer = await session.request("roots/list")
    except (RpcError, TimeoutError):
        return []
    return trust.client_roots(answer)


def _failure(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}
