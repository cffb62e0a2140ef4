"""The one exception of the shell's commands."""

from __future__ import annotations


class CommandError(Exception):
    """A command failed as it can be expected to; ``code`` is for programs, ``message`` for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
