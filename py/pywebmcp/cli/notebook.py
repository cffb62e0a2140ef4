"""``pywebmcp notebook``: the outputs that a notebook file has saved."""

from __future__ import annotations

import shlex

import click

from pywebmcp.cli import printing
from pywebmcp.outputs import DEFAULT_TEXT_LIMIT, list_notebook_outputs, read_notebook_output


@click.group()
def notebook() -> None:
    """Read the saved outputs of a notebook; nothing is run and no file is changed."""


@notebook.command()
@click.argument("file")
@click.option("--cell", type=int, required=True, help="The cell's place in FILE, from 0.")
@click.pass_obj
def outputs(as_json: bool, file: str, cell: int) -> None:
    """List a cell's outputs.

    FILE is a .ipynb file, or a .py file in the percent format with its notebook beside it.
    """
    with printing.protocol_errors():
        answer = list_notebook_outputs(file, cell)
    printing.answer(answer, as_json=as_json, save=None, again="")


@notebook.command()
@click.argument("file")
@click.option("--cell", type=int, required=True, help="The cell's place in FILE, from 0.")
@click.option("--output", type=int, required=True, help="The output's place in the cell, from 0.")
@click.option("--mime", help="Exactly this representation, instead of the best one.")
@click.option(
    "--supported-mime",
    multiple=True,
    help="A MIME type that can be shown; repeat for more. Others are not chosen.",
)
@click.option("--offset", type=int, default=0, show_default=True, help="Characters to skip.")
@click.option(
    "--limit",
    type=int,
    default=DEFAULT_TEXT_LIMIT,
    show_default=True,
    help="Characters of a text at most.",
)
@click.option("--save", metavar="PATH", help="Write the data to a new file instead.")
@click.pass_obj
def output(
    as_json: bool,
    file: str,
    cell: int,
    output: int,
    mime: str | None,
    supported_mime: tuple[str, ...],
    offset: int,
    limit: int,
    save: str | None,
) -> None:
    """Read one output: text, JSON, an image or an error."""
    with printing.protocol_errors():
        answer = read_notebook_output(
            file,
            cell,
            output,
            mime_type=mime,
            supported_mime_types=supported_mime or None,
            offset=offset,
            limit=limit,
        )
    again = f"pywebmcp notebook output {shlex.quote(file)} --cell {cell} --output {output}"
    if mime is not None:
        again += f" --mime {shlex.quote(mime)}"
    printing.answer(answer, as_json=as_json, save=save, again=again)
