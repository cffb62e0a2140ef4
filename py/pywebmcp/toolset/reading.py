"""Reading cells: pages of them, a search through them, or the notebook as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pywebmcp import access, cells, constants, jsontext, markdown, text
from pywebmcp.bounding import cut_text, shorten_bundles, surely_longer
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Notebook
from pywebmcp.images import omitted
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import EndIndex, NotebookPath, StartIndex, notebook_or_file, span
from pywebmcp.types import Arg, CellData, Payload

# The largest share of a page that the fields around the cells can take.
_FRAME = 160
# Characters at each end of a source below which the general cutting of results does as well.
_LEAST = 500
# Cells are fetched from the page in batches, so that a page of some hundred cells does not pay
# for the whole notebook.
_BATCH = 128
# What is this many times longer than the page is not measured exactly, and not more values than
# this are looked at to see that.
_FAR = 10
_LOOK = 100


@dataclass(frozen=True, slots=True)
class Source:
    """Cells to read from, live or from a file: their number, addresses, and a way to get them."""

    count: int
    addresses: Sequence[str]
    fetch: Callable[[int, int, bool], Sequence[CellData]]
    find: Callable[[str], int]
    language: Callable[[], str]

    def batches(
        self, indexes: Sequence[int], outputs: bool
    ) -> Iterator[list[tuple[int, str, CellData]]]:
        """Index, address and data of the given cells, fetched in runs of neighbours."""
        start = 0
        while start < len(indexes):
            stop = start + 1
            while (
                stop < len(indexes)
                and stop - start < _BATCH
                and indexes[stop] == indexes[stop - 1] + 1
            ):
                stop += 1
            first = indexes[start]
            found = self.fetch(first, first + stop - start, outputs)
            yield [
                (first + offset, self.addresses[first + offset], cell)
                for offset, cell in enumerate(found)
            ]
            start = stop


@tool("Read cells", "RU")
async def jupyter_get_cells(
    call: Call,
    *,
    notebook_path: NotebookPath | None = None,
    cell_ids: Annotated[list[str], Arg("Only these, in this order")] | None = None,
    start_index: StartIndex | None = None,
    end_index: EndIndex | None = None,
    include_source: Annotated[bool, Arg("Default true")] = True,
    include_outputs: Annotated[bool, Arg("Default false")] = False,
    search: Annotated[
        str,
        Arg("Text to find, whatever its case; answers the matching lines", min_length=1),
    ]
    | None = None,
    only: Annotated[Literal["error", "code", "markdown"], Arg("error: last run failed")]
    | None = None,
    format: Literal["json", "markdown"] = "json",  # noqa: A002
) -> Payload:
    """Read cells with their ids and source hashes: as many as fit, with nextIndex (of
    cellIds: nextOffset) to go on from. Reads an unopened notebook from its file. Search covers sources, with includeOutputs outputs
    too."""
    if cell_ids is not None and (start_index is not None or end_index is not None):
        raise ToolError(
            Code.INVALID_ARGUMENT, 'Give "cellIds" or "startIndex"/"endIndex", not both.'
        )
    if search is not None and "\n" in search:
        raise ToolError(
            Code.INVALID_ARGUMENT, "A search looks within lines: leave line breaks out."
        )
    source = await _source(call, notebook_path)
    if cell_ids is not None:
        indexes: Sequence[int] = [source.find(cell_id) for cell_id in cell_ids]
    else:
        indexes = span(start_index, end_index, source.count)
    outputs = include_outputs or only == "error"
    page = _Page(call.room(_FRAME), format)
    read = hidden = 0
    for batch in source.batches(indexes, outputs):
        entries: list[dict[str, Any]] = []
        places: list[int] = []
        concealed: list[int] = []
        for place, (index, address, cell) in enumerate(batch, read):
            if access.hidden(cell):
                concealed.append(place)
                continue
            if not _wanted(cell, only):
                continue
            if search is not None:
                entry = _matches(cell, index, address, search, include_outputs)
                if entry is None:
                    continue
            else:
                entry = cells.view(
                    cell, index, address, source=include_source, outputs=include_outputs
                )
                if only == "error" and not include_outputs:
                    entry["error"] = _summary(cell)
            entries.append(entry)
            places.append(place)
        read += len(batch)
        taken = page.extend(entries, source.language)
        if taken < len(entries):
            rest: Payload = (
                {"nextIndex": indexes[places[taken]]}
                if cell_ids is None
                else {"nextOffset": places[taken]}
            )
            hidden += sum(place < places[taken] for place in concealed)
            return {**page.answer(), **rest, "cellCount": source.count, **_hidden(hidden)}
        hidden += len(concealed)
    return {**page.answer(), **_hidden(hidden)}


def _hidden(count: int) -> Payload:
    """How many cells of what was read are hidden, where there are any."""
    return {"hidden": count} if count else {}


class _Page:
    """Collects entries until the next one would not fit; the first one always does."""

    def __init__(self, budget: int, form: str) -> None:
        self._budget: float = budget
        self._form = form
        self._entries: list[Any] = []

    def extend(self, entries: Sequence[dict[str, Any]], language: Callable[[], str]) -> int:
        """Take as many entries as fit; answers how many."""
        shown = [self._shown(entry, language) for entry in entries]
        # All at once is the usual case, and measuring them together the cheaper way.
        size = _size(shown, self._budget) + 3 * len(shown)
        if size <= self._budget:
            self._budget -= size
            self._entries += shown
            return len(shown)
        for count, each in enumerate(shown):
            size = _size(each, self._budget)
            if size > self._budget:
                if self._entries:
                    return count
                # Alone on its page and still too long: its ends are what can be shown.
                each = _fitted(each, self._budget)
                size = _size(each, self._budget)
            self._budget -= size
            self._entries.append(each)
        return len(shown)

    def _shown(self, entry: dict[str, Any], language: Callable[[], str]) -> Any:
        shown = shorten_bundles(entry, _image) if "outputs" in entry else entry
        if self._form != "markdown":
            return shown
        return _listed(shown) if "matches" in shown else markdown.cell(shown, language())

    def answer(self) -> Payload:
        if self._form == "markdown":
            return {"markdown": "\n\n".join(self._entries)}
        return {"cells": self._entries}


def _image(mime_type: str, value: Any, path: tuple[str | int, ...]) -> str | None:
    return omitted(mime_type, value, ("cells", *path))


def _size(shown: Any, room: float) -> float:
    """The length in an answer; infinite, without a look at the rest, for what is far too long.

    A cell can have put out megabytes, and the page stands still while they are written as text.
    """
    if surely_longer(shown, _FAR * max(room, 0), _LOOK):
        return math.inf
    return jsontext.length(jsontext.encode(shown)) + 4


def _fitted(shown: Any, room: float) -> Any:
    """One entry that is too long for a page: its source or text cut, or its matches counted.

    Outputs are cut like those of any other result.
    """
    if isinstance(shown, str):
        return _cut(shown, room, lambda text: text)
    if "matches" in shown:
        kept: list[Any] = []
        room -= jsontext.length({**shown, "matches": []}) + 44
        for match in shown["matches"]:
            room -= jsontext.length(match) + 4
            if room < 0:
                break
            kept.append(match)
        return {**shown, "matches": kept, "moreMatches": len(shown["matches"]) - len(kept)}
    if "source" not in shown:
        return shown
    text = _cut(shown["source"], room, lambda text: {**shown, "source": text, "truncated": True})
    return {**shown, "source": text, "truncated": True} if text != shown["source"] else shown


def _cut(text: str, room: float, entry: Callable[[str], Any]) -> str:
    """As much of both ends of a text as fits into its entry."""
    # Keeping more than there is cuts nothing.
    keep = min(int(max(room, 0)), len(text)) // 2
    while keep > _LEAST:
        cut, _ = cut_text(text, keep)
        over = _size(entry(cut), room) - room
        if over <= 0:
            return cut
        if over == math.inf:
            # Not because of this text.
            break
        # Escapes take more room in JSON than they have characters.
        keep -= max(int(over) // 4, 8)
    return text


async def _source(call: Call, path: str | None) -> Source:
    found = await notebook_or_file(call, path)
    return _file(found) if isinstance(found, dict) else _live(found)


def _live(notebook: Notebook) -> Source:
    ids = notebook.ids()
    return Source(
        len(ids),
        cells.addresses(tuple(ids)),
        lambda start, stop, outputs: notebook.cells(start, stop, outputs=outputs),
        lambda cell_id: cells.locate(notebook, cell_id),
        _language(notebook.metadata),
    )


def _file(content: dict[str, Any]) -> Source:
    found = cells.from_file(content)
    ids = tuple(cell.get("id") for cell in found)

    metadata = content.get("metadata")
    return Source(
        len(found),
        cells.addresses(ids),
        lambda start, stop, outputs: found[start:stop],
        lambda cell_id: cells.position_in_file(found, cell_id),
        _language(lambda: metadata if isinstance(metadata, dict) else {}),
    )


def _language(metadata: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    """The notebook's language for Markdown's fences (nbformat ``language_info``)."""

    def language() -> str:
        info = metadata().get("language_info")
        name = info.get("name") if isinstance(info, dict) else None
        return name if isinstance(name, str) and name else "python"

    return language


def _wanted(cell: CellData, only: str | None) -> bool:
    if only is None:
        return True
    if only == "error":
        return cells.error_output(cell) is not None
    return cell["cell_type"] == only


def _summary(cell: CellData) -> str:
    [output] = text.clean_outputs([cells.error_output(cell) or {}])
    return f"{output.get('ename')}: {output.get('evalue')}"


def _matches(
    cell: CellData, index: int, address: str, needle: str, outputs: bool
) -> dict[str, Any] | None:
    """The entry of a cell that holds the needle; line numbers are 0-based."""
    limit = constants.MAX_SEARCH_LINE
    found: dict[str, Any] = {}
    lines = [
        {"line": number, "text": line}
        for number, line in cells.matching_lines(cell["source"], needle, limit)
    ]
    if lines:
        found["matches"] = lines
    if outputs:
        # The index an output has in the notebook: streams are joined in what is shown.
        shown = text.clean_outputs(cell.get("outputs") or [], index_key="index")
        hits = [
            {"output": output.get("index", number), "text": line}
            for number, output in enumerate(shown)
            for _, line in cells.matching_lines(markdown.output_text(output), needle, limit)
        ]
        if hits:
            found.setdefault("matches", []).extend(hits)
    if not found:
        return None
    return {**cells.view(cell, index, address, source=False), **found}


def _listed(entry: dict[str, Any]) -> str:
    rows = [f"{match.get('line', 'output')}: {match['text']}" for match in entry["matches"]]
    return "\n".join([f"<!-- id={entry['id']} {entry['type']} -->", *rows])
