"""Only plain relative contents paths pass."""

from __future__ import annotations

import pytest
from pywebmcp import paths
from pywebmcp.errors import Code, ToolError


@pytest.mark.parametrize("path", ["a.ipynb", "folder/a b.ipynb", "ünï/çode.txt", "RTC:a.ipynb"])
def test_plain_paths_pass(path: str) -> None:
    assert paths.checked(path) == path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("../a.ipynb", '".."'),
        ("a/../b.ipynb", '".."'),
        ("a\\b.ipynb", "backslash"),
        ("a//b.ipynb", "part"),
        ("./a.ipynb", "part"),
        ("a/", "part"),
        ("a\x00b", "control"),
        ("a\nb", "control"),
    ],
)
def test_anything_else_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(ToolError) as caught:
        paths.checked(path)
    assert caught.value.code == Code.INVALID_PATH
    assert reason in caught.value.message


def test_a_notebook_path_ends_with_ipynb() -> None:
    assert paths.notebook("A.IPYNB") == "A.IPYNB"
    with pytest.raises(ToolError, match=r"\.ipynb"):
        paths.notebook("a.txt")


def test_parents_outermost_first() -> None:
    assert paths.parents("a/b/c.txt") == ["a", "a/b"]
    assert paths.parents("c.txt") == []
