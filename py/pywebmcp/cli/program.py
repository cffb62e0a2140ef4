"""The table of commands, and how a run of them ends: as a value on standard output, or as one error
on standard error. A person sees sentences; with ``-j`` both are JSON.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from pywebmcp import __version__, jsontext
from pywebmcp.cli import terminal
from pywebmcp.cli.errors import CommandError

PROGRAM = "pywebmcp"
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def __init__(self, *args: Any, table: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what the table says of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self._table.items()])


@click.group(
    cls=LazyGroup,
    table={
        "notebook": ("pywebmcp.cli.notebook:notebook", "Read the saved outputs of a notebook."),
        "output": ("pywebmcp.cli.output:output", "Read and clean up the outputs of stored runs."),
        "tools": ("pywebmcp.cli.tools:tools", "List the tools of a page."),
        "call": ("pywebmcp.cli.tools:call", "Call a tool of a page."),
        "mcp": ("pywebmcp.cli.mcp:mcp", "Serve an MCP client over standard input and output."),
        "setup": ("pywebmcp.cli.setup:setup", "Tell git, Claude Code or Codex about pywebmcp."),
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("-j", "--json", "as_json", is_flag=True, help="JSON for programs, errors included.")
@click.version_option(__version__, prog_name=PROGRAM)
@click.pass_context
def commands(context: click.Context, as_json: bool) -> None:
    """The notebook of a JupyterLite page, and what notebooks have saved, for agents and people."""
    context.obj = as_json


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and answer the exit code; see `pywebmcp.cli.main`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Not what the parser found: its own errors have to know it as well.
    as_json = any(word in ("-j", "--json") for word in words)
    try:
        code = commands.main(words, PROGRAM, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        return _closed_pipe()
    except (KeyboardInterrupt, click.Abort):
        return _fail(as_json, INTERRUPTED, "INTERRUPTED", "Interrupted.")
    except click.UsageError as error:
        return _wrong_usage(as_json, error)
    except click.ClickException as error:
        return _fail(as_json, error.exit_code, "COMMAND_FAILED", error.format_message())
    except CommandError as error:
        return _fail(as_json, 1, error.code, error.message)
    except OSError as error:
        return _fail(as_json, 1, "IO_ERROR", str(error))
    except Exception as error:
        if not as_json:
            raise
        return _fail(as_json, 1, "INTERNAL_ERROR", f"{type(error).__name__}: {error}")


def _wrong_usage(as_json: bool, error: click.UsageError) -> int:
    if not as_json:
        error.show()
        return error.exit_code
    usage = error.ctx.get_usage() if error.ctx else ""
    message = error.format_message()
    return _fail(as_json, error.exit_code, "USAGE_ERROR", message, usage=usage)


def _fail(as_json: bool, exit_code: int, code: str, message: str, **more: str) -> int:
    if as_json:
        text = jsontext.dumps({"status": "error", "code": code, "message": message, **more})
    else:
        text = terminal.shown(f"Error: {message}", sys.stderr)
    # Where nobody listens there either, the exit code is left.
    with contextlib.suppress(OSError):
        click.echo(text.encode("utf-8", "backslashreplace"), err=True)
    return exit_code


def _closed_pipe() -> int:
    """The reader went (``| head``): end without a word, and without one from the interpreter."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    return 1
