"""What the pages for readers and the code say of each other is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pywebmcp.constants import WEBMCP_FLAG

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = [*PAGES, ROOT / "pyproject.toml", *sorted((ROOT / "py").rglob("*.py"))]


def test_the_readme_names_the_flag_that_the_status_bar_names() -> None:
    named = re.findall(r"chrome://[\w/#-]+", (ROOT / "README.md").read_text("utf-8"))
    assert set(named) == {WEBMCP_FLAG}


def test_the_readme_and_the_scripts_name_the_same_oldest_chromium() -> None:
    setup = (ROOT / "scripts" / "_setup.py").read_text("utf-8")
    oldest = re.findall(r"^OLDEST_CHROMIUM = (\d+)$", setup, re.MULTILINE)
    named = re.findall(r"\b(\d{3})(?: and|,? or) newer", (ROOT / "README.md").read_text("utf-8"))
    assert oldest
    assert set(named) == set(oldest)


def test_every_page_that_is_named_exists() -> None:
    named = {
        (page, source.relative_to(ROOT).as_posix())
        for source in SOURCES
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", source.read_text("utf-8"))
    }
    assert named
    assert [(page, source) for page, source in sorted(named) if not (ROOT / page).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_within_the_project_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    within = [link for link in links if "://" not in link]
    assert [link for link in within if not (page.parent / link).is_file()] == []
