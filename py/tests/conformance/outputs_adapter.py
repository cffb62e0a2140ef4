"""The names that the conformance kit of the outputs protocol calls, on our code."""

from __future__ import annotations

from pywebmcp.outputs import (
    OutputProtocolError,
    list_notebook_outputs,
    list_outputs,
    read_notebook_output,
    read_output,
    resolve_notebook_cell,
)

__all__ = [
    "error_code",
    "list_notebook_outputs",
    "list_outputs",
    "read_notebook_output",
    "read_output",
    "resolve_notebook_cell",
]


def error_code(error: BaseException) -> str | None:
    """The code of an expected failure; None of a crash."""
    return error.code if isinstance(error, OutputProtocolError) else None
