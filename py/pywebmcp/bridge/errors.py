"""What can keep the bridge from its page."""

from __future__ import annotations


class BridgeError(Exception):
    """The page cannot be reached now; the message says why and what to do, for an agent to read."""


class FatalError(BridgeError):
    """It will not get better by trying again: the program ends with this message."""


class UsageError(FatalError):
    """What was asked for, or how the site is set up, is wrong: exit code 2."""
