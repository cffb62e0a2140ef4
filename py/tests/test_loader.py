"""The loader hands over what Python asks for, by name: a name it lacks would only be None there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOADER = ROOT / "lite" / "extension" / "static" / "remoteEntry.js"
BY_THE_LOADER = {"tokens": {"status", "signal"}, "modules": {"bridge", "dom"}}
"""What the loader makes itself."""


def names(pattern: str, *places: Path) -> set[str]:
    """What the pattern's group finds in these files, and in the Python files of these folders."""
    files = [
        file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])
    ]
    assert files
    return {name for file in files for name in re.findall(pattern, file.read_text("utf-8"))}


def listed(constant: str) -> str:
    """The text between the brackets of one of the loader's constants."""
    found = re.search(
        rf"const {constant} = [{{\[](.*?)\n  [}}\]];", LOADER.read_text("utf-8"), re.S
    )
    assert found
    return found[1]


PLACES = (ROOT / "py" / "pywebmcp" / "browser", ROOT / "playwright-tests", LOADER)


def test_the_loader_hands_over_the_services_that_are_used_and_no_others() -> None:
    tokens = set(re.findall(r"(\w+): \[", listed("TOKENS")))
    assert names(r"\btokens\.(\w+)", *PLACES) - BY_THE_LOADER["tokens"] == tokens


def test_the_loader_hands_over_the_modules_that_are_used_and_no_others() -> None:
    modules = {name.split("/")[-1] for name in re.findall(r'"([^"]+)"', listed("MODULES"))}
    used = names(r"\bmodules\.(\w+)", *PLACES) | names(r'\bffi\.module\("(\w+)"\)', *PLACES)
    assert used - BY_THE_LOADER["modules"] == modules
