"""The world as an agent may see it: the front end with the levels of `pywebmcp.access` enforced.

Every tool and every change gets this front end and no other, so that no tool can forget to ask.
People's code works on the real one.
"""

from __future__ import annotations

from pywebmcp.guard.frontend import GuardedFrontend
from pywebmcp.guard.kernel import GuardedKernel
from pywebmcp.guard.notebook import GuardedNotebook
from pywebmcp.guard.observer import Observer, Touch, Unobserved

__all__ = [
    "GuardedFrontend",
    "GuardedKernel",
    "GuardedNotebook",
    "Observer",
    "Touch",
    "Unobserved",
]
