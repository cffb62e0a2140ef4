"""Names of exceptions as tracebacks have them, where Pyodide's kernel reports a class's repr."""

from __future__ import annotations

import re
from typing import Any

_REPR = re.compile(r"<class '(?:.*\.)?(\w+)'>\Z")


def plain_name(name: Any) -> Any:
    """``ZeroDivisionError`` for ``<class 'ZeroDivisionError'>``; anything else as it is."""
    found = _REPR.match(name) if isinstance(name, str) else None
    return found[1] if found else name


def with_plain_names(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs (nbformat) with the plain name in each error output's ``ename``."""
    for output in outputs:
        if output.get("output_type") == "error":
            output["ename"] = plain_name(output.get("ename"))
    return outputs
