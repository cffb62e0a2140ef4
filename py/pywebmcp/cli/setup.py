"""``pywebmcp setup``: lines of ours in the files of git and of the hosts of MCP servers, and out of
them again. Everything else in these files is other people's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from pywebmcp.cli import hosts, managed_block, printing
from pywebmcp.cli.config_file import ConfigFile
from pywebmcp.cli.errors import CommandError

IGNORED = b"**/.pywebmcp/"

_remove = click.option("--remove", is_flag=True, help="Take out again what setup has put in.")
_scope = click.option(
    "--user/--project",
    "for_user",
    default=False,
    help="For all projects of this user, or for this project (default).",
)


@click.group()
def setup() -> None:
    """Tell git, Claude Code or Codex about pywebmcp."""


@setup.command()
@_remove
@click.pass_obj
def git(as_json: bool, remove: bool) -> None:
    """Let git ignore stored outputs: **/.pywebmcp/ in the repository's .gitignore."""
    top = _repository(Path.cwd())
    if top is None:
        raise CommandError("NOT_A_REPOSITORY", "There is no git repository here")
    file = ConfigFile(top / ".gitignore", within=top)
    content = file.content or b""
    try:
        if remove:
            left = managed_block.take(content)
            changed = file.replace(left or None) if left != content else False
        else:
            changed = file.replace(managed_block.put(content, [IGNORED]))
    except managed_block.BrokenBlockError as error:
        raise CommandError("CONFIG_INVALID", f"{file.path} was left as it is: {error}") from None
    _tell(as_json, file, changed, remove)


@setup.command()
@_remove
@_scope
@click.pass_obj
def claude(as_json: bool, remove: bool, for_user: bool) -> None:
    """Offer read_notebook_output in Claude Code: .mcp.json, or the user's .claude.json."""
    project = _project()
    if for_user:
        home = os.environ.get("CLAUDE_CONFIG_DIR")
        file = ConfigFile((Path(home) if home else Path.home()) / ".claude.json")
    else:
        file = ConfigFile(project / ".mcp.json", within=project)
    if remove:
        changed = hosts.take_json(file)
    else:
        changed = hosts.put_json(file, None if for_user else project)
    _tell(as_json, file, changed, remove)


@setup.command()
@_remove
@_scope
@click.pass_obj
def codex(as_json: bool, remove: bool, for_user: bool) -> None:
    """Offer read_notebook_output in Codex: config.toml in .codex, or in the user's CODEX_HOME."""
    project = _project()
    if for_user:
        home = os.environ.get("CODEX_HOME")
        file = ConfigFile((Path(home) if home else Path.home() / ".codex") / "config.toml")
    else:
        file = ConfigFile(project / ".codex" / "config.toml", within=project)
    if remove:
        changed = hosts.take_toml(file)
    else:
        changed = hosts.put_toml(file, None if for_user else project)
    _tell(as_json, file, changed, remove)


def _repository(folder: Path) -> Path | None:
    """The top folder of the repository (or worktree) around a folder."""
    for each in (folder, *folder.parents):
        if (each / ".git").exists():
            return each
    return None


def _project() -> Path:
    here = Path.cwd()
    return _repository(here) or here


def _tell(as_json: bool, file: ConfigFile, changed: bool, remove: bool) -> None:
    if as_json:
        answer: dict[str, Any] = {"status": "ok", "file": str(file.path), "changed": changed}
        printing.write_json(answer)
    elif changed:
        printing.write(f"{'Taken out of' if remove else 'Written to'} {file.path}")
    else:
        printing.write(f"Nothing to {'take out of' if remove else 'change in'} {file.path}")
