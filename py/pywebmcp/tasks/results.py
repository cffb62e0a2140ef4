"""Tool results (MCP's CallToolResult) as tasks need them: made of half an output, told in a line."""

from __future__ import annotations

from typing import Any

from pywebmcp import constants, envelope, jsontext

RELATED_TASK = "io.modelcontextprotocol/related-task"
"""The key of ``_meta`` by which MCP 2025-11-25 says which task a result is of."""


def is_tool_result(value: Any) -> bool:
    """Whether it can be sent as the result of tools/call."""
    return isinstance(value, dict) and isinstance(value.get("content"), list)


def is_error(value: Any) -> bool:
    """Whether it is a result that says that the call failed."""
    return isinstance(value, dict) and value.get("isError") is True


def tool_result(value: Any) -> dict[str, Any]:
    """What the work answered, as a tool result."""
    if is_tool_result(value):
        return dict(value)
    return _result({"result": value}, failed=False)


def stopped(progress: dict[str, Any]) -> dict[str, Any]:
    """The payload for work that did not come to its end, with what it had by then."""
    return {
        "success": False,
        "isError": True,
        "status": "stopped",
        "message": "The work was stopped before its end; this is its output up to then.",
        **progress,
    }


def partial_result(output: Any) -> dict[str, Any]:
    """The output of work that was stopped, as a tool result."""
    if is_tool_result(output):
        return dict(output)
    return _result(stopped({"outputs" if isinstance(output, list) else "output": output}), True)


def of_task(result: dict[str, Any], task_id: str) -> dict[str, Any]:
    """The result with the ``_meta`` that says which task it is of."""
    meta = result.get("_meta")
    known = meta if isinstance(meta, dict) else {}
    return {**result, "_meta": {**known, RELATED_TASK: {"taskId": task_id}}}


def described(error: BaseException) -> str:
    """An exception in words; never empty."""
    message = str(error).strip()
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_of(result: dict[str, Any]) -> str:
    """What a failed tool result says went wrong; never empty."""
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        for name in ("error", "message"):
            if isinstance(structured.get(name), str) and structured[name].strip():
                return str(structured[name]).strip()
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and text.strip():
            return text.strip()
    return "The tool failed and did not say why."


def line(message: str) -> str:
    """A message as one line that every poll can carry."""
    short = " ".join(message.split())
    limit = constants.TASK_MESSAGE
    return short if len(short) <= limit else short[: limit - 1] + "…"


def _result(payload: dict[str, Any], failed: bool) -> dict[str, Any]:
    result: dict[str, Any] = jsontext.loads(envelope.encode(jsontext.dumps(payload), failed))
    return result
