"""Cells run through the tools on a real kernel: what comes back, and how much of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from files import outcome, put_and_open, saved
from lab import Lab
from pywebmcp import jsontext
from pywebmcp.constants import MAX_RESULT_LENGTH
from pywebmcp.testing import markdown, notebook

RICH = """\
class Shown:
    def __init__(self, **forms):
        self.forms = forms

    def __repr__(self):
        return "what is shown"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {name.replace("_", "/"): form for name, form in self.forms.items()}
"""
# The smallest PNG: one transparent pixel.
PIXEL = """\
import base64

class Pixel:
    def __repr__(self):
        return "a pixel"

    def _repr_png_(self):
        return base64.b64decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJ"
            "RU5ErkJggg=="
        )

Pixel()
"""


@pytest.fixture(scope="module", autouse=True)
def run_notebook(lab: Lab) -> None:
    put_and_open(lab, "run.ipynb", notebook("value = 20"))
    lab.until_kernel()
    outcome(lab, "jupyter_run_code", code=RICH)


def added(lab: Lab, *sources: str) -> list[str]:
    """The ids of new code cells at the end of the notebook."""
    return [lab.must("jupyter_insert_cell", source=source)["id"] for source in sources]


def run(lab: Lab, *sources: str, **arguments: Any) -> Any:
    """Run new cells; the payload."""
    return outcome(lab, "jupyter_run_cells", cellIds=added(lab, *sources), **arguments)


def outputs_of(lab: Lab, source: str) -> Any:
    payload = run(lab, source)
    assert payload["success"] is True, payload
    [cell] = payload["cells"]
    assert cell["status"] == "ok"
    return cell.get("outputs", [])


def test_the_active_cell_runs_by_default(lab: Lab) -> None:
    lab.must("jupyter_focus_cell", cellId="cell-0")
    [cell] = outcome(lab, "jupyter_run_cells")["cells"]
    assert (cell["id"], cell["status"]) == ("cell-0", "ok")
    assert cell["executionCount"] >= 1
    assert outputs_of(lab, "value + 1")[0]["data"] == {"text/plain": "21"}


def test_both_streams_and_a_result_come_in_their_order(lab: Lab) -> None:
    source = "import sys\nfor n in range(3): print(n)\nprint('e', file=sys.stderr)\nprint(3)\n4"
    assert outputs_of(lab, source) == [
        {"output_type": "stream", "name": "stdout", "text": "0\n1\n2\n"},
        {"output_type": "stream", "name": "stderr", "text": "e\n"},
        {"output_type": "stream", "name": "stdout", "text": "3\n"},
        {"output_type": "execute_result", "data": {"text/plain": "4"}},
    ]


def test_a_failing_cell_tells_its_error_and_stops_the_rest(lab: Lab) -> None:
    first, second, third = added(
        lab, "begun = 1", "def fail():\n    1 / 0\nprint('so far')\nfail()", "after = 1"
    )
    payload = outcome(lab, "jupyter_run_cells", cellIds=[first, second, third])
    assert payload["success"] is False
    assert payload["isError"] is True
    assert (payload["code"], payload["status"]) == ("EXECUTION_ERROR", "error")
    assert (payload["errorName"], payload["errorValue"]) == (
        "ZeroDivisionError",
        "division by zero",
    )
    assert payload["error"] == "ZeroDivisionError: division by zero"
    trace = "\n".join(payload["traceback"])
    assert "fail()" in trace
    assert "\x1b" not in trace
    assert [(cell["id"], cell["status"]) for cell in payload["cells"]] == [
        (first, "ok"),
        (second, "error"),
    ]
    assert payload["cells"][1]["outputs"] == [
        {"output_type": "stream", "name": "stdout", "text": "so far\n"}
    ]
    assert payload["notRun"] == [third]
    assert outputs_of(lab, "'after' in globals()")[0]["data"] == {"text/plain": "False"}
    [failed] = lab.must("jupyter_get_cells", only="error")["cells"]
    assert (failed["id"], failed["error"]) == (second, payload["error"])


def test_the_rest_runs_after_a_failing_cell_when_asked_to(lab: Lab) -> None:
    payload = run(lab, "unknown_name", "print('went on')", stopOnError=False)
    assert (payload["success"], payload["errorName"]) == (False, "NameError")
    assert [cell["status"] for cell in payload["cells"]] == ["error", "ok"]
    assert payload["cells"][1]["outputs"][0]["text"] == "went on\n"


def test_a_syntax_error_and_an_exception_without_words(lab: Lab) -> None:
    payload = run(lab, "1 +")
    assert (payload["code"], payload["errorName"]) == ("EXECUTION_ERROR", "SyntaxError")
    payload = run(lab, "raise RuntimeError")
    assert (payload["errorName"], payload["errorValue"]) == ("RuntimeError", "")
    assert payload["error"] == "RuntimeError"


def test_markdown_raw_and_empty_cells_run_as_nothing(lab: Lab) -> None:
    text = lab.must("jupyter_insert_cell", cellType="markdown", source="*text*")["id"]
    raw = lab.must("jupyter_insert_cell", cellType="raw", source="raw")["id"]
    [empty] = added(lab, "")
    payload = outcome(lab, "jupyter_run_cells", cellIds=[text, raw, empty])
    assert payload["success"] is True
    assert payload["cells"] == [{"id": each, "status": "ok"} for each in (text, raw, empty)]


def test_a_chart_comes_as_svg_and_text(lab: Lab) -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><circle r='1'/></svg>"
    source = f"Shown(**{{'image_svg+xml': {svg!r}, 'text_plain': 'a circle'}})"
    [output] = outputs_of(lab, source)
    assert output["data"] == {"image/svg+xml": svg, "text/plain": "a circle"}


def test_a_large_chart_gives_way_to_its_text(lab: Lab) -> None:
    source = "Shown(**{'image_svg+xml': '<svg>' + ' ' * 3000 + '</svg>', 'text_plain': 'big'})"
    [output] = outputs_of(lab, source)
    assert output["data"]["text/plain"] == "big"
    assert output["data"]["image/svg+xml"] == (
        "[omitted image/svg+xml data, 3011 characters; see text/plain]"
    )
    # Only the answer is without it.
    lab.must("jupyter_save_notebook")
    last = saved(lab, "run.ipynb")["cells"][-1]
    assert len("".join(last["outputs"][0]["data"]["image/svg+xml"])) == 3011


def test_an_html_table_comes_with_its_text(lab: Lab) -> None:
    table = "<table><tr><td>1</td></tr></table>"
    [output] = outputs_of(lab, f"Shown(text_html={table!r}, text_plain='1')")
    assert output["data"] == {"text/html": table, "text/plain": "1"}


def test_a_png_is_a_placeholder(lab: Lab) -> None:
    [output] = outputs_of(lab, PIXEL)
    assert output["data"]["text/plain"] == "a pixel"
    png = output["data"]["image/png"]
    assert png.startswith("[omitted image/png data, ")
    assert "jupyter_read_output shows it" in png


def test_colours_and_progress_bars_come_as_the_screen_shows_them(lab: Lab) -> None:
    source = r"print('\x1b[31mred\x1b[0m')" + "\nfor n in range(3): print(n, end='\\r')\nprint()"
    [output] = outputs_of(lab, source)
    assert output["text"] == "red\n2\n"


def bounded(lab: Lab, source: str) -> Any:
    """Run a cell with too much output; the payload, which is cut, valid, and says where."""
    raw = lab.raw("jupyter_run_cells", {"cellIds": added(lab, source)})
    payload = json.loads(raw)["structuredContent"]
    if payload.get("status") == "pending":
        payload = outcome(lab, "jupyter_wait_for_result", pendingId=payload["pendingId"])
    assert payload["success"] is True, str(payload)[:2000]
    assert jsontext.length(jsontext.dumps(payload)) <= MAX_RESULT_LENGTH
    assert payload["truncated"] is True
    assert "truncation" in payload["truncationNote"]
    [cut] = payload["truncation"]
    assert cut["path"] == "cells[0].outputs[0].text"
    return payload


def test_100000_lines_of_output_are_bounded(lab: Lab) -> None:
    payload = bounded(lab, "print('\\n'.join(map(str, range(100_000))))")
    [output] = payload["cells"][0]["outputs"]
    assert output["text"].startswith("0\n1\n2\n")
    assert output["text"].endswith("\n99998\n99999\n")
    whole = sum(len(str(n)) + 1 for n in range(100_000))
    [cut] = payload["truncation"]
    marker = f"\n[... {cut['omittedCharacters']} characters omitted ...]\n"
    assert marker in output["text"]
    assert len(output["text"]) - len(marker) + cut["omittedCharacters"] == whole
    assert lab.must("jupyter_get_context")["notebook"]["path"] == "run.ipynb"


def test_lines_printed_one_by_one_are_one_output(lab: Lab) -> None:
    [output] = outputs_of(lab, "for n in range(300): print(n)")
    assert output["text"] == "".join(f"{n}\n" for n in range(300))


def test_5_megabytes_of_output_are_bounded(lab: Lab) -> None:
    payload = bounded(lab, "print('😀' * 1_250_000 + 'é' * 2_500_000)")
    [output] = payload["cells"][0]["outputs"]
    assert output["text"].startswith("😀😀")
    assert output["text"].endswith("éé\n")
    # The page and its tools go on.
    assert outputs_of(lab, "value + 2")[0]["data"] == {"text/plain": "22"}
    cells = lab.must("jupyter_get_cells", includeOutputs=True, includeSource=False)
    assert jsontext.length(jsontext.dumps(cells)) <= MAX_RESULT_LENGTH


def test_half_a_surrogate_pair_in_an_output_does_not_hang_the_kernel(lab: Lab) -> None:
    [output] = outputs_of(lab, "Shown(text_plain='a\\ud83d')")
    assert output["data"]["text/plain"].startswith("a")
    payload = run(lab, "print('b\\ud83d')", "'c\\ud83d'", stopOnError=False)
    assert payload["cells"][1]["outputs"][0]["data"] == {"text/plain": "'c\\ud83d'"}


def test_a_cell_that_clears_its_output_shows_the_last_of_it(lab: Lab) -> None:
    source = (
        "from IPython.display import clear_output\n"
        "for n in range(5):\n    clear_output(wait=True)\n    print(n)"
    )
    assert outputs_of(lab, source) == [{"output_type": "stream", "name": "stdout", "text": "4\n"}]


def test_a_notebook_in_the_background_runs_there(lab: Lab) -> None:
    put_and_open(lab, "front.ipynb", notebook(markdown("front")))
    lab.must("jupyter_open_notebook", path="run.ipynb", activate=False)
    payload = outcome(lab, "jupyter_run_cells", notebookPath="run.ipynb", startIndex=0, endIndex=1)
    assert [cell["status"] for cell in payload["cells"]] == ["ok"]
    assert lab.must("jupyter_get_context")["notebook"]["path"] == "front.ipynb"
    failed = lab.call("jupyter_run_cells", {"notebookPath": "run.ipynb"})
    assert failed["code"] == "INVALID_ARGUMENT"
