"""The built-in tools: a few handlers a file, and the tuple of them all."""

from __future__ import annotations

from pywebmcp.tools import Tool
from pywebmcp.toolset.context import jupyter_get_context
from pywebmcp.toolset.editing import jupyter_delete_cell, jupyter_insert_cell, jupyter_update_cell
from pywebmcp.toolset.focus import jupyter_focus_cell
from pywebmcp.toolset.kernels import jupyter_kernel_action
from pywebmcp.toolset.notebooks import jupyter_open_notebook, jupyter_save_notebook
from pywebmcp.toolset.reading import jupyter_get_cells
from pywebmcp.toolset.running import jupyter_run_cells

TOOLS: tuple[Tool, ...] = (
    jupyter_get_context,
    jupyter_open_notebook,
    jupyter_save_notebook,
    jupyter_get_cells,
    jupyter_insert_cell,
    jupyter_update_cell,
    jupyter_delete_cell,
    jupyter_focus_cell,
    jupyter_run_cells,
    jupyter_kernel_action,
)

__all__ = ["TOOLS"]
