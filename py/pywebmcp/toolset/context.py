"""Where the agent and the person are: the workspace, the current notebook, its kernel, the focus."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from pywebmcp.comments.store import counts
from pywebmcp.frontend import FocusState, Workspace
from pywebmcp.tools import Call, tool
from pywebmcp.types import Payload

log = logging.getLogger("pywebmcp")
T = TypeVar("T")

_UNKNOWN = Workspace(directory=None, documents=None, focus=None, notebook=None, kernel=None)


@tool("Get context", "RU")
async def jupyter_get_context(call: Call) -> Payload:
    """Where things stand now: workspace directory, open documents, the current notebook (path,
    unsaved changes, revision, cell count, kernel), and the person's focus: active and selected
    cells, cursor, selected text; open and resolved comments, pending calls and open dialogs."""
    workspace = _or(_UNKNOWN, call.frontend.workspace)
    notebook = workspace["notebook"]
    return {
        "directory": workspace["directory"],
        "documents": workspace["documents"],
        "notebook": {**notebook, "kernel": workspace["kernel"]} if notebook else None,
        "review": _or(None, lambda: counts(workspace.get("own"))) if notebook else None,
        "focus": _focus(workspace["focus"]) if notebook else None,
        "pending": _or(None, lambda: call.calls.listing(call.record)),
        "dialogs": _or(None, call.calls.dialog_list),
    }


def _or(instead: T, read: Callable[[], T]) -> T:
    """What is read, or a null in its place: half a context is better than none."""
    try:
        return read()
    except Exception:
        log.exception("a part of the context cannot be read")
        return instead


def _focus(focus: FocusState | None) -> FocusState | None:
    """The focus without a selection that says no more than the active cell."""
    if focus and focus.get("selectedCellIds") == [focus.get("activeCellId")]:
        focus = FocusState(**focus)
        del focus["selectedCellIds"]
    return focus
