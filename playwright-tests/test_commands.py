"""All of JupyterLab's commands: found, described, run, and refused where the site says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from background import ask, configure, settings
from files import close_all, put, put_and_open, sketch, tabs
from lab import Lab
from screen import command

_REGISTERED = """async () => {
    const { commands } = pywebmcp.app;
    const attempt = (method, id, otherwise) => {
        try { return commands[method](id); } catch { return otherwise; }
    };
    // Those of the person's side are no agent's to know.
    const offered = commands.listCommands().filter((id) => !id.startsWith("pywebmcp:"));
    const found = await Promise.all(offered.map(async (id) => ({
        id,
        label: attempt("label", id, ""),
        enabled: Boolean(attempt("isEnabled", id, false)),
        properties: Object.keys((await commands.describedBy(id)).args?.properties ?? {}).sort(),
    })));
    return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}"""
_COMMANDS = """() => {
    const { commands } = pywebmcp.app;
    const { Widget } = pywebmcp.modules.widgets;
    const add = (id, execute, more = {}) => {
        commands.addCommand(`test:${id}`, { execute, ...more });
    };
    add("json", (args) => ({ args, list: [1, null, "\u00e9\ud83d"], nested: { deep: true } }));
    add("promised", async () => 42);
    add("nothing", () => undefined);
    add("null", () => null);
    add("widget", () => new Widget());
    add("list-of-widgets", () => [new Widget()]);
    add("circle", () => { const circle = {}; circle.circle = circle; return circle; });
    add("long", () => "x".repeat(100000));
    add("throws", () => { throw new Error("It went wrong."); });
    add("rejects", async () => { throw new TypeError("It went\\nwrong"); });
    add("throws-text", () => { throw "just a text"; });
    add("rejects-nothing", () => Promise.reject());
    add("off", () => "ran", { isEnabled: () => false });
    add("off-without-path", (args) => args.path, { isEnabled: (args) => Boolean(args.path) });
    add("cannot-tell", () => "ran", { isEnabled: () => { throw new Error("no"); } });
    add("label-throws", () => "ran", { label: () => { throw new Error("no label"); } });
}"""


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, "commands.ipynb", sketch("first"))
    lab.page.evaluate(_COMMANDS)


@pytest.fixture(autouse=True)
def defaults(lab: Lab) -> Iterator[None]:
    yield
    configure(lab, blockedCommands=None, maxResultLength=None)


def listed(lab: Lab, **arguments: Any) -> list[dict[str, Any]]:
    """Every command of a listing, page by page."""
    found: list[dict[str, Any]] = []
    offset = 0
    while True:
        page = ask(lab, "jupyter_list_commands", offset=offset, **arguments)
        assert page["success"] is True
        assert page["commands"]
        assert "truncated" not in page
        found += page["commands"]
        if "nextOffset" not in page:
            assert page["total"] == len(found)
            return found
        offset = page["nextOffset"]
        assert offset == len(found)


def test_paging_reaches_every_command_as_the_application_describes_it(lab: Lab) -> None:
    registered = lab.page.evaluate(_REGISTERED)
    found = listed(lab)
    assert [
        {
            "id": each["id"],
            "label": each.get("label", ""),
            "enabled": each.get("enabled", True),
            "properties": sorted(each.get("args", {}).get("properties", {})),
        }
        for each in found
    ] == registered
    assert len(found) > 350
    schemas = [each["args"] for each in found if "args" in each]
    assert len(schemas) > 100
    assert {schema["type"] for schema in schemas} == {"object"}


def test_smaller_pages_reach_the_same_commands(lab: Lab) -> None:
    whole = listed(lab)
    assert listed(lab, limit=37) == whole
    configure(lab, maxResultLength=5000)
    assert listed(lab) == whole


@pytest.mark.parametrize("query", ["run cell", "RUN Cell", "cell run", "notebook:run"])
def test_a_query_finds_words_in_ids_and_labels(lab: Lab, query: str) -> None:
    found = listed(lab, query=query)
    assert "notebook:run-cell" in {each["id"] for each in found}
    for each in found:
        text = f"{each['id']} {each.get('label', '')}".lower()
        assert all(word in text for word in query.lower().split())


def test_a_query_without_a_match_finds_nothing(lab: Lab) -> None:
    answer = ask(lab, "jupyter_list_commands", query="no such command anywhere")
    assert answer == {"success": True, "commands": [], "total": 0}


def test_a_command_acts_on_the_notebook_in_view(lab: Lab) -> None:
    assert command(lab, "notebook:insert-cell-below")["success"] is True
    assert lab.sources() == ["first", ""]
    command(lab, "notebook:delete-cell")
    assert lab.sources() == ["first"]


def test_results_that_are_json_come_back_and_others_do_not(lab: Lab) -> None:
    assert command(lab, "test:json", path="a b", n=[1, None]) == {
        "success": True,
        "result": {
            "args": {"path": "a b", "n": [1, None]},
            "list": [1, None, "é\ud83d"],
            "nested": {"deep": True},
        },
    }
    assert command(lab, "test:promised") == {"success": True, "result": 42}
    for name in ("nothing", "null", "widget", "list-of-widgets", "circle"):
        assert command(lab, f"test:{name}") == {"success": True}, name
    put(lab, "notes.txt", "text")
    opened = command(lab, "docmanager:open", path="notes.txt")
    assert opened == {"success": True}
    assert "notes.txt" in tabs(lab)


def test_a_long_result_is_bounded(lab: Lab) -> None:
    answer = command(lab, "test:long")
    assert answer["truncated"] is True
    assert answer["truncation"][0]["path"] == "result"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("throws", "It went wrong."),
        ("rejects", "TypeError: It went wrong."),
        ("throws-text", "just a text."),
        ("rejects-nothing", "no reason was given."),
    ],
)
def test_a_command_that_fails_says_why(lab: Lab, name: str, message: str) -> None:
    failed = command(lab, f"test:{name}")
    assert (failed["success"], failed["isError"]) == (False, True)
    assert failed["code"] == "COMMAND_FAILED"
    assert failed["error"] == f"test:{name} failed: {message}"


def test_a_command_of_jupyterlab_that_fails_says_why(lab: Lab) -> None:
    before = tabs(lab)
    failed = command(lab, "docmanager:open", path="missing.txt")
    assert failed["code"] == "COMMAND_FAILED"
    assert "missing.txt does not exist" in failed["error"]
    assert tabs(lab) == before


def test_a_command_that_was_not_enabled_runs_with_a_warning(lab: Lab) -> None:
    for name, args in (("off", {}), ("off-without-path", {}), ("cannot-tell", {})):
        answer = command(lab, f"test:{name}", **args)
        assert answer["success"] is True
        assert "not enabled" in answer["warning"]
    assert "warning" not in command(lab, "test:off-without-path", path="x")
    # No notebook is in view: the command may act on the last one, and its label tells nothing.
    close_all(lab)
    assert "not enabled" in command(lab, "notebook:insert-cell-below")["warning"]
    lab.must("jupyter_open_notebook", path="commands.ipynb")


@pytest.mark.parametrize("argument", ["widgetId", "semanticWidget"])
def test_a_command_can_be_meant_for_a_notebook_in_the_background(lab: Lab, argument: str) -> None:
    put_and_open(lab, "behind.ipynb", sketch("behind"))
    behind = lab.js("nb.parent.id")
    put_and_open(lab, "front.ipynb", sketch("front"))
    answer = command(lab, "notebook:insert-cell-below", **{argument: behind})
    assert answer == {"success": True}
    for path, cells in (("behind.ipynb", 2), ("front.ipynb", 1)):
        read = lab.must("jupyter_get_cells", notebookPath=path)
        assert len(read["cells"]) == cells
    failed = command(lab, "docmanager:save", **{argument: behind})
    assert failed["code"] == "INVALID_ARGUMENT"
    assert argument in failed["error"]
    close_all(lab)


def test_an_unknown_command_is_told_with_what_comes_near(lab: Lab) -> None:
    failed = command(lab, "notebook:insert-cell-belo")
    assert failed["code"] == "COMMAND_NOT_FOUND"
    assert "notebook:insert-cell-below" in failed["error"]
    assert "jupyter_list_commands" in failed["error"]


@pytest.mark.parametrize("name", ["apputils:run-first-enabled", "apputils:run-all-enabled"])
def test_commands_that_run_commands_are_blocked_from_the_start(lab: Lab, name: str) -> None:
    failed = command(lab, name, commands=["notebook:insert-cell-below"])
    assert failed["code"] == "COMMAND_BLOCKED"
    assert name in failed["error"]


def test_what_is_blocked_is_a_setting_that_holds_at_once(lab: Lab) -> None:
    put_and_open(lab, "blocked.ipynb", sketch("only"))
    with settings(lab, blockedCommands=["notebook:insert-*", "test:p?omised"]):
        for name in ("notebook:insert-cell-below", "notebook:insert-cell-above", "test:promised"):
            assert command(lab, name)["code"] == "COMMAND_BLOCKED"
        # The list is the person's own: what it does not name is not blocked.
        assert command(lab, "test:nothing")["success"] is True
        assert lab.sources() == ["only"]
    assert command(lab, "test:promised")["success"] is True
    assert command(lab, "apputils:run-all-enabled")["code"] == "COMMAND_BLOCKED"
