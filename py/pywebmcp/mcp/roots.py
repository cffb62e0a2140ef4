"""Which files an MCP client may have read: those below the roots that the server was started with,
or else those that the client names. Where a path leads is decided after all links are followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from pywebmcp.outputs import OutputProtocolError

ROOTS_REQUIRED = "ROOTS_REQUIRED"
ROOT_INVALID = "ROOT_INVALID"
PATH_NOT_ALLOWED = "PATH_NOT_ALLOWED"
PATH_AMBIGUOUS = "PATH_AMBIGUOUS"


def client_roots(answer: Any) -> list[Path]:
    """The folders in a client's answer to ``roots/list``; roots that are no files are left out.

    Raises:
        OutputProtocolError: ROOT_INVALID.
    """
    roots = answer.get("roots") if isinstance(answer, dict) else None
    if not isinstance(roots, list):
        raise OutputProtocolError(ROOT_INVALID, "The client's answer to roots/list has no roots")
    found = []
    for root in roots:
        uri = root.get("uri") if isinstance(root, dict) else None
        if not isinstance(uri, str):
            raise OutputProtocolError(ROOT_INVALID, "A root of the client has no uri")
        if uri.lower().startswith("file:"):
            found.append(_folder(uri))
    return found


def trusted(folders: Iterable[Path]) -> list[Path]:
    """The folders with their links followed, each once.

    Raises:
        OutputProtocolError: ROOT_INVALID when one is none; ROOTS_REQUIRED when there are none.
    """
    roots: dict[Path, None] = {}
    for folder in folders:
        real = _real(folder)
        if real is None or not os.path.isdir(real):
            raise OutputProtocolError(ROOT_INVALID, f"The root {folder} is not a folder")
        roots[real] = None
    if not roots:
        raise OutputProtocolError(
            ROOTS_REQUIRED,
            "No folder is trusted: start this server with --root DIR (once or more), "
            "or use a client that tells its roots",
        )
    return list(roots)


def locate(file_path: str, roots: Sequence[Path]) -> Path:
    """The file that a path means, its links followed.

    Args:
        file_path: absolute, or relative to exactly one of the roots. ``~`` is the home folder.
        roots: as `trusted` gives them.

    Raises:
        OutputProtocolError: PATH_NOT_ALLOWED, PATH_AMBIGUOUS.
    """
    path = Path(file_path)
    if file_path.startswith("~"):
        try:
            path = path.expanduser()
        except (RuntimeError, ValueError):
            # No such user, no name of one, or no home: then it is a name like any other.
            path = Path(file_path)
    if path.is_absolute() or len(roots) == 1:
        return allowed(roots[0] / path, roots)
    places = {real for root in roots if (real := _real(root / path)) and _within(real, roots)}
    there = [place for place in places if os.path.exists(place)]
    if len(there) != 1:
        raise OutputProtocolError(
            PATH_AMBIGUOUS,
            f"{file_path} is in {len(there) or 'none'} of the {len(roots)} trusted folders; "
            "give its absolute path",
        )
    return there[0]


def allowed(path: Path, roots: Sequence[Path]) -> Path:
    """Where the path leads.

    Raises:
        OutputProtocolError: PATH_NOT_ALLOWED when that is outside of the roots.
    """
    real = _real(path)
    if real is None or not _within(real, roots):
        raise OutputProtocolError(PATH_NOT_ALLOWED, f"{path} is outside of the trusted folders")
    return real


def _folder(uri: str) -> Path:
    problem = OutputProtocolError(ROOT_INVALID, f"The root {uri!r} is no folder of this machine")
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise problem from None
    path = url2pathname(parts.path)
    if (
        parts.netloc not in ("", "localhost")
        or parts.query
        or parts.fragment
        or "\0" in unquote(parts.path)
        or not Path(path).is_absolute()
    ):
        raise problem
    return Path(path)


def _real(path: Path) -> Path | None:
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):
        # A loop of links, or a NUL.
        return None
    # Since Python 3.13 a loop comes back as it is.
    return None if os.path.islink(real) else real


def _within(path: Path, roots: Iterable[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)
