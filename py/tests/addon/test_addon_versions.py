"""Versions that do not fit fail the build, in words that say what to install."""

from __future__ import annotations

import pytest
from pywebmcp.addon.errors import BuildError
from pywebmcp.addon.versions import FITTING, demand_fitting, fits

GOOD = {"jupyterlite-core": "0.8.6", "jupyterlite-pyodide-kernel": "0.8.6", "Pyodide": "314.0.6"}


@pytest.mark.parametrize(
    ("version", "wanted", "fitting"),
    [
        ("0.8.6", ">=0.8.6,<0.9", True),
        ("0.8.10", ">=0.8.6, <0.9.0", True),
        ("0.8.5", ">=0.8.6,<0.9", False),
        ("0.9.0", "<0.9", False),
        ("0.9", "<=0.9.0", True),
        ("0.9.0rc1", ">0.8", True),
        ("1.0", "==1.0.0", True),
        ("1.0", "!=1.0.0", False),
        ("1.0", "", True),
    ],
)
def test_a_version_is_in_a_range_or_not(version: str, wanted: str, fitting: bool) -> None:
    assert fits(version, wanted) is fitting


def test_what_fits_passes() -> None:
    demand_fitting(GOOD, "<0.9.0,>=0.8.3")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("jupyterlite-core", "0.7.1"),
        ("jupyterlite-core", "0.9.0"),
        ("jupyterlite-pyodide-kernel", "0.6.0"),
        ("Pyodide", "0.28.3"),
        ("Pyodide", "315.0.0"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(name: str, version: str) -> None:
    with pytest.raises(BuildError) as caught:
        demand_fitting({**GOOD, name: version}, "")
    told = str(caught.value)
    assert f"made for {name} {FITTING[name]}" in told
    assert version in told
    assert "pip install 'jupyterlite-core>=0.8.6,<0.9'" in told


@pytest.mark.parametrize("name", ["jupyterlite-core", "jupyterlite-pyodide-kernel"])
def test_what_is_missing_is_named(name: str) -> None:
    rest = {other: version for other, version in GOOD.items() if other != name}
    with pytest.raises(BuildError, match=f"needs {name}, which is not installed: `pip install"):
        demand_fitting(rest, "")


def test_a_kernel_that_wants_a_newer_core_is_told_with_what_would_happen() -> None:
    newer = {**GOOD, "jupyterlite-pyodide-kernel": "0.8.7"}
    with pytest.raises(BuildError) as caught:
        demand_fitting(newer, ">=0.8.7,<0.9.0")
    assert "0.8.7 is made for jupyterlite-core >=0.8.7,<0.9.0" in str(caught.value)
    assert "this environment has 0.8.6" in str(caught.value)


def test_the_versions_of_this_environment_fit() -> None:
    pytest.importorskip("jupyterlite_pyodide_kernel")
    from pywebmcp.addon.versions import installed, kernel_wants

    assert fits(installed()["jupyterlite-core"], kernel_wants())
    assert kernel_wants()
    demand_fitting(installed(), kernel_wants())
