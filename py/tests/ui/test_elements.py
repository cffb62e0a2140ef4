"""Elements as data; nothing anywhere makes markup of text."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pywebmcp.browser.ui.elements import Kept, button, h, name, visible

ROOT = Path(__file__).resolve().parents[3]
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|"
    r"DOMParser|setHTMLUnsafe|srcdoc|parseFromString"
)


def test_nothing_makes_markup_of_text() -> None:
    files = [
        *(ROOT / "py" / "pywebmcp").rglob("*.py"),
        *(ROOT / "lite" / "extension" / "static").glob("*js"),
    ]
    assert len(files) > 40
    offenders = [path.name for path in files if MARKUP.search(path.read_text("utf-8"))]
    assert offenders == []


def test_children_are_flat_and_what_is_none_is_left_out() -> None:
    made = h("ul", None, [h("li", "a"), None, [h("li", "b")]], "c", hidden=False, title=None)
    assert made == ("ul", {}, [("li", {}, ["a"]), ("li", {}, ["b"]), "c"])


def test_names_are_the_dom_s() -> None:
    _, attributes, _ = h("label", for_="x", aria_label="y", cls="z", read_only=True, key="k")
    assert attributes == {
        "key": "k",
        "class": "z",
        "for": "x",
        "aria-label": "y",
        "readOnly": True,
    }


def test_a_button_submits_nothing() -> None:
    _, attributes, _ = button("Go", ["go", 1])
    assert attributes["type"] == "button"
    assert attributes["on"] == {"click": ["go", 1]}


def test_ids_of_different_things_differ_and_hold_no_space() -> None:
    names = [name("cell", each) for each in ("a b", "a_b", "a-b", "ab", "a\tb", "é", '"<x>')]
    assert len(set(names)) == len(names)
    assert not any(re.search(r"\s", each) for each in names)


def test_only_what_changed_in_a_list_is_made_anew() -> None:
    made: list[str] = []

    def make(key: str, data: int) -> object:
        made.append(key)
        return h("li", str(data), key=key)

    kept = Kept()
    kept.items([("a", 1), ("b", 2)], make)
    made.clear()
    nodes = kept.items([("c", 3), ("b", 2), ("a", 4)], make)
    assert made == ["c", "a"]
    assert nodes[1] == {"keep": "b"}
    json.dumps(nodes)
    kept.forget()
    made.clear()
    kept.items([("b", 2)], make)
    assert made == ["b"]


def test_what_would_make_a_text_look_like_another_is_spelt_out() -> None:
    assert visible("tab\t, line\n, é, 👩\u200d🔬") == "tab\t, line\n, é, 👩\u200d🔬"
    odd = "\0\x1b\r\x9b\xad\u061c\u200b\u200e\u202e\u2066\u2069\ufeff"
    assert visible(odd) == "".join(f"‹U+{ord(each):04X}›" for each in odd)
