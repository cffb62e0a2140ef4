"""The built-in tools: a few handlers a file, and the tuple of them all."""

from __future__ import annotations

from pywebmcp.tools import Tool
from pywebmcp.toolset.commands import jupyter_execute_command, jupyter_list_commands
from pywebmcp.toolset.comments import (
    jupyter_create_comment,
    jupyter_focus_comment,
    jupyter_list_comments,
    jupyter_reply_comment,
)
from pywebmcp.toolset.contents import jupyter_get_contents, jupyter_write_file
from pywebmcp.toolset.context import jupyter_get_context
from pywebmcp.toolset.editing import jupyter_delete_cell, jupyter_insert_cell, jupyter_update_cell
from pywebmcp.toolset.focus import jupyter_focus_cell
from pywebmcp.toolset.kernels import jupyter_kernel_action
from pywebmcp.toolset.notebooks import jupyter_open_notebook, jupyter_save_notebook
from pywebmcp.toolset.outputs import jupyter_read_output
from pywebmcp.toolset.reading import jupyter_get_cells
from pywebmcp.toolset.running import jupyter_run_cells, jupyter_run_code
from pywebmcp.toolset.waiting import jupyter_answer_dialog, jupyter_wait_for_result

TOOLS: tuple[Tool, ...] = (
    jupyter_get_context,
    jupyter_get_contents,
    jupyter_write_file,
    jupyter_open_notebook,
    jupyter_save_notebook,
    jupyter_get_cells,
    jupyter_insert_cell,
    jupyter_update_cell,
    jupyter_delete_cell,
    jupyter_focus_cell,
    jupyter_run_cells,
    jupyter_run_code,
    jupyter_read_output,
    jupyter_kernel_action,
    jupyter_list_commands,
    jupyter_execute_command,
    jupyter_answer_dialog,
    jupyter_wait_for_result,
    jupyter_list_comments,
    jupyter_create_comment,
    jupyter_reply_comment,
    jupyter_focus_comment,
)

__all__ = ["TOOLS"]
