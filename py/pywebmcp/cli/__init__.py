"""The shell's commands. Everything but `main` is imported when a command needs it: a shell that asks
for one output should not wait for what it did not ask for.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and answer its exit code: 0, 1 for a failure, 2 for wrong usage.

    Args:
        arguments: the words after the program's name; None takes the process's own.
    """
    from pywebmcp.cli import program

    return program.run(arguments)
