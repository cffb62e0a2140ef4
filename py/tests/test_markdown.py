"""A cell as Markdown: what stands for each kind of output."""

from __future__ import annotations

from typing import Any

import pytest
from pywebmcp import markdown


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"output_type": "stream", "text": "a\nb\n"}, "a\nb"),
        ({"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["x", "y"]}, "x\ny"),
        ({"output_type": "error", "ename": "E", "evalue": "v"}, "E: v"),
        ({"output_type": "display_data", "data": {"text/plain": "<F>"}}, "<F>"),
        (
            {"output_type": "display_data", "data": {"text/plain": "<F>", "image/png": "[…]"}},
            "<F>\n[also image/png]",
        ),
        (
            {
                "output_type": "display_data",
                "data": {"text/markdown": "**m**", "text/plain": "<M>"},
            },
            "**m**",
        ),
        ({"output_type": "display_data", "data": {"text/latex": r"\frac12"}}, r"\frac12"),
        ({"output_type": "display_data", "data": {"text/html": "<b>"}}, "[text/html]"),
        ({"output_type": "display_data", "data": {}}, ""),
        ({"output_type": "display_data"}, ""),
    ],
)
def test_the_text_of_an_output(output: dict[str, Any], text: str) -> None:
    assert markdown.output_text(output) == text


def test_a_cell_that_may_not_be_changed_says_so() -> None:
    shown = {"id": "a", "type": "code", "sourceHash": "0", "access": "read", "source": "x"}
    assert markdown.cell(shown).startswith("<!-- id=a code hash=0 access=read -->")


def test_a_cell_without_its_source_is_its_comment() -> None:
    shown = {"id": "a", "type": "markdown", "sourceHash": "0"}
    assert markdown.cell(shown) == "<!-- id=a markdown hash=0 -->"
