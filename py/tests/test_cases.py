"""Public bug reports of other notebook tools as cases: what an agent gets of such notebooks here.

The notebooks lie in `cases`; each stands for a kind of fault, named after the report it comes from.
"""

from __future__ import annotations

import base64
import copy
import json
import re
from typing import Any

import case_files
import pytest
from desk import Desk
from pywebmcp import envelope, jsontext
from pywebmcp.testing import code, stream

CASES = case_files.folder()
READ = "jupyter_read_output"
LIMIT = 40_000


def case(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((CASES / f"{name}.ipynb").read_text("utf-8"))
    return content


async def desk_of(name: str) -> Desk:
    desk = Desk(files={"case.ipynb": case(name)})
    await desk.open("case.ipynb")
    return desk


async def whole(desk: Desk, tool: str, **arguments: Any) -> dict[str, Any]:
    """The envelope of an answer, whose text is strict JSON and within the limit."""
    text = await desk.server.call(tool, arguments)
    text.encode("utf-8")
    answer: dict[str, Any] = json.loads(text, parse_constant=pytest.fail)
    assert jsontext.length(answer["content"][0]["text"]) <= LIMIT
    return answer


# datalayer/jupyter-mcp-server#200: a plot as a hundred thousand characters of base64


async def test_a_plot_is_an_image_and_never_base64_in_a_text() -> None:
    desk = await desk_of("bound-01-huge-png")
    cells = (await whole(desk, "jupyter_get_cells", cellIds=["pic"], includeOutputs=True))[
        "content"
    ]
    assert "mean=0.51" in cells[0]["text"]
    assert "image/png data" in cells[0]["text"]
    assert not re.search(r"[A-Za-z0-9+/]{200}", cells[0]["text"])
    outputs = case("bound-01-huge-png")["cells"][0]["outputs"]
    [index] = [at for at, each in enumerate(outputs) if "image/png" in each.get("data", {})]
    answer = await whole(desk, READ, cellId="pic", outputIndex=index)
    stored = base64.b64decode("".join(outputs[index]["data"]["image/png"]))
    assert base64.b64decode(answer["content"][1]["data"]) == stored
    assert not re.search(r"[A-Za-z0-9+/]{200}", answer["content"][0]["text"])


# microsoft/vscode#314367: every output called too big


async def test_a_result_is_cut_only_when_its_json_is_too_long() -> None:
    desk = await desk_of("bound-03-limit-edge")
    [tiny] = (await desk.ok("jupyter_get_cells", cellIds=["tiny"], includeOutputs=True))["cells"]
    assert tiny["outputs"] == [stream("8\n")]
    for name in ("over", "quotes"):
        answer = await whole(desk, "jupyter_get_cells", cellIds=[name], includeOutputs=True)
        assert answer["structuredContent"]["truncated"] is True


async def test_around_the_limit_whole_becomes_cut_once() -> None:
    cut = []
    for size in range(39_700, 40_001, 3):
        desk = Desk(code("x", "a", outputs=[stream("y" * size)]))
        await desk.open()
        answer = await whole(desk, "jupyter_get_cells", includeOutputs=True)
        payload = answer["structuredContent"]
        [output] = payload["cells"][0]["outputs"]
        assert (len(output["text"]) < size) == ("truncated" in payload)
        cut.append("truncated" in payload)
    assert cut == sorted(cut)
    assert cut[0] is False
    assert cut[-1] is True


# jupyter/notebook#2680: a lone surrogate broke the encoding


async def test_lone_surrogates_are_read_and_an_edit_elsewhere_keeps_them() -> None:
    desk = await desk_of("uni-01-lone-surrogate")
    for name in ("lone", "err"):
        answer = await whole(desk, READ, cellId=name, outputIndex=0)
        assert "menu" in str(answer) or "byte" in str(answer)
    edits = [{"oldText": "label", "newText": "name"}]
    await desk.ok("jupyter_update_cell", cellId="src", edits=edits)
    assert desk.sources("case.ipynb")[2] == "name = 'x\udcffy'"


# jupyterlab and nbformat: cells without ids


async def test_cells_without_ids_have_names_that_last() -> None:
    desk = await desk_of("fmt-01-missing-ids")
    first, second = [await desk.ok("jupyter_get_cells") for _ in range(2)]
    names = [cell["id"] for cell in first["cells"]]
    assert names == [cell["id"] for cell in second["cells"]]
    assert len(set(names)) == 3
    before = desk.sources("case.ipynb")
    expected = first["cells"][2]["sourceHash"]
    await desk.ok(
        "jupyter_update_cell", cellId=names[2], source="x = 2", expectedSourceHash=expected
    )
    assert desk.sources("case.ipynb") == [*before[:2], "x = 2"]
    closed = await desk.ok("jupyter_get_cells", notebookPath="case.ipynb")
    assert [cell["id"] for cell in closed["cells"]] == names


async def test_an_id_that_is_there_is_kept() -> None:
    desk = await desk_of("fmt-01-missing-ids.v45")
    cells = (await desk.ok("jupyter_get_cells"))["cells"]
    assert cells[0]["id"] == "first"
    assert cells[1]["id"] not in ("first", "", None)


# nbformat: transient data, missing and null counts


async def test_counts_that_are_missing_are_unknown_and_outputs_without_one_are_read() -> None:
    desk = await desk_of("fmt-02-transient-counts")
    cells = (await desk.ok("jupyter_get_cells", includeOutputs=True))["cells"]
    counts = {cell["id"]: cell.get("executionCount") for cell in cells}
    assert counts == {"trans": 1, "nocount": None, "gone": 3, "nullrun": None, "nullresult": None}
    assert "transient" not in json.dumps(cells)
    read = await desk.ok(READ, cellId="nullrun", outputIndex=0)
    assert read["stream"]["data"] == "ran before\n"
    result = await desk.ok(READ, cellId="nullresult", outputIndex=0)
    assert result["selected"]["data"] == "42"
    assert "execution_count" not in result
    assert "note" not in await desk.ok(READ, cellId="nullrun")


# altair and json: NaN in stored data


async def test_not_a_number_in_a_file_is_refused_by_name() -> None:
    desk = Desk()
    await desk.open()
    desk.frontend.files.write("case.ipynb", (CASES / "fmt-03-nan-json.ipynb").read_text("utf-8"))
    payload = await desk.call("jupyter_get_cells", notebookPath="case.ipynb")
    if payload["success"]:
        json.loads(jsontext.dumps(payload), parse_constant=pytest.fail)
    else:
        assert "NaN" in payload["error"]


# datalayer/jupyter-mcp-server#304: rich results as the repr of an object


async def test_reading_every_output_of_every_case_answers_strict_json_within_the_limit() -> None:
    for path in sorted(CASES.glob("*.ipynb")):
        try:
            content = json.loads(path.read_text("utf-8"))
        except UnicodeDecodeError:
            continue
        before = copy.deepcopy(content)
        desk = Desk(files={"case.ipynb": content})
        try:
            await desk.open("case.ipynb")
        except ValueError:
            continue
        for index, cell in enumerate(content["cells"]):
            await whole(desk, READ, cellIndex=index)
            for output in range(min(len(cell.get("outputs", [])), 5)):
                answer = await whole(desk, READ, cellIndex=index, outputIndex=output)
                assert isinstance(envelope.decode(answer), dict)
        if "NaN" not in path.read_text("utf-8"):
            assert content == before
