"""Finding one's way in what a view shows, as data: by roles and names, as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walk(node: Any) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Every element of nodes, from the outside in."""
    if isinstance(node, list):
        for each in node:
            yield from walk(each)
    elif isinstance(node, tuple):
        yield node
        yield from walk(node[2])


def text(node: Any) -> str:
    """All text of nodes."""
    if isinstance(node, str):
        return node
    if isinstance(node, dict):
        return ""
    parts = map(text, node[2] if isinstance(node, tuple) else node)
    return " ".join(" ".join(parts).split())


def called(nodes: Any, tag: str, label: str) -> dict[str, Any]:
    """The attributes of the one element of a tag with this name (its label, or its text)."""
    labels = {
        attributes["for"]: text(children)
        for _, attributes, children in walk(nodes)
        if "for" in attributes
    }
    found = [
        attributes
        for each, attributes, children in walk(nodes)
        if each == tag
        and label
        in (attributes.get("aria-label"), labels.get(attributes.get("id", "")), text(children))
    ]
    assert len(found) == 1, f"{len(found)} {tag} with the name {label}"
    return found[0]


def press(tab: Any, label: str) -> None:
    """Click a button of a tab."""
    act(tab, called(tab.nodes(), "button", label)["on"]["click"], None)


def fill(tab: Any, tag: str, label: str, value: Any) -> None:
    """Change a field of a tab."""
    on = called(tab.nodes(), tag, label)["on"]
    act(tab, on.get("input") or on["change"], value)


def act(tab: Any, report: list[Any], value: Any) -> None:
    """Let a tab hear of an event."""
    tab.actions[report[0]](*report[1:], value)
