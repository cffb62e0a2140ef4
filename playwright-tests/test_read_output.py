"""Outputs read from the live notebook: images as images, text in pages, what changed since."""

from __future__ import annotations

import base64
import json
from typing import Any

import case_files
import pytest
from files import close_all, kernels, outcome, put, put_and_open, saved, sketch, tabs
from lab import Lab
from pywebmcp import jsontext
from pywebmcp.testing import code, stream

READ = "jupyter_read_output"
CASES = case_files.folder()

# Draws a PNG without any library: two stripes.
DRAW = """
import struct, zlib
from IPython.display import Image, display

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

rows = b"".join(b"\\0" + (b"\\x20\\x60\\xc0" if y < 20 else b"\\xf0\\xa0\\x30") * 60 for y in range(40))
png = (b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60, 40, 8, 2, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
display(Image(data=png))
"""

# Whether the page's own decoder takes it: [width, height].
DECODE = """async ([data, type]) => {
    const bytes = Uint8Array.from(atob(data), (each) => each.codePointAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type }));
    return [image.width, image.height];
}"""


@pytest.fixture(autouse=True)
def _nothing_open(lab: Lab) -> None:
    close_all(lab)


def case(name: str) -> dict[str, Any]:
    """A notebook of a public bug report, made to get no kernel."""
    content: dict[str, Any] = json.loads((CASES / f"{name}.ipynb").read_text())
    content["metadata"] = sketch()["metadata"]
    return content


def envelope(lab: Lab, **arguments: Any) -> dict[str, Any]:
    """The whole answer of the tool, as a client gets it."""
    answer: dict[str, Any] = json.loads(lab.raw(READ, arguments))
    return answer


def images(answer: dict[str, Any]) -> list[dict[str, str]]:
    return [block for block in answer["content"] if block["type"] == "image"]


def test_a_figure_that_a_cell_drew_is_an_image(lab: Lab) -> None:
    lab.must("jupyter_open_notebook", path="drawn.ipynb", create=True)
    lab.until_kernel()
    cell = lab.must("jupyter_insert_cell", source=DRAW)["id"]
    run = outcome(lab, "jupyter_run_cells", cellIds=[cell])
    word = run["cells"][0]["outputs"][0]["data"]["image/png"]
    assert word.endswith("jupyter_read_output shows it]")
    [entry] = lab.must(READ, cellId=cell)["outputs"]
    assert "image/png" in entry["available_mime_types"]
    answer = envelope(lab, cellId=cell, outputIndex=0)
    [image] = images(answer)
    assert lab.page.evaluate(DECODE, [image["data"], image["mimeType"]]) == [60, 40]
    assert image["data"] not in answer["content"][0]["text"]
    size = len(base64.b64decode(image["data"]))
    assert answer["structuredContent"]["selected"]["bytes"] == size


def test_rich_results_are_read_in_the_form_that_says_most(lab: Lab) -> None:
    put_and_open(lab, "rich.ipynb", case("out-03-rich-mime"))
    read = {
        name: lab.must(READ, cellId=name, outputIndex=0)
        for name in ("md", "latex", "json", "html", "frame")
    }
    assert "2.4 %" in read["md"]["selected"]["data"]
    assert "\\frac" in read["latex"]["selected"]["data"]
    assert read["latex"]["selected"]["mime_type"] == "text/latex"
    assert read["json"]["selected"]["data"] == {"rows": 3, "ok": True}
    assert "Oslo" in read["html"]["selected"]["data"]
    assert read["frame"]["selected"]["data"] == "   city   n\n0  Oslo  41"
    assert set(read["frame"]["available_mime_types"]) == {"text/html", "text/plain"}
    html = lab.must(READ, cellId="frame", outputIndex=0, mimeType="text/html")
    assert html["selected"]["data"].startswith("<table>")


def test_only_whole_images_are_handed_on(lab: Lab) -> None:
    put_and_open(lab, "zoo.ipynb", case("out-07-image-zoo"))
    for name in ("wrapped", "listed"):
        [image] = images(envelope(lab, cellId=name, outputIndex=0))
        width, height = lab.page.evaluate(DECODE, [image["data"], image["mimeType"]])
        assert width > 0
        assert height > 0
    for name in ("badb64", "cut", "liar", "datauri", "empty"):
        answer = envelope(lab, cellId=name, outputIndex=0)
        assert images(answer) == [], name
        assert answer["structuredContent"]["problem"], name
        assert answer["structuredContent"]["selected"]["mime_type"] == "text/plain"
    svg = lab.must(READ, cellId="svg", outputIndex=0, mimeType="image/svg+xml")["selected"]
    assert svg["data"].startswith("<svg")
    assert "legend" in svg["data"]


def test_a_chart_of_megabytes_is_a_summary_and_pages(lab: Lab) -> None:
    content = case("out-05-plotly-only")
    put_and_open(lab, "plotly.ipynb", content)
    [output] = content["cells"][0]["outputs"]
    [(mime_type, bundle)] = output["data"].items()
    summary = lab.must(READ, cellId="fig", outputIndex=0)
    assert jsontext.length(summary) <= 40_000
    assert summary["selected"]["mime_type"] == mime_type
    assert summary["note"]
    joined, offset = "", 0
    while offset is not None:
        page = lab.must(READ, cellId="fig", outputIndex=0, mimeType=mime_type, offset=offset)
        assert jsontext.length(page) <= 40_000
        joined += page["selected"]["data"]
        offset = page["selected"].get("next_offset")
    assert json.loads(joined) == bundle


def test_saved_outputs_outlast_edits_and_say_so(lab: Lab) -> None:
    put_and_open(lab, "stale.ipynb", case("out-10-stale-output"))
    before = lab.must(READ, cellId="stale", outputIndex=0)
    assert before["stream"]["data"] == "total: 12\n"
    assert before["source"]["execution_count"] == 6
    assert "source_changed" not in before["source"]
    never = lab.must(READ, cellId="never")
    assert never["outputs"] == []
    assert "never run" in never["note"]
    edits = [{"oldText": "99", "newText": "100"}]
    lab.must("jupyter_update_cell", cellId="stale", edits=edits)
    after = lab.must(READ, cellId="stale", outputIndex=0)
    assert after["stream"]["data"] == "total: 12\n"
    assert after["source"]["source_changed"] is True


def test_a_flood_of_pieces_is_one_text(lab: Lab) -> None:
    put_and_open(lab, "flood.ipynb", case("perf-01-stream-flood"))
    [entry] = lab.must(READ, cellId="flood")["outputs"]
    assert entry["lines"] == 6000
    page = lab.must(READ, cellId="one", outputIndex=0, offset=700_000)["stream"]
    assert page["total_characters"] == 1_000_001
    assert page["offset"] == 700_000
    assert set(page["data"]) == {"x"}


def test_a_huge_image_is_named_in_cells_and_whole_when_asked_for(lab: Lab) -> None:
    content = case("bound-01-huge-png")
    put_and_open(lab, "huge.ipynb", content)
    [cell] = [each for each in content["cells"] if each["id"] == "pic"]
    [(index, data)] = [
        (index, output["data"]["image/png"])
        for index, output in enumerate(cell["outputs"])
        if "image/png" in output.get("data", {})
    ]
    stored = base64.b64decode("".join(data))
    text = json.dumps(lab.must("jupyter_get_cells", cellIds=["pic"], includeOutputs=True))
    assert len(text) <= 40_000
    assert "jupyter_read_output shows it" in text
    assert "mean=0.51" in text
    [image] = images(envelope(lab, cellId="pic", outputIndex=index, mimeType="image/png"))
    assert base64.b64decode(image["data"]) == stored


def test_lone_surrogates_are_read(lab: Lab) -> None:
    put_and_open(lab, "lone.ipynb", case("uni-01-lone-surrogate"))
    for name in ("lone", "err"):
        answer = lab.must(READ, cellId=name, outputIndex=0)
        jsontext.dumps(answer).encode()


def test_a_notebook_that_is_not_open_is_read_and_left_alone(lab: Lab) -> None:
    content = sketch(code("x", "a", outputs=[stream("saved\n")], execution_count=2))
    put(lab, "closed.ipynb", content)
    before = saved(lab, "closed.ipynb"), tabs(lab), kernels(lab)
    answer = lab.must(READ, notebookPath="closed.ipynb", cellId="a", outputIndex=0)
    assert answer["stream"]["data"] == "saved\n"
    assert (saved(lab, "closed.ipynb"), tabs(lab), kernels(lab)) == before


def test_reading_changes_nothing_in_an_open_notebook(lab: Lab) -> None:
    put_and_open(lab, "same.ipynb", case("out-07-image-zoo"))
    state = "JSON.stringify(nb.model.sharedModel.toJSON())"
    before = lab.js(state), lab.js("nb.model.dirty")
    for name in ("wrapped", "badb64", "svg"):
        lab.call(READ, cellId=name)
        lab.call(READ, cellId=name, outputIndex=0)
    assert (lab.js(state), lab.js("nb.model.dirty")) == before


def test_what_was_cleared_is_not_read(lab: Lab) -> None:
    content = json.loads((CASES / "out-09-clear-output.ipynb").read_text())
    put_and_open(lab, "clear.ipynb", content)
    lab.until_kernel()
    names = [each["id"] for each in content["cells"] if each["cell_type"] == "code"]
    outcome(lab, "jupyter_run_cells", cellIds=names, stopOnError=False)
    shown = {
        each["id"]: "".join(output.get("text", "") for output in each.get("outputs", []))
        for each in lab.must("jupyter_get_cells", cellIds=names, includeOutputs=True)["cells"]
    }
    for name in names:
        listed = lab.must(READ, cellId=name)["outputs"]
        read = "".join(
            lab.must(READ, cellId=name, outputIndex=entry["output_index"])["stream"]["data"]
            for entry in listed
        )
        assert read == shown[name]
    everything = "".join(shown.values())
    assert "pass 4" in everything
    assert "pass 3" not in everything
    assert "gone" not in everything
    assert "left" in everything
