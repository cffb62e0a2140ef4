"""What takes long, in the hands of a test: calls that nobody waits for yet, cells that run until they
may end, and the settings that say how long is long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from files import settled
from lab import PATIENCE, Lab

# A call that is on its way stays in the page: what has become of it is a state to wait for.
_BEGIN = """async ([key, name, input, limit, aborted]) => {
    const tool = (await document.modelContext.getTools()).find((tool) => tool.name === name);
    const text = typeof tool.inputSchema === "string";
    const controller = new AbortController();
    if (aborted) controller.abort();
    const call = { abort: () => controller.abort(), late: false };
    (globalThis.begunCalls ??= {})[key] = call;
    const timer = setTimeout(() => { call.late = true; }, (limit + 2) * 1000);
    document.modelContext
        .executeTool(tool, text ? JSON.stringify(input) : input, { signal: controller.signal })
        .then((raw) => { call.raw = raw; }, (error) => { call.error = error.name; })
        .finally(() => { clearTimeout(timer); call.settled = true; });
}"""
_SETTINGS = """async ([values]) => {
    const settings = await pywebmcp.tokens.settings.load("pywebmcp:plugin");
    for (const [name, value] of Object.entries(values)) {
        await (value === null ? settings.remove(name) : settings.set(name, value));
    }
    return settings.composite.executionTimeout;
}"""
_HOLD = """(name) => new Promise((held) => navigator.locks.request(name, () => {
    held();
    return new Promise((release) => { (globalThis.gates ??= {})[name] = release; });
}))"""
_ARRIVED = """async ([name, limit]) => {
    const end = performance.now() + limit;
    for (;;) {
        const { pending } = await navigator.locks.query();
        if (pending.some((lock) => lock.name === name)) return;
        if (performance.now() > end) throw new Error(`nothing waits at ${name}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}"""
_RELEASE = """() => {
    for (const release of Object.values(globalThis.gates ?? {})) release();
    globalThis.gates = {};
}"""


class Begun:
    """A call on its way, made as an agent in the page makes it."""

    _made = 0

    def __init__(
        self, lab: Lab, name: str, arguments: dict[str, Any], *, aborted: bool = False
    ) -> None:
        Begun._made += 1
        self._lab = lab
        self._key = f"call {Begun._made}"
        self._name = name
        limit = configure(lab)
        lab.page.evaluate(_BEGIN, [self._key, name, arguments, limit, aborted])

    def abort(self) -> None:
        """Stop waiting, as the agent's person can."""
        self._lab.page.evaluate("(key) => begunCalls[key].abort()", self._key)

    @property
    def settled(self) -> bool:
        """Whether the agent has an answer."""
        return bool(self._state()["settled"])

    def error(self) -> str:
        """The name of the exception that the agent got in the place of an answer."""
        self._wait()
        return str(self._state()["error"])

    def answer(self) -> Any:
        """The payload, once it is there; a call that comes late fails the test."""
        self._wait()
        state = self._state()
        assert not state["late"], f"{self._name} took longer than the time limit and 2 s"
        return json.loads(state["raw"])["structuredContent"]

    def _wait(self) -> None:
        self._lab.until(f"begunCalls[{json.dumps(self._key)}].settled")

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._lab.page.evaluate(
            "(key) => ({...begunCalls[key]})", self._key
        )
        return {"settled": False, "raw": None, "error": None, **state}


def begin(lab: Lab, name: str, **arguments: Any) -> Begun:
    """Call a tool and do not wait for the answer."""
    return Begun(lab, name, arguments)


def ask(lab: Lab, name: str, **arguments: Any) -> Any:
    """Call a tool and wait for its payload, not longer than a call may take."""
    return Begun(lab, name, arguments).answer()


def result(lab: Lab, pending_id: str) -> Any:
    """The final result of a call that went on in the background."""
    return settled(lab, ask(lab, "jupyter_wait_for_result", pendingId=pending_id))


def pending(lab: Lab) -> dict[str, dict[str, Any]]:
    """The calls that the context lists, by their ids."""
    return {each["pendingId"]: each for each in lab.must("jupyter_get_context")["pending"]}


def listed(lab: Lab, field: str) -> dict[str, Any]:
    """The one call that the context lists with this field, once there is one."""
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        found = [each for each in pending(lab).values() if field in each]
        if found:
            [entry] = found
            return entry
        assert time.monotonic() < deadline, f"no pending call has {field}"


def configure(lab: Lab, **values: Any) -> float:
    """Change settings as the Settings Editor does (None: back to the default); the time limit."""
    return float(lab.page.evaluate(_SETTINGS, [values]))


@contextmanager
def settings(lab: Lab, **values: Any) -> Iterator[None]:
    """Other settings for as long as the block runs."""
    configure(lab, **values)
    try:
        yield
    finally:
        configure(lab, **dict.fromkeys(values))


_CELLS = """(sources) => {
    const { sharedModel } = pywebmcp.tokens.tracker.currentWidget.content.model;
    sharedModel.transact(() => {
        sharedModel.deleteCellRange(0, sharedModel.cells.length);
        sharedModel.insertCells(0, sources.map((source, index) => ({
            cell_type: "code", source, id: "abcdef"[index], metadata: {},
        })));
    });
}"""


def cells(lab: Lab, *sources: str) -> None:
    """Let the current notebook have these code cells, with the ids a, b, c, ..."""
    lab.page.evaluate(_CELLS, sources)


def outputs(lab: Lab, index: int) -> list[dict[str, Any]]:
    """The outputs of a cell, as the person sees them."""
    found: list[dict[str, Any]] = lab.js(
        "nb.model.sharedModel.getCell(argument).getOutputs()", index
    )
    return found


# --- gates: a cell waits at one, in its worker, until the test opens it


def shut(lab: Lab, name: str) -> str:
    """Shut a gate; the line of Python that waits at it."""
    lab.page.evaluate(_HOLD, name)
    return f"await __import__('js').navigator.locks.request({name!r}, lambda lock: None)"


def at_gate(lab: Lab, gate: str = "gate") -> str:
    """The source of a cell that prints, waits at a gate, and prints again."""
    return f"print('so far')\n{shut(lab, gate)}\nprint('end')"


def arrived(lab: Lab, name: str) -> None:
    """Wait until code stands at the gate."""
    # Not `Lab.until`: Playwright takes a promise for true.
    lab.page.evaluate(_ARRIVED, [name, PATIENCE])


def open_gates(lab: Lab) -> None:
    """Let everything go on."""
    lab.page.evaluate(_RELEASE)
