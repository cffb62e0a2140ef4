"""Which kernel a notebook gets when nobody is asked."""

from __future__ import annotations

from typing import Any

import pytest
from pywebmcp.kernelspecs import KernelSpec, choose

SPECS = [
    KernelSpec(name="js", language="javascript"),
    KernelSpec(name="python", language="python"),
    KernelSpec(name="other-python", language="Python"),
]


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({}, "python"),
        ({"kernelspec": {"name": "js"}}, "js"),
        ({"kernelspec": {"name": "python3", "language": "python"}}, "python"),
        ({"kernelspec": {"name": "gone"}, "language_info": {"name": "javascript"}}, "js"),
        ({"kernelspec": {"name": "ir", "language": "R"}}, None),
        ({"kernelspec": "odd", "language_info": 3}, "python"),
        ({"kernelspec": {"name": 3}}, "python"),
    ],
)
def test_choice(metadata: dict[str, Any], name: str | None) -> None:
    assert choose(SPECS, "python", metadata) == name


def test_without_kernels_or_a_default() -> None:
    assert choose([], None, {}) is None
    assert choose(SPECS, None, {}) == "js"
    assert choose(SPECS, "gone", {"language_info": {"name": "PYTHON"}}) == "python"
