"""What public bug reports say of saved outputs, on notebooks that show it (py/tests/cases)."""

import base64
import hashlib
import json

import case_files
import pytest
from pywebmcp.outputs import (
    OutputProtocolError,
    dumps,
    list_notebook_outputs,
    read_notebook_output,
    read_output,
    resolve_notebook_cell,
)

CASES = case_files.folder()


def read(name, cell, output=0, **wishes):
    answer = read_notebook_output(CASES / f"{name}.ipynb", cell, output, **wishes)
    assert json.loads(dumps(answer).encode(), parse_constant=pytest.fail) == answer
    return answer


def code_of(*args, **wishes):
    with pytest.raises(OutputProtocolError) as caught:
        read(*args, **wishes)
    return caught.value.code


def test_rich_results_are_read_as_what_they_are_not_as_a_repr():
    name = "out-03-rich-mime"
    assert "2.4 %" in read(name, 0)["selected"]["data"]
    assert read(name, 0)["selected"]["mime_type"] == "text/markdown"
    assert "\\frac" in read(name, 1, mime_type="text/latex")["selected"]["data"]
    with pytest.raises(OutputProtocolError, match="text/latex"):
        read(name, 1)
    answer = read(name, 2, mime_type="application/json")
    assert answer["selected"]["data"] == {"rows": 3, "ok": True}
    assert answer["metadata"] == {"application/json": {"expanded": False}}
    assert "Oslo" in read(name, 3)["selected"]["data"]
    frame = read(name, 4, supported_mime_types=["text/plain"])
    assert frame["selected"]["data"] == "   city   n\n0  Oslo  41"
    assert frame["available_mime_types"] == ["text/html", "text/plain"]


def test_a_figure_that_is_json_alone_comes_whole_or_with_its_size():
    saved = json.loads((CASES / "out-05-plotly-only.ipynb").read_text("utf-8"))
    bundle = saved["cells"][0]["outputs"][0]["data"]
    selected = read("out-05-plotly-only", 0)["selected"]
    assert selected["data"] == bundle[selected["mime_type"]]
    assert selected["bytes"] == len(dumps(selected["data"]).encode())
    assert code_of("out-05-plotly-only", 0, max_transport_bytes=40_000) == "OUTPUT_TOO_LARGE"
    directory = list_notebook_outputs(CASES / "out-05-plotly-only.ipynb", 0)
    assert len(dumps(directory)) < 1000


def test_one_broken_image_is_one_problem_and_its_text_is_still_there():
    name = "out-07-image-zoo"
    sizes = [(60, 40), (24, 16)]
    for cell, size in enumerate(sizes):
        data = base64.b64decode(read(name, cell)["selected"]["data"], validate=True)
        assert (
            int.from_bytes(data[16:20], "big"),
            int.from_bytes(data[20:24], "big"),
        ) == size
    for cell in (2, 3, 4, 5, 7):
        assert code_of(name, cell) == "OUTPUT_DATA_INVALID"
        assert read(name, cell, mime_type="text/plain")["selected"]["data"].startswith("<")
    svg = read(name, 6, mime_type="image/svg+xml")["selected"]
    assert svg["encoding"] == "utf-8"
    assert svg["data"].endswith("</svg>\r\n")


def test_the_saved_output_is_read_whatever_the_source_says_now():
    answer = read("out-10-stale-output", 0)
    assert answer["stream"]["data"] == "total: 12\n"
    assert answer["source"]["execution_count"] == 6
    never = list_notebook_outputs(CASES / "out-10-stale-output.ipynb", 1)
    assert never["outputs"] == []
    assert "execution_count" not in never["source"]


def test_a_huge_image_comes_whole_or_not_at_all():
    saved = json.loads((CASES / "bound-01-huge-png.ipynb").read_text("utf-8"))
    data = saved["cells"][0]["outputs"][1]["data"]["image/png"]
    selected = read("bound-01-huge-png", 0, 1)["selected"]
    wanted = hashlib.sha256(base64.b64decode("".join(data))).digest()
    assert hashlib.sha256(base64.b64decode(selected["data"])).digest() == wanted
    assert code_of("bound-01-huge-png", 0, 1, max_transport_bytes=40_000) == "OUTPUT_TOO_LARGE"
    directory = list_notebook_outputs(CASES / "bound-01-huge-png.ipynb", 0)
    assert len(dumps(directory)) < 1000


def fitting(length):
    """Whether a stream of so many characters fits into 40,000 bytes."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": "y" * length}]
    whole = len(dumps(read_output(outputs, 0, source={})))
    try:
        read_output(outputs, 0, source={}, max_transport_bytes=40_000)
    except OutputProtocolError:
        assert whole > 40_000
        return False
    assert whole <= 40_000
    return True


def test_what_counts_is_the_json_text_of_the_whole_answer():
    assert read("bound-03-limit-edge", 0)["stream"]["data"] == "8\n"
    quotes = {"max_transport_bytes": 40_000}
    assert code_of("bound-03-limit-edge", 2, **quotes) == "OUTPUT_TOO_LARGE"
    assert read("bound-03-limit-edge", 2, limit=10_000, **quotes)["stream"]["truncated"]
    fits = [fitting(length) for length in range(39_500, 40_101)]
    assert fits == sorted(fits, reverse=True)
    assert any(fits)
    assert not all(fits)


def test_odd_characters_survive_and_the_answer_is_still_utf8():
    assert read("uni-01-lone-surrogate", 0, 0)["stream"]["data"] == "caf\udce9 menu\n"
    assert read("uni-01-lone-surrogate", 0, 1)["stream"]["data"] == "half \ud83d and low \udc00\n"
    assert read("uni-01-lone-surrogate", 1)["error"]["evalue"] == "bad \udcff byte"
    with pytest.raises(OutputProtocolError, match="not UTF-8") as caught:
        read("uni-01-lone-surrogate.rawbytes", 0)
    assert caught.value.code == "NOTEBOOK_READ_FAILED"


def test_cells_without_ids_are_named_by_their_place():
    path = CASES / "fmt-01-missing-ids.ipynb"
    before = path.read_bytes()
    sources = [resolve_notebook_cell(path, index) for index in range(3)]
    assert [source["cell_index"] for source in sources] == [0, 1, 2]
    assert not any("cell_id" in source for source in sources)
    newer = CASES / "fmt-01-missing-ids.v45.ipynb"
    assert resolve_notebook_cell(newer, 0)["cell_id"] == "first"
    assert "cell_id" not in resolve_notebook_cell(newer, 1)
    assert path.read_bytes() == before


def test_missing_counts_are_unknown_and_what_was_shown_is_read():
    name = "fmt-02-transient-counts"
    assert read(name, 0, 0)["selected"]["data"] == "'queued'"
    assert read(name, 0, 1)["selected"]["data"] == "'b'"
    assert list_notebook_outputs(CASES / f"{name}.ipynb", 1)["outputs"] == []
    assert read(name, 2)["execution_count"] is None
    nullrun = read(name, 3)
    assert nullrun["stream"]["data"] == "ran before\n"
    assert "execution_count" not in nullrun["source"]
    assert read(name, 4)["execution_count"] is None


def test_numbers_that_json_lacks_are_named_and_hide_nothing_else():
    name = "fmt-03-nan-json"
    wish = {"mime_type": "application/vnd.vegalite.v5+json"}
    with pytest.raises(OutputProtocolError, match=r"Infinity at /data|NaN at /encoding") as caught:
        read(name, 0, **wish)
    assert caught.value.code == "OUTPUT_DATA_INVALID"
    assert read(name, 0)["selected"]["data"] == "alt.Chart(...)"
    assert list_notebook_outputs(CASES / f"{name}.ipynb", 0)["outputs"]
