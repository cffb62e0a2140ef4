"""``pywebmcp mcp``: servers for MCP clients, over standard input and output."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def mcp() -> None:
    """Serve an MCP client over standard input and output."""


@mcp.command()
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder below which files may be read; repeat for more. Without one, the client names "
    "its roots.",
)
def outputs(roots: tuple[Path, ...]) -> None:
    """Offer the tool read_notebook_output: what notebooks have saved, without a kernel."""
    from pywebmcp.mcp import stdio
    from pywebmcp.mcp.outputs import outputs_server

    stdio.run(outputs_server(roots))
