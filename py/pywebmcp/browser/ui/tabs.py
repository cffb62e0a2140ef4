"""Tabs as WAI-ARIA's authoring practices have them: one stop of the Tab key, arrow keys between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pywebmcp.browser.ui.elements import Node, h, name
from pywebmcp.browser.ui.host import Host


class Tab(Protocol):
    """What a tab shows; it is asked for only while a person sees it."""

    id: str
    label: str
    actions: dict[str, Callable[..., None]]

    def nodes(self) -> list[Node]:
        """The elements of its panel."""
        ...


class Tabs:
    """A list of tabs, one of them chosen."""

    def __init__(self, label: str, tabs: Sequence[Tab], host: Host) -> None:
        self._label = label
        self._tabs = tabs
        self._host = host
        self._chosen = tabs[0].id
        self._drawn: set[str] = set()

    @property
    def actions(self) -> Mapping[str, Callable[..., None]]:
        """Those of all tabs, and the choice of a tab."""
        found: dict[str, Callable[..., None]] = {"choose_tab": self._pressed}
        for tab in self._tabs:
            found |= tab.actions
        return found

    @property
    def chosen(self) -> str:
        """The id of the tab that is seen."""
        return self._chosen

    def choose(self, tab_id: str) -> None:
        """Show a tab."""
        self._chosen = tab_id
        self._host.changed()

    def _pressed(self, tab_id: str, _: Any) -> None:
        self.choose(tab_id)
        self._host.focus(_tab_id(tab_id))

    def nodes(self) -> list[Node]:
        """The tabs and their panels; those that nobody sees stay as they were."""
        return [
            h(
                "div",
                map(self._tab, self._tabs),
                role="tablist",
                aria_label=self._label,
                cls="pywebmcp-tabs",
            ),
            *map(self._panel, self._tabs),
        ]

    def _tab(self, tab: Tab) -> Node:
        chosen = tab.id == self._chosen
        ids = [each.id for each in self._tabs]
        here = ids.index(tab.id)
        keys = {
            "ArrowLeft": ids[here - 1],
            "ArrowRight": ids[(here + 1) % len(ids)],
            "Home": ids[0],
            "End": ids[-1],
        }
        return h(
            "button",
            tab.label,
            type="button",
            role="tab",
            id=_tab_id(tab.id),
            aria_selected="true" if chosen else "false",
            aria_controls=name("panel", tab.id),
            tabindex="0" if chosen else "-1",
            on={
                "click": ["choose_tab", tab.id],
                "keydown": {key: ["choose_tab", to] for key, to in keys.items()},
            },
            cls="pywebmcp-tab",
            key=tab.id,
        )

    def _panel(self, tab: Tab) -> Node:
        chosen = tab.id == self._chosen
        content: Node = {"keep": "content"}
        if chosen or tab.id not in self._drawn:
            content = h("div", tab.nodes() if chosen else [], key="content")
        self._drawn.add(tab.id)
        return h(
            "div",
            content,
            role="tabpanel",
            id=name("panel", tab.id),
            aria_labelledby=_tab_id(tab.id),
            tabindex="0",
            hidden=not chosen,
            cls="pywebmcp-tabpanel",
            key=f"panel {tab.id}",
        )


def _tab_id(tab_id: str) -> str:
    return name("tab", tab_id)
