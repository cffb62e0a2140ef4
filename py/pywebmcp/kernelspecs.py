"""Which kernel a notebook gets when it is opened without anybody asking a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class KernelSpec(TypedDict):
    """What matters of a Jupyter kernelspec."""

    name: str
    language: str | None


def choose(
    specs: Sequence[KernelSpec], default: str | None, metadata: Mapping[str, Any]
) -> str | None:
    """The name of the kernel for a notebook's metadata (nbformat ``kernelspec``), or None.

    The one it names; else one of its language, the default before others; a notebook that says
    nothing of either gets the default. Another language would run the cells as what they are not:
    then a person, or the caller, has to choose.
    """
    named = _dict(metadata.get("kernelspec"))
    names = [spec["name"] for spec in specs]
    name = named.get("name")
    if isinstance(name, str) and name in names:
        return name
    fallback = default if default in names else next(iter(names), None)
    language = named.get("language") or _dict(metadata.get("language_info")).get("name")
    if not isinstance(language, str) or not language:
        return fallback
    speaking = [spec["name"] for spec in specs if _same(spec["language"], language)]
    return fallback if fallback in speaking else next(iter(speaking), None)


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _same(language: str | None, other: str) -> bool:
    return isinstance(language, str) and language.lower() == other.lower()
