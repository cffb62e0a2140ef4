"""The page's side of the front-end contract: runs a case on the live JupyterLab, beside a person.

Loaded into the page's own Python by ``test_frontend_contract.py``. What needs a real keyboard is
asked of the test, which takes requests with ``following`` and answers with ``answered``.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any

import contract
import js  # noqa: TID251
from pywebmcp.browser import activation, ffi
from pywebmcp.browser.panel import Panel
from pywebmcp.frontend import Frontend

page = js.pywebmcp
contents = page.app.serviceManager.contents

requests: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
answers: asyncio.Queue[Any] = asyncio.Queue()

_start_kernel = Panel.start_kernel


def start_kernel_where_needed(panel: Panel, name: str) -> None:
    """Start real kernels only for the notebook that the cases run: each costs ten seconds."""
    if panel.path == "run.ipynb":
        _start_kernel(panel, name)


Panel.start_kernel = start_kernel_where_needed


def names() -> str:
    """The names of all cases, as JSON."""
    return json.dumps([case.name for case in contract.cases()])


def begin(name: str) -> None:
    """Start a case."""
    (case,) = (case for case in contract.cases() if case.name == name)
    asyncio.ensure_future(_run(case))  # noqa: RUF006


async def following() -> str:
    """What the test has to do next, as JSON: ``{do, ...}`` or ``{end}``."""
    return json.dumps(await requests.get())


def answered() -> None:
    """The test did it."""
    answers.put_nowait(None)


async def _run(case: contract.Case) -> None:
    try:
        await contract.run_case(case, provide, Person())
        requests.put_nowait({"end": "passed"})
    except contract.Skipped as skipped:
        requests.put_nowait({"end": "skipped", "why": str(skipped)})
    except BaseException:
        requests.put_nowait({"end": "failed", "why": traceback.format_exc()})


async def provide(files: contract.Files) -> Frontend:
    """The live front end with exactly these files and nothing open."""
    for widget in list(page.app.shell.widgets("main")):
        await discard(widget)
    root = await contents.get("", ffi.struct(content=True))
    for entry in list(root.content):
        await contents.delete(entry.path)
    for path, content in files.items():
        for folder in range(path.count("/")):
            parent = "/".join(path.split("/")[: folder + 1])
            await contents.save(parent, ffi.parsed({"type": "directory"}))
        await write(path, content)
    server = activation.server()
    assert server is not None
    return server.frontend


async def write(path: str, content: Any) -> None:
    """Write a file as JupyterLab would, kernel and language in a notebook's metadata.

    Opening a notebook without them makes JupyterLab put them there and call it dirty.
    """
    if isinstance(content, str):
        model = {"type": "file", "format": "text", "content": content}
    else:
        content["metadata"].setdefault("kernelspec", {"name": "python", "display_name": "Python"})
        content["metadata"].setdefault("language_info", {"name": "python"})
        model = {"type": "notebook", "format": "json", "content": content}
    await contents.save(path, ffi.parsed(model))


async def discard(widget: Any) -> None:
    """Close a tab without saving and without a dialog."""
    context = ffi.given(getattr(widget, "context", None))
    if context is not None:
        context.model.dirty = False
    with ffi.emissions(widget.disposed) as disposed:
        widget.close()
        await disposed.wait()


def panel_at(path: str) -> Any:
    """The open notebook panel of a path."""
    widgets = page.app.shell.widgets("main")
    return next(each for each in widgets if hasattr(each, "context") and each.context.path == path)


async def ask(action: str, **arguments: Any) -> None:
    """Let the test do what takes a mouse and a keyboard."""
    requests.put_nowait({"do": action, **arguments})
    await answers.get()


class Person:
    """Who sits in front of the page (`contract.Person`)."""

    async def click(self, path: str, index: int, cursor: int) -> None:
        page.app.shell.activateById(panel_at(path).id)
        await ask("click", index=index, cursor=cursor)

    async def type(self, text: str) -> None:
        await ask("type", text=text)

    async def undo(self) -> None:
        await ask("undo")

    async def edit_file(self, path: str, content: Any) -> None:
        await write(path, content)

    async def rename(self, old: str, new: str) -> None:
        await contents.rename(old, new)

    async def close(self, path: str) -> None:
        await discard(panel_at(path))

    async def answer(self, path: str, text: str) -> None:
        page.app.shell.activateById(panel_at(path).id)
        await ask("answer", text=text)

    async def start_run(self, path: str, index: int) -> None:
        panel = panel_at(path)
        actions = page.modules.notebook.NotebookActions
        cells = js.Array.of(panel.content.widgets[index])
        ffi.watch_quietly(actions.runCells(panel.content, cells, panel.sessionContext))
