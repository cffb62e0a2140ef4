"""A note in a cell's metadata that an agent edited it: written only where a person wants that."""

from __future__ import annotations

from datetime import datetime

from pywebmcp.changes import Plan
from pywebmcp.constants import METADATA_KEY
from pywebmcp.frontend import Frontend

VERSION = 1


def record(frontend: Frontend, plan: Plan, tool: str, now: datetime) -> None:
    """Note at a cell the tool and the time (UTC) of an agent's last edit.

    ``{METADATA_KEY: {"provenance": {"version", "by", "tool", "at"}}}``; what somebody else keeps
    under our name stays.
    """
    notebook = frontend.notebook(plan.path)
    if notebook is None or plan.cell_id is None or plan.after is None:
        return
    found = notebook.find(plan.cell_id)
    if len(found) != 1:
        return
    own = notebook.cells(found[0], found[0] + 1)[0]["metadata"].get(METADATA_KEY)
    if own is not None and not isinstance(own, dict):
        return
    note = {
        "version": VERSION,
        "by": "agent",
        "tool": tool,
        "at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    notebook.set_cell_metadata(found[0], METADATA_KEY, {**(own or {}), "provenance": note})
