r"""Text as a terminal would show it, and nbformat outputs made readable for an agent: what a kernel
prints is written for a screen, and escapes, overwritten lines and many small pieces only cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pywebmcp import jsontext

# ECMA-48 (ISO 6429). Erase in line, CSI K, is left for _render. A control string that is not
# terminated before the next escape takes the rest of its line with it, no more: a terminal would
# swallow everything after it. Every alternative consumes what it looked at, so that time is linear.
_escapes = re.compile(
    r"""
    \x1b (?! \[ [012]? K )
    (?: \[ [0-?]* [ -/]* [@-~]?                           # CSI: colours, cursor, modes
      | \] [^\x07\x1b\x9c\n]*+ (?: \x07 | \x1b\\ | \x9c )?  # OSC: titles, links
      | [PX^_] (?: [^\x1b\x9c]*+ (?: \x1b\\ | \x9c )      # DCS, SOS, PM, APC: images
               | [^\x1b\x9c\n]*+ )
      | [ -/]+ [0-~]?                                     # character sets
      | [0-~]                                             # one character: save, reset
    )?
    """,
    re.VERBOSE,
)
# The 8-bit forms, as far as they cannot be text in a wrong encoding; a bare U+009B or U+009D is
# such text, and shows nothing either.
_eight_bit = re.compile(
    r"""
      \x9b (?: [0-?]++ [ -/]*+ [@-~] | [mKJ] )?
    | \x9d (?: \d++ ; [^\x07\x1b\x9c\x9d\n]*+ (?: \x07 | \x1b\\ | \x9c ) )?
    """,
    re.VERBOSE,
)
# Pyodide's kernel sends the repr of the exception's class where Jupyter messaging has its name.
_class_repr = re.compile(r"\A<class '(?:[^']*\.)?([^'.]+)'>\Z")

_column_one = re.compile(r"\x1b\[[01]?G")
_whole_erasures = ("\r\x1b[K", "\r\x1b[0K", "\r\x1b[2K", "\x1b[2K\r")
_tokens = re.compile(r"\r|\x08+|\x1b\[([012]?)K|[^\r\x08\x1b]+")


def clean(text: str) -> str:
    r"""The text as a terminal would show it.

    ``\r\n`` is a line break, ``\r`` goes back and overwrites, a backspace goes back by one, erase
    in line (CSI K) erases, every other escape sequence and the bell are removed. Other control
    characters (tab, form feed, NUL, …) stay: they are what the program wrote. Positions are code
    points, and only ``\n`` breaks lines.
    """
    if "\x9b" in text or "\x9d" in text:
        text = _eight_bit.sub("", text)
    if "\x1b" in text:
        # Spinners go back to the line's beginning by column number too.
        text = _escapes.sub("", _column_one.sub("\r", text))
    if "\x07" in text:
        text = text.replace("\x07", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" in text or "\b" in text or "\x1b" in text:
        return "\n".join(map(_line, text.split("\n")))
    return text


def multiline(value: Any) -> str:
    """An nbformat multiline string (a string or a list of them) as one string; never raises.

    Of any other value, which a file written by hand may hold, the JSON text; of None nothing.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return "".join(each if isinstance(each, str) else multiline(each) for each in value)
    return jsontext.dumps(value)


def split_lines(text: str, keepends: bool = False) -> list[str]:
    r"""The lines of a text, like ``str.splitlines`` but with ``\n`` as the only line break.

    Form feeds, U+2028 and the like are characters within a line.
    """
    lines = text.split("\n")
    last = lines.pop()
    if keepends:
        lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines


def join_stream(outputs: Any) -> list[dict[str, Any]]:
    """nbformat outputs in which adjacent stream outputs of the same name are one."""
    return [output for _, output in _joined(outputs)]


def clean_outputs(outputs: Any, *, index_key: str | None = None) -> list[dict[str, Any]]:
    """nbformat outputs made readable for an agent; the input is not changed.

    Adjacent stream outputs of the same name are joined. Stream text, ``text/plain``, ``ename``,
    ``evalue`` and ``traceback`` are cleaned (see `clean`), the values of MIME bundles joined from
    lists; ``transient``, empty ``metadata`` and the ``execution_count`` of a result (its cell has
    it) are left out. Outputs that nbformat does not allow give what can be read of them; a value
    that is no object becomes ``{"output_type": "unknown", "value": …}``. Never raises.

    Args:
        outputs: a cell's outputs as nbformat 4 has them.
        index_key: when given, an output whose place differs from the stored one, because streams
            before it were joined, gets its stored index under this key.
    """
    result: list[dict[str, Any]] = []
    for index, output in _joined(outputs):
        readable = _clean_output(output)
        if index_key is not None and index != len(result):
            readable[index_key] = index
        result.append(readable)
    return result


def exception_name(name: str) -> str:
    """``ZeroDivisionError`` for ``<class 'ZeroDivisionError'>``; anything else as it is."""
    return _class_repr.sub(r"\1", name)


def is_json_mime(mime_type: str) -> bool:
    """Whether nbformat stores this MIME type's value as JSON instead of a multiline string."""
    essence = mime_type.partition(";")[0].strip().lower()
    return essence == "application/json" or essence.endswith("+json")


def _joined(outputs: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Copies of the outputs with streams joined, each with the index of its first piece."""
    if not isinstance(outputs, (list, tuple)):
        return
    stream: dict[str, Any] | None = None
    first = 0
    pieces: list[str] = []
    for index, output in enumerate(outputs):
        known = isinstance(output, (dict, Mapping))
        if known and output.get("output_type") == "stream":
            if stream is not None and stream.get("name") == output.get("name"):
                pieces.append(multiline(output.get("text")))
                continue
            if stream is not None:
                yield first, {**stream, "text": "".join(pieces)}
            stream, first, pieces = dict(output), index, [multiline(output.get("text"))]
            continue
        if stream is not None:
            yield first, {**stream, "text": "".join(pieces)}
            stream = None
        yield index, dict(output) if known else {"output_type": "unknown", "value": output}
    if stream is not None:
        yield first, {**stream, "text": "".join(pieces)}


def _clean_output(output: dict[str, Any]) -> dict[str, Any]:
    output.pop("transient", None)
    if not output.get("metadata"):
        output.pop("metadata", None)
    kind = output.get("output_type")
    if kind == "stream":
        output["text"] = clean(output["text"])
    elif kind == "error":
        for key in ("ename", "evalue"):
            if key in output:
                output[key] = clean(multiline(output[key]))
        if "ename" in output:
            output["ename"] = exception_name(output["ename"])
        if "traceback" in output:
            lines = output["traceback"]
            if not isinstance(lines, (list, tuple)):
                lines = [] if lines is None else [lines]
            output["traceback"] = [clean(multiline(line)) for line in lines]
    elif kind in ("execute_result", "display_data"):
        output.pop("execution_count", None)
        data = output.get("data")
        if isinstance(data, Mapping):
            output["data"] = {key: _mime_value(key, value) for key, value in data.items()}
    return output


def _mime_value(mime_type: Any, value: Any) -> Any:
    if mime_type == "text/plain":
        return clean(multiline(value))
    if isinstance(value, list) and not (isinstance(mime_type, str) and is_json_mime(mime_type)):
        return multiline(value)
    return value


def _line(line: str) -> str:
    if "\x1b" in line or "\b" in line:
        return _render(line)
    if "\r" in line:
        return _overwrite(line.split("\r"))
    return line


def _overwrite(passes: list[str]) -> str:
    """What is left of a line that was written several times, each time from its beginning.

    From the last pass backwards, each earlier one shows only beyond what the later ones cover.
    """
    pieces: list[str] = []
    covered = 0
    for each in reversed(passes):
        if len(each) > covered:
            pieces.append(each[covered:])
            covered = len(each)
    return "".join(pieces)


def _render(line: str) -> str:
    """A line with backspaces and erasures, on a row of cells; an erased cell is empty."""
    # What a progress bar wrote before it last erased the whole line needs no look.
    line = line[max(0, *map(line.rfind, _whole_erasures)) :]
    cells: list[str] = []
    cursor = 0
    # Cells before this one are empty already: erasing again and again must not cost again.
    blank = 0
    for token in _tokens.finditer(line):
        text = token[0]
        if text == "\r":
            cursor = 0
        elif text[0] == "\b":
            cursor = max(cursor - len(text), 0)
        elif text[0] == "\x1b":
            if token[1] != "1":
                del cells[cursor:]
            if token[1] in ("1", "2"):
                end = min(cursor + 1, len(cells))
                cells[blank:end] = [""] * (end - blank)
                blank = max(blank, end)
            blank = min(blank, len(cells))
        else:
            cells[cursor : cursor + len(text)] = text
            blank = min(blank, cursor)
            cursor += len(text)
    while cells and not cells[-1]:
        cells.pop()
    return "".join(cell or " " for cell in cells)
