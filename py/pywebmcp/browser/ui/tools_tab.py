"""The tab Tools: every tool with a form to try it by hand, through the door that agents use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pywebmcp.browser.ui.elements import Node, button, h, name
from pywebmcp.browser.ui.forms import Form, FormError, pretty
from pywebmcp.browser.ui.host import Host
from pywebmcp.server import Answer, ToolServer
from pywebmcp.tools import Tool

WAIT = "jupyter_wait_for_result"


@dataclass(slots=True)
class Trial:
    """What a person does with one tool."""

    form: Form
    running: bool = False
    answer: Answer | None = None
    wrong: str = ""
    """Why what was entered cannot be sent."""

    def outcome(self) -> str:
        """How the last run ended, in words for everybody."""
        if self.running:
            return "Running …"
        if self.answer is None:
            return ""
        if self.pending_id:
            return f"Pending: {self.answer.payload['message']}"
        return "" if self.answer.is_error else "Done."

    def failure(self) -> str:
        """What went wrong, to be told at once."""
        if self.wrong or self.running or self.answer is None or not self.answer.is_error:
            return self.wrong
        payload = self.answer.payload
        return str(payload.get("error") or payload.get("message") or "It failed.")

    @property
    def pending_id(self) -> str | None:
        """The id under which the result can be had later."""
        payload = {} if self.answer is None else self.answer.payload
        return payload.get("pendingId") if payload.get("status") == "pending" else None


class ToolsTab:
    """The list of tools; one of them is open, and what was entered stays."""

    id = "tools"
    label = "Tools"

    def __init__(self, server: ToolServer, host: Host) -> None:
        self._server = server
        self._host = host
        self._search = ""
        self._open: str | None = None
        self._trials: dict[str, Trial] = {}
        self.actions: dict[str, Callable[..., None]] = {
            "find_tool": self._find,
            "open_tool": self._toggle,
            "enter": self._enter,
            "add_row": self._add_row,
            "remove_row": self._remove_row,
            "run_tool": self._run,
            "fetch_result": self._fetch,
        }

    # --- what a person does

    def _trial(self, tool: str) -> Trial:
        if tool not in self._trials:
            schema = self._server.tools[tool].signature.schema
            self._trials[tool] = Trial(Form(tool, schema))
        return self._trials[tool]

    def _find(self, text: str) -> None:
        self._search = text
        self._host.changed()

    def _toggle(self, tool: str, _: Any) -> None:
        self._open = None if self._open == tool else tool
        self._host.changed()

    def _enter(self, tool: str, path: str, value: str | bool) -> None:
        self._trial(tool).form.enter(path, value)

    def _add_row(self, tool: str, path: str, _: Any) -> None:
        field_id = self._trial(tool).form.add_row(path)
        self._host.changed()
        self._host.focus(field_id)

    def _remove_row(self, tool: str, path: str, number: int, _: Any) -> None:
        self._trial(tool).form.remove_row(path, number)
        self._host.changed()
        self._host.focus(_id(tool, "run"))

    def _run(self, tool: str, _: Any) -> None:
        trial = self._trial(tool)
        if trial.running or tool in self._server.settings.disabled_tools:
            return
        trial.wrong, trial.answer = "", None
        try:
            arguments = trial.form.arguments()
        except FormError as error:
            trial.wrong = str(error)
            self._host.changed()
            return
        self._host.start(self._call(trial, tool, arguments))

    def _fetch(self, tool: str, pending_id: str, _: Any) -> None:
        self._host.start(self._call(self._trial(tool), WAIT, {"pendingId": pending_id}))

    async def _call(self, trial: Trial, tool: str, arguments: dict[str, Any]) -> None:
        trial.running = True
        self._host.changed()
        try:
            trial.answer = await self._server.answer(
                tool, arguments, images=True, door="panel", who="person"
            )
        finally:
            trial.running = False
            self._host.changed()

    # --- what is shown

    def nodes(self) -> list[Node]:
        """The search field and the tools that it finds."""
        words = self._search.lower().split()
        found = [
            tool
            for tool in self._server.tools.values()
            if all(word in f"{tool.title} {tool.name} {tool.description}".lower() for word in words)
        ]
        total = len(self._server.tools)
        count = f"{total} tools" if len(found) == total else f"{len(found)} of {total} tools"
        return [
            h(
                "div",
                h(
                    "input",
                    type="search",
                    id=_id("search"),
                    placeholder="Find a tool",
                    aria_label="Find a tool",
                    autocomplete="off",
                    value=self._search,
                    on={"input": ["find_tool"]},
                ),
                h("span", count, cls="pywebmcp-count", role="status"),
                cls="pywebmcp-bar",
            ),
            h("ul", map(self._item, found), cls="pywebmcp-list", aria_label="Tools"),
        ]

    def _item(self, tool: Tool) -> Node:
        opened = self._open == tool.name
        disabled = tool.name in self._server.settings.disabled_tools
        marks = [
            text
            for text, holds in (
                ("disabled", disabled),
                ("reads only", tool.read_only),
                ("has consequences", "C" in tool.hints),
            )
            if holds
        ]
        heading = h(
            "h3",
            h(
                "button",
                h("span", tool.title, cls="pywebmcp-title"),
                h("code", tool.name),
                type="button",
                cls="pywebmcp-disclosure",
                aria_expanded="true" if opened else "false",
                aria_controls=_id(tool.name, "body") if opened else None,
                on={"click": ["open_tool", tool.name]},
            ),
        )
        body = self._body(tool, marks, disabled) if opened else None
        return h("li", heading, body, key=tool.name, cls="pywebmcp-tool")

    def _body(self, tool: Tool, marks: list[str], disabled: bool) -> Node:
        trial = self._trial(tool.name)
        run = ["run_tool", tool.name]
        return h(
            "div",
            h("p", [h("span", each, cls="pywebmcp-mark") for each in marks]) if marks else None,
            h("p", tool.description),
            h("p", "This tool is disabled in the settings (WebMCP).", cls="pywebmcp-note")
            if disabled
            else None,
            h(
                "form",
                trial.form.fields(),
                h(
                    "div",
                    h(
                        "button",
                        "Run",
                        type="submit",
                        id=_id(tool.name, "run"),
                        cls="pywebmcp-button pywebmcp-mod-accept",
                        disabled=disabled,
                        aria_label=f"Run {tool.title}",
                        title="Run (Ctrl+Enter)",
                    ),
                    h("span", trial.outcome(), role="status", cls="pywebmcp-outcome"),
                    cls="pywebmcp-buttons",
                ),
                on={"submit": run, "keydown": {"Control+Enter": run}},
            ),
            h("div", trial.failure(), role="alert", cls="pywebmcp-failure"),
            self._result(tool, trial),
            id=_id(tool.name, "body"),
            cls="pywebmcp-body",
        )

    def _result(self, tool: Tool, trial: Trial) -> list[Node]:
        if trial.answer is None:
            return []
        shown: list[Node] = []
        if trial.pending_id and not trial.running:
            shown.append(
                button(
                    "Wait for the result",
                    ["fetch_result", tool.name, trial.pending_id],
                    key="fetch",
                )
            )
        shown += [
            h(
                "img",
                src=f"data:{block['mimeType']};base64,{''.join(block['data'].split())}",
                alt=f"Image {place} of the result of {tool.title} ({block['mimeType']})",
                key=f"image {place}",
            )
            for place, block in enumerate(trial.answer.blocks, 1)
            if block.get("type") == "image"
        ]
        shown.append(
            h(
                "pre",
                pretty(trial.answer.payload),
                tabindex="0",
                role="region",
                aria_label=f"Result of {tool.title}",
                key="payload",
                cls="pywebmcp-result",
            )
        )
        return shown


def _id(*parts: str) -> str:
    return name("tool", *parts)
