"""``pywebmcp tools`` and ``pywebmcp call``: the tools of a page, from the shell."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from pywebmcp import jsontext
from pywebmcp.cli import page, printing
from pywebmcp.cli.errors import CommandError
from pywebmcp.images import TYPES
from pywebmcp.mcp.jsonrpc import RpcError

PATIENCE = 120.0
"""Seconds for the page to load: a person at the shell sees that it does, and can stop it."""


@click.command()
@page.page_options
@click.pass_obj
def tools(as_json: bool, target: Any) -> None:
    """List the tools of a page; without a page, those that pywebmcp has built in."""
    listed = _listed(target)
    if as_json:
        printing.write_json({"tools": listed})
        return
    width = max(len(each["name"]) for each in listed)
    for each in listed:
        about = each["description"].partition(". ")[0].rstrip(".")
        printing.write(f"{each['name']:<{width}}  {about}")


def _listed(target: Any) -> list[Any]:
    if not (target.url or target.site or target.cdp):
        from pywebmcp.mcp.page import descriptor
        from pywebmcp.toolset import TOOLS

        return [descriptor(tool) for tool in TOOLS]

    async def work(session: Any) -> list[Any]:
        found: list[Any] = (await session.request("tools/list"))["tools"]
        return found

    return _ask(target, work)  # type: ignore[no-any-return]


@click.command()
@click.argument("tool")
@click.argument("arguments", metavar="[JSON]", default="{}")
@click.option(
    "--task",
    "as_task",
    is_flag=True,
    help="Wait for the end of work that takes longer than the page's time limit.",
)
@click.option(
    "--output",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder below which rich or long outputs are stored. [default: the current one]",
)
@page.page_options
@click.pass_obj
def call(
    as_json: bool, tool: str, arguments: str, as_task: bool, output: Path | None, target: Any
) -> int:
    """Call a TOOL of a page.

    JSON are its arguments, or - to read them from standard input. What the tool answers is printed
    as JSON; outputs that are rich or long are stored below .pywebmcp/outputs, where `pywebmcp output
    show` reads them.
    """
    page.demand(target)
    given = _arguments(sys.stdin.read() if arguments == "-" else arguments)
    params: dict[str, Any] = {"name": tool, "arguments": given}
    if as_task:
        from pywebmcp.cli.following import finished

        result = _ask(target, lambda session: finished(session, params))
    else:
        result = _ask(target, lambda session: session.request("tools/call", params))
    payload = _payload(result)
    payload, manifest = _stored(payload, result, output or Path.cwd())
    if manifest is not None:
        payload = {**payload, "output_manifest": str(manifest)}
    if as_json:
        printing.write_json(payload)
    else:
        printing.write(json.dumps(payload, indent=2, ensure_ascii=False))
        if payload.get("status") == "pending" and target.cdp is None:
            click.echo(
                "The work ended with the browser of this command: use --task to wait for it.",
                err=True,
            )
    return 1 if result.get("isError") else 0


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = jsontext.loads(text)
    except ValueError as error:
        raise click.UsageError(f"The arguments are not JSON: {error}") from None
    if not isinstance(given, dict):
        raise click.UsageError("The arguments are a JSON object.")
    return given


def _ask(target: Any, work: Any) -> Any:
    from pywebmcp.bridge import program

    with page.bridge_errors():
        try:
            return program.ask(target, work, PATIENCE)
        except RpcError as error:
            raise CommandError("TOOL_FAILED", error.message) from None


def _payload(result: dict[str, Any]) -> dict[str, Any]:
    from pywebmcp import envelope

    try:
        return envelope.decode(result)
    except envelope.EnvelopeError as error:
        raise CommandError("TOOL_FAILED", str(error)) from None


def _stored(
    payload: dict[str, Any], result: dict[str, Any], folder: Path
) -> tuple[dict[str, Any], Path | None]:
    """Put outputs that are too rich or long for a terminal into the run store.

    Answers the payload, in which only the count of what was stored is left, and the manifest.
    """
    from pywebmcp.outputs.store import Limits, OutputStoreError, persist

    shown, outputs = _outputs(payload, _images(result))
    if not outputs:
        return payload, None
    try:
        limits = Limits.from_environment(os.environ)
    except ValueError:
        limits = None
    try:
        manifest = persist(outputs, folder, limits=limits)
    except OutputStoreError as error:
        raise CommandError(error.code, error.message) from None
    return (payload, None) if manifest is None else (shown, manifest)


def _images(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in result.get("content", []) if block.get("type") == "image"]


def _outputs(
    payload: dict[str, Any], images: list[dict[str, Any]]
) -> tuple[dict[str, Any], list[Any]]:
    """The payload without its outputs, and these with their images."""
    found: list[Any] = []
    left = list(images)

    def with_images(output: Any) -> Any:
        data = output.get("data") if isinstance(output, dict) else None
        if not isinstance(data, dict):
            return output
        # In the order in which they were taken out; those that were too many or large stay a word.
        blocks = {
            mime_type: left.pop(0)["data"]
            for mime_type in TYPES
            if left and str(data.get(mime_type, "")).endswith(": in the image block]")
        }
        return {**output, "data": {**data, **blocks}}

    def without(holder: Any) -> Any:
        if not isinstance(holder, dict) or not isinstance(holder.get("outputs"), list):
            return holder
        outputs = [with_images(each) for each in holder["outputs"]]
        rest = {key: value for key, value in holder.items() if key != "outputs"}
        first = len(found)
        found.extend(outputs)
        return {**rest, "storedOutputs": list(range(first, len(found)))} if outputs else rest

    shown = without(payload)
    if isinstance(payload.get("cells"), list):
        shown = {**shown, "cells": [without(cell) for cell in payload["cells"]]}
    # Of jupyter_read_output: the image alone.
    found += [
        {"output_type": "display_data", "data": {each["mimeType"]: each["data"]}, "metadata": {}}
        for each in left
    ]
    return shown, found
