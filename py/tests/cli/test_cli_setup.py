"""``pywebmcp setup``: in other programs' files, and out of them again."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

from pywebmcp.cli import config_file, hosts, main

BROKEN = b"# >>> pywebmcp: managed by `pywebmcp setup`, changes here are lost >>>\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, beside a repository in whose subfolder the commands run."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path.resolve() / "home"
    (home.parent / "project" / ".git").mkdir(parents=True)
    (home.parent / "project" / "sub").mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home.parent / "project" / "sub")
    return home


@pytest.fixture
def project(home: Path) -> Path:
    """The repository's top folder."""
    return home.parent / "project"


def setup(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code = main(["-j", "setup", *words])
    out, err = capsys.readouterr()
    if code == 0:
        answer = json.loads(out)
        assert answer["status"] == "ok"
        return answer["changed"]
    assert (code, out) == (1, "")
    return json.loads(err)["code"]


# The command, its file from home on, and contents that others may have written.
FILES = [
    (("git",), "../project/.gitignore", [b"/x\n", b"/x", b"/x\r\n\xff\r\n"]),
    (("claude",), "../project/.mcp.json", [b'{"mcpServers": {"git": {"command": "g"}}}\n']),
    (("claude", "--user"), ".claude.json", [b'{\n  "theme": "dark",\n  "n": 1.0\n}', b"{}"]),
    (("codex",), "../project/.codex/config.toml", [b'model = "x" # mine\r\n']),
    (
        ("codex", "--user"),
        ".codex/config.toml",
        [b"[mcp_servers.git]\ncommand = 'g'", b"a = nan\n"],
    ),
]
CASES = [(words, name, content) for words, name, contents in FILES for content in contents]


@pytest.mark.parametrize(("words", "name"), [(words, name) for words, name, _ in FILES])
def test_a_file_of_ours_comes_and_goes(
    words: tuple[str, ...], name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / name
    assert setup(capsys, *words, "--remove") is False
    assert setup(capsys, *words) is True
    assert path.is_file()
    assert setup(capsys, *words) is False
    assert setup(capsys, *words, "--remove") is True
    assert not path.exists()


@pytest.mark.parametrize(("words", "name", "content"), CASES)
def test_what_others_wrote_stays_byte_for_byte(
    words: tuple[str, ...],
    name: str,
    content: bytes,
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = home / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o600)
    assert setup(capsys, *words, "--remove") is False
    assert setup(capsys, *words) is True
    assert path.read_bytes() != content
    assert setup(capsys, *words) is False
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert setup(capsys, *words, "--remove") is True
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir() if "part" in each.name] == []


def test_the_entries_start_the_server_with_the_project_as_its_root(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["git"], ["claude"], ["codex"], ["claude", "--user"], ["codex", "--user"]):
        setup(capsys, *words)
    assert "**/.pywebmcp/" in (project / ".gitignore").read_text().splitlines()
    entry = json.loads((project / ".mcp.json").read_text())["mcpServers"]["pywebmcp-outputs"]
    assert entry["type"] == "stdio"
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-4:] == ["mcp", "outputs", "--root", str(project)]
    table = tomllib.loads((project / ".codex" / "config.toml").read_text())
    assert table["mcp_servers"]["pywebmcp-outputs"]["args"] == entry["args"]
    # For the user the host tells the roots.
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["pywebmcp-outputs"]
    assert entry["args"][-2:] == ["mcp", "outputs"]


def test_the_hosts_own_variables_say_where_their_files_are(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "c"))
    monkeypatch.setenv("CODEX_HOME", str(home / "x"))
    setup(capsys, "claude", "--user")
    setup(capsys, "codex", "--user")
    assert (home / "c" / ".claude.json").is_file()
    assert (home / "x" / "config.toml").is_file()


def test_an_entry_of_an_older_place_is_renewed(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["claude"], ["codex"]):
        monkeypatch.setattr(hosts.sys, "executable", "/old/python")
        setup(capsys, *words)
        monkeypatch.undo()
        monkeypatch.chdir(project)
        assert setup(capsys, *words) is True
        assert setup(capsys, *words) is False
    for name in (".mcp.json", ".codex/config.toml"):
        assert "/old/python" not in (project / name).read_text()


def test_the_command_beside_the_interpreter_is_used_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts.sys, "executable", str(tmp_path / "python"))
    assert hosts.entry(None)["args"] == ["-P", "-m", "pywebmcp", "mcp", "outputs"]
    (tmp_path / "pywebmcp").write_text("")
    assert hosts.entry(Path("/r")) == {
        "command": str(tmp_path / "pywebmcp"),
        "args": ["mcp", "outputs", "--root", "/r"],
    }


@pytest.mark.parametrize(
    ("words", "name", "content", "expected"),
    [
        (["git"], ".gitignore", BROKEN, "CONFIG_INVALID"),
        (["claude"], ".mcp.json", b"{", "CONFIG_INVALID"),
        (["claude"], ".mcp.json", b"[]", "CONFIG_INVALID"),
        (["claude"], ".mcp.json", b"\xff{}", "CONFIG_INVALID"),
        (["claude"], ".mcp.json", b'{"mcpServers": []}', "CONFIG_INVALID"),
        (["claude"], ".mcp.json", b"[" * 9999, "CONFIG_INVALID"),
        (
            ["claude"],
            ".mcp.json",
            b'{"mcpServers": {"pywebmcp-outputs": {"command": "mine", "args": []}}}',
            "CONFIG_CONFLICT",
        ),
        (["claude"], ".mcp.json", b'{"mcpServers": 1}', "CONFIG_INVALID"),
        (["codex"], ".codex/config.toml", b"= 1", "CONFIG_INVALID"),
        (["codex"], ".codex/config.toml", b"a = " + b"[" * 9999, "CONFIG_INVALID"),
        (["codex"], ".codex/config.toml", BROKEN, "CONFIG_INVALID"),
        (["codex"], ".codex/config.toml", b"mcp_servers = 1", "CONFIG_INVALID"),
        (["codex"], ".codex/config.toml", b"mcp_servers = {}", "CONFIG_INVALID"),
        (
            ["codex"],
            ".codex/config.toml",
            b"[mcp_servers.pywebmcp-outputs]\ncommand = 'mine'",
            "CONFIG_CONFLICT",
        ),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_is(
    words: list[str],
    name: str,
    content: bytes,
    expected: str,
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    assert setup(capsys, *words) == expected
    assert setup(capsys, *words, "--remove") in (expected, False)
    assert path.read_bytes() == content


def test_lines_that_came_after_ours_are_not_moved_into_another_table(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text("[a]\nx = 1\n")
    setup(capsys, "codex")
    path.write_text(path.read_text() + "y = 2\n")
    before = path.read_bytes()
    assert setup(capsys, "codex", "--remove") == "CONFIG_INVALID"
    assert path.read_bytes() == before


def test_a_byte_order_mark_stays(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / ".mcp.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert setup(capsys, "claude") is True
    assert path.read_bytes().startswith(b'\xef\xbb\xbf{"a"')
    assert setup(capsys, "claude", "--remove") is True
    assert path.read_bytes() == b'\xef\xbb\xbf{"a": 1}'


def test_a_users_link_is_followed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "claude.json"
    real.write_text('{"a": 1}')
    (home / ".claude.json").symlink_to(real)
    assert setup(capsys, "claude", "--user") is True
    assert (home / ".claude.json").is_symlink()
    assert "mcpServers" in real.read_text()
    real.write_text("")
    assert setup(capsys, "claude", "--user") is True
    assert setup(capsys, "claude", "--user", "--remove") is True
    assert (home / ".claude.json").is_symlink()
    assert real.read_text() == ""


@pytest.mark.parametrize(
    ("words", "name"), [(["git"], ".gitignore"), (["claude"], ".mcp.json"), (["codex"], ".codex")]
)
def test_a_projects_link_that_leads_out_is_not_followed(
    words: list[str],
    name: str,
    home: Path,
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = home / "target"
    if name == ".codex":
        target.mkdir()
    else:
        target.write_text("{}")
    (project / name).symlink_to(target)
    assert setup(capsys, *words) == "CONFIG_LINKED"
    assert list(target.iterdir()) == [] if target.is_dir() else target.read_text() == "{}"


def test_links_to_nowhere_and_folders_are_refused(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude.json").symlink_to(home / "gone")
    assert setup(capsys, "claude", "--user") == "CONFIG_LINKED"
    (project / ".mcp.json").symlink_to(project / ".mcp.json")
    assert setup(capsys, "claude") == "CONFIG_LINKED"
    (project / ".gitignore").mkdir()
    assert setup(capsys, "git") == "CONFIG_INVALID"


def test_what_another_program_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    file = config_file.ConfigFile(path)
    path.write_bytes(b"newer")
    with pytest.raises(config_file.CommandError, match="try again"):
        file.replace(b"ours")
    assert path.read_bytes() == b"newer"


def test_what_another_program_writes_while_ours_is_drafted_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    file = config_file.ConfigFile(path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: path.write_bytes(b"newer"))
    with pytest.raises(config_file.CommandError, match="try again"):
        file.replace(b"ours")
    assert path.read_bytes() == b"newer"
    assert list(tmp_path.iterdir()) == [path]


def test_a_private_file_is_private_while_it_is_drafted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
    )
    path = tmp_path / "f"
    path.write_bytes(b"key")
    path.chmod(0o640)
    assert config_file.ConfigFile(path).replace(b"key, ours")
    assert modes == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    file = config_file.ConfigFile(path)

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        file.replace(b"ours")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_too_large_is_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_file, "MAX_BYTES", 2)
    (tmp_path / "f").write_bytes(b"abc")
    with pytest.raises(config_file.CommandError, match="too large"):
        config_file.ConfigFile(tmp_path / "f")


def test_outside_of_a_repository_git_is_not_set_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert setup(capsys, "git") == "NOT_A_REPOSITORY"
    assert setup(capsys, "claude") is True
    assert (tmp_path / ".mcp.json").is_file()


def test_people_are_told_what_happened(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / ".gitignore"
    for words, said in (
        (["--remove"], f"Nothing to take out of {path}\n"),
        ([], f"Written to {path}\n"),
        ([], f"Nothing to change in {path}\n"),
        (["--remove"], f"Taken out of {path}\n"),
    ):
        assert main(["setup", "git", *words]) == 0
        assert capsys.readouterr().out == said
