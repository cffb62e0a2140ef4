"""The one exception of the shell's commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pywebmcp.outputs.errors import OutputProtocolError


class CommandError(Exception):
    """A command failed as it can be expected to; ``code`` is for programs, ``message`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@contextmanager
def protocol_errors() -> Iterator[None]:
    """Errors of the outputs protocol as the command's."""
    try:
        yield
    except OutputProtocolError as error:
        raise CommandError(error.code, error.message) from None
