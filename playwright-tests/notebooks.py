"""Notebooks for the browser tests, written through the page's contents service."""

from __future__ import annotations

from typing import Any

from lab import Lab

_SAVE = """([path, content]) => pywebmcp.app.serviceManager.contents.save(
    path, { type: "notebook", format: "json", content })"""

METADATA = {
    "kernelspec": {"name": "python", "display_name": "Python (Pyodide)", "language": "python"},
    "language_info": {"name": "python"},
}


def cell(source: str, cell_id: str, cell_type: str = "code") -> dict[str, Any]:
    """A cell as nbformat 4.5 has it."""
    made: dict[str, Any] = {
        "id": cell_id,
        "cell_type": cell_type,
        "source": source,
        "metadata": {},
    }
    if cell_type == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A notebook of these cells, for the site's own kernel unless the metadata says otherwise."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": METADATA | metadata,
        "cells": list(cells),
    }


def write(lab: Lab, path: str, content: dict[str, Any]) -> None:
    """Write a notebook file behind whatever is open."""
    lab.page.evaluate(_SAVE, [path, content])


def show(lab: Lab, path: str, content: dict[str, Any]) -> None:
    """Write a notebook and open it as the person would, kernel and all."""
    write(lab, path, content)
    lab.page.evaluate(
        "(path) => pywebmcp.app.commands.execute('docmanager:open', { path, factory: 'Notebook' })",
        path,
    )
    lab.until(f"pywebmcp.tokens.tracker.currentWidget?.context.path === '{path}'")
    lab.until("pywebmcp.tokens.tracker.currentWidget.context.isReady")
