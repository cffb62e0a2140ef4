"""The Agent panel in the hands of a person: mouse, keyboard, roles and names; axe-core looks on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import _npm
from lab import Lab
from playwright.sync_api import Locator

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
_AXE = """async ([selector]) => {
    // JupyterLab's body has no height, and axe takes what is outside of it for invisible.
    document.body.style.height = "100vh";
    const { violations } = await axe.run(selector, {
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    document.body.style.height = "";
    return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
}"""
_TWO_FRAMES = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


def region(lab: Lab) -> Locator:
    """The panel."""
    return lab.page.get_by_role("region", name="Agent", exact=True)


def show(lab: Lab, tab: str) -> Locator:
    """Open the panel at a tab, with the mouse; the tab's panel."""
    tabs = lab.page.get_by_role("tablist", name="Agent", exact=True)
    if not tabs.is_visible():
        if lab.page.locator(".jp-SideBar.jp-mod-right").count():
            lab.page.get_by_role("tab", name="Agent", exact=True).click()
        else:
            palette(lab, "Show Agent Panel")
    chosen = tabs.get_by_role("tab", name=tab, exact=True)
    if chosen.get_attribute("aria-selected") != "true":
        chosen.click()
    return lab.page.get_by_role("tabpanel", name=tab, exact=True)


def palette(lab: Lab, label: str) -> None:
    """Run a command as a person finds it: in the command palette."""
    lab.page.keyboard.press("Control+Shift+C")
    lab.page.get_by_placeholder("SEARCH").fill(label)
    item = lab.page.locator(".lm-CommandPalette-item:not(.lm-mod-disabled)")
    item.filter(has_text=label).first.click()


def menu(lab: Lab, at: Locator, *labels: str) -> None:
    """Choose an entry of the context menu of something, in a menu within it with two labels."""
    at.click(button="right")
    for label in labels[:-1]:
        lab.page.locator(".lm-Menu-item", has_text=label).last.hover()
    lab.page.locator(".lm-Menu-item", has_text=labels[-1]).last.click()


def theme(lab: Lab, name: str) -> None:
    """Choose a theme and wait until it is on the page."""
    lab.page.evaluate(
        "(theme) => pywebmcp.app.commands.execute('apputils:change-theme', { theme })", name
    )
    light = "true" if name == LIGHT else "false"
    lab.until(f"document.body.dataset.jpThemeLight === '{light}'")
    lab.page.evaluate(_TWO_FRAMES)


def flaws(lab: Lab, selector: str) -> list[str]:
    """What axe-core finds against WCAG 2.2 A and AA in a part of the page."""
    if not lab.page.evaluate("'axe' in globalThis"):
        lab.page.evaluate(Path(_npm.ensure_axe()).read_text("utf-8"))
    found: list[str] = lab.page.evaluate(_AXE, [selector])
    return found


def overflowing(lab: Lab, selector: str) -> list[str]:
    """The elements within an element that are wider than it and cannot be scrolled."""
    found: list[str] = lab.page.evaluate(
        """(selector) => {
            const root = document.querySelector(selector);
            const edge = root.getBoundingClientRect().right;
            const cut = (each) => {
                for (let at = each.parentElement; at !== root; at = at.parentElement) {
                    if (getComputedStyle(at).overflowX !== "visible" && at.role !== "tabpanel"
                        && at.getBoundingClientRect().right <= edge + 1) return true;
                }
                return false;
            };
            return [...root.querySelectorAll("*")].filter((each) =>
                each.checkVisibility() && each.getBoundingClientRect().right > edge + 1
                && !cut(each)
            ).map((each) => each.outerHTML.slice(0, 200));
        }""",
        selector,
    )
    return found


def payload(tab: Locator, tool: str) -> Any:
    """The result that the tab Tools shows for a tool."""
    return json.loads(tab.get_by_role("region", name=f"Result of {tool}").inner_text())
