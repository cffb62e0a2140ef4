"""Which versions fit together: a site of others' versions fails when it is built, not when it is opened."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pywebmcp
from pywebmcp.addon.errors import BuildError

PINS = Path(__file__).with_name("pins")
"""The npm package `pyodide` and the kernel's wheels, by version and hash."""

PYODIDE_VERSION = str(
    json.loads((PINS / "package.json").read_text("utf-8"))["dependencies"]["pyodide"]
)
"""The Pyodide that a site gets when it asks for one of its own."""

CORE, KERNEL = "jupyterlite-core", "jupyterlite-pyodide-kernel"
FITTING = {
    # The loader uses what these versions' JupyterLab 4.6 shares with its extensions.
    CORE: ">=0.8.6,<0.9",
    KERNEL: ">=0.8.6,<0.9",
    # The page's Python; a Pyodide's first number is that of its ABI.
    "Pyodide": ">=314.0.6,<315",
}


def installed() -> dict[str, str]:
    """The versions of FITTING in this environment; Pyodide's is the one the kernel asks for.

    What is not installed is not in it.
    """
    found = {}
    for name in (CORE, KERNEL):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if KERNEL in found:
        from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

        found["Pyodide"] = str(PYODIDE_VERSION)
    return found


def kernel_wants() -> str:
    """The versions of jupyterlite-core that the installed kernel is made for, such as ``>=0.8.3``."""
    for requirement in metadata.requires(KERNEL) or []:
        name, rest = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement, re.DOTALL).groups()  # type: ignore[union-attr]
        if re.sub(r"[-_.]+", "-", name).lower() == CORE and ";" not in rest:
            return str(rest.strip("() "))
    return ""


def fits(version: str, wanted: str) -> bool:
    """Whether a version such as ``0.8.6`` is in a range such as ``>=0.8.3,<0.9``.

    Of PEP 440 only what these packages use; a pre-release counts as its release.
    """
    compare = {
        ">=": lambda one, other: one >= other,
        "<=": lambda one, other: one <= other,
        "==": lambda one, other: one == other,
        "!=": lambda one, other: one != other,
        ">": lambda one, other: one > other,
        "<": lambda one, other: one < other,
    }
    for clause in filter(None, (each.strip() for each in wanted.split(","))):
        match = re.fullmatch(r"(>=|<=|==|!=|>|<)\s*([\d.]+)", clause)
        if match and not compare[match[1]](_numbers(version), _numbers(match[2])):
            return False
    return True


def _numbers(version: str) -> list[int]:
    numbers = [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]  # type: ignore[index]
    while numbers and not numbers[-1]:  # 0.9 is 0.9.0
        numbers.pop()
    return numbers


def demand_fitting(found: Mapping[str, str], wants: str) -> None:
    """Raise BuildError unless these versions fit; `wants` is what the kernel wants of the core."""
    advice = f"`pip install '{CORE}{FITTING[CORE]}' '{KERNEL}{FITTING[KERNEL]}'`"
    ours = f"pywebmcp {pywebmcp.__version__}"
    for name, wanted in FITTING.items():
        if name not in found:
            if name != "Pyodide":
                raise BuildError(f"{ours} needs {name}, which is not installed: {advice}")
        elif not fits(found[name], wanted):
            raise BuildError(
                f"{ours} is made for {name} {wanted}, and this environment has {found[name]}: "
                f"{advice}, or install another pywebmcp"
            )
    if not fits(found[CORE], wants):
        raise BuildError(
            f"{KERNEL} {found[KERNEL]} is made for {CORE} {wants}, and this environment has "
            f"{found[CORE]}: the site's files and input() would not work; {advice}"
        )
