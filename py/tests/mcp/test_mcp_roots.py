"""Which files may be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pywebmcp.mcp.roots import allowed, client_roots, locate, trusted
from pywebmcp.outputs import OutputProtocolError


def code(function: Any, *arguments: Any) -> str:
    with pytest.raises(OutputProtocolError) as caught:
        function(*arguments)
    return caught.value.code


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two roots with files, a file outside of them, and links."""
    place = tmp_path.resolve()
    for name in ("one/a.ipynb", "two/a.ipynb", "one/only.ipynb", "out/b.ipynb", "one/sub/c.ipynb"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("")
    (place / "one/out.ipynb").symlink_to(place / "out/b.ipynb")
    (place / "one/in.ipynb").symlink_to(place / "one/a.ipynb")
    (place / "one/folder").symlink_to(place / "out")
    (place / "one/loop").symlink_to(place / "one/loop")
    (place / "link").symlink_to(place / "one")
    return place


def test_a_file_below_the_root_is_found(place: Path) -> None:
    roots = trusted([place / "link"])
    assert roots == [place / "one"]
    for path in ("a.ipynb", "./sub/../a.ipynb", "in.ipynb", str(place / "link" / "a.ipynb")):
        assert locate(path, roots) == place / "one" / "a.ipynb"
    # Whether it is there, or can be, is for the reader to say.
    for name in ("gone.ipynb", "n" * 300, "a.ipynb/b"):
        assert locate(name, roots) == place / "one" / name


@pytest.mark.parametrize(
    "path",
    [
        "../out/b.ipynb",
        "sub/../../out/b.ipynb",
        "out.ipynb",
        "folder/b.ipynb",
        "folder/gone.ipynb",
        "loop",
        "a\0b",
        "~a\0b",
        "~\ud800",
        "\ud800",
        "/etc/passwd",
    ],
)
def test_a_path_that_leads_out_is_refused(path: str, place: Path) -> None:
    assert code(locate, path, trusted([place / "one"])) == "PATH_NOT_ALLOWED"


def test_a_root_is_no_prefix_of_names(place: Path) -> None:
    (place / "one-more").mkdir()
    roots = trusted([place / "one"])
    assert code(locate, str(place / "one-more" / "a"), roots) == "PATH_NOT_ALLOWED"
    assert code(allowed, place / "out" / "b.ipynb", roots) == "PATH_NOT_ALLOWED"


def test_home_is_a_tilde(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place / "one"))
    roots = trusted([place / "one"])
    assert locate("~/a.ipynb", roots) == place / "one" / "a.ipynb"
    assert locate("~nobody-of-this-name/a", roots) == place / "one" / "~nobody-of-this-name" / "a"


def test_of_several_roots_exactly_one_has_to_have_the_file(place: Path) -> None:
    roots = trusted([place / "one", place / "two", place / "one"])
    assert roots == [place / "one", place / "two"]
    assert locate("only.ipynb", roots) == place / "one" / "only.ipynb"
    assert locate(str(place / "two" / "a.ipynb"), roots) == place / "two" / "a.ipynb"
    for path in (
        "a.ipynb",
        "gone.ipynb",
        "../out/b.ipynb",
        "out.ipynb",
        "n" * 300,
        "a\0",
        "\ud800",
    ):
        assert code(locate, path, roots) == "PATH_AMBIGUOUS"
    # The second root lies in the first: it is one file.
    nested = trusted([place / "one", place / "one" / "sub"])
    assert locate("c.ipynb", nested) == place / "one" / "sub" / "c.ipynb"


def test_roots_have_to_be_folders(place: Path) -> None:
    assert code(trusted, []) == "ROOTS_REQUIRED"
    for bad in ("gone", "one/a.ipynb", "one/loop", "n" * 300, "one/a\0"):
        assert code(trusted, [place / "one", place / bad]) == "ROOT_INVALID"


def test_the_roots_of_a_client_are_file_uris(place: Path) -> None:
    def roots(*uris: Any) -> list[Path]:
        return client_roots({"roots": [{"uri": uri} for uri in uris]})

    assert roots("file:///a/b%20c", "FILE://localhost/d", "https://x/y") == [
        Path("/a/b c"),
        Path("/d"),
    ]
    for uri in (
        "file://server/share",
        "file:///a?q",
        "file:///a#f",
        "file:relative",
        "file:",
        "file:///a%00b",
        "file://[a",
        "file://[::1]/a",
        None,
        5,
    ):
        assert code(roots, uri) == "ROOT_INVALID"
    for answer in (None, [], {}, {"roots": None}, {"roots": [None]}, {"roots": {"uri": "x"}}):
        assert code(client_roots, answer) == "ROOT_INVALID"
