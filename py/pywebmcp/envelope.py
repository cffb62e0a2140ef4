"""The envelope a tool's result travels in (MCP's CallToolResult), its inverse, and the two forms
in which browsers take arguments: one module, so that no other one knows what browsers do to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pywebmcp import jsontext

Mode = Literal["full", "text", "structured"]
"""Which copies of the payload the envelope carries: both, the text block only, or
``structuredContent`` only."""

_KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})
_NOTHING = frozenset({"", "undefined", "null", "Operation succeeded"})


class EnvelopeError(ValueError):
    """What came back is no tool result; the message says what it was."""


def encode(
    payload_text: str,
    is_error: bool,
    blocks: Iterable[Mapping[str, Any]] = (),
    mode: Mode = "full",
) -> str:
    """The JSON text of ``{content, structuredContent, isError}`` around a payload's JSON text.

    Args:
        payload_text: JSON text of the payload, as `jsontext.dumps` makes it; not parsed again.
        is_error: MCP's ``isError``.
        blocks: further content blocks, such as ``{"type": "image", "data", "mimeType"}``.
        mode: ``text`` leaves out ``structuredContent``, ``structured`` the text block.
    """
    content = [jsontext.dumps(dict(block)) for block in blocks]
    if mode != "structured":
        content.insert(0, '{"type":"text","text":' + jsontext.dumps(payload_text) + "}")
    structured = "" if mode == "text" else ',"structuredContent":' + payload_text
    error = "true" if is_error else "false"
    return '{"content":[' + ",".join(content) + "]" + structured + ',"isError":' + error + "}"


def unwrap(raw: Any) -> dict[str, Any]:
    """What a browser or bridge handed back, as an object: the envelope or a bare payload.

    Takes an object, or its JSON text with up to two layers of quoting (a client that prints the
    browser's string as JSON adds one).

    Raises:
        EnvelopeError: for anything else, such as Chromium's "Operation succeeded" (an empty
            result) and "undefined".
    """
    value = raw
    for _ in range(4):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, str):
            break
        if value.strip() in _NOTHING:
            raise EnvelopeError(f"The tool gave no result (the browser reported {value!r}).")
        value = _loads(value)
    if value is None:
        raise EnvelopeError("The tool gave no result (the browser reported null).")
    raise EnvelopeError(f"The result is not a JSON object but {_excerpt(value)}.")


def decode(raw: Any) -> dict[str, Any]:
    """The payload inside whatever a browser or bridge handed back (see `unwrap`).

    Reads ``structuredContent`` where there is one, else the first text block that holds a JSON
    object. An object that is no envelope is taken as the payload itself.

    Raises:
        EnvelopeError: when there is no payload to be found.
    """
    value = unwrap(raw)
    if not (value.keys() <= _KEYS and ("content" in value or "structuredContent" in value)):
        return value
    structured = value.get("structuredContent")
    if isinstance(structured, Mapping):
        return dict(structured)
    content = value.get("content")
    texts = [
        block["text"]
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, Mapping) and isinstance(block.get("text"), str)
    ]
    for text in texts:
        try:
            # A bridge may print the browser's whole envelope into the text of its own.
            return decode(text)
        except EnvelopeError:
            continue
    if texts:
        raise EnvelopeError(f"The result's text is not a JSON object: {_excerpt(texts[0])}.")
    raise EnvelopeError("The result's envelope holds no payload.")


def wants_string(input_schema: Any) -> bool:
    """Whether ``executeTool`` of this browser takes arguments as a JSON string.

    ``input_schema`` is a tool's ``inputSchema`` as ``getTools()`` gives it: up to Chrome 154 it is
    a JSON string and so are the arguments; from 155 on both are objects.
    """
    return isinstance(input_schema, str)


def encode_arguments(arguments: Mapping[str, Any], as_string: bool) -> str | dict[str, Any]:
    """A call's arguments in the form the browser takes (see `wants_string`)."""
    if as_string:
        return jsontext.dumps(dict(arguments))
    plain: dict[str, Any] = jsontext.plain(dict(arguments))
    return plain


def _loads(text: str) -> Any:
    try:
        return jsontext.loads(text)
    except ValueError:
        raise EnvelopeError(f"The result is not JSON: {_excerpt(text)}.") from None


def _excerpt(value: Any) -> str:
    text = jsontext.dumps(value)
    return text if len(text) <= 200 else text[:200] + "…"
