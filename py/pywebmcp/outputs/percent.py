"""Cells of a Python script in the percent format, as jupytext writes it and editors run it, so that
they can be found again in the notebook that has their outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pywebmcp import jsontext
from pywebmcp.outputs.magics import uncommented, without_comment_signs

_marker = re.compile(
    r"""
    \s*\#\s* (?: %%(?:%*(?=\s))? (?:\s(?P<options>.*))?    # "# %%", with more per cent: a sub-cell
               | <codecell> \s* | In\[[\d\ ]*\]:? \s* )  # what IPython once exported
    """,
    re.VERBOSE,
)
_cell_type = re.compile(r"\[(markdown|md|raw)\]")
_option = re.compile(
    r"""
    (?:^|\s) (?P<key>[A-Za-z_][\w.-]*) =
    (?P<value> "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | \S+ )
    """,
    re.VERBOSE,
)
_CLOSING = {"[": "]", "{": "}"}
# Comments, strings, and where strings of three quotes begin: a marker within one is text.
_literal = re.compile(
    r"""#[^\n]*|(?P<long>\"{3}|'{3})"""
    r"""|"(?:[^"\\\n]|\\[^\n])*+"?|'(?:[^'\\\n]|\\[^\n])*+'?""",
    re.DOTALL,
)
_long_end = {quote: re.compile(rf"(?:[^\\]|\\.)*?{quote}", re.DOTALL) for quote in ('"""', "'''")}
_before_header = re.compile(r"#!|#.*?coding[:=]")
_header_border = re.compile(r"#\s*---\s*\Z")
_quotes = re.compile(r"[rR]?(\"\"\"|''')")


class ScriptCell(NamedTuple):
    """A cell of a script.

    ``sources`` are the readings that its text has (comment signs before magics belong to the
    format or to the text), without blank lines at the end; of these ``spare`` may be the cell's.
    ``lines`` are the first and last line that is not blank, from 1.
    """

    cell_type: str
    sources: tuple[str, ...]
    spare: int
    cell_id: str | None
    lines: tuple[int, int] | None

    def has_source(self, source: str) -> bool:
        """Whether a notebook's cell with this source is written as this one is."""
        return any(
            source.startswith(each)
            and len(source) - len(each) <= self.spare
            and not source[len(each) :].strip("\n")
            for each in self.sources
        )


class AmbiguousMarkerError(ValueError):
    """A marker names two ids."""


def script_cells(text: str) -> list[ScriptCell]:
    """The cells of a script; one for the text before the first marker, when there is such text.

    Raises:
        AmbiguousMarkerError: when a marker has several id options.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    start = _header_length(lines)
    markers = [(number, _options(lines[number])) for number in _marker_lines(lines, start)]
    if not markers:
        cell = _cell(lines, start, len(lines), "")
        return [cell._replace(lines=None)] if cell.lines else []
    cells = []
    preamble = _cell(lines, start, markers[0][0], "")
    if preamble.lines:
        cells.append(preamble)
    ends = [number for number, _ in markers[1:]] + [len(lines)]
    for (number, options), end in zip(markers, ends, strict=True):
        cells.append(_cell(lines, number + 1, end, options))
    return cells


def _header_length(lines: list[str]) -> int:
    """Lines of the YAML header (in comments, between two of ``# ---``); 0 without one."""
    start = 0
    while start < len(lines) and _before_header.match(lines[start]):
        start += 1
    if start < len(lines) and _header_border.match(lines[start]):
        for number in range(start + 1, len(lines)):
            if _header_border.match(lines[number]):
                return number + 1
            if not lines[number].startswith("#"):
                break
    return 0


def _marker_lines(lines: list[str], start: int) -> Iterator[int]:
    text = "\n".join(lines[start:])
    inside: set[int] = set()
    line = start
    position = 0
    unclosed: set[str] = set()
    while found := _literal.search(text, position):
        end = found.end()
        quote = found["long"]
        closed = _long_end[quote].match(text, end) if quote and quote not in unclosed else None
        line += text.count("\n", position, end)
        if closed:
            last = line + closed[0].count("\n")
            inside.update(range(line + 1, last + 1))
            line, end = last, closed.end()
        elif quote:
            # That is no Python. It counts for its line, and the end of another is not looked for.
            unclosed.add(quote)
            rest = text.find("\n", end)
            end = len(text) if rest < 0 else rest
        position = end
    for number in range(start, len(lines)):
        if number not in inside and _marker.fullmatch(lines[number]):
            yield number


def _options(line: str) -> str:
    found = _marker.fullmatch(line)
    return (found and found["options"]) or ""


def _cell(lines: list[str], start: int, end: int, options: str) -> ScriptCell:
    values = _values(options)
    kind = _cell_type.search(_without_pairs(options))
    cell_type = "code" if kind is None else "raw" if kind[1] == "raw" else "markdown"
    filled = [number for number in range(start, end) if lines[number].strip()]
    body = lines[start : filled[-1] + 1] if filled else []
    # One blank line belongs to the next marker, and the last line's end is the file's.
    blank = end - start - len(body) - 1
    text = "\n".join(body)
    sources: tuple[str, ...]
    if cell_type != "code":
        sources = (_prose(body),)
    elif "language" in values:
        magic = " ".join(filter(None, ("%%" + values["language"], values.get("magic_args"))))
        sources = ("\n".join([magic, *without_comment_signs(body)]), text)
    elif "active" in options:
        sources = ("\n".join(without_comment_signs(body)), text)
    else:
        sources = (uncommented(text), text)
    return ScriptCell(
        cell_type,
        tuple(dict.fromkeys(sources)),
        max(0, blank),
        values.get("id") or None,
        (filled[0] + 1, filled[-1] + 1) if filled else None,
    )


def _pairs(options: str) -> Iterator[tuple[int, int]]:
    """Where the options of the form ``key=value`` are; lists and objects may have blanks."""
    last = {opening: options.rfind(closing) for opening, closing in _CLOSING.items()}
    position = 0
    while found := _option.search(options, position):
        start, position = found.span("value")
        opening = options[start]
        if last.get(opening, -1) > start:
            position = options.index(_CLOSING[opening], start) + 1
        yield found.start(), position


def _without_pairs(options: str) -> str:
    pieces = []
    position = 0
    for start, end in _pairs(options):
        pieces.append(options[position:start])
        position = end
    return " ".join([*pieces, options[position:]])


def _values(options: str) -> dict[str, str]:
    """The options of a marker as texts; of ``{…}``, the older way to write them, as well."""
    values: dict[str, str] = {}
    for start, end in _pairs(options):
        key, _, value = options[start:end].lstrip().partition("=")
        if key == "id" and key in values:
            raise AmbiguousMarkerError("a cell marker names more than one id")
        values[key] = _word(value)
    brace = options.find("{")
    if not values and brace >= 0:
        try:
            pairs = jsontext.loads(options[brace:])
        except ValueError:
            return values
        values = {key: value for key, value in pairs.items() if isinstance(value, str)}
    return values


def _word(value: str) -> str:
    if value[0] == '"':
        try:
            return str(jsontext.loads(value))
        except ValueError:
            return value
    return value[1:-1] if value[0] == "'" and len(value) > 1 else value


def _prose(body: list[str]) -> str:
    """The text of a markdown or raw cell: in comments, or in a string of three quotes."""
    text = "\n".join(body)
    quotes = _quotes.match(text.lstrip("\n"))
    if quotes:
        inner = text.lstrip("\n")[quotes.end() :]
        if inner.endswith(quotes[1]):
            inner = inner[: -len(quotes[1])]
            return inner.removeprefix("\n").removesuffix("\n")
    return "\n".join(without_comment_signs(body))
