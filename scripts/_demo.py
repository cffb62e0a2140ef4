"""A scripted agent: it knows only what the tools tell it, and prints what it asks and gets."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

from _setup import ROOT, SetupError

sys.path.insert(0, str(ROOT / "py"))

from pywebmcp import envelope
from pywebmcp.markdown import output_text

if TYPE_CHECKING:
    from playwright.sync_api import Page

READY = 120_000  # milliseconds; a loaded machine boots two Pythons in this time
CALL = """async ([name, input]) => {
    const tools = await document.modelContext.getTools();
    const tool = tools.find(tool => tool.name === name);
    if (!tool) throw new Error(`the page has no tool ${name}`);
    return await document.modelContext.executeTool(tool, input);
}"""
SCHEMA = """async name => {
    const tools = await document.modelContext.getTools();
    return tools.find(tool => tool.name === name)?.inputSchema;
}"""
QUESTION = """\
weekend = sum(day["north"] + day["south"] for day in good if day["date"].weekday() >= 5)
share = weekend / sum(day["north"] + day["south"] for day in good)
print(f"{share:.3%} of all riders crossed on a weekend.")
"""
MEND = {"oldText": 'int(row["northbound"])', "newText": 'int(row["northbound"] or 0)'}

WIDTH = 100
LINES = 8


class Agent:
    """Calls the page's tools through ``document.modelContext`` and prints the transcript."""

    def __init__(self, page: Page) -> None:
        self._page = page
        schema = page.evaluate(SCHEMA, "jupyter_get_context")
        self._as_string = envelope.wants_string(schema)

    def say(self, text: str) -> None:
        """What the agent thinks, between its calls."""
        print(f"\n# {text}", flush=True)

    def call(self, name: str, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
        """Call a tool and answer its payload; print both."""
        arguments = {**(arguments or {}), **more}
        asked = json.dumps(arguments, ensure_ascii=False)
        print(_cut(f"\n→ {name} {asked}", 3 * WIDTH), flush=True)
        start = time.perf_counter()
        raw = self._page.evaluate(
            CALL, [name, envelope.encode_arguments(arguments, self._as_string)]
        )
        milliseconds = (time.perf_counter() - start) * 1000
        payload = envelope.decode(raw)
        print(f"← {milliseconds:.0f} ms, {len(raw)} characters", flush=True)
        print(textwrap.indent(readable(payload), "  "), flush=True)
        return payload

    def settled(self, name: str, **arguments: Any) -> Any:
        """Call a tool and answer its result, whether it came at once or was pending first."""
        payload = self.call(name, arguments)
        while payload.get("status") == "pending":
            # A long call goes on in the page; a patient agent asks for its result.
            payload = self.call("jupyter_wait_for_result", pendingId=payload["pendingId"])
        return payload

    def must(self, name: str, **arguments: Any) -> Any:
        """Call a tool that has to succeed for the demo to go on."""
        payload = self.settled(name, **arguments)
        if not payload.get("success"):
            raise SetupError(f"the demo stopped: {name} answered {payload.get('error')}")
        return payload


def readable(payload: dict[str, Any]) -> str:
    """A payload for a person's eyes: cells and outputs as lines, the rest as JSON."""
    rest = {key: value for key, value in payload.items() if key not in ("cells", "traceback")}
    lines = [_cut(json.dumps(rest, ensure_ascii=False), 4 * WIDTH)]
    for cell in payload.get("cells", ()):
        facts = {key: cell[key] for key in cell if key not in ("id", "source", "outputs")}
        lines.append(_cut(f"[{cell['id']}] {json.dumps(facts, ensure_ascii=False)}", 2 * WIDTH))
        texts = [cell["source"]] if "source" in cell else []
        texts += [output_text(output) for output in cell.get("outputs", ())]
        lines += [textwrap.indent(_few(text), "    | ") for text in texts if text]
    if payload.get("traceback"):
        lines.append(textwrap.indent(_few("\n".join(payload["traceback"])), "    ! "))
    return "\n".join(lines)


def _few(text: str) -> str:
    lines = [_cut(line, WIDTH) for line in text.split("\n")]
    if len(lines) > LINES:
        lines = [*lines[:LINES], f"… {len(lines) - LINES} more lines"]
    return "\n".join(lines)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def play(page: Page, url: str) -> None:
    """Open the site and do the demo analysis through the tools alone."""
    page.goto(url)
    page.wait_for_function(
        "['ready', 'unavailable', 'failed'].includes(document.documentElement.dataset.pywebmcpStatus)",
        timeout=READY,
    )
    status = page.evaluate("document.documentElement.dataset.pywebmcpStatus")
    if status != "ready":
        raise SetupError(f"the page says WebMCP {status}: see the browser's console")
    agent = Agent(page)
    middle = _analyse(agent)
    _mend(agent)
    agent.say("Back to the analysis, saved and shown to the person.")
    agent.must("jupyter_save_notebook", notebookPath="analysis.ipynb")
    agent.must("jupyter_open_notebook", path="analysis.ipynb", cellId=middle)


def _analyse(agent: Agent) -> str:
    """Run the analysis and add to it; the id of the cell between its chart and the finding."""
    agent.say("What is here?")
    agent.must("jupyter_get_context")
    agent.say("Open the analysis and read what it does.")
    agent.must("jupyter_open_notebook", path="analysis.ipynb")
    cells = agent.must("jupyter_get_cells")["cells"]
    agent.say("Run it from top to bottom on the kernel in the page.")
    agent.must("jupyter_run_cells", startIndex=0, endIndex=len(cells))
    agent.say(
        "The notebook ends with open questions. The first one can be answered: a cell for it."
    )
    asked = agent.must("jupyter_insert_cell", source=QUESTION, referenceCellId=cells[-1]["id"])
    agent.must("jupyter_run_cells", cellIds=[asked["id"]])
    agent.say("Round the figure: one exact replacement, no need to send the cell again.")
    agent.must(
        "jupyter_update_cell",
        cellId=asked["id"],
        edits=[{"oldText": "{share:.3%}", "newText": "{share:.0%}"}],
    )
    ran = agent.must("jupyter_run_cells", cellIds=[asked["id"]])
    answer = output_text(ran["cells"][0]["outputs"][0]).strip()
    agent.say("Write the finding down where the person reads it.")
    note = agent.must(
        "jupyter_insert_cell",
        cellType="markdown",
        source=f"**Found by the agent:** {answer}",
        referenceCellId=asked["id"],
    )
    agent.must("jupyter_run_cells", cellIds=[note["id"]])
    return str(cells[-1]["id"])


def _mend(agent: Agent) -> None:
    agent.say("Another notebook is said to fail. Where?")
    agent.must("jupyter_open_notebook", path="fix-me.ipynb")
    agent.settled("jupyter_run_cells", startIndex=0)
    [broken] = agent.must("jupyter_get_cells", only="error")["cells"]
    agent.say("A day without a count is an empty field. Mend it, and run the cell again.")
    agent.must("jupyter_update_cell", cellId=broken["id"], edits=[MEND])
    agent.must("jupyter_run_cells", cellIds=[broken["id"]])
    agent.must("jupyter_save_notebook", notebookPath="fix-me.ipynb")
