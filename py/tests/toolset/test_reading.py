"""jupyter_get_cells: pages, searches, filters, files that are not open."""

from __future__ import annotations

import json

import pytest
from desk import Desk
from pywebmcp import jsontext
from pywebmcp.edits import source_hash
from pywebmcp.settings import Settings
from pywebmcp.testing import code, error, markdown, notebook, raw, result, stream

FAILED = error("NameError", "name 'y' is not defined")


async def read(desk: Desk, **arguments: object) -> list[dict[str, object]]:
    return (await desk.ok("jupyter_get_cells", **arguments))["cells"]


async def test_a_cell_shows_what_the_caller_cannot_know() -> None:
    desk = Desk(code("x = 1", "a", execution_count=3), markdown("# T", "b"), raw("r", "c"))
    await desk.open()
    assert await read(desk) == [
        {
            "id": "a",
            "index": 0,
            "type": "code",
            "sourceHash": source_hash("x = 1"),
            "executionCount": 3,
            "source": "x = 1",
        },
        {
            "id": "b",
            "index": 1,
            "type": "markdown",
            "sourceHash": source_hash("# T"),
            "source": "# T",
        },
        {"id": "c", "index": 2, "type": "raw", "sourceHash": source_hash("r"), "source": "r"},
    ]


async def test_outputs_come_when_asked_for() -> None:
    desk = Desk(code("x", "a", outputs=[stream("1\n"), stream("2\n")]))
    await desk.open()
    assert "outputs" not in (await read(desk))[0]
    assert (await read(desk, includeOutputs=True))[0]["outputs"] == [stream("1\n2\n")]


async def test_source_can_be_left_out() -> None:
    desk = Desk("x = 1")
    await desk.open()
    assert "source" not in (await read(desk, includeSource=False))[0]


async def test_a_range_ends_before_its_end_index() -> None:
    desk = Desk(*"abcdef")
    await desk.open()
    assert [cell["source"] for cell in await read(desk, startIndex=1, endIndex=3)] == ["b", "c"]
    assert [cell["source"] for cell in await read(desk, startIndex=4, endIndex=99)] == ["e", "f"]


async def test_cells_by_id_in_the_order_asked_for() -> None:
    desk = Desk(*"abc")
    await desk.open()
    found = await read(desk, cellIds=["cell-2", "cell-0"])
    assert [cell["source"] for cell in found] == ["c", "a"]


@pytest.mark.parametrize(
    ("arguments", "code_"),
    [
        ({"cellIds": ["nope"]}, "CELL_NOT_FOUND"),
        ({"cellIds": ["@7"]}, "CELL_NOT_FOUND"),
        ({"cellIds": ["cell-0"], "startIndex": 0}, "INVALID_ARGUMENT"),
        ({"startIndex": 9}, "INVALID_ARGUMENT"),
        ({"startIndex": 1, "endIndex": 0}, "INVALID_ARGUMENT"),
        ({"startIndex": -1}, "INVALID_ARGUMENT"),
        ({"only": "raw"}, "INVALID_ARGUMENT"),
        ({"search": ""}, "INVALID_ARGUMENT"),
        ({"notebookPath": "missing.ipynb"}, "FILE_NOT_FOUND"),
        ({"notebookPath": "../a.ipynb"}, "INVALID_PATH"),
        ({"notebookPath": "data.csv"}, "NOTEBOOK_NOT_FOUND"),
        ({"notebookpath": "a.ipynb"}, "UNKNOWN_ARGUMENT"),
    ],
)
async def test_wrong_arguments(arguments: dict[str, object], code_: str) -> None:
    desk = Desk(*"ab", files={"data.csv": "a,b"})
    await desk.open()
    await desk.fail(code_, "jupyter_get_cells", **arguments)


async def test_without_a_notebook() -> None:
    await Desk("x").fail("NO_ACTIVE_NOTEBOOK", "jupyter_get_cells")


async def test_an_empty_notebook_reads_as_no_cells() -> None:
    desk = Desk()
    assert await read(desk, notebookPath="a.ipynb") == []


async def test_search_gives_the_matching_lines_whatever_their_case() -> None:
    desk = Desk("import CSV\nx = 1\ncsv.reader", markdown("nothing"), "y")
    await desk.open()
    [found] = await read(desk, search="csv")
    assert found["matches"] == [
        {"line": 0, "text": "import CSV"},
        {"line": 2, "text": "csv.reader"},
    ]
    assert found["id"] == "cell-0"
    assert "source" not in found


async def test_search_cuts_a_long_line_around_its_match() -> None:
    desk = Desk("a" * 5000 + "needle" + "b" * 5000)
    await desk.open()
    [found] = await read(desk, search="needle")
    [match] = found["matches"]  # type: ignore[misc]
    assert "needle" in match["text"]
    assert len(match["text"]) < 400


async def test_search_looks_into_outputs_when_they_are_included() -> None:
    desk = Desk(code("x", "a", outputs=[stream("one\nneedle here\n")]))
    await desk.open()
    assert await read(desk, search="needle") == []
    [found] = await read(desk, search="needle", includeOutputs=True)
    assert found["matches"] == [{"output": 0, "text": "needle here"}]


async def test_only_errors_names_the_error_of_each_failed_cell() -> None:
    desk = Desk("fine", code("y", "bad", outputs=[stream("so far\n"), FAILED]), markdown("m"))
    await desk.open()
    [found] = await read(desk, only="error")
    assert found["id"] == "bad"
    assert found["error"] == "NameError: name 'y' is not defined"


@pytest.mark.parametrize(
    ("only", "ids"), [("code", ["cell-0", "cell-2"]), ("markdown", ["cell-1"])]
)
async def test_only_a_type(only: str, ids: list[str]) -> None:
    desk = Desk("x", markdown("m"), "y")
    await desk.open()
    assert [cell["id"] for cell in await read(desk, only=only)] == ids


async def test_pages_reach_every_cell_and_fit_the_limit() -> None:
    desk = Desk(*[f"x_{n} = {n}" for n in range(1000)], settings=Settings(max_result_length=8000))
    await desk.open()
    seen: list[object] = []
    start = 0
    calls = 0
    while start is not None:
        payload = await desk.ok("jupyter_get_cells", startIndex=start)
        assert jsontext.length(jsontext.dumps(payload)) <= 8000
        assert "truncated" not in payload
        seen += [cell["source"] for cell in payload["cells"]]
        start = payload.get("nextIndex")
        calls += 1
    assert seen == [f"x_{n} = {n}" for n in range(1000)]
    assert calls > 5


async def test_named_cells_come_in_pages_by_their_place_in_the_list() -> None:
    desk = Desk(*["x" * 900 for _ in range(4)], settings=Settings(max_result_length=2500))
    await desk.open()
    names = ["cell-3", "cell-1", "cell-3", "cell-0", "cell-3"]
    seen: list[object] = []
    while names:
        payload = await desk.ok("jupyter_get_cells", cellIds=names)
        assert "truncated" not in payload
        seen += [cell["id"] for cell in payload["cells"]]
        names = names[payload["nextOffset"] :] if "nextOffset" in payload else []
    assert seen == ["cell-3", "cell-1", "cell-3", "cell-0", "cell-3"]


async def test_the_news_of_a_dialog_costs_no_cell_of_a_page() -> None:
    desk = Desk(*[f"x_{n} = {n}" for n in range(1000)])
    await desk.open()
    desk.frontend.screen.open("Title", "word " * 5000)
    seen = 0
    start: int | None = 0
    told = 0
    while start is not None:
        payload = await desk.ok("jupyter_get_cells", startIndex=start)
        assert "truncated" not in payload
        seen += len(payload["cells"])
        told += len(payload.get("dialogs", ()))
        start = payload.get("nextIndex")
    assert (seen, told) == (1000, 1)


async def test_a_filter_pages_over_all_cells() -> None:
    cells = [code("y", f"c{n}", outputs=[FAILED]) if n == 990 else f"x{n}" for n in range(1000)]
    desk = Desk(*cells)
    await desk.open()
    [found] = await read(desk, only="error")
    assert found["index"] == 990


async def test_one_cell_larger_than_a_page_is_cut_and_says_so() -> None:
    desk = Desk("x" * 100_000, "y")
    await desk.open()
    payload = await desk.ok("jupyter_get_cells")
    [cell] = payload["cells"]
    assert cell["truncated"] is True
    assert len(cell["source"]) > 35_000
    assert "characters omitted" in cell["source"]
    assert payload["nextIndex"] == 1
    assert jsontext.length(jsontext.dumps(payload)) <= 40_000


async def test_images_in_outputs_are_placeholders_not_base64() -> None:
    figure = result({"image/png": "iVBORw0KGgo" + "A" * 30_000, "text/plain": "<Figure>"})
    desk = Desk(*[code("plot()", f"c{n}", outputs=[figure]) for n in range(5)])
    await desk.open()
    payload = await desk.ok("jupyter_get_cells", includeOutputs=True)
    assert len(payload["cells"]) == 5
    text = json.dumps(payload)
    assert "AAAA" not in text
    assert "omitted image/png" in text


async def test_a_notebook_that_is_not_open_is_read_from_its_file() -> None:
    desk = Desk("x", files={"b.ipynb": notebook("y = 2", markdown("m"))})
    await desk.open()
    found = await read(desk, notebookPath="b.ipynb")
    assert [cell["source"] for cell in found] == ["y = 2", "m"]
    assert desk.frontend.notebook("b.ipynb") is None
    assert [document["path"] for document in desk.frontend.workspace()["documents"]] == ["a.ipynb"]


async def test_an_open_notebook_is_read_live_not_from_its_file() -> None:
    desk = Desk("x")
    await desk.open()
    desk.person.click(0, 1)
    desk.person.type("yz")
    assert [cell["source"] for cell in await read(desk, notebookPath="a.ipynb")] == ["xyz"]


async def test_cells_without_ids_have_addresses_that_stay_the_same() -> None:
    desk = Desk("same", "same", minor=4)
    first = await read(desk, notebookPath="a.ipynb")
    assert [cell["id"] for cell in first] == ["@0", "@1"]
    assert await read(desk, notebookPath="a.ipynb") == first
    assert [cell["index"] for cell in await read(desk, notebookPath="a.ipynb", cellIds=["@1"])] == [
        1
    ]


async def test_cells_with_one_id_show_their_position_and_the_id_they_share() -> None:
    desk = Desk(code("x", "a1"), code("y", "b2"), code("x", "a1"))
    await desk.open()
    found = await read(desk)
    assert [cell["id"] for cell in found] == ["@0", "b2", "@2"]
    assert [cell.get("duplicateId") for cell in found] == ["a1", None, "a1"]
    assert [cell["index"] for cell in await read(desk, cellIds=["@2"])] == [2]


async def test_an_id_that_several_cells_have_is_refused_with_the_candidates() -> None:
    desk = Desk(code("x", "a1"), code("y", "b2"), code("z", "a1"))
    await desk.open()
    failed = await desk.fail("INVALID_ARGUMENT", "jupyter_get_cells", cellIds=["a1"])
    assert [candidate["id"] for candidate in failed["candidates"]] == ["@0", "@2"]
    assert failed["candidates"][1]["firstLine"] == "z"


async def test_an_id_that_looks_like_a_position_is_shown_with_the_real_one() -> None:
    desk = Desk(code("x", "@2"), code("y", "b"), code("z", "c"))
    await desk.open()
    assert [cell["id"] for cell in await read(desk)] == ["@0", "b", "c"]
    assert [cell["source"] for cell in await read(desk, cellIds=["@2"])] == ["z"]


async def test_more_matches_than_fit_are_counted() -> None:
    desk = Desk("\n".join(f"x = {n}" for n in range(5000)))
    await desk.open()
    [found] = await read(desk, search="x = ")
    assert len(found["matches"]) > 500  # type: ignore[arg-type]
    assert found["moreMatches"] == 5000 - len(found["matches"])  # type: ignore[arg-type]


async def test_a_search_does_not_cross_lines() -> None:
    desk = Desk("a\nb")
    await desk.open()
    await desk.fail("INVALID_ARGUMENT", "jupyter_get_cells", search="a\nb")


async def test_a_match_in_an_output_has_its_stored_index() -> None:
    outputs = [stream("a\n"), stream("b\n"), result({"text/plain": "needle"})]
    desk = Desk(code("x", "a", outputs=outputs))
    await desk.open()
    [found] = await read(desk, search="needle", includeOutputs=True)
    assert found["matches"] == [{"output": 2, "text": "needle"}]


async def test_failed_cells_as_markdown_have_their_error() -> None:
    desk = Desk(code("y", "bad", outputs=[FAILED]))
    await desk.open()
    payload = await desk.ok("jupyter_get_cells", only="error", format="markdown")
    assert "```error\nNameError: name 'y' is not defined\n```" in payload["markdown"]


async def test_the_same_in_a_file_that_is_not_open() -> None:
    desk = Desk(code("x", "a1"), code("y", "a1"))
    failed = await desk.fail(
        "INVALID_ARGUMENT", "jupyter_get_cells", notebookPath="a.ipynb", cellIds=["a1"]
    )
    assert [candidate["id"] for candidate in failed["candidates"]] == ["@0", "@1"]
    [cell] = await read(desk, notebookPath="a.ipynb", cellIds=["@1"])
    assert cell["source"] == "y"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"nbformat": 3, "worksheets": []}, "nbformat 3"),
        ({"nbformat": 4}, "no list of cells"),
        ({"cells": []}, "no nbformat"),
    ],
)
async def test_files_that_are_no_nbformat_4(content: dict[str, object], words: str) -> None:
    desk = Desk(files={"old.ipynb": content})
    failed = await desk.fail("NOTEBOOK_READ_FAILED", "jupyter_get_cells", notebookPath="old.ipynb")
    assert words in failed["error"]


async def test_a_file_is_read_as_untrusted() -> None:
    content = notebook()
    content["cells"] = [
        {"cell_type": "code", "id": "a", "source": ["x\n", "y"], "outputs": "none"},
        {"cell_type": 3, "id": 4, "source": None, "metadata": []},
        "no cell",
        {
            "cell_type": "code",
            "source": "z",
            "metadata": {},
            "execution_count": "7",
            "outputs": [1],
        },
    ]
    desk = Desk(files={"odd.ipynb": content})
    found = await read(desk, notebookPath="odd.ipynb", includeOutputs=True)
    assert found[0]["source"] == "x\ny"
    assert [cell["id"] for cell in found] == ["a", "@1", "@2"]


async def test_line_ends_read_as_lf_and_other_separators_stay() -> None:
    desk = Desk("a\r\nb\rc", "p\x0cq\u2028r")
    found = await read(desk, notebookPath="a.ipynb")
    assert [cell["source"] for cell in found] == ["a\nb\nc", "p\x0cq\u2028r"]


async def test_a_lone_surrogate_reads_as_valid_json() -> None:
    desk = Desk("s = '\ud83d'")
    await desk.open()
    envelope_text = await desk.server.call("jupyter_get_cells", {})
    assert envelope_text.encode()
    assert json.loads(envelope_text)["structuredContent"]["cells"][0]["source"] == "s = '\ud83d'"


async def test_a_folded_source_is_shown_and_marked() -> None:
    desk = Desk(code("secret()", "a", metadata={"jupyter": {"source_hidden": True}}))
    await desk.open()
    [cell] = await read(desk)
    assert cell["source"] == "secret()"
    assert cell["sourceHidden"] is True


async def test_a_cell_that_cannot_be_edited_says_so() -> None:
    desk = Desk(code("x", "a", metadata={"editable": False}))
    await desk.open()
    assert (await read(desk))[0]["access"] == "read"


async def test_markdown_carries_ids_and_fences_longer_than_what_they_hold() -> None:
    desk = Desk(
        markdown("# Title\n\ntext", "m"),
        code("print('```')", "c", outputs=[stream("one\ntwo\n"), FAILED], execution_count=2),
        raw("r", "r"),
    )
    await desk.open()
    text = (await desk.ok("jupyter_get_cells", format="markdown", includeOutputs=True))["markdown"]
    assert f"<!-- id=m markdown hash={source_hash('# Title' + chr(10) * 2 + 'text')} -->" in text
    assert "# Title\n\ntext" in text
    assert "````python\nprint('```')\n````" in text
    assert "```output\none\ntwo\n```" in text
    assert "run=2" in text
    assert "```raw\nr\n```" in text


async def test_markdown_pages_too() -> None:
    desk = Desk(*["x" * 700] * 10, settings=Settings(max_result_length=3000))
    await desk.open()
    payload = await desk.ok("jupyter_get_cells", format="markdown")
    assert payload["nextIndex"] == payload["markdown"].count("<!-- id=")
    assert payload["cellCount"] == 10


async def test_a_search_as_markdown() -> None:
    desk = Desk("one\nneedle")
    await desk.open()
    payload = await desk.ok("jupyter_get_cells", format="markdown", search="needle")
    assert payload["markdown"] == "<!-- id=cell-0 code -->\n1: needle"
