"""Reading one output whole: long text in pages, an image as an image (the outputs protocol, live)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pywebmcp import access, cells, images, jsontext, outputs, text
from pywebmcp.constants import MAX_IMAGE
from pywebmcp.errors import Code, ToolError
from pywebmcp.outputs import OutputProtocolError
from pywebmcp.tools import Call, tool
from pywebmcp.toolset.common import CellId, NotebookPath, notebook_or_file
from pywebmcp.types import Arg, CellData, Payload

# Characters for what an answer has around its text or its entries.
_FRAME = 300
# The repr of an object without one of its own says less than any other form of it.
_bare_repr = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")

Output = dict[str, Any]


@tool("Read an output", "RU")
async def jupyter_read_output(
    call: Call,
    *,
    cell_id: CellId | None = None,
    cell_index: Annotated[int, Arg("Instead of cellId", ge=0)] | None = None,
    output_index: Annotated[int, Arg("Default: list the outputs", ge=0)] | None = None,
    mime_type: Annotated[str, Arg("Default: the best form")] | None = None,
    offset: Annotated[int, Arg("Of the text, in characters (listing: of the list)", ge=0)]
    | None = None,
    limit: Annotated[int, Arg("Characters at most", ge=1)] | None = None,
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """List a cell's outputs, or read one whole: long text in pages (next_offset), a figure as an
    image. Runs nothing. Reads an unopened notebook from its file."""
    source = await _source(call, notebook_path, cell_id, cell_index)
    try:
        if output_index is None:
            return _directory(call, source, offset or 0)
        return _Reading(call, source, output_index, offset, limit).answer(mime_type)
    except OutputProtocolError as error:
        raise _failed(error) from None


@dataclass(frozen=True, slots=True)
class _Source:
    """The cell whose outputs are read, and what an answer says of where they come from."""

    cell: CellData
    outputs: Sequence[Any]
    provenance: dict[str, Any]


async def _source(
    call: Call, path: str | None, cell_id: str | None, cell_index: int | None
) -> _Source:
    if (cell_id is None) == (cell_index is None):
        raise ToolError(Code.INVALID_ARGUMENT, 'Give "cellId" or "cellIndex", one of the two.')
    notebook = await notebook_or_file(call, path)
    if not isinstance(notebook, dict):
        live = notebook
        state, ids = live.state(), live.ids()
        index = _index(cell_index, len(ids), lambda: cells.locate(live, cell_id or ""))
        [cell] = live.cells(index, index + 1, outputs=True)
        changed = live.source_changed(index)
        return _of(state["path"], cell, index, cells.addresses(tuple(ids))[index], changed)
    found = cells.from_file(notebook)
    index = _index(cell_index, len(found), lambda: cells.position_in_file(found, cell_id or ""))
    address = cells.addresses(tuple(cell.get("id") for cell in found))[index]
    return _of(path or "", found[index], index, address, False)


def _index(given: int | None, count: int, locate: Callable[[], int]) -> int:
    if given is None:
        return locate()
    if given >= count:
        raise ToolError(
            Code.CELL_NOT_FOUND, f"There is no cell {given}: the notebook has {count} cells."
        )
    return given


def _of(path: str, cell: CellData, index: int, address: str, changed: bool) -> _Source:
    if access.hidden(cell):
        raise ToolError(Code.CELL_NOT_FOUND, f"There is no cell {index}: read the cells again.")
    provenance: dict[str, Any] = {
        "kind": "notebook",
        "path": path,
        "cell_index": index,
        "cell_id": address,
    }
    count = cell.get("execution_count")
    if count is not None:
        provenance["execution_count"] = count
    if changed:
        provenance["source_changed"] = True
    return _Source(cell, cell.get("outputs") or [], provenance)


def _failed(error: OutputProtocolError) -> ToolError:
    return ToolError(Code(error.code), f"{error.message.rstrip('.')}.")


def _directory(call: Call, source: _Source, offset: int) -> Payload:
    """What there is to read, without the data; a run of stream pieces is one entry."""
    answer: Payload = {"schema_version": 1, "status": "ok", "source": source.provenance}
    entries: list[dict[str, Any]] = []
    room = call.room(_FRAME + jsontext.length(answer))
    for index, group in _groups(source.outputs):
        if index < offset:
            continue
        entry = _entry(index, group)
        room -= jsontext.length(entry) + 1
        if room < 0 and entries:
            return {**answer, "outputs": entries, "next_offset": index}
        entries.append(entry)
    answer["outputs"] = entries
    if not source.outputs:
        answer["note"] = _nothing(source)
    elif source.provenance.get("source_changed"):
        answer["note"] = "The cell's source was changed since it put this out."
    return answer


def _nothing(source: _Source) -> str:
    """Why there are no outputs."""
    if source.cell["cell_type"] != "code":
        return f"A {source.cell['cell_type']} cell has no outputs."
    if source.cell.get("execution_count") is None:
        return "The cell was never run: it has no output."
    return "The cell was run and put nothing out."


def _groups(found: Sequence[Any]) -> list[tuple[int, list[Any]]]:
    """The outputs with the pieces of a stream that follow each other taken together."""
    groups: list[tuple[int, list[Any]]] = []
    for index, output in enumerate(found):
        if groups and _stream(output) is not None:
            first = groups[-1][1][0]
            if _stream(first) == _stream(output):
                groups[-1][1].append(output)
                continue
        groups.append((index, [output]))
    return groups


def _stream(output: Any) -> Any:
    """The name of a stream output, else None."""
    if not isinstance(output, dict) or output.get("output_type") != "stream":
        return None
    return str(output.get("name", "stdout"))


def _entry(index: int, group: list[Any]) -> dict[str, Any]:
    try:
        [entry] = outputs.list_outputs(group[:1], source={})["outputs"]
    except OutputProtocolError as error:
        # One bad output does not hide the others.
        kind = group[0].get("output_type") if isinstance(group[0], dict) else None
        entry = {"output_type": str(kind or "unknown"), "problem": error.message}
    entry = {key: value for key, value in entry.items() if value not in ([], {})}
    entry["output_index"] = index
    if _stream(group[0]) is not None:
        shown = _stream_text(group)
        entry["characters"] = len(shown)
        entry["lines"] = shown.count("\n") + (not shown.endswith("\n") and shown != "")
        if len(group) > 1:
            entry["pieces"] = len(group)
    return entry


def _stream_text(group: Sequence[Output]) -> str:
    return text.clean("".join(text.multiline(piece.get("text")) for piece in group))


class _Reading:
    """One output on its way into an answer."""

    def __init__(
        self,
        call: Call,
        source: _Source,
        index: int,
        offset: int | None,
        limit: int | None,
    ) -> None:
        groups = _groups(source.outputs)
        found = [group for start, group in groups if start <= index < start + len(group)]
        if not found:
            count = len(source.outputs)
            why = f"it has {count}" if count else _nothing(source)[0].lower() + _nothing(source)[1:]
            raise ToolError(
                Code.OUTPUT_NOT_FOUND, f"The cell has no output {index}: {why.rstrip('.')}."
            )
        self._call = call
        self._group = found[0]
        self._source = {**source.provenance, "output_index": index}
        self._offset = offset
        self._limit = limit

    def answer(self, mime_type: str | None) -> Payload:
        """The payload; an image goes into the call's record as a block beside it."""
        [first, *_] = self._group
        if not isinstance(first, dict) or first.get("output_type") not in (
            "display_data",
            "execute_result",
        ):
            return self._plain(first, mime_type)
        if mime_type is not None:
            return self._bundle(first, mime_type, None)
        usable = _usable(first)
        try:
            return self._bundle(first, None, usable)
        except OutputProtocolError as error:
            if error.code == "OUTPUT_DATA_INVALID":
                return self._instead(first, usable, error)
            if error.code == "MIME_NOT_SUPPORTED":
                other = next((each for each in usable if each.startswith("text/")), None)
                if other is not None:
                    return self._bundle(first, other, None)
            raise

    def _instead(self, output: Output, usable: list[str], error: OutputProtocolError) -> Payload:
        """Another form than the broken image, with a word on what is wrong with that."""
        data = output.get("data")
        forms = list(data) if isinstance(data, dict) else []
        readable = [each for each in forms if each not in images.TYPES]
        if not readable or len(readable) == len(forms):
            raise error
        shown = [each for each in readable if each in usable] or readable
        return {**self._bundle(output, None, shown), "problem": error.message}

    def _plain(self, output: Any, mime_type: str | None) -> Payload:
        """A stream or an error, its escapes removed; anything else is the protocol's to refuse."""
        if isinstance(output, dict) and output.get("output_type") == "stream":
            pieces: list[Any] = []
            for piece in self._group:
                words = piece.get("text", "")
                pieces.extend(words if isinstance(words, list) else [words])
            # Whether each piece is text at all.
            outputs.read_output([{**output, "text": pieces}], 0, source={}, mime_type=mime_type)
            joined = {**output, "text": _stream_text(self._group)}
            return self._paged(joined, "stream", None)
        if isinstance(output, dict) and output.get("output_type") == "error":
            [output] = text.clean_outputs([output])
        return self._read(output, mime_type)

    def _bundle(self, output: Output, mime_type: str | None, usable: list[str] | None) -> Payload:
        """The chosen form of a MIME bundle."""
        answer = self._read(output, mime_type, usable)
        selected = answer["selected"]
        paged = self._offset is not None or self._limit is not None
        if selected["encoding"] == "base64":
            if paged:
                raise OutputProtocolError(
                    "WINDOW_NOT_SUPPORTED", "An image has no pages: leave out offset and limit"
                )
            return self._image(answer)
        if selected["encoding"] == "json":
            # The protocol has no pages of structured data; an agent's context needs them.
            return self._json_page(answer) if paged else self._json(answer)
        if selected["mime_type"] == "text/plain":
            plain = text.clean(text.multiline(output["data"]["text/plain"]))
            output = {**output, "data": {**output["data"], "text/plain": plain}}
        return self._paged(output, "selected", selected["mime_type"])

    def _read(
        self,
        output: Any,
        mime_type: str | None,
        usable: list[str] | None = None,
        **window: int,
    ) -> Payload:
        answer = outputs.read_output(
            [output],
            0,
            source=self._source,
            mime_type=mime_type,
            supported_mime_types=usable,
            **window,
        )
        answer["source"] = self._source
        # What is empty says nothing.
        return {key: value for key, value in answer.items() if value not in ([], {}, None)}

    def _paged(self, output: Output, part: str, mime_type: str | None) -> Payload:
        """As much of a text as fits into the answer, from the offset on."""
        offset = self._offset or 0
        empty = self._read(output, mime_type, offset=offset, limit=1)
        whole = (
            output["text"] if part == "stream" else text.multiline(output["data"][mime_type or ""])
        )
        frame = jsontext.length({**empty, part: {**empty[part], "data": ""}})
        room = self._call.room(_FRAME + frame)
        limit = _fitting(whole, offset, min(self._limit or room, room), room)
        return self._read(output, mime_type, offset=offset, limit=limit)

    def _image(self, answer: Payload) -> Payload:
        selected = answer["selected"]
        kind, size = selected["mime_type"], selected["bytes"]
        if size > MAX_IMAGE:
            raise ToolError(
                Code.OUTPUT_TOO_LARGE,
                f"The image has {size} bytes, and {MAX_IMAGE} are the most that an agent can take: "
                "draw it smaller, or read another form of it.",
                bytes=size,
                available_mime_types=answer["available_mime_types"],
            )
        flaw = images.flaw(kind, images.decoded(selected["data"]) or b"")
        if flaw is not None:
            raise OutputProtocolError("OUTPUT_DATA_INVALID", f"The {kind} cannot be shown: {flaw}")
        assert self._call.record is not None
        self._call.record.blocks.append(images.block(kind, selected["data"]))
        return {**answer, "selected": {**selected, "data": images.word(kind, size)}}

    def _json(self, answer: Payload) -> Payload:
        """Structured data as it is, or what there is of it where that is too long."""
        selected = answer["selected"]
        if jsontext.length(answer) <= self._call.room(_FRAME):
            return answer
        summary = {key: value for key, value in selected.items() if key != "data"}
        summary["total_characters"] = len(jsontext.dumps(selected["data"]))
        if isinstance(selected["data"], dict):
            summary["keys"] = list(selected["data"])[:20]
        note = (
            "Too long for one answer: ask again with this mimeType and a limit for its JSON text, "
            "page by page."
        )
        return {**answer, "selected": summary, "note": note}

    def _json_page(self, answer: Payload) -> Payload:
        """A page of structured data's compact JSON text; the pages joined are the data."""
        selected = answer["selected"]
        written = jsontext.dumps(selected["data"])
        page = self._paged({"output_type": "stream", "name": "", "text": written}, "stream", None)
        kept = {"mime_type": selected["mime_type"], "encoding": "json-text"}
        page["stream"].pop("name", None)
        return {**answer, "selected": {**kept, **page["stream"]}}


def _usable(output: Output) -> list[str]:
    """The forms an agent may be given unasked, in the bundle's order.

    It reads text: HTML only where there is no plain text of it, and plain text only where that is
    more than the name of a class.
    """
    data = output.get("data")
    if not isinstance(data, dict):
        return []
    plain = text.multiline(data.get("text/plain")).strip()
    bare = _bare_repr.fullmatch(plain) is not None or not plain
    others = {each for each in data if each != "text/plain"}
    skipped = set()
    if bare and others:
        skipped.add("text/plain")
    elif plain:
        skipped.add("text/html")
    return [each for each in data if each not in skipped]


def _fitting(whole: str, offset: int, most: int, room: int) -> int:
    """How many characters from the offset on fit into a JSON text of ``room``; at least one."""

    def length(count: int) -> int:
        return jsontext.length(jsontext.dumps(whole[offset : offset + count])) - 2

    high = max(1, min(most, len(whole) - offset))
    if length(high) <= room:
        return high
    low = 1
    while low < high:
        middle = (low + high + 1) // 2
        if length(middle) <= room:
            low = middle
        else:
            high = middle - 1
    return low
