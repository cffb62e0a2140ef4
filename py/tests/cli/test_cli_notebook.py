"""``pywebmcp notebook`` and how every command ends: values, errors, exit codes."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

from pywebmcp.cli import main, notebook, program

Run = Callable[..., tuple[int, str, str]]
PNG = "iVBORw0KGgo="


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command line: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode("utf-8"), err.decode("utf-8")

    return run


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A notebook with one output of each kind."""
    outputs: list[Any] = [
        {"output_type": "stream", "name": "stdout", "text": "é\r\n\x1b[31mred\x1b[0m"},
        {
            "output_type": "display_data",
            "data": {"image/png": PNG, "text/plain": "p", "application/json": {"a": "é"}},
            "metadata": {},
        },
        {"output_type": "error", "ename": "E", "evalue": "a\nb", "traceback": ["t1", "t2"]},
        {"output_type": "stream", "name": "stderr", "text": "\udc00"},
        {"output_type": "stream", "name": "stdout", "text": "x" * 100_001},
    ]
    cells = [
        {
            "cell_type": "code",
            "id": "c",
            "metadata": {},
            "source": "",
            "execution_count": 2,
            "outputs": each,
        }
        for each in (outputs, [])
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    return str(path)


def failure(result: tuple[int, str, str]) -> tuple[int, str]:
    """Exit code and error code of a failure under -j, which prints one object and no more."""
    code, out, err = result
    assert out == ""
    body = json.loads(err)
    assert err == program.jsontext.dumps(body) + "\n"
    assert body["status"] == "error"
    assert body["message"]
    return code, body["code"]


@pytest.mark.parametrize("flag", ["-j", "--json"])
def test_json_is_one_compact_line(flag: str, run: Run, file: str) -> None:
    code, out, err = run(flag, "notebook", "outputs", file, "--cell", "0")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert out == json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert [each["output_index"] for each in answer["outputs"]] == [0, 1, 2, 3, 4]


def test_the_options_reach_the_reader(run: Run, file: str) -> None:
    read = ["-j", "notebook", "output", file, "--cell", "0", "--output"]
    answer = json.loads(run(*read, "1")[1])
    assert answer["selected"]["data"] == PNG
    answer = json.loads(run(*read, "1", "--mime", "text/plain")[1])
    assert answer["selected"]["data"] == "p"
    supported = ["--supported-mime", "text/plain", "--supported-mime", "text/html"]
    answer = json.loads(run(*read, "1", *supported)[1])
    assert answer["selected"]["mime_type"] == "text/plain"
    assert failure(run(*read, "1", *supported, "--mime", "image/png")) == (1, "MIME_NOT_SUPPORTED")
    answer = json.loads(run(*read, "4", "--offset", "99999", "--limit", "1")[1])
    assert answer["stream"]["next_offset"] == 100_000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["gone.ipynb", "--cell", "0"], "FILE_NOT_FOUND"),
        (["FILE", "--cell", "9"], "CELL_NOT_FOUND"),
        (["FILE", "--cell", "-1"], "CELL_NOT_FOUND"),
        ([".", "--cell", "0"], "FILE_NOT_FOUND"),
        (["", "--cell", "0"], "FILE_NOT_FOUND"),
    ],
)
def test_failures_are_errors_with_a_code(
    words: list[str], expected: str, run: Run, file: str
) -> None:
    words = ["notebook", "outputs", *(file if word == "FILE" else word for word in words)]
    assert failure(run("-j", *words)) == (1, expected)
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["notebook"],
        ["notebook", "outputs"],
        ["notebook", "outputs", "a.ipynb"],
        ["notebook", "outputs", "a.ipynb", "--cell", "x"],
        ["notebook", "outputs", "a.ipynb", "--cell", "0", "--nothing"],
        ["output", "clean", "--days", "0"],
        ["mcp", "outputs", "--root", "/nowhere-at-all"],
        ["--nothing"],
    ],
)
def test_wrong_usage_is_an_error_too_and_the_exit_code_tells_it(words: list[str], run: Run) -> None:
    assert failure(run("-j", *words)) == (2, "USAGE_ERROR")
    assert failure(run(*words, "--json")) == (2, "USAGE_ERROR")
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "Usage: pywebmcp" in err


def test_help_and_version_are_no_failures(run: Run) -> None:
    for words in (["--help"], ["-j", "--help"], ["notebook", "output", "-h"], ["setup", "--help"]):
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert out.startswith("Usage: pywebmcp")
    assert run("--version")[1].startswith("pywebmcp, version ")


def test_every_command_that_is_listed_is_there() -> None:
    context = program.click.Context(program.commands)
    for name in program.commands.list_commands(context):
        command = program.commands.get_command(context, name)
        assert command is not None
        assert command.name == name


@pytest.mark.parametrize("page", ["README.md", "docs/outputs.md"])
def test_every_command_line_in_the_docs_is_one(page: str, run: Run) -> None:
    blocks = (Path(__file__).parents[3] / page).read_text(encoding="utf-8").split("```")[1::2]
    lines = [line for line in "\n".join(blocks).splitlines() if line.startswith("pywebmcp ")]
    assert lines
    for line in lines:
        # With --help a line is parsed, and nothing is done.
        assert run(*shlex.split(line)[1:], "--help")[0] == 0, line
    assert run("output", "clean", "--forever", "--help")[0] == 2


def test_people_see_a_directory_as_a_table(run: Run, file: str) -> None:
    assert run("notebook", "outputs", file, "--cell", "0")[1] == (
        f"{file}, cell 0, In [2]\n"
        "#  type          what\n"
        "0  stream        stdout\n"
        "1  display_data  image/png, text/plain, application/json\n"
        "2  error         E: a b\n"
        "3  stream        stderr\n"
        "4  stream        stdout\n"
    )
    assert run("notebook", "outputs", file, "--cell", "1")[1].endswith("In [2]: no outputs\n")


def test_people_see_texts_as_they_are(run: Run, file: str) -> None:
    read = ["notebook", "output", file, "--cell", "0", "--output"]
    assert run(*read, "0") == (0, "é\r\n\x1b[31mred\x1b[0m\n", "")
    assert run(*read, "2")[1] == "t1\nt2\n"
    assert run(*read, "1", "--mime", "application/json")[1] == '{\n  "a": "é"\n}\n'
    assert run(*read, "3") == (0, "\\udc00\n", "")
    code, out, err = run(*read, "4")
    assert (code, len(out)) == (0, 100_001)
    assert err == "(100,001 characters; go on with --offset 100000)\n"


def test_a_lone_surrogate_is_an_escape_in_json(run: Run, file: str) -> None:
    code, out, err = run("-j", "notebook", "output", file, "--cell", "0", "--output", "3")
    assert (code, err) == (0, "")
    assert json.loads(out)["stream"]["data"] == "\udc00"


def test_a_terminal_gets_no_escapes_of_a_notebook(
    run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run("notebook", "output", file, "--cell", "0", "--output", "0")[1] == "é\nred\n"


HOSTILE = "a\x1b]0;t\x07\x9b2J\x90q\x0e\nb"


def test_no_part_of_a_notebook_commands_a_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = [
        {"output_type": HOSTILE},
        {"output_type": "display_data", "data": {HOSTILE: 1, "application/json": {"k": HOSTILE}}},
        {"output_type": "error", "ename": HOSTILE, "evalue": HOSTILE, "traceback": [HOSTILE]},
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": [{"outputs": outputs}]}))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    read = ["notebook", "output", str(path), "--cell", "0", "--output"]
    for words in (
        ["notebook", "outputs", str(path), "--cell", "0"],
        [*read, "0"],
        [*read, "1"],
        [*read, "1", "--mime", "x"],
        [*read, "2"],
        ["notebook", "outputs", f"{path}\x1b]0;t\x07", "--cell", "0"],
    ):
        _, out, err = run(*words)
        assert out or err
        assert (out + err).replace("\n", "").isprintable()


def test_a_row_of_the_directory_is_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    cell = {"outputs": [{"output_type": "a\n1  stream"}, {"output_type": "b" * 999}]}
    path.write_text(json.dumps({"nbformat": 4, "cells": [cell]}))
    _, out, _ = run("notebook", "outputs", str(path), "--cell", "0")
    assert len(out.splitlines()) == 4
    assert len(out) < 1000


def test_the_hint_how_to_save_asks_for_the_same_image(run: Run, file: str) -> None:
    words = ["notebook", "output", file, "--cell", "0", "--output", "1", "--mime", "image/png"]
    assert run(*words)[1].endswith("--output 1 --mime image/png --save FILE\n")


def test_saving_a_page_tells_that_there_is_more(run: Run, file: str, tmp_path: Path) -> None:
    words = ["notebook", "output", file, "--cell", "0", "--output", "4", "--save"]
    code, out, err = run(*words, str(tmp_path / "page"))
    assert (code, out) == (0, f"Saved {tmp_path / 'page'}\n")
    assert err == "(100,001 characters; go on with --offset 100000)\n"
    assert run(*words, str(tmp_path / "all"), "--limit", "200000")[2] == ""


def test_a_save_that_fails_leaves_no_file(run: Run, file: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    target = tmp_path / "page"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        words = ["notebook", "output", file, "--cell", "0", "--output", "4", "--save", str(target)]
        result = run("-j", *words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert failure(result) == (1, "IO_ERROR")
    assert not target.exists()


def test_people_are_told_how_to_save_an_image(run: Run, file: str, tmp_path: Path) -> None:
    words = ["notebook", "output", file, "--cell", "0", "--output", "1"]
    code, out, _ = run(*words)
    assert code == 0
    assert out == (
        "image/png, 8 bytes. To save it: "
        f"pywebmcp notebook output {file} --cell 0 --output 1 --save FILE\n"
    )
    target = tmp_path / "out.png"
    assert run(*words, "--save", str(target)) == (0, f"Saved {target}\n", "")
    assert target.read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_saving_writes_what_was_read_and_overwrites_nothing(
    run: Run, file: str, tmp_path: Path
) -> None:
    read = ["-j", "notebook", "output", file, "--cell", "0", "--output"]
    text, data = tmp_path / "text", tmp_path / "data"
    answer = json.loads(run(*read, "0", "--save", str(text))[1])
    assert answer["saved"] == str(text)
    assert "data" not in answer["stream"]
    assert text.read_bytes() == "é\r\n\x1b[31mred\x1b[0m".encode()
    run(*read, "1", "--mime", "application/json", "--save", str(data))
    assert data.read_bytes() == '{"a":"é"}'.encode()
    assert failure(run(*read, "1", "--save", str(text))) == (1, "IO_ERROR")
    assert failure(run(*read, "2", "--save", str(tmp_path / "e"))) == (2, "USAGE_ERROR")
    assert text.read_bytes().startswith("é".encode())


@pytest.mark.parametrize(
    ("raised", "code", "name"),
    [
        (KeyboardInterrupt(), 130, "INTERRUPTED"),
        (EOFError(), 130, "INTERRUPTED"),
        (OSError(28, "No space left on device"), 1, "IO_ERROR"),
        (program.click.ClickException("x"), 1, "COMMAND_FAILED"),
        (RuntimeError("x"), 1, "INTERNAL_ERROR"),
    ],
)
def test_whatever_happens_the_error_is_json(
    raised: BaseException,
    code: int,
    name: str,
    run: Run,
    file: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: Any) -> None:
        raise raised

    monkeypatch.setattr(notebook, "list_notebook_outputs", fail)
    words = ["notebook", "outputs", file, "--cell", "0"]
    result = run("-j", *words)
    assert (result[0], result[1]) == (code, "")
    assert json.loads(result[2])["code"] == name
    if name == "INTERNAL_ERROR":
        # A person who reports it needs the place.
        with pytest.raises(RuntimeError):
            run(*words)
    else:
        assert run(*words)[:2] == (code, "")


def test_a_standard_error_that_is_closed_is_no_reason_to_crash(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            raise BrokenPipeError

    stream = io.TextIOWrapper(io.BufferedWriter(Closed()))
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(["-j", "notebook", "outputs", "gone.ipynb", "--cell", "0"]) == 1
    monkeypatch.undo()
    # What is still in its buffer has nowhere to go.
    stream.buffer.raw.write = len  # type: ignore[attr-defined,method-assign]
    stream.close()
