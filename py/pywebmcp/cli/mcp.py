"""``pywebmcp mcp``: servers for MCP clients, over standard input and output."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from pywebmcp.cli import page

TERMINATED = 143
"""128 and the number of SIGTERM, as shells have it."""

_roots = click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder below which read_notebook_output may read files; repeat for more. Without one, "
    "the client names its roots.",
)


@click.group(invoke_without_command=True)
@page.page_options
@_roots
@click.pass_context
def mcp(context: click.Context, target: Any, roots: tuple[Path, ...]) -> int:
    """Serve an MCP client over standard input and output.

    The tools are those of the notebook in a page (--url, --site or --cdp), which is opened in a
    Chromium, and read_notebook_output.
    """
    if context.invoked_subcommand is not None:
        return 0
    page.demand(target)
    from pywebmcp.bridge import program

    with page.bridge_errors():
        try:
            program.serve(target, roots)
        except asyncio.CancelledError:
            return TERMINATED
    return 0


@mcp.command()
@_roots
def outputs(roots: tuple[Path, ...]) -> None:
    """Offer the tool read_notebook_output: what notebooks have saved, without a kernel."""
    from pywebmcp.mcp import stdio
    from pywebmcp.mcp.outputs import outputs_server

    stdio.run(outputs_server(roots))
