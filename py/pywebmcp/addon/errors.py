"""What can go wrong in a build that the person who builds has to mend."""

from __future__ import annotations


class BuildError(Exception):
    """The message says what is wrong and what to do; no traceback is shown with it."""
