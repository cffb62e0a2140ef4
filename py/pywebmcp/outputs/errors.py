"""The one exception of the outputs protocol, so that adapters can turn every failure into its code."""

from __future__ import annotations

from typing import Any

from pywebmcp.errors import Code


class OutputProtocolError(Exception):
    """An expected failure while outputs are read.

    ``code`` is one of the protocol's codes (docs/outputs.md has the list) as a plain string;
    ``message`` is a sentence for people: what is wrong, and what to ask for instead.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = str(code)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message)


def invalid(message: str) -> OutputProtocolError:
    """OUTPUT_DATA_INVALID: the output is there, and its data is not what the format says."""
    return OutputProtocolError(Code.OUTPUT_DATA_INVALID, message)


def unreadable(path: str, reason: object) -> OutputProtocolError:
    """NOTEBOOK_READ_FAILED: the file is there, and is not what its name says."""
    return OutputProtocolError(Code.NOTEBOOK_READ_FAILED, f"Could not read {path}: {reason}")


def shown(value: object) -> str:
    """A caller's value, short, for a message."""
    try:
        return repr(value)[:80]
    except Exception:
        # Integers of many digits have no repr, and objects may have a broken one.
        return f"a value of the type {type(value).__name__}"
