"""Which paths a tool accepts: Jupyter's contents paths, relative to the workspace, with ``/``."""

from __future__ import annotations

from pywebmcp.errors import Code, ToolError


def checked(path: str, argument: str = "path") -> str:
    """Answer the path unchanged, or raise ``ToolError`` INVALID_PATH saying what is wrong.

    The contents service accepts much that then lands elsewhere than the caller thinks (it has
    no guards of its own), so anything but a plain relative path is refused, not repaired.
    """
    problem = _problem(path)
    if problem:
        raise ToolError(
            Code.INVALID_PATH,
            f'"{argument}" {problem}: give a path relative to the workspace, such as '
            f'"folder/name.ipynb".',
        )
    return path


def notebook(path: str, argument: str = "path") -> str:
    """The same for a path that has to be a notebook's."""
    checked(path, argument)
    if not path.lower().endswith(".ipynb"):
        raise ToolError(Code.INVALID_PATH, f'"{argument}" must end with .ipynb to be a notebook.')
    return path


def parents(path: str) -> list[str]:
    """The folders above a path, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _problem(path: str) -> str:
    if not path:
        return "is empty"
    if "\\" in path:
        return 'has a backslash (folders are separated by "/")'
    if path.startswith("/"):
        return "is absolute"
    if any(ord(character) < 32 or character == "\x7f" for character in path):
        return "has a control character"
    parts = path.split("/")
    if ".." in parts:
        return 'has ".." in it'
    if "." in parts or "" in parts:
        return 'has an empty or "." part'
    return ""
