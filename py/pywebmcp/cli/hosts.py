"""The entry for the outputs server in the configuration of the hosts that start it: Claude Code
(JSON) and Codex (TOML).
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from pywebmcp.cli import json_edit, managed_block
from pywebmcp.cli.config_file import ConfigFile
from pywebmcp.cli.errors import CommandError

NAME = "pywebmcp-outputs"
"""The server's name in the hosts; tools are shown under it."""

_JSON_SECTION = "mcpServers"
_TOML_SECTION = "mcp_servers"
_BOM = "\ufeff"


def entry(root: Path | None) -> dict[str, Any]:
    """How a host starts the server. Without a root it asks the host for its own."""
    script = Path(sys.executable).with_name("pywebmcp")
    if script.is_file():
        command, arguments = str(script), ["mcp", "outputs"]
    else:
        # -P: a folder that happens to be the working directory must not be imported from.
        command, arguments = sys.executable, ["-P", "-m", "pywebmcp", "mcp", "outputs"]
    if root is not None:
        arguments += ["--root", str(root)]
    return {"command": command, "args": arguments}


def put_json(file: ConfigFile, root: Path | None) -> bool:
    """Add or renew the entry; answers whether the file changed."""
    text, bom = _text(file)
    with _Invalid(file):
        _refuse_foreign(file, json_edit.read(text).get(_JSON_SECTION))
        text = json_edit.put(text, _JSON_SECTION, NAME, {"type": "stdio", **entry(root)})
    return file.replace(_bytes(file, bom + text))


def take_json(file: ConfigFile) -> bool:
    """Remove the entry; one of that name that is not ours stays."""
    text, bom = _text(file)
    with _Invalid(file):
        _refuse_foreign(file, json_edit.read(text).get(_JSON_SECTION))
        left = json_edit.take(text, _JSON_SECTION, NAME)
    if left == text:
        return False
    return file.replace(_bytes(file, bom + left) if left else None)


def put_toml(file: ConfigFile, root: Path | None) -> bool:
    """Add or renew the table; answers whether the file changed."""
    before = file.content or b""
    ours = entry(root)
    lines = [f"[{_TOML_SECTION}.{NAME}]", *(f"{key} = {_toml(ours[key])}" for key in ours)]
    with _Invalid(file):
        others = _parsed(managed_block.take(before))
        if NAME in _tables(others):
            raise CommandError(
                "CONFIG_CONFLICT",
                f"{file.path} has a server {NAME} that pywebmcp did not write; remove it first",
            )
        after = managed_block.put(before, [line.encode("utf-8") for line in lines])
        others[_TOML_SECTION] = {**_tables(others), NAME: ours}
        if _parsed(after) != others:
            raise ValueError("a table cannot be added at its end")
    return file.replace(after)


def take_toml(file: ConfigFile) -> bool:
    """Remove the table."""
    before = file.content or b""
    with _Invalid(file):
        expected, after = _parsed(before), managed_block.take(before)
        if after == before:
            return False
        tables = _tables(expected)
        tables.pop(NAME, None)
        if not tables:
            expected.pop(_TOML_SECTION, None)
        left = _parsed(after)
        if not _tables(left):
            left.pop(_TOML_SECTION, None)
        if left != expected:
            raise ValueError("lines after pywebmcp's belong to its table; move them up first")
    return file.replace(after or None)


class _Invalid:
    """What is wrong with a file's content, as the command's error; the file stays as it is."""

    def __init__(self, file: ConfigFile) -> None:
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError):
            raise CommandError(
                "CONFIG_INVALID", f"{self._file.path} was left as it is: {error}"
            ) from None


def _text(file: ConfigFile) -> tuple[str, str]:
    with _Invalid(file):
        text = (file.content or b"").decode("utf-8")
    return (text[1:], _BOM) if text.startswith(_BOM) else (text, "")


def _bytes(file: ConfigFile, text: str) -> bytes:
    with _Invalid(file):
        return text.encode("utf-8")


def _refuse_foreign(file: ConfigFile, servers: Any) -> None:
    server = servers.get(NAME) if isinstance(servers, dict) else None
    if server is None:
        return
    arguments = server.get("args") if isinstance(server, dict) else None
    if not isinstance(arguments, list) or not _is_ours(arguments):
        raise CommandError(
            "CONFIG_CONFLICT",
            f"{file.path} has a server {NAME} that pywebmcp did not write; it was left as it is",
        )


def _is_ours(arguments: list[Any]) -> bool:
    return any(arguments[place : place + 2] == ["mcp", "outputs"] for place in range(4))


def _parsed(content: bytes) -> dict[str, Any]:
    """What a TOML file says; floats as they are written, or a NaN would differ from itself."""
    try:
        return tomllib.loads(content.decode("utf-8").removeprefix(_BOM), parse_float=str)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _tables(data: dict[str, Any]) -> dict[str, Any]:
    tables = data.get(_TOML_SECTION, {})
    if not isinstance(tables, dict):
        raise ValueError(f"its {_TOML_SECTION} is not a table")
    return tables


def _toml(value: Any) -> str:
    """A string or list of strings; JSON's strings are TOML's but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
