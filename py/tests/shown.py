"""Finding one's way in what a view shows, as data: by roles and names, as a person does."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from pywebmcp.browser.ui.elements import h

_pages: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def drawn(tab: Any) -> list[Any]:
    """What a tab shows now; what it wants to keep is what it showed before."""
    before = _pages.get(tab, {})

    def whole(node: Any) -> Any:
        if isinstance(node, dict):
            return before[node["keep"]]
        if isinstance(node, tuple):
            return node[0], node[1], [whole(child) for child in node[2]]
        return node

    nodes = [whole(node) for node in h("div", tab.nodes())[2]]
    _pages[tab] = {each[1]["key"]: each for each in walk(nodes) if "key" in each[1]}
    return nodes


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
    act(tab, called(drawn(tab), "button", label)["on"]["click"], None)


def fill(tab: Any, tag: str, label: str, value: Any) -> None:
    """Change a field of a tab."""
    on = called(drawn(tab), tag, label)["on"]
    act(tab, on.get("input") or on["change"], value)


def act(tab: Any, report: list[Any], value: Any) -> None:
    """Let a tab hear of an event."""
    tab.actions[report[0]](*report[1:], value)


class Sheet:
    """Stands in for the panel."""

    def __init__(self) -> None:
        self.drawn = 0
        self.focused: list[str] = []
        self.begun: list[Coroutine[Any, Any, None]] = []

    def changed(self) -> None:
        self.drawn += 1

    def focus(self, element_id: str) -> None:
        self.focused.append(element_id)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self.begun.append(coroutine)

    async def finish(self) -> None:
        while self.begun:
            await self.begun.pop(0)
