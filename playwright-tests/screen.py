"""The dialogs on the page's screen, as the person sees them and as the agent is told of them."""

from __future__ import annotations

from typing import Any

from background import ask
from lab import Lab

_OPEN = """([title, body, labels]) => {
    const { Dialog } = pywebmcp.modules.apputils;
    const { Widget } = pywebmcp.modules.widgets;
    let content = body;
    if (body.startsWith("<")) {
        const node = document.createElement("div");
        node.innerHTML = body;
        content = new Widget({ node });
    }
    const buttons = labels.map((label) => Dialog.createButton({ label }));
    void new Dialog({ title, body: content, buttons }).launch();
}"""


def persons(lab: Lab, title: str, body: str = "", *labels: str) -> None:
    """Open a dialog as the person's own doing would."""
    lab.page.evaluate(_OPEN, [title, body, list(labels or ("Cancel", "OK"))])


def on_screen(lab: Lab, title: str) -> None:
    """Wait until a dialog is shown."""
    lab.page.locator(".jp-Dialog-header", has_text=title).wait_for()


def gone(lab: Lab) -> None:
    """Wait until no dialog is shown."""
    lab.page.locator(".jp-Dialog").wait_for(state="detached")


def click(lab: Lab, label: str) -> None:
    """Click a button as the person does."""
    lab.page.locator(".jp-Dialog").get_by_role("button", name=label, exact=True).click()


def dialogs(lab: Lab) -> list[dict[str, Any]]:
    """The dialogs that the context lists."""
    found: list[dict[str, Any]] = lab.must("jupyter_get_context")["dialogs"]
    return found


def command(lab: Lab, command_id: str, **args: Any) -> Any:
    return ask(lab, "jupyter_execute_command", command_id=command_id, args=args)


def close_dialogs(lab: Lab) -> None:
    """Close whatever is open. Not by a flush: that would leave rejected promises."""
    lab.js("pywebmcp.modules.apputils.Dialog.tracker.forEach((dialog) => dialog.reject())")
