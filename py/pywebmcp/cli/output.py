"""``pywebmcp output``: the outputs of runs that no notebook keeps (``.pywebmcp/outputs``)."""

from __future__ import annotations

import json
import os
import shlex
import time

import click

from pywebmcp.cli import printing
from pywebmcp.cli.errors import CommandError
from pywebmcp.outputs import DEFAULT_TEXT_LIMIT
from pywebmcp.outputs.store import Limits, clean, show, summary


@click.group()
def output() -> None:
    """Read and clean up the outputs of stored runs."""


@output.command(name="show")
@click.argument("manifest")
@click.option("--output", "index", type=int, help="The output's place in the run, from 0.")
@click.option("--mime", help="Exactly this representation, instead of the best one.")
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
def show_run(
    as_json: bool,
    manifest: str,
    index: int | None,
    mime: str | None,
    offset: int,
    limit: int,
    save: str | None,
) -> None:
    """List a run's outputs, or read one of them.

    MANIFEST is the run's manifest.json.
    """
    with printing.protocol_errors():
        answer = show(manifest, index, mime_type=mime, offset=offset, limit=limit)
    again = f"pywebmcp output show {shlex.quote(manifest)} --output {index}"
    if mime is not None:
        again += f" --mime {shlex.quote(mime)}"
    printing.answer(answer, as_json=as_json, save=save, again=again)


@output.command(name="clean")
@click.option("--days", type=click.IntRange(min=1), help="Remove runs that are older. [default: 7]")
@click.option(
    "--max-runs", type=click.IntRange(min=1), help="Remove all but the newest. [default: 50]"
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be removed.")
@click.pass_obj
def clean_runs(as_json: bool, days: int | None, max_runs: int | None, dry_run: bool) -> None:
    """Remove old runs below the working directory.

    PYWEBMCP_OUTPUT_RETENTION_DAYS and PYWEBMCP_OUTPUT_MAX_RUNS change the defaults. What is not a
    complete run of pywebmcp stays.
    """
    try:
        limits = Limits.from_environment(os.environ, days=days, max_runs=max_runs)
    except ValueError as error:
        raise CommandError("OUTPUT_CLEAN_CONFIG_INVALID", str(error)) from None
    report = clean(os.getcwd(), limits, now=time.time(), dry_run=dry_run)
    line = summary(report)
    if as_json:
        # With blanks: a report that is read in logs, and is under no transport limit.
        printing.write(json.dumps({**report, "_human": line}))
        return
    printing.write(line)
    verb = "would remove" if dry_run else "removed"
    for path in report["would_delete_runs"] or report["deleted_runs"]:
        printing.write(f"{verb} {path}")
    for entry in report["skipped_runs"]:
        printing.write(f"kept {entry['path']}: {entry['reason']}")
    for entry in report["failed_runs"]:
        printing.write(f"failed {entry['path']}: {entry['reason']}")
