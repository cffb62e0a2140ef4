"""jupyter_read_output: directories, pages, images, structured data, what is broken."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import pytest
from desk import Desk
from pywebmcp import envelope, jsontext, outputs
from pywebmcp.settings import Settings
from pywebmcp.testing import code, error, markdown, notebook, result, stream

READ = "jupyter_read_output"


def png(width: int = 2, height: int = 2, extra: bytes = b"") -> bytes:
    """A whole PNG (PNG specification 11.2)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + (chunk(b"tEXt", b"Comment\0" + extra) if extra else b"")
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def display(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


async def desk_of(*outputs: Any, count: int | None = 4, **more: Any) -> Desk:
    desk = Desk(code("x", "a", outputs=list(outputs), execution_count=count), **more)
    await desk.open()
    return desk


async def envelope_of(desk: Desk, **arguments: Any) -> dict[str, Any]:
    return envelope.unwrap(await desk.server.call(READ, {"cellId": "a", **arguments}))


async def test_a_directory_names_every_output_and_holds_no_data() -> None:
    desk = await desk_of(
        stream("one\n"),
        stream("two\nthree"),
        display({"image/png": b64(png()), "text/plain": "<Figure>"}, {"needs": 1}),
        error("KeyError", "'x'"),
        result({"text/html": "<b>1</b>"}, 4),
    )
    answer = await desk.ok(READ, cellId="a")
    del answer["success"]
    assert answer == {
        "schema_version": 1,
        "status": "ok",
        "source": {
            "kind": "notebook",
            "path": "a.ipynb",
            "cell_index": 0,
            "cell_id": "a",
            "execution_count": 4,
        },
        "outputs": [
            {
                "output_type": "stream",
                "name": "stdout",
                "output_index": 0,
                "characters": 13,
                "lines": 3,
                "pieces": 2,
            },
            {
                "output_type": "display_data",
                "available_mime_types": ["image/png", "text/plain"],
                "metadata": {"needs": 1},
                "output_index": 2,
            },
            {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "output_index": 3},
            {
                "output_type": "execute_result",
                "available_mime_types": ["text/html"],
                "execution_count": 4,
                "output_index": 4,
            },
        ],
    }


async def test_a_cell_index_does_as_well_as_an_id() -> None:
    desk = Desk("first", code("x", "a", outputs=[stream("1")]))
    await desk.open()
    answer = await desk.ok(READ, cellIndex=1, outputIndex=0)
    assert answer["source"]["cell_id"] == "a"
    assert answer["stream"]["data"] == "1"
    await desk.fail("CELL_NOT_FOUND", READ, cellIndex=2)
    await desk.fail("CELL_NOT_FOUND", READ, cellId="b")
    await desk.fail("INVALID_ARGUMENT", READ)
    await desk.fail("INVALID_ARGUMENT", READ, cellId="a", cellIndex=1)


async def test_no_output_has_a_reason() -> None:
    desk = Desk(code("1", "never"), code("1", "nothing", execution_count=3), markdown("m", "text"))
    await desk.open()
    notes = [(await desk.ok(READ, cellId=name))["note"] for name in ("never", "nothing", "text")]
    assert notes == [
        "The cell was never run: it has no output.",
        "The cell was run and put nothing out.",
        "A markdown cell has no outputs.",
    ]
    failed = await desk.fail("OUTPUT_NOT_FOUND", READ, cellId="never", outputIndex=0)
    assert "never run" in failed["error"]


async def test_an_output_that_is_not_there() -> None:
    desk = await desk_of(stream("a"), stream("b"), error("E", ""))
    failed = await desk.fail("OUTPUT_NOT_FOUND", READ, cellId="a", outputIndex=3)
    assert "it has 3" in failed["error"]


async def test_any_piece_of_a_stream_is_the_whole_of_it() -> None:
    desk = await desk_of(stream("a"), stream("b"), stream("e", "stderr"), stream("c"))
    for index, whole in ((0, "ab"), (1, "ab"), (2, "e"), (3, "c")):
        answer = await desk.ok(READ, cellId="a", outputIndex=index)
        assert answer["stream"]["data"] == whole
        assert answer["source"]["output_index"] == index


async def test_six_thousand_pieces_are_one_entry() -> None:
    desk = await desk_of(*(stream(f"tick {number}\n") for number in range(6000)))
    [entry] = (await desk.ok(READ, cellId="a"))["outputs"]
    assert (entry["pieces"], entry["lines"]) == (6000, 6000)


async def test_text_is_as_a_terminal_shows_it() -> None:
    desk = await desk_of(
        stream("  0%\r100%\n"),
        result({"text/plain": "\x1b[31mred\x1b[0m"}),
        error("E", "v", "\x1b[31mE\x1b[0m: v"),
    )
    read = [await desk.ok(READ, cellId="a", outputIndex=index) for index in range(3)]
    assert read[0]["stream"]["data"] == "100%\n"
    assert read[1]["selected"]["data"] == "red"
    assert read[2]["error"] == {"ename": "E", "evalue": "v", "traceback": ["E: v"]}


@pytest.mark.parametrize("unit", ["x", '"', "é\n", "😀", "\ud83d"])
async def test_pages_of_a_long_text_fit_and_join(unit: str) -> None:
    whole = unit * 30_000
    desk = await desk_of(stream(whole), settings=Settings(max_result_length=5000))
    joined, offset = "", 0
    while True:
        text = await desk.server.call(READ, {"cellId": "a", "outputIndex": 0, "offset": offset})
        answer = envelope.decode(text)
        assert jsontext.length(json.dumps(answer, ensure_ascii=False)) <= 5400
        assert answer["success"] is True
        assert "truncationNote" not in answer
        part = answer["stream"]
        joined += part["data"]
        assert part["total_characters"] == len(whole)
        if "next_offset" not in part:
            break
        assert part["next_offset"] > offset
        offset = part["next_offset"]
    assert joined == whole


async def test_a_page_is_no_longer_than_asked_for() -> None:
    desk = await desk_of(stream("0123456789"))
    part = (await desk.ok(READ, cellId="a", outputIndex=0, offset=3, limit=4))["stream"]
    assert (part["data"], part["offset"], part["next_offset"]) == ("3456", 3, 7)


async def test_an_image_comes_as_an_image() -> None:
    data = png(extra=b"x" * 200_000)
    desk = await desk_of(display({"image/png": b64(data), "text/plain": "<Figure>"}))
    whole = await envelope_of(desk, outputIndex=0)
    assert whole["content"][1:] == [{"type": "image", "data": b64(data), "mimeType": "image/png"}]
    selected = whole["structuredContent"]["selected"]
    assert selected == {
        "mime_type": "image/png",
        "encoding": "base64",
        "bytes": len(data),
        "data": f"[image/png, {len(data)} bytes: in the image block]",
    }
    assert jsontext.length(whole["content"][0]["text"]) < 1000


async def test_an_image_comes_whatever_copies_of_the_payload_a_site_sends() -> None:
    for mode in ("full", "text", "structured"):
        desk = await desk_of(display({"image/png": b64(png())}), settings=Settings(envelope=mode))
        whole = await envelope_of(desk, outputIndex=0)
        assert [each["type"] for each in whole["content"]][-1] == "image"


async def test_base64_in_lines_is_an_image() -> None:
    lines = base64.encodebytes(png(30, 30)).decode()
    desk = await desk_of(display({"image/png": lines.splitlines(keepends=True)}))
    whole = await envelope_of(desk, outputIndex=0)
    assert base64.b64decode(whole["content"][1]["data"]) == png(30, 30)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ("iVBORw0KGg*", "base64"),
        (b64(png()[:40]), "breaks off"),
        (b64(b"<html>"), "begin"),
        ("", "image/png"),
        ("data:image/png;base64,AAAA", "base64"),
    ],
)
async def test_a_broken_image_gives_its_text_and_says_what_is_wrong(data: str, word: str) -> None:
    desk = await desk_of(display({"image/png": data, "text/plain": "<Figure>"}), stream("next"))
    whole = await envelope_of(desk, outputIndex=0)
    answer = whole["structuredContent"]
    assert len(whole["content"]) == 1
    assert answer["selected"]["data"] == "<Figure>"
    assert word in answer["problem"]
    failed = await desk.fail(
        "OUTPUT_DATA_INVALID", READ, cellId="a", outputIndex=0, mimeType="image/png"
    )
    assert word in failed["error"]
    assert (await desk.ok(READ, cellId="a", outputIndex=1))["stream"]["data"] == "next"


@pytest.mark.parametrize("data", [None, 5, "image/png", [], ["image/png"]])
async def test_a_bundle_that_is_none_is_an_error_of_the_protocol(data: Any) -> None:
    desk = await desk_of({"output_type": "display_data", "data": data, "metadata": {}})
    for more in ({}, {"mimeType": "image/png"}, {"offset": 1}):
        await desk.fail("OUTPUT_DATA_INVALID", READ, cellId="a", outputIndex=0, **more)
    [entry] = (await desk.ok(READ, cellId="a"))["outputs"]
    assert "problem" in entry


async def test_a_broken_image_alone_is_an_error() -> None:
    desk = await desk_of(display({"image/png": "***"}))
    await desk.fail("OUTPUT_DATA_INVALID", READ, cellId="a", outputIndex=0)


async def test_an_image_that_no_model_takes_is_refused_with_its_size() -> None:
    huge = png(extra=b"x" * 4_000_000)
    desk = await desk_of(display({"image/png": b64(huge)}))
    failed = await desk.fail("OUTPUT_TOO_LARGE", READ, cellId="a", outputIndex=0)
    assert failed["bytes"] == len(huge)


@pytest.mark.parametrize(
    ("data", "chosen"),
    [
        ({"text/plain": "   a\n0  1", "text/html": "<table>"}, "text/plain"),
        ({"text/plain": "<pkg.Thing object at 0x7f00>", "text/html": "<p>"}, "text/html"),
        ({"text/plain": "<IPython.core.display.JSON object>", "application/json": 1},
         "application/json"),
        ({"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "# m"},
         "text/markdown"),
        ({"text/html": "<b>"}, "text/html"),
        ({"text/latex": "$x$"}, "text/latex"),
        ({"image/svg+xml": "<svg/>", "text/plain": "<SVG>"}, "image/svg+xml"),
        ({"image/svg+xml": "<svg/>"}, "image/svg+xml"),
        ({"application/geo+json": {}, "application/json": {}}, "application/json"),
    ],
)  # fmt: skip
async def test_the_form_an_agent_reads_best(data: dict[str, Any], chosen: str) -> None:
    desk = await desk_of(display(data))
    answer = await desk.ok(READ, cellId="a", outputIndex=0)
    assert answer["selected"]["mime_type"] == chosen
    assert set(answer["available_mime_types"]) == set(data)


async def test_a_form_that_was_asked_for_is_the_one_or_an_error() -> None:
    desk = await desk_of(display({"text/plain": "p", "text/html": "<b>", "application/pdf": "x"}))
    html = await desk.ok(READ, cellId="a", outputIndex=0, mimeType="text/html")
    assert html["selected"]["data"] == "<b>"
    await desk.fail("MIME_NOT_FOUND", READ, cellId="a", outputIndex=0, mimeType="image/png")
    await desk.fail(
        "MIME_NOT_SUPPORTED", READ, cellId="a", outputIndex=0, mimeType="application/pdf"
    )


async def test_a_stream_has_no_mime_types() -> None:
    desk = await desk_of(stream("x"), error("E", "v"))
    for index in (0, 1):
        await desk.fail(
            "MIME_NOT_APPLICABLE", READ, cellId="a", outputIndex=index, mimeType="text/plain"
        )


async def test_a_chart_too_long_for_one_answer_is_read_in_pages() -> None:
    figure = {"data": [{"x": list(range(20_000)), "name": "é"}], "layout": {"title": "t"}}
    mime_type = "application/vnd.plotly.v1+json"
    desk = await desk_of(display({mime_type: figure}))
    summary = await desk.ok(READ, cellId="a", outputIndex=0)
    assert summary["selected"]["keys"] == ["data", "layout"]
    assert "page" in summary["note"]
    total = summary["selected"]["total_characters"]
    joined, offset = "", 0
    while offset is not None:
        page = await desk.ok(
            READ, cellId="a", outputIndex=0, mimeType=mime_type, offset=offset, limit=100_000
        )
        assert jsontext.length(page) <= 40_000
        joined += page["selected"]["data"]
        offset = page["selected"].get("next_offset")
    assert len(joined) == total
    assert json.loads(joined) == figure


async def test_short_structured_data_stays_structured() -> None:
    desk = await desk_of(display({"application/json": {"rows": 3}}, {"application/json": {"e": 0}}))
    answer = await desk.ok(READ, cellId="a", outputIndex=0)
    assert answer["selected"] == {
        "mime_type": "application/json",
        "encoding": "json",
        "bytes": 10,
        "data": {"rows": 3},
    }
    assert answer["metadata"] == {"application/json": {"e": 0}}


async def test_an_edit_since_the_run_is_told() -> None:
    desk = await desk_of(stream("total: 12"))
    assert "source_changed" not in (await desk.ok(READ, cellId="a"))["source"]
    await desk.ok("jupyter_update_cell", cellId="a", edits=[{"oldText": "x", "newText": "y"}])
    listed = await desk.ok(READ, cellId="a")
    assert listed["source"]["source_changed"] is True
    assert "changed since" in listed["note"]
    read = await desk.ok(READ, cellId="a", outputIndex=0)
    assert read["source"]["source_changed"] is True
    assert read["stream"]["data"] == "total: 12"


async def test_a_notebook_that_is_not_open_is_read_from_its_file() -> None:
    desk = Desk(
        "x", files={"b.ipynb": notebook(code("y", "b", outputs=[stream("saved")]), minor=5)}
    )
    await desk.open()
    answer = await desk.ok(READ, notebookPath="b.ipynb", cellId="b", outputIndex=0)
    assert answer["stream"]["data"] == "saved"
    assert desk.frontend.notebook("b.ipynb") is None
    await desk.fail("FILE_NOT_FOUND", READ, notebookPath="c.ipynb", cellId="b")
    await desk.fail("CELL_NOT_FOUND", READ, notebookPath="b.ipynb", cellIndex=1)


async def test_outputs_that_nbformat_forbids_are_shown_as_problems() -> None:
    desk = await desk_of(
        "oops",
        display({"text/plain": 7}),
        {"output_type": "display_data", "data": "no"},
        stream("ok"),
    )
    entries = (await desk.ok(READ, cellId="a"))["outputs"]
    assert [entry["output_index"] for entry in entries] == [0, 1, 2, 3]
    assert "problem" in entries[0]
    assert "problem" in entries[2]
    for index in (0, 1, 2):
        payload = await desk.call(READ, cellId="a", outputIndex=index)
        assert payload["code"].startswith("OUTPUT_"), payload
    assert (await desk.ok(READ, cellId="a", outputIndex=3))["stream"]["data"] == "ok"


async def test_a_long_directory_comes_in_pages() -> None:
    desk = await desk_of(
        *(display({"text/plain": str(n), "text/html": "<b>"}) for n in range(400)),
        settings=Settings(max_result_length=4000),
    )
    seen, offset = [], 0
    while offset is not None:
        page = await desk.ok(READ, cellId="a", offset=offset)
        assert "truncated" not in page
        seen += [entry["output_index"] for entry in page["outputs"]]
        offset = page.get("next_offset")
    assert seen == list(range(400))


async def test_cells_name_the_tool_that_shows_their_image() -> None:
    desk = await desk_of(display({"image/png": b64(png())}))
    [cell] = (await desk.ok("jupyter_get_cells", includeOutputs=True))["cells"]
    size = len(b64(png()))
    expected = f"[omitted image/png data, {size} characters; jupyter_read_output shows it]"
    assert cell["outputs"][0]["data"]["image/png"] == expected


async def test_a_page_costs_what_it_shows_and_not_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Progress that was printed piece by piece must not stop the page for every look at it."""
    calls = []
    for name in ("list_outputs", "read_output"):
        work = getattr(outputs, name)
        monkeypatch.setattr(
            outputs, name, lambda *a, work=work, **more: calls.append(1) or work(*a, **more)
        )
    one = await desk_of(*(stream(f"{i}\n") for i in range(3000)))
    assert (await one.ok(READ, cellId="a", outputIndex=0))["stream"]["data"].startswith("0\n1\n")
    assert len(calls) < 10
    calls.clear()
    many = await desk_of(*(stream("x", ("stdout", "stderr")[i % 2]) for i in range(3000)))
    answer = await many.ok(READ, cellId="a")
    assert answer["next_offset"] == len(answer["outputs"])
    assert len(calls) == len(answer["outputs"]) + 1


@pytest.mark.parametrize("bad", [None, 5, [5], {}])
async def test_a_piece_of_a_stream_that_is_no_text_is_an_error(bad: Any) -> None:
    desk = await desk_of(stream("a"), {"output_type": "stream", "name": "stdout", "text": bad})
    await desk.fail("OUTPUT_DATA_INVALID", READ, cellId="a", outputIndex=0)
