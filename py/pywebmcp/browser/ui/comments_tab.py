"""The tab Comments: the threads of the current notebook, to read, answer, settle and tie anew."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pywebmcp.browser.ui.elements import Kept, Node, button, h
from pywebmcp.browser.ui.host import Host
from pywebmcp.browser.ui.spots import Spot
from pywebmcp.browser.ui.threads_view import (
    Draft,
    Shown,
    about,
    composer,
    identifier,
    marks,
    title,
    unreadable,
)
from pywebmcp.browser.ui.threads_view import thread as thread_node
from pywebmcp.comments import Anchor, Author, Comment, Place, Thread, store
from pywebmcp.comments.model import MAX_TEXT
from pywebmcp.constants import METADATA_KEY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import Frontend, Notebook
from pywebmcp.toolset import threads
from pywebmcp.toolset.threads import Book

PERSON = Author("person")

_FILTERS = {"open": "Open", "resolved": "Resolved", "all": "All"}


class CommentsTab:
    """The threads in the order of the notebook; one of them is open."""

    id = "comments"
    label = "Comments"

    def __init__(
        self,
        frontend: Frontend,
        host: Host,
        spot: Callable[[], Spot | None],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        """``spot`` is what the person has selected; ``frontend`` is the real one."""
        self._frontend = frontend
        self._host = host
        self._spot = spot
        self._clock = clock
        self._new_id = new_id
        self._filter = "open"
        self._open: str | None = None
        self._deleting: str | None = None
        self._draft = Draft()
        self._kept = Kept()
        self._book: tuple[tuple[str, int], Book] | None = None
        self._failed: dict[str, str] = {}
        self.actions: dict[str, Callable[..., None]] = {
            "filter_threads": self._choose,
            "new_thread": lambda _: self.compose(self._spot()),
            "write_message": self._write,
            "send_thread": self._send,
            "cancel_thread": self._cancel,
            "open_thread": self._toggle,
            "write_reply": self._write_reply,
            "reply": self._reply,
            "settle": self._settle,
            "tie": self._tie,
            "delete_thread": self._delete,
            "go_to_thread": self._go,
        }

    # --- new threads

    def compose(self, spot: Spot | None) -> None:
        """Let the person write about a cell, a text in it, or an output."""
        notebook = self._frontend.notebook()
        if spot is None or notebook is None or not notebook.find(spot.cell_id):
            self._draft.spot, self._draft.wrong = None, "Select a cell to comment on."
            self._host.changed()
            return
        book = self._live(notebook)
        index = notebook.find(spot.cell_id)[0]
        self._draft.spot, self._draft.path = spot, book.path or ""
        self._draft.quote = about(book, index, spot)
        self._draft.wrong = ""
        self._host.changed()
        self._host.focus(identifier("message"))

    def _write(self, message: str) -> None:
        self._draft.message = message

    def _cancel(self, _: Any) -> None:
        self._draft = Draft(replies=self._draft.replies)
        self._host.changed()
        self._host.focus(identifier("new"))

    def _send(self, _: Any) -> None:
        draft = self._draft
        notebook = self._frontend.notebook(draft.path)
        if draft.spot is None or notebook is None:
            draft.wrong = "The notebook is no longer open."
            self._host.changed()
            return
        try:
            text = store.message(draft.message)
            book = threads.live(notebook)
            anchor = _anchor(book, notebook, draft.spot)
            comment = Comment(PERSON, self._now(), text)
            thread = Thread(self._fresh(book), anchor, (comment,))
            notebook.set_metadata(METADATA_KEY, store.with_thread(book.own, thread))
        except ToolError as error:
            draft.wrong = error.message
        else:
            self._open = thread.id
            if self._filter == "resolved":
                self._filter = "open"
            self._cancel(None)
        self._host.changed()

    def _fresh(self, book: Book) -> str:
        thread_id = self._new_id()
        while thread_id in book.review.threads:
            thread_id = self._new_id()
        return thread_id

    # --- threads that are there

    def show(self, thread_id: str) -> None:
        """Open a thread, whatever is filtered."""
        self._open, self._filter = thread_id, "all"
        self._host.changed()
        self._host.focus(identifier(thread_id, "open"))

    def _choose(self, chosen: str) -> None:
        self._filter = chosen
        self._host.changed()

    def _toggle(self, thread_id: str, _: Any) -> None:
        self._open = None if self._open == thread_id else thread_id
        self._deleting = None
        self._host.changed()

    def _write_reply(self, thread_id: str, message: str) -> None:
        self._draft.replies[thread_id] = message

    def _reply(self, thread_id: str, _: Any) -> None:
        text = self._draft.replies.get(thread_id, "")

        def replied(own: Any) -> Any:
            comment = Comment(PERSON, self._now(), store.message(text))
            return store.with_comment(own, thread_id, comment)

        if self._change(thread_id, replied):
            self._draft.replies.pop(thread_id, None)
            self._host.focus(identifier(thread_id, "reply"))

    def _settle(self, thread_id: str, status: str, _: Any) -> None:
        text = self._draft.replies.get(thread_id, "").strip()

        def settled(own: Any) -> Any:
            message = store.message(text) if text else ""
            state: Any = status
            return store.with_comment(own, thread_id, Comment(PERSON, self._now(), message, state))

        if self._change(thread_id, settled):
            self._draft.replies.pop(thread_id, None)
            self._host.focus(identifier("filter"))

    def _tie(self, thread_id: str, _: Any) -> None:
        """Tie a thread to what is selected now."""
        notebook, spot = self._frontend.notebook(), self._spot()
        if notebook is None or spot is None or not notebook.find(spot.cell_id):
            self._failed[thread_id] = "Select the cell, or the text in it, that this is about."
            self._host.changed()
            return

        def tied(own: Any) -> Any:
            anchor = _anchor(threads.live(notebook), notebook, spot)
            return store.with_anchor(own, thread_id, anchor)

        self._change(thread_id, tied)

    def _delete(self, thread_id: str, _: Any) -> None:
        if self._deleting != thread_id:
            self._deleting = thread_id
            self._host.changed()
            return
        if self._change(thread_id, lambda own: store.without_thread(own, thread_id)):
            self._deleting = None
            self._host.focus(identifier("filter"))

    def _go(self, thread_id: str, _: Any) -> None:
        notebook = self._frontend.notebook()
        if notebook is None:
            return
        book = self._live(notebook)
        place = book.place(thread_id)
        if place.index is not None:
            selection = book.places.selection(place)
            self._host.start(notebook.focus_cell(place.index, selection))

    def _change(self, thread_id: str, change: Callable[[Any], Any]) -> bool:
        """Write a changed thread; what does not go is shown at it."""
        self._failed.pop(thread_id, None)
        notebook = self._frontend.notebook()
        try:
            if notebook is not None:
                own = notebook.metadata().get(METADATA_KEY)
                notebook.set_metadata(METADATA_KEY, change(own))
        except ToolError as error:
            self._failed[thread_id] = error.message
        self._host.changed()
        return thread_id not in self._failed

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")

    def _live(self, notebook: Notebook) -> Book:
        """The notebook with its threads; read anew only when it changed."""
        state = notebook.state()
        revision = (state["path"], state["revision"])
        if self._book is None or self._book[0] != revision:
            before = None if self._book is None else self._book[1]
            self._book = revision, threads.live(notebook, before)
        return self._book[1]

    # --- what is shown

    def nodes(self) -> list[Node]:
        """The filter, what is being written, the threads."""
        notebook = self._frontend.notebook()
        if notebook is None:
            self._kept.forget()
            return [h("p", "No notebook is open.", cls="pywebmcp-note", key="none")]
        book = self._live(notebook)
        counts = {"open": 0, "resolved": 0}
        for thread in book.review.threads.values():
            counts[thread.status] += 1
        shown = self._shown(book)
        return [
            h(
                "div",
                h("label", "Show", for_=identifier("filter")),
                h(
                    "select",
                    [
                        h(
                            "option",
                            f"{words} ({counts.get(each, sum(counts.values()))})",
                            value=each,
                        )
                        for each, words in _FILTERS.items()
                    ],
                    id=identifier("filter"),
                    value=self._filter,
                    on={"change": ["filter_threads"]},
                ),
                button("New comment", ["new_thread"], id=identifier("new")),
                cls="pywebmcp-bar",
                key="bar",
            ),
            composer(self._draft),
            h("p", unreadable(book.review.unreadable), cls="pywebmcp-note", key="unreadable")
            if book.review.unreadable
            else None,
            h("ul", shown, cls="pywebmcp-list", aria_label="Threads", key="threads")
            if shown
            else h("p", "No comments here.", cls="pywebmcp-note", key="empty"),
        ]

    def _shown(self, book: Book) -> list[Node]:
        placed = [
            (thread_id, thread, book.places.place(thread.anchor))
            for thread_id, thread in book.review.threads.items()
            if self._filter in ("all", thread.status)
        ]
        far = len(book.cells)
        placed.sort(key=lambda each: far if each[2].index is None else each[2].index)
        return self._kept.items(
            [(each[0], self._data(book, *each)) for each in placed], thread_node
        )

    def _data(self, book: Book, thread_id: str, thread: Thread, place: Place) -> Shown:
        opened = thread_id == self._open
        return Shown(
            thread,
            title(book, thread.anchor, place),
            marks(thread, place),
            place.index is not None,
            opened,
            self._draft.replies.get(thread_id, "") if opened else "",
            self._failed.get(thread_id, ""),
            self._deleting == thread_id,
        )


def _anchor(book: Book, notebook: Notebook, spot: Spot) -> Anchor:
    """The anchor of a spot, in the cells as they are now.

    Raises ``ToolError`` COMMENT_ANCHOR_STALE when the cell or output is gone, or cannot be told from
    others.
    """
    found = notebook.find(spot.cell_id)
    if not found:
        raise ToolError(Code.COMMENT_ANCHOR_STALE, "The cell is no longer there.")
    index = found[0]
    anchor: Anchor
    if spot.output is not None:
        if spot.output >= len(book.outputs(index)):
            raise ToolError(Code.COMMENT_ANCHOR_STALE, "The output is no longer there.")
        anchor = book.places.output_anchor(spot.cell_id, index, spot.output)
    elif spot.start is not None and spot.end is not None and _text(book, index, spot).strip():
        if spot.end - spot.start > MAX_TEXT:
            raise ToolError(
                Code.INVALID_ARGUMENT,
                f"A comment can be about {MAX_TEXT} characters: select less, or the whole cell.",
            )
        anchor = book.places.range_anchor(spot.cell_id, index, spot.start, spot.end)
    else:
        anchor = book.places.cell_anchor(spot.cell_id, index)
    if book.places.place(anchor).state != "anchored":
        raise ToolError(
            Code.COMMENT_ANCHOR_STALE, "Other cells have the same id and text as this one."
        )
    return anchor


def _text(book: Book, index: int, spot: Spot) -> str:
    return book.places.sources[index][spot.start : spot.end]
