"""Talking with people on the notebook: threads on cells, on text in them, and on outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pywebmcp import cells, jsontext
from pywebmcp.comments import AGENT, Anchor, Comment, Thread, read, store
from pywebmcp.comments.model import MAX_TEXT
from pywebmcp.comments.ranges import occurrences
from pywebmcp.constants import METADATA_KEY
from pywebmcp.edits import normalise_newlines, offset_at, source_hash
from pywebmcp.errors import Code, ToolError
from pywebmcp.tools import Call, tool
from pywebmcp.toolset import threads
from pywebmcp.toolset.common import CellId, NotebookPath, live_notebook, require_selection
from pywebmcp.toolset.threads import Book
from pywebmcp.types import Arg, Payload, Selection

# Fields around the threads of a page.
_FRAME = 160

ThreadId = Annotated[str, Arg("Id of a thread")]
Status = Literal["open", "resolved"]


class AnchorArgument(TypedDict):
    """What a new thread is about."""

    kind: Literal["cell", "source-range", "output"]
    cellId: CellId
    text: NotRequired[Annotated[str, Arg("source-range: exact text, there once", min_length=1)]]
    selection: NotRequired[Annotated[Selection, Arg("source-range, instead of text")]]
    outputIndex: NotRequired[Annotated[int, Arg("output: default its only one", ge=0)]]


@tool("List comments", "RU")
async def jupyter_list_comments(
    call: Call,
    *,
    thread_id: Annotated[str, Arg("Only this thread, whole, with its cell")] | None = None,
    status: Annotated[Literal["open", "resolved", "all"], Arg("Default open")] = "open",
    scope: Annotated[Literal["notebook", "current-cell"], Arg("Default notebook")] = "notebook",
    offset: Annotated[int, Arg(ge=0)] = 0,
    limit: Annotated[int, Arg(ge=1)] | None = None,
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """Threads of comments and where they are now; state: moved or orphaned (the text is gone) where
    that is so. As many as fit, with nextOffset."""
    book = await threads.book(call, notebook_path)
    if thread_id is not None:
        return book.whole(thread_id)
    here = _current_cell(call, book) if scope == "current-cell" else None
    chosen = book.chosen(status, here)
    room = call.room(_FRAME)
    page: list[Payload] = []
    for thread_id, place in chosen[offset : None if limit is None else offset + limit]:
        entry = book.entry(thread_id, place or book.place(thread_id))
        room -= jsontext.length(jsontext.dumps(entry)) + 1
        if page and room < 0:
            break
        page.append(entry)
    answer: Payload = {"threads": page}
    if offset + len(page) < len(chosen):
        answer.update(nextOffset=offset + len(page), total=len(chosen))
    if book.review.unreadable:
        answer["unreadable"] = book.review.unreadable
    return answer


@tool("Comment", "U")
async def jupyter_create_comment(
    call: Call,
    *,
    anchor: AnchorArgument,
    message: Annotated[str, Arg("Plain text")],
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """Start a thread on a cell, on text in it, or on an output. Saved with the notebook; people see
    it as yours. Answers its threadId."""
    text = store.message(message)
    notebook = await live_notebook(call, notebook_path)
    index = cells.locate(notebook, anchor["cellId"])
    book = threads.live(notebook)
    made = _anchor(book, index, anchor)
    if book.places.place(made).state != "anchored":
        raise ToolError(
            Code.INVALID_ARGUMENT,
            "Other cells have the same id and the same text, so the comment would not find its "
            "cell again: change the cell, or comment on another one.",
        )
    thread_id = call.new_id()
    while thread_id in book.review.threads:
        thread_id = call.new_id()
    thread = Thread(thread_id, made, (Comment(AGENT, _now(call), text),))
    notebook.set_metadata(METADATA_KEY, store.with_thread(book.own, thread))
    return {"threadId": thread_id}


@tool("Reply to a comment", "U")
async def jupyter_reply_comment(
    call: Call,
    *,
    thread_id: ThreadId,
    message: str | None = None,
    status: Annotated[Status, Arg("Resolve or reopen")] | None = None,
    notebook_path: NotebookPath | None = None,
) -> Payload:
    """Reply in a thread, resolve it, reopen it, or reply and do that."""
    if message is None and status is None:
        raise ToolError(Code.INVALID_ARGUMENT, 'Give a "message", a "status", or both.')
    text = "" if message is None else store.message(message)
    notebook = await live_notebook(call, notebook_path)
    own = notebook.metadata().get(METADATA_KEY)
    before = read(own).thread(thread_id).status
    same = status == before
    if same and not text:
        return {"changed": False, "note": f"The thread was {before} already: nothing changed."}
    comment = Comment(AGENT, _now(call), text, None if same else status)
    notebook.set_metadata(METADATA_KEY, store.with_comment(own, thread_id, comment))
    if same:
        return {"note": f"The thread was {before} already; the message was added."}
    return {"status": "resolved"} if status is None and before == "resolved" else {}


@tool("Focus a comment", "U")
async def jupyter_focus_comment(
    call: Call, *, thread_id: ThreadId, notebook_path: NotebookPath | None = None
) -> Payload:
    """Show the person what a thread is about. Changes only the view."""
    notebook = await live_notebook(call, notebook_path)
    book = threads.live(notebook)
    place = book.place(thread_id)
    if place.index is None:
        raise ToolError(
            Code.COMMENT_ANCHOR_STALE,
            f'What thread "{thread_id}" is about is no longer in the notebook: read the thread '
            "with jupyter_list_comments.",
        )
    await notebook.focus_cell(place.index, book.places.selection(place))
    return book.where(thread_id, place)


def _current_cell(call: Call, book: Book) -> str:
    """The id of the cell that the person is in."""
    workspace = call.frontend.workspace()
    notebook, focus = workspace["notebook"], workspace["focus"]
    cell_id = (focus or {}).get("activeCellId")
    if notebook is None or notebook["path"] != book.path or cell_id is None:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            'The person is in no cell of this notebook: leave "scope" out.',
        )
    return str(cell_id)


def _anchor(book: Book, index: int, argument: AnchorArgument) -> Anchor:
    """The anchor that an agent described, made on the live cell."""
    kind, text, selection = argument["kind"], argument.get("text"), argument.get("selection")
    output = argument.get("outputIndex")
    cell_id = book.cells[index].get("id") or ""
    if kind != "source-range" and (text is not None or selection is not None):
        raise _misplaced("text" if text is not None else "selection", "source-range")
    if kind != "output" and output is not None:
        raise _misplaced("outputIndex", "output")
    if kind == "cell":
        return book.places.cell_anchor(cell_id, index)
    if kind == "output":
        return book.places.output_anchor(cell_id, index, _output(book.outputs(index), output))
    start, end = _range(book.places.sources[index], text, selection)
    return book.places.range_anchor(cell_id, index, start, end)


def _misplaced(name: str, kind: str) -> ToolError:
    return ToolError(
        Code.INVALID_ARGUMENT, f'Argument "anchor.{name}" belongs to the kind "{kind}".'
    )


def _output(outputs: Sequence[Any], index: int | None) -> int:
    count = len(outputs)
    if index is None and count == 1:
        return 0
    if index is None and count:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f'The cell has {count} outputs: give "anchor.outputIndex", 0 to {count - 1}.',
        )
    if index is None or index >= count:
        has = f"{count} output{'s' if count > 1 else ''}" if count else "no outputs"
        raise ToolError(Code.OUTPUT_NOT_FOUND, f"There is no such output: the cell has {has}.")
    return index


def _range(source: str, text: str | None, selection: Selection | None) -> tuple[int, int]:
    """The offsets of a text that is there once, or of a selection (whose text may be given too)."""
    if text is not None:
        text = normalise_newlines(text)
    if selection is not None:
        require_selection(source, selection)
        start, end = (
            offset_at(source, selection[name]["line"], selection[name]["column"])
            for name in ("start", "end")
        )
        if text is not None and source[start:end] != text:
            raise _stale(source, "The selection has another text")
    elif text is None:
        raise ToolError(Code.INVALID_ARGUMENT, 'Give "anchor.text" or "anchor.selection".')
    else:
        start = _only(source, text)
        end = start + len(text)
    if not source[start:end].strip():
        raise ToolError(
            Code.INVALID_ARGUMENT, 'There is no text in the range: give the kind "cell" instead.'
        )
    if end - start > MAX_TEXT:
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The text has {end - start} characters, and a comment can be about {MAX_TEXT}: "
            'take less, or give the kind "cell".',
        )
    return start, end


def _only(source: str, text: str) -> int:
    found = occurrences(source, text)
    start = next(found, None)
    if start is None:
        raise _stale(source, "The text is not in the cell")
    if next(found, None) is not None:
        count = max(source.count(text), 2)
        raise ToolError(
            Code.INVALID_ARGUMENT,
            f"The text is in the cell {count} times: take more of what is around it, or give "
            '"anchor.selection".',
        )
    return start


def _stale(source: str, what: str) -> ToolError:
    return ToolError(
        Code.COMMENT_ANCHOR_STALE,
        f"{what}: work from the cell's present source.",
        sourceHash=source_hash(source),
        source=source,
    )


def _now(call: Call) -> str:
    """The time of day as ISO 8601, to the second."""
    return call.clock().strftime("%Y-%m-%dT%H:%M:%SZ")
