"""What the tests of the tools start from and look at: files, tabs, kernels, outcomes of calls."""

from __future__ import annotations

import json
import time
from typing import Any

from lab import PATIENCE, Lab
from pywebmcp.testing import notebook

_SAVE = """async ([path, text]) => {
    const { contents } = pywebmcp.app.serviceManager;
    const folders = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= folders.length; depth += 1) {
        await contents.save(folders.slice(0, depth).join("/"), { type: "directory" });
    }
    await contents.save(path, JSON.parse(text));
}"""
_LISTING = """async () => {
    const { contents } = pywebmcp.app.serviceManager;
    const found = [];
    const walk = async (folder) => {
        for (const { path, type } of (await contents.get(folder, { content: true })).content) {
            found.push(path);
            if (type === "directory") await walk(path);
        }
    };
    await walk("");
    return found.sort();
}"""
_SAVED = """async (path) => {
    const { content } = await pywebmcp.app.serviceManager.contents.get(path, { content: true });
    return JSON.stringify(content);
}"""
_CLOSE = """() => {
    for (const widget of [...pywebmcp.app.shell.widgets("main")]) {
        // Unsaved changes would be asked about in a dialog.
        if (widget.context) widget.context.model.dirty = false;
        widget.close();
    }
}"""


def sketch(*cells: Any, minor: int = 5) -> dict[str, Any]:
    """A notebook that gets no kernel when a tool opens it: those cost ten seconds each."""
    spoken = {"kernelspec": {"name": "none", "display_name": "none", "language": "none"}}
    return notebook(*cells, minor=minor, metadata=spoken)


def put(lab: Lab, path: str, content: Any) -> None:
    """Write a file, and the folders above it: text, or a notebook's JSON."""
    if isinstance(content, str):
        model = {"type": "file", "format": "text", "content": content}
    else:
        model = {"type": "notebook", "format": "json", "content": content}
    # As ASCII text: a lone surrogate would not get through Playwright otherwise.
    lab.page.evaluate(_SAVE, [path, json.dumps(model)])


def put_and_open(lab: Lab, path: str, content: Any) -> Any:
    """Write a notebook and open it; the answer of the tool."""
    put(lab, path, content)
    return lab.must("jupyter_open_notebook", path=path)


def saved(lab: Lab, path: str) -> Any:
    """The content of a file as it is in the page's storage."""
    return json.loads(lab.page.evaluate(_SAVED, path))


def listing(lab: Lab) -> list[str]:
    """The paths of all files and folders."""
    found: list[str] = lab.page.evaluate(_LISTING)
    return found


def tabs(lab: Lab) -> list[str]:
    """The paths of the documents in the main area."""
    found: list[str] = lab.js(
        "[...pywebmcp.app.shell.widgets('main')].flatMap((each) => each.context?.path ?? [])"
    )
    return found


def kernels(lab: Lab) -> int:
    """How many kernels run."""
    return int(lab.js("[...pywebmcp.app.serviceManager.kernels.running()].length"))


def dialogs(lab: Lab) -> list[str]:
    """The texts of the dialogs that ask the person something."""
    return lab.page.locator(".jp-Dialog").all_inner_texts()


def close_all(lab: Lab) -> None:
    """Close every tab without saving and without a dialog."""
    lab.page.evaluate(_CLOSE)


def outcome(lab: Lab, name: str, **arguments: Any) -> Any:
    """The payload of a call that may take long: on a busy machine it answers pending first."""
    return settled(lab, lab.call(name, arguments))


def settled(lab: Lab, payload: Any) -> Any:
    """The final payload of a call that is still pending."""
    deadline = time.monotonic() + PATIENCE / 1000
    while payload.get("status") == "pending":
        assert time.monotonic() < deadline, payload
        payload = lab.call("jupyter_wait_for_result", {"pendingId": payload["pendingId"]})
    return payload
