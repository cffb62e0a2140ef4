"""Where the agent and the person are: the workspace, the current notebook, its kernel, the focus."""

from __future__ import annotations

from pywebmcp.frontend import FocusState
from pywebmcp.tools import Call, tool
from pywebmcp.types import Payload


@tool("Get context", "RU")
async def jupyter_get_context(call: Call) -> Payload:
    """Where things stand now: workspace directory, open documents, the current notebook (path,
    unsaved changes, revision, cell count, kernel), and the person's focus: active and selected
    cells, cursor, selected text; pending calls and open dialogs."""
    workspace = call.frontend.workspace()
    notebook = workspace["notebook"]
    focus = workspace["focus"] if notebook else None
    if focus and focus.get("selectedCellIds") == [focus.get("activeCellId")]:
        focus = FocusState(**focus)
        del focus["selectedCellIds"]
    return {
        "directory": workspace["directory"],
        "documents": workspace["documents"],
        "notebook": {**notebook, "kernel": workspace["kernel"]} if notebook else None,
        "focus": focus,
        "pending": call.calls.listing(call.record),
        "dialogs": call.calls.dialog_list(),
    }
