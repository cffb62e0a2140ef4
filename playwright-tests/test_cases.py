"""Public bug reports of other notebook tools, in the page: formats, odd characters, floods."""

from __future__ import annotations

import json
from typing import Any

import case_files
import pytest
from files import close_all, outcome, put, put_and_open, saved, settled, sketch
from lab import Lab
from pywebmcp import jsontext

CASES = case_files.folder()
READ = "jupyter_read_output"


@pytest.fixture(autouse=True)
def _nothing_open(lab: Lab) -> None:
    close_all(lab)


def case(name: str, *, kernel: bool = False) -> dict[str, Any]:
    """A notebook of a report; without ``kernel`` it is made to get none."""
    content: dict[str, Any] = json.loads((CASES / f"{name}.ipynb").read_text("utf-8"))
    if not kernel:
        content["metadata"] = sketch()["metadata"]
    return content


def test_cells_without_ids_keep_their_names_and_get_none_in_the_file(lab: Lab) -> None:
    content = case("fmt-01-missing-ids")
    put_and_open(lab, "old.ipynb", content)
    state = "JSON.stringify([nb.model.dirty, nb.model.sharedModel.toJSON()])"
    before = lab.js(state)
    first, second = [lab.must("jupyter_get_cells")["cells"] for _ in range(2)]
    assert lab.js(state) == before
    names = [cell["id"] for cell in first]
    assert names == [cell["id"] for cell in second]
    assert len(set(names)) == 3
    lab.must(
        "jupyter_update_cell",
        cellId=names[2],
        source="x = 2",
        expectedSourceHash=first[2]["sourceHash"],
    )
    lab.must("jupyter_save_notebook")
    written = saved(lab, "old.ipynb")
    assert written["nbformat_minor"] == 4
    assert ["".join(cell["source"]) for cell in written["cells"]] == [
        "# Old file",
        "x = 1\n",
        "x = 2",
    ]
    assert all("id" not in cell for cell in written["cells"])


def test_an_id_that_is_there_is_kept(lab: Lab) -> None:
    put_and_open(lab, "half.ipynb", case("fmt-01-missing-ids.v45"))
    cells = lab.must("jupyter_get_cells")["cells"]
    assert cells[0]["id"] == "first"
    assert len({cell["id"] for cell in cells}) == 2
    closed = lab.must("jupyter_get_cells", notebookPath="half.ipynb")["cells"]
    assert closed[0]["id"] == "first"


def test_what_a_run_writes_has_counts_and_nothing_transient(lab: Lab) -> None:
    content = case("fmt-02-transient-counts", kernel=True)
    content["cells"][0]["source"] = "handle = display('queued', display_id='job-1')"
    put_and_open(lab, "counts.ipynb", content)
    lab.until_kernel()
    cells = lab.must("jupyter_get_cells", includeOutputs=True)["cells"]
    counts = {cell["id"]: cell.get("executionCount") for cell in cells}
    assert counts == {"trans": 1, "nocount": None, "gone": 3, "nullrun": None, "nullresult": None}
    assert lab.must(READ, cellId="nullrun", outputIndex=0)["stream"]["data"] == "ran before\n"
    outcome(lab, "jupyter_run_cells", cellIds=["trans"])
    lab.must("jupyter_save_notebook")
    written = {cell["id"]: cell for cell in saved(lab, "counts.ipynb")["cells"]}
    assert isinstance(written["trans"]["execution_count"], int)
    [output] = written["trans"]["outputs"]
    assert "transient" not in output
    for name in ("nullrun", "gone"):
        [before] = [cell for cell in content["cells"] if cell["id"] == name]
        assert written[name]["source"] == before["source"]
        assert [each["output_type"] for each in written[name]["outputs"]] == [
            each["output_type"] for each in before["outputs"]
        ]


def test_an_edit_beside_a_lone_surrogate_keeps_it_in_the_file(lab: Lab) -> None:
    put_and_open(lab, "lone.ipynb", case("uni-01-lone-surrogate"))
    for name in ("lone", "err"):
        jsontext.dumps(lab.must(READ, cellId=name, outputIndex=0)).encode("utf-8")
    edits = [{"oldText": "label", "newText": "name"}]
    lab.must("jupyter_update_cell", cellId="src", edits=edits)
    lab.must("jupyter_save_notebook")
    units = lab.page.evaluate(
        """async () => {
            const model = await pywebmcp.app.serviceManager.contents.get("lone.ipynb", { content: true });
            const { source } = model.content.cells.find((cell) => cell.id === "src");
            return Array.from([source].flat().join(""), (each) => each.codePointAt(0));
        }"""
    )
    assert units == [ord(each) for each in "name = 'x\udcffy'"]


def test_a_flood_of_prints_blocks_no_other_call(lab: Lab) -> None:
    content = case("perf-01-stream-flood", kernel=True)
    # Fewer than in the report: JupyterLite itself takes five milliseconds for each of them.
    content["cells"][0]["source"] = "for i in range(600): print('tick', i, flush=True)"
    content["cells"][0]["outputs"] = []
    put_and_open(lab, "flood.ipynb", content)
    lab.until_kernel()
    lab.start("jupyter_run_cells", cellIds=["flood"])
    sizes = []
    for _ in range(10):
        page = lab.must(READ, cellId="one", outputIndex=0, offset=20_000)
        sizes.append(jsontext.length(page))
    assert max(sizes) <= 40_000
    assert len(set(sizes)) == 1
    run = settled(lab, lab.finish())
    assert run["success"] is True
    [entry] = lab.must(READ, cellId="flood")["outputs"]
    assert entry["lines"] == 600
    last = lab.must(READ, cellId="flood", outputIndex=0)["stream"]["data"]
    assert last == "".join(f"tick {number}\n" for number in range(600))


def test_a_file_with_invalid_bytes_says_so_or_is_read_with_replacements(lab: Lab) -> None:
    raw = (CASES / "uni-01-lone-surrogate.rawbytes.ipynb").read_bytes()
    # As the page's storage keeps a file that was uploaded: decoded, with U+FFFD for what is wrong.
    put(lab, "raw.ipynb", json.loads(raw.decode("utf-8", "replace")))
    payload = lab.call("jupyter_get_cells", notebookPath="raw.ipynb", includeOutputs=True)
    assert payload["success"] is True
    assert "caf\ufffd" in payload["cells"][0]["outputs"][0]["text"]
