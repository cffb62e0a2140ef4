"""The outputs protocol in the shell: JSON of one line for programs, and for people words.

Everything is written as bytes: no stream's encoding can fail on it, and no line end is translated.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from pywebmcp import text
from pywebmcp.cli import terminal
from pywebmcp.cli.errors import CommandError
from pywebmcp.outputs import OutputProtocolError, dumps


@contextmanager
def protocol_errors() -> Iterator[None]:
    """Errors of the outputs protocol as the command's."""
    try:
        yield
    except OutputProtocolError as error:
        raise CommandError(error.code, error.message) from None


def write(words: str, *, newline: bool = True) -> None:
    """Print a text; what UTF-8 cannot hold (a lone surrogate) as its escape."""
    stream = sys.stdout.buffer
    data = memoryview((words + "\n" * newline).encode("utf-8", "backslashreplace"))
    while data:
        # Under PYTHONUNBUFFERED the stream is raw, and writes a part when a signal comes.
        data = data[stream.write(data) :]
    stream.flush()


def write_json(value: Any) -> None:
    """Print a value in the compact form that the transport limit counts."""
    write(dumps(value))


def answer(value: Mapping[str, Any], *, as_json: bool, save: str | None, again: str) -> None:
    """Print an answer of the outputs protocol.

    Args:
        value: a directory of outputs, or one output.
        as_json: for programs.
        save: a new file for the data, which is not printed then.
        again: the command that gave the answer, for the hint how to save an image.
    """
    if save is not None:
        value = _saved(value, save)
        if not as_json:
            _go_on(value.get("stream") or value["selected"])
    if as_json:
        write_json(value)
    elif "outputs" in value:
        write(_shown(_directory(value)))
    elif "error" in value:
        write(_shown(_error(value["error"])))
    elif "saved" in value:
        write(f"Saved {value['saved']}")
    else:
        _data(value.get("stream") or value["selected"], again)


def _data(fields: Mapping[str, Any], again: str) -> None:
    if fields.get("encoding") == "base64":
        write(f"{fields['mime_type']}, {fields['bytes']:,} bytes. To save it: {again} --save FILE")
        return
    if fields.get("encoding") == "json":
        write(_shown(json.dumps(fields["data"], indent=2, ensure_ascii=False)))
        return
    data = _shown(fields["data"])
    write(data, newline=not data.endswith("\n"))
    _go_on(fields)


def _go_on(fields: Mapping[str, Any]) -> None:
    if "next_offset" in fields:
        click.echo(
            f"({fields['total_characters']:,} characters; go on with "
            f"--offset {fields['next_offset']})",
            err=True,
        )


def _shown(words: str) -> str:
    return terminal.shown(words, sys.stdout)


def _directory(value: Mapping[str, Any]) -> str:
    source = value["source"]
    head = str(source.get("path") or source.get("cwd") or "")
    if "cell_index" in source:
        head += f", cell {source['cell_index']}"
    if source.get("execution_count") is not None:
        head += f", In [{source['execution_count']}]"
    rows = [
        (str(entry["output_index"]), _one_line(entry["output_type"]), _about(entry))
        for entry in value["outputs"]
    ]
    if not rows:
        return f"{head}: no outputs"
    table = [("#", "type", "what"), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(2)]
    lines = [
        f"{number:>{widths[0]}}  {kind:<{widths[1]}}  {about}".rstrip()
        for number, kind, about in table
    ]
    return "\n".join([head, *lines])


def _about(entry: Mapping[str, Any]) -> str:
    if entry["output_type"] == "stream":
        return _one_line(entry.get("name", ""))
    if entry["output_type"] == "error":
        return _one_line(f"{entry.get('ename', '')}: {entry.get('evalue', '')}")
    return _one_line(", ".join(entry["available_mime_types"]))


def _one_line(words: str) -> str:
    words = " ".join(text.clean(words).split())
    return words if len(words) <= 100 else words[:99] + "…"


def _error(error: Mapping[str, Any]) -> str:
    lines = error.get("traceback") or [f"{error.get('ename')}: {error.get('evalue')}"]
    return "\n".join(lines)


def _saved(value: Mapping[str, Any], path: str) -> dict[str, Any]:
    part = "stream" if "stream" in value else "selected"
    if part not in value:
        raise click.UsageError("There is no data to save; choose an output that has some.")
    fields = dict(value[part])
    data = fields.pop("data")
    if fields.get("encoding") == "base64":
        content = base64.b64decode(data)
    elif fields.get("encoding") == "json":
        content = dumps(data).encode("utf-8")
    else:
        content = data.encode("utf-8", "surrogatepass")
    # Never over a file that is there.
    with open(path, "xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            os.unlink(path)
            raise
    return {**value, part: fields, "saved": path}
