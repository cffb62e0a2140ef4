"""A notebook with its threads, live or from a file, and how threads are shown to an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pywebmcp import cells
from pywebmcp.bounding import cut_text
from pywebmcp.comments import (
    CellAnchor,
    Comment,
    OutputAnchor,
    Place,
    Places,
    RangeAnchor,
    Review,
    Thread,
    read,
)
from pywebmcp.constants import METADATA_KEY
from pywebmcp.edits import normalise_newlines
from pywebmcp.frontend import Notebook
from pywebmcp.tools import Call
from pywebmcp.toolset.common import notebook_or_file
from pywebmcp.types import CellData, Payload

# Characters of a message, and of a commented text, that a list of threads shows.
_SHOWN = 400
_QUOTED = 160
# Comments of a thread that a list shows: the first, and the last ones.
_LAST = 2


@dataclass(frozen=True, slots=True)
class Book:
    """A notebook with its threads, live or from a file."""

    own: Any
    review: Review
    cells: Sequence[CellData]
    addresses: Sequence[str]
    places: Places
    outputs: Callable[[int], Sequence[dict[str, Any]]]
    path: str | None

    def place(self, thread_id: str) -> Place:
        """Where a thread is now. Raises ``ToolError`` COMMENT_NOT_FOUND."""
        return self.places.place(self.review.thread(thread_id).anchor)

    def chosen(self, status: str, cell_id: str | None) -> list[tuple[str, Place | None]]:
        """The threads of a status, of one cell where an id is given; places as far as looked for."""
        found = [
            (thread_id, None)
            for thread_id, thread in self.review.threads.items()
            if status in ("all", thread.status)
        ]
        if cell_id is None:
            return [*found]
        return [
            (thread_id, place)
            for thread_id, _ in found
            if (place := self.place(thread_id)).index is not None
            and self.cells[place.index].get("id") == cell_id
        ]

    def whole(self, thread_id: str) -> Payload:
        """One thread with all of its comments, and its cell."""
        thread = self.review.thread(thread_id)
        place = self.places.place(thread.anchor)
        answer: Payload = {**_status(thread), **self.where(thread_id, place)}
        answer["comments"] = [_comment(comment) for comment in thread.comments]
        selection = self.places.selection(place)
        if selection is not None:
            answer["selection"] = selection
            del answer["line"]
        index = place.index
        if index is not None:
            del answer["cellId"], answer["index"]
            answer["cell"] = cells.view(self.cells[index], index, self.addresses[index])
        return answer

    def entry(self, thread_id: str, place: Place) -> Payload:
        """A thread in a list: long messages cut, of a long thread its beginning and end."""
        thread = self.review.thread(thread_id)
        entry: Payload = {"threadId": thread_id, **_status(thread), **self.where(thread_id, place)}
        comments = [_comment(comment, _SHOWN) for comment in thread.comments]
        if len(comments) > 2 * _LAST:
            entry["omittedComments"] = len(comments) - _LAST - 1
            comments = [comments[0], *comments[-_LAST:]]
        entry["comments"] = comments
        return entry

    def where(self, thread_id: str, place: Place) -> Payload:
        """What a thread is about and where that is now."""
        shown: Payload = {}
        if place.index is not None:
            shown.update(cellId=self.addresses[place.index], index=place.index)
        if place.state != "anchored":
            shown["state"] = place.state
        match self.review.thread(thread_id).anchor:
            case RangeAnchor() as anchor:
                shown["text"] = cut_text(anchor.exact, _QUOTED // 2)[0]
                selection = self.places.selection(place)
                if selection is not None:
                    shown["line"] = selection["start"]["line"]
            case OutputAnchor() as anchor:
                output = anchor.index if place.output_index is None else place.output_index
                shown.update(outputIndex=output, mimeType=anchor.mime_type)
                if place.output != "unchanged":
                    shown["output"] = place.output or "gone"
            case CellAnchor() as anchor if place.index is None:
                shown["excerpt"] = anchor.excerpt
        return shown


def _status(thread: Thread) -> Payload:
    return {"status": "resolved"} if thread.status == "resolved" else {}


def _comment(comment: Comment, length: int | None = None) -> Payload:
    shown: Payload = {"by": comment.author.kind}
    if comment.author.name:
        shown["name"] = comment.author.name
    if comment.created:
        shown["at"] = comment.created
    if comment.message:
        text = comment.message
        if length is not None and len(text) > length:
            text = cut_text(text, length // 2)[0]
        shown["message"] = text
    if comment.status is not None:
        shown["status"] = comment.status
    return shown


async def book(call: Call, path: str | None) -> Book:
    """The notebook that a call means, open or not."""
    notebook = await notebook_or_file(call, path)
    if not isinstance(notebook, dict):
        return live(notebook)
    content = notebook
    found, metadata = cells.from_file(content), content.get("metadata")
    own = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    return _made(own, found, lambda index: found[index].get("outputs") or [], None)


def live(notebook: Notebook, before: Book | None = None) -> Book:
    """The threads of an open notebook; those of the book ``before`` where they are still the same."""
    state = notebook.state()

    def outputs(index: int) -> list[dict[str, Any]]:
        [cell] = notebook.cells(index, index + 1, outputs=True)
        return cell.get("outputs") or []

    own = notebook.metadata().get(METADATA_KEY)
    review = before.review if before is not None and before.own == own else None
    return _made(own, notebook.cells(0, state["cellCount"]), outputs, state["path"], review)


def _made(
    own: Any,
    found: Sequence[CellData],
    outputs: Callable[[int], Sequence[dict[str, Any]]],
    path: str | None,
    review: Review | None = None,
) -> Book:
    ids = [cell.get("id") for cell in found]
    sources = [normalise_newlines(cell["source"]) for cell in found]
    places = Places(ids, sources, outputs)
    addresses = cells.addresses(tuple(ids))
    return Book(own, review or read(own), found, addresses, places, outputs, path)
