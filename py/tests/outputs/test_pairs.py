import json

import pytest
from pywebmcp.outputs import (
    OutputProtocolError,
    files,
    list_notebook_outputs,
    read_notebook_output,
    resolve_notebook_cell,
)


@pytest.fixture(params=["whole", "blocks"], autouse=True)
def way(request, monkeypatch):
    if request.param == "blocks":
        monkeypatch.setattr(files, "WHOLE_FILE", 0)


@pytest.fixture
def pair(tmp_path):
    """Writes a script and its notebook, of cells (source, id, type), and gives the script's path."""

    def write(script, *cells):
        path = tmp_path / "p.py"
        path.write_bytes(script if isinstance(script, bytes) else script.encode())
        (tmp_path / "p.ipynb").write_text(json.dumps(notebook(*cells)))
        return path

    return write


def notebook(*cells):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [*map(as_cell, cells)]}


def as_cell(cell):
    if not isinstance(cell, tuple):
        return cell
    source, cell_id, kind = (*cell, None, None)[:3]
    text = {"output_type": "stream", "name": "stdout", "text": source}
    new = {"cell_type": kind or "code", "source": source, "metadata": {}, "outputs": [text]}
    return new if cell_id is None else {**new, "id": cell_id}


def where(path, index):
    source = resolve_notebook_cell(path, index)
    return source["mapping"], source["cell_index"]


def code_of(call, *args):
    with pytest.raises(OutputProtocolError) as caught:
        call(*args)
    return caught.value.code


def unreliable(path, index):
    return code_of(resolve_notebook_cell, path, index) == "CELL_MAPPING_UNRELIABLE"


def test_a_shared_id_maps_wherever_the_cell_moved_and_whatever_its_text(pair):
    path = pair('# %% id="i1"\nnew\n\n# %% id="i2"\nb\n\n# %%\nc\n', ("b", "i2"), ("a", "i1"))
    assert where(path, 0) == ("id", 1)
    assert where(path, 1) == ("id", 0)
    assert resolve_notebook_cell(path, 1) == {
        "kind": "notebook",
        "path": str(path.with_suffix(".ipynb")),
        "cell_index": 0,
        "requested_path": str(path),
        "requested_cell_index": 1,
        "mapping": "id",
        "cell_id": "i2",
        "source_start_line": 5,
        "source_end_line": 5,
    }
    assert read_notebook_output(path, 1, 0)["stream"]["data"] == "b"
    assert read_notebook_output(path, 1, 0)["source"]["output_index"] == 0
    assert list_notebook_outputs(path, 1)["source"]["requested_cell_index"] == 1
    assert unreliable(path, 2)


def test_a_unique_text_maps_wherever_the_cell_moved(pair):
    path = pair("# %%\na\n\n# %%\nb\n", (["b"], "i2"), ("a", None), ("only here",))
    assert where(path, 0) == ("content", 1)
    assert where(path, 1) == ("content", 0)


def test_an_id_that_the_notebook_lacks_leaves_the_text(pair):
    path = pair('# %% id="mine"\na\n', ("a",), ("b", "i2"))
    assert where(path, 0) == ("content", 0)


@pytest.mark.parametrize(
    ("script", "cells"),
    [
        ("# %%\na\n", [("b",)]),
        ("# %%\na\n", [("a",), ("a",)]),
        ("# %%\na\n\n# %%\na\n", [("a",)]),
        ("# %%\na\n\n# %%\na\n", [("a",), ("a",)]),
        ("# %%\na\n", [("a ",)]),
        ("# %%\na\n", [("a", "i1", "raw")]),
        ("# %% [raw]\n# a\n", [("a", "i1")]),
        ('# %% id="zz"\na\n', [("a", "yy")]),
        ('# %% id="i1"\na\n\n# %% id="i1"\nb\n', [("a", "i1"), ("b", "i2")]),
        ('# %%\na\n\n# %% id="i1"\nzz\n', [("a", "i1")]),
        ("# %%\na\n", [5, None, {}, {"cell_type": "code", "source": 5}]),
        ("# %%\na\n\n\n# %%\nb\n", [("a",), ("a\n",)]),
    ],
)
def test_neither_position_nor_likeness_nor_anything_ambiguous_maps(pair, script, cells):
    assert unreliable(pair(script, *cells), 0)


def test_an_id_that_is_double_in_the_notebook_leaves_the_text(pair):
    path = pair('# %% id="i1"\na\n', ("a", "i1"), ("b", "i1"))
    assert where(path, 0) == ("content", 0)


def test_prose_and_magics_map_by_their_text(pair):
    script = "# %% [markdown]\n# # T\n\n# %%\n# %time x\n\n# %% [raw]\n# r\n"
    path = pair(script, ("# T", "m", "markdown"), ("%time x", "c"), ("r", "r", "raw"))
    assert [where(path, index) for index in range(3)] == [
        ("content", 0),
        ("content", 1),
        ("content", 2),
    ]


def test_a_comment_that_could_be_a_magic_maps_to_what_the_notebook_has(pair):
    path = pair("# %%\n# ls\n", ("# ls",))
    assert where(path, 0) == ("content", 0)
    assert unreliable(pair("# %%\n# ls\n", ("# ls",), ("ls",)), 0)


def test_mistakes_are_told_in_a_fixed_order(pair, tmp_path):
    path = pair("# %%\na\n", ("a",))
    (tmp_path / "p.ipynb").write_text("{")
    assert code_of(resolve_notebook_cell, path, 1) == "CELL_NOT_FOUND"
    assert code_of(resolve_notebook_cell, path, 0) == "NOTEBOOK_READ_FAILED"
    (tmp_path / "p.ipynb").unlink()
    assert code_of(resolve_notebook_cell, path, 1) == "CELL_NOT_FOUND"
    assert code_of(resolve_notebook_cell, path, 0) == "NOTEBOOK_PAIR_NOT_FOUND"
    (tmp_path / "p.ipynb").mkdir()
    assert code_of(resolve_notebook_cell, path, 0) == "NOTEBOOK_PAIR_NOT_FOUND"
    path.write_bytes(b"# %%\n\xff")
    assert code_of(resolve_notebook_cell, path, 0) == "NOTEBOOK_READ_FAILED"
    path.write_bytes(b'# %% id="a" id="b"\n')
    assert code_of(resolve_notebook_cell, path, 0) == "NOTEBOOK_READ_FAILED"


def test_the_notebook_may_be_a_link(pair, tmp_path):
    path = pair("# %%\na\n")
    (tmp_path / "p.ipynb").unlink()
    (tmp_path / "real.ipynb").write_text(json.dumps(notebook(("a", "i1"))))
    (tmp_path / "p.ipynb").symlink_to("real.ipynb")
    assert resolve_notebook_cell(path, 0)["path"] == str(tmp_path / "real.ipynb")


def test_reading_through_a_script_changes_and_creates_nothing(pair, tmp_path):
    path = pair('# %% id="i1"\na\n\n# %%\nb\n', ("a", "i1"), ("c",))

    def state():
        return {each: (each.stat().st_mtime_ns, each.read_bytes()) for each in tmp_path.rglob("*")}

    before = state()
    read_notebook_output(path, 0, 0)
    assert unreliable(path, 1)
    assert state() == before
