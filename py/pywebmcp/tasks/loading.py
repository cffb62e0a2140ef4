"""Loads the store that a site names, or stops: one that asked for durable tasks must not get others."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import reduce
from importlib import import_module

from pywebmcp.tasks.store import MemoryTaskStore, TaskStore

VARIABLE = "JUPYTER_MCP_TASK_STORE_CLASS"
"""The environment variable that names a store as ``module:Class``."""

_METHODS = ("create", "get", "list", "update", "find_by_key")


class StoreError(Exception):
    """The named store cannot be used; the message says which and why."""


def build_store(spec: str | None = None, *, setting: str = VARIABLE) -> TaskStore:
    """The store that ``module:Class`` names, made without arguments; in memory for None or "".

    Args:
        spec: what to load.
        setting: where that was written, for the message.

    Raises:
        StoreError: it is not of that form, cannot be imported or made, or lacks one of the five
            coroutine methods.
    """
    if spec is None or not spec.strip():
        return MemoryTaskStore()
    module, colon, name = spec.strip().partition(":")
    if not (module and colon and name):
        raise StoreError(f"{setting} has to be module:Class, and is {spec!r}.")

    def trouble(what: str, error: Exception) -> StoreError:
        return StoreError(
            f"The task store {spec!r} of {setting} cannot be {what} "
            f"({type(error).__name__}: {error})."
        )

    try:
        made = reduce(getattr, name.split("."), import_module(module))
    except Exception as error:
        raise trouble("loaded", error) from error
    if not inspect.isclass(made):
        raise StoreError(f"The task store {spec!r} of {setting} is not a class.")
    lacking = [
        method
        for method in _METHODS
        if not inspect.iscoroutinefunction(getattr(made, method, None))
    ]
    if lacking:
        raise StoreError(
            f"The task store {spec!r} of {setting} lacks the coroutine methods "
            f"{', '.join(lacking)}."
        )
    try:
        store: TaskStore = made()
    except Exception as error:
        raise trouble("made", error) from error
    return store


def store_from(environment: Mapping[str, str]) -> TaskStore:
    """The store that the environment (``os.environ``) names; raises ``StoreError``."""
    return build_store(environment.get(VARIABLE))
