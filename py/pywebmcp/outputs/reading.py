"""The protocol on a list of nbformat outputs, wherever it comes from: a directory of them, or one
output with one representation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pywebmcp.errors import Code
from pywebmcp.outputs.errors import OutputProtocolError, invalid, shown
from pywebmcp.outputs.images import image_fields
from pywebmcp.outputs.selection import select
from pywebmcp.outputs.transport import (
    MAX_TRANSPORT_BYTES,
    checked_json,
    dumps,
    utf8_length,
    within_limit,
)
from pywebmcp.outputs.windows import DEFAULT_TEXT_LIMIT, Window, text_of, window

_BUNDLES = ("display_data", "execute_result")


def list_outputs(
    outputs: Any, *, source: Any, max_transport_bytes: int = MAX_TRANSPORT_BYTES
) -> dict[str, Any]:
    """The directory of a cell's outputs: of each its index, type and MIME types, no payload.

    Args:
        outputs: a list of outputs as nbformat 4 has them; it is not changed.
        source: where they come from; it goes into the answer as it is.
        max_transport_bytes: bytes that the answer may have as compact JSON.

    Raises:
        OutputProtocolError: OUTPUT_DATA_INVALID, INVALID_TRANSPORT_LIMIT, OUTPUT_TOO_LARGE.
    """
    entries = [_entry(index, output) for index, output in enumerate(_list(outputs))]
    answer = {**_envelope(source), "outputs": checked_json(entries, "The directory")}
    return within_limit(answer, max_transport_bytes)


def read_output(
    outputs: Any,
    output_index: Any,
    *,
    source: Any,
    mime_type: str | None = None,
    supported_mime_types: Iterable[str] | None = None,
    offset: int = 0,
    limit: int | None = DEFAULT_TEXT_LIMIT,
    max_transport_bytes: int = MAX_TRANSPORT_BYTES,
) -> dict[str, Any]:
    """One output: a page of a stream, an error, or one representation of a MIME bundle.

    Args:
        outputs: a list of outputs as nbformat 4 has them; it is not changed.
        output_index: the place in that list, from 0.
        source: where they come from; it goes into the answer, with the ``output_index``.
        mime_type: exactly this representation; None for the best by the protocol's order.
        supported_mime_types: the types that the caller can present; None for all.
        offset: Unicode characters of a text to skip.
        limit: Unicode characters of a text at most; None for all that follow.
        max_transport_bytes: bytes that the answer may have as compact JSON.

    Raises:
        OutputProtocolError: OUTPUT_NOT_FOUND, INVALID_WINDOW, OUTPUT_TYPE_UNSUPPORTED,
            MIME_NOT_FOUND, MIME_NOT_SUPPORTED, MIME_NOT_APPLICABLE, WINDOW_NOT_SUPPORTED,
            OUTPUT_DATA_INVALID, INVALID_TRANSPORT_LIMIT, OUTPUT_TOO_LARGE, looked for in this
            order. The other outputs are not looked at.
    """
    everything = _list(outputs)
    if type(output_index) is not int or not 0 <= output_index < len(everything):
        raise OutputProtocolError(
            Code.OUTPUT_NOT_FOUND,
            f"There is no output {shown(output_index)}; the cell has {len(everything)}",
        )
    page = window(offset, limit)
    output = _mapping(everything[output_index])
    kind = _type(output)
    answer = _envelope(source)
    answer["source"]["output_index"] = output_index
    answer["output_type"] = kind
    if kind == "stream":
        _refuse_mime(kind, mime_type)
        answer |= _stream(output, page)
    elif kind == "error":
        _refuse_mime(kind, mime_type)
        answer |= _error(output, page)
    elif kind in _BUNDLES:
        answer |= _bundle(output, kind, page, mime_type, supported_mime_types)
    else:
        raise OutputProtocolError(
            Code.OUTPUT_TYPE_UNSUPPORTED, f"Outputs of the type {kind or '(none)'} cannot be read"
        )
    return within_limit(answer, max_transport_bytes)


def _envelope(source: Any) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        raise invalid("source has to be a mapping")
    copy = checked_json(dict(source), "source")
    return {"schema_version": 1, "status": "ok", "source": copy}


def _entry(index: int, output: Any) -> dict[str, Any]:
    output = _mapping(output)
    kind = _type(output)
    entry: dict[str, Any] = {"output_index": index, "output_type": kind}
    entry["available_mime_types"] = list(_data(output)) if kind in _BUNDLES else []
    if kind == "stream":
        entry["name"] = _word(output, "name", "stdout")
    elif kind == "error":
        entry |= {key: _word(output, key, "") for key in ("ename", "evalue")}
    elif kind in _BUNDLES:
        entry |= _about(output, kind)
    return entry


def _stream(output: Mapping[str, Any], page: Window) -> dict[str, Any]:
    text = text_of(output.get("text", ""), "The text of a stream")
    stream = {"name": _word(output, "name", "stdout"), **page.cut(text)}
    return {"available_mime_types": [], "stream": stream}


def _error(output: Mapping[str, Any], page: Window) -> dict[str, Any]:
    page.refuse_for("an error")
    lines = output.get("traceback", [])
    if not isinstance(lines, (list, tuple)) or not all(isinstance(each, str) for each in lines):
        raise invalid("The traceback of an error has to be a list of texts")
    words = {key: _word(output, key, "") for key in ("ename", "evalue")}
    return {"available_mime_types": [], "error": {**words, "traceback": list(lines)}}


def _bundle(
    output: Mapping[str, Any], kind: str, page: Window, mime_type: Any, supported: Any
) -> dict[str, Any]:
    data = _data(output)
    name, form = select(data, mime_type, supported)
    value = data[name]
    fields: dict[str, Any]
    if form == "text":
        fields = {"encoding": "utf-8", **page.cut(text_of(value, name))}
    elif form == "image":
        page.refuse_for("an image")
        fields = image_fields(name, value)
    else:
        page.refuse_for("JSON")
        size = utf8_length(dumps(checked_json(value, name)))
        fields = {"encoding": "json", "bytes": size, "data": value}
    about = checked_json(_about(output, kind), "What the output says of itself")
    return {
        "available_mime_types": list(data),
        **about,
        "selected": {"mime_type": name, **fields},
    }


def _about(output: Mapping[str, Any], kind: str) -> dict[str, Any]:
    about = {"metadata": output.get("metadata", {})}
    if kind == "execute_result":
        about["execution_count"] = output.get("execution_count")
    return about


def _list(outputs: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(outputs, (list, tuple)):
        raise invalid("The outputs of a cell have to be a list")
    return outputs


def _mapping(output: Any) -> Mapping[str, Any]:
    if not isinstance(output, Mapping):
        raise invalid("An output has to be a mapping")
    return output


def _type(output: Mapping[str, Any]) -> str:
    return _word(output, "output_type", "")


def _data(output: Mapping[str, Any]) -> Mapping[str, Any]:
    data = output.get("data", {})
    if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
        raise invalid("The data of an output has to be a mapping of MIME types")
    return data


def _word(output: Mapping[str, Any], key: str, default: str) -> str:
    """A field that names something; kernels wrote numbers there too."""
    value = output.get(key)
    if value is None:
        return default
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dumps(checked_json(value, key))
    return text_of(value, key)


def _refuse_mime(kind: str, mime_type: Any) -> None:
    if mime_type is not None:
        raise OutputProtocolError(
            Code.MIME_NOT_APPLICABLE,
            f"An output of the type {kind} has no MIME types to choose from",
        )
