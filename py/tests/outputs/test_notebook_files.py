import contextlib
import json
import os
import sys

import pytest
from pywebmcp.outputs import (
    OutputProtocolError,
    dumps,
    files,
    json_reader,
    list_notebook_outputs,
    read_notebook_output,
    resolve_notebook_cell,
)

PNG = "iVBORw0KGgo="
STREAM = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}


@pytest.fixture(params=["whole", "blocks"], autouse=True)
def way(request, monkeypatch):
    """Small files are parsed, large ones are passed through: both have to say the same."""
    if request.param == "blocks":
        monkeypatch.setattr(files, "WHOLE_FILE", 0)
        monkeypatch.setattr(json_reader, "BLOCK", 7)
    return request.param


@pytest.fixture
def folder(tmp_path):
    """A folder in which nothing may change until the test is over."""
    yield tmp_path
    found = tree(tmp_path)
    assert found == getattr(write, "trees", {}).get(tmp_path, found)


def tree(folder):
    return {
        each.relative_to(folder): (each.lstat().st_mtime_ns, each.is_file() and each.read_bytes())
        for each in folder.rglob("*")
    }


def write(path, content):
    if isinstance(content, dict | list):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    write.__dict__.setdefault("trees", {})[path.parent] = tree(path.parent)
    return path


def code_cell(outputs=(), **fields):
    cell = {"cell_type": "code", "metadata": {}, "source": "x", "execution_count": None}
    return {**cell, "outputs": list(outputs), **fields}


def notebook(*cells, **fields):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **fields}


def code_of(call, *args, **kwargs):
    with pytest.raises(OutputProtocolError) as caught:
        call(*args, **kwargs)
    dumps(caught.value.message).encode()
    return caught.value.code


def listed(path, index=0):
    return list_notebook_outputs(path, index)["outputs"]


def test_a_directory_and_an_output_say_where_they_come_from(folder, monkeypatch):
    bundle = {"output_type": "display_data", "metadata": {"a": 1}}
    bundle["data"] = {"image/png": PNG + "\n", "text/plain": "p"}
    cells = [code_cell(), code_cell([STREAM, bundle], id="c1", execution_count=5)]
    path = write(folder / "a.ipynb", notebook(*cells))
    source = {
        "kind": "notebook",
        "path": str(path),
        "cell_index": 1,
        "requested_path": str(path),
        "requested_cell_index": 1,
        "mapping": "direct",
        "cell_id": "c1",
        "execution_count": 5,
    }
    monkeypatch.chdir(folder)
    assert resolve_notebook_cell("a.ipynb", 1) == source
    answer = list_notebook_outputs("a.ipynb", 1)
    assert answer["source"] == source
    assert [each["output_type"] for each in answer["outputs"]] == ["stream", "display_data"]
    answer = read_notebook_output(str(path).encode(), 1, 1)
    assert answer["source"] == {**source, "output_index": 1}
    assert answer["metadata"] == {"a": 1}
    assert answer["selected"]["data"] == PNG
    assert read_notebook_output(path, 1, 0, offset=2, limit=5)["stream"]["data"] == "b"
    assert read_notebook_output(path, 1, 1, supported_mime_types=["text/plain"], offset=1)
    assert code_of(read_notebook_output, path, 1, 2) == "OUTPUT_NOT_FOUND"
    assert code_of(read_notebook_output, path, 0, 0) == "OUTPUT_NOT_FOUND"
    assert code_of(read_notebook_output, path, 1, "0") == "OUTPUT_NOT_FOUND"


def test_what_a_cell_does_not_have_is_left_out_of_the_source(folder):
    path = write(folder / "a.ipynb", notebook(code_cell([STREAM], id=5, execution_count="7")))
    source = resolve_notebook_cell(path, 0)
    assert "cell_id" not in source
    assert "execution_count" not in source


def test_cells_without_ids_are_read(folder):
    path = write(folder / "a.ipynb", notebook(code_cell([STREAM]), nbformat_minor=2))
    assert listed(path) == [
        {"output_index": 0, "output_type": "stream", "available_mime_types": [], "name": "stdout"}
    ]


def test_cells_that_cannot_have_outputs_have_none(folder):
    markdown = {"cell_type": "markdown", "metadata": {}, "source": "# t", "attachments": {"a": {}}}
    path = write(folder / "a.ipynb", notebook(markdown, {"cell_type": "raw"}))
    assert listed(path, 0) == listed(path, 1) == []


@pytest.mark.parametrize(
    "index", [-1, 1, 10**20, pytest.param(10**5000, id="5000 digits"), None, "0", 0.0, True]
)
def test_an_index_that_is_none_finds_no_cell(folder, index):
    path = write(folder / "a.ipynb", notebook(code_cell()))
    assert code_of(list_notebook_outputs, path, index) == "CELL_NOT_FOUND"
    assert code_of(read_notebook_output, path, index, 0) == "CELL_NOT_FOUND"
    assert code_of(resolve_notebook_cell, path, index) == "CELL_NOT_FOUND"
    write(folder / "a.py", "# %%\nx\n")
    assert code_of(list_notebook_outputs, folder / "a.py", index) == "CELL_NOT_FOUND"


@pytest.mark.parametrize(
    "content",
    [
        "",
        '{"cells": [',
        "[]",
        "5",
        '"cells"',
        "null",
        b"\xff\xfe\x00\x00",
        notebook(nbformat=5),
        notebook(nbformat="4"),
        notebook(nbformat=True),
        notebook(nbformat=0),
        {"nbformat": 4},
        notebook(cells=None),
        notebook(cells={"a": 1}),
        notebook(cells="text"),
        notebook("text"),
        notebook(None),
        json.dumps(notebook(code_cell())) + " x",
        '{"nbformat": 4, "cells": [{"outputs": []}}',
        {"nbformat": 3, "worksheets": 5},
        {"nbformat": 3, "worksheets": [5]},
        {"nbformat": 3, "worksheets": [{"cells": [code_cell()]}, {"cells": None}]},
        '{"nbformat": 4, "cells": ' + "[" * 10_000 + "]" * 10_000 + "}",
    ],
    ids=lambda content: repr(content)[:40],
)
def test_a_file_that_is_no_notebook_is_told(folder, content):
    path = write(folder / "a.ipynb", content)
    assert code_of(list_notebook_outputs, path, 0) == "NOTEBOOK_READ_FAILED"
    assert code_of(read_notebook_output, path, 0, 0) == "NOTEBOOK_READ_FAILED"


@pytest.mark.parametrize(
    "outputs", [None, 5, "text", {"a": 1}, ["text"], [None], [[]], [{"output_type": []}, 7]]
)
def test_outputs_that_are_none_are_invalid_data(folder, outputs):
    path = write(folder / "a.ipynb", notebook(code_cell(), {**code_cell(), "outputs": outputs}))
    assert listed(path, 0) == []
    assert code_of(list_notebook_outputs, path, 1) == "OUTPUT_DATA_INVALID"
    assert code_of(read_notebook_output, path, 1, 0) in (
        "OUTPUT_DATA_INVALID",
        "OUTPUT_TYPE_UNSUPPORTED",
    )


def test_one_broken_cell_or_output_does_not_hide_the_others(folder):
    chart = {"output_type": "display_data", "data": {"application/json": float("nan")}}
    odd = {"output_type": "display_data", "data": {"application/json": 10**4000}}
    cells = [5, code_cell([STREAM, chart, odd, {"output_type": "display_data", "data": 5}])]
    text = json.dumps(notebook(*cells)).replace("1" + "0" * 4000, "1" + "0" * 9000)
    path = write(folder / "a.ipynb", text)
    assert read_notebook_output(path, 1, 0)["stream"]["data"] == "a\nb"
    for index in (1, 2, 3):
        assert code_of(read_notebook_output, path, 1, index) == "OUTPUT_DATA_INVALID"


def test_of_a_key_that_is_there_twice_the_last_one_counts(folder):
    cell = json.dumps(code_cell([STREAM]))
    outputs = cell.replace('"outputs"', '"outputs": [], "outputs"')
    text = f'{{"cells": 5, "nbformat": 3, "cells": [], "cells": [{outputs}], "nbformat": 4}}'
    path = write(folder / "a.ipynb", text)
    assert len(listed(path)) == 1


def test_a_byte_order_mark_does_no_harm(folder):
    path = write(folder / "a.ipynb", "\ufeff" + json.dumps(notebook(code_cell([STREAM]))))
    assert len(listed(path)) == 1


def test_a_lone_surrogate_in_a_file_survives(folder):
    path = write(folder / "a.ipynb", notebook(code_cell([{**STREAM, "text": "caf\udce9"}])))
    answer = read_notebook_output(path, 0, 0)
    assert answer["stream"]["data"] == "caf\udce9"
    assert json.loads(dumps(answer).encode()) == answer


NBFORMAT_3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "old"},
    "worksheets": [
        {"metadata": {}, "cells": [{"cell_type": "heading", "level": 1, "source": ["T"]}]},
        {
            "cells": [
                {
                    "cell_type": "code",
                    "input": ["1+1"],
                    "language": "python",
                    "prompt_number": 4,
                    "outputs": [
                        {"output_type": "pyout", "prompt_number": 4, "text": ["2"]},
                        {
                            "output_type": "display_data",
                            "metadata": {"png": {"width": 5}},
                            "png": PNG,
                            "svg": "<svg/>",
                            "latex": "$x$",
                            "html": "<b>",
                            "a/b": "c",
                            "jpeg": "/9j/2Q==",
                            "javascript": "x",
                        },
                        {"output_type": "stream", "stream": "stderr", "text": ["warn\n"]},
                        {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["l"]},
                        {"output_type": "display_data", "json": ['{"a"', ": 1}"]},
                        {"output_type": "display_data", "json": "{broken"},
                        {"output_type": "display_data", "json": 5, "metadata": 5},
                        {"output_type": "unheard of"},
                        7,
                    ],
                }
            ]
        },
    ],
}


def test_a_notebook_of_nbformat_3_is_read_as_one_of_nbformat_4(folder):
    path = write(folder / "a.ipynb", {**NBFORMAT_3})
    assert resolve_notebook_cell(path, 1)["execution_count"] == 4
    assert code_of(list_notebook_outputs, path, 2) == "CELL_NOT_FOUND"
    assert code_of(list_notebook_outputs, path, 1) == "OUTPUT_DATA_INVALID"
    result = read_notebook_output(path, 1, 0)
    assert result["output_type"] == "execute_result"
    assert result["execution_count"] == 4
    assert result["selected"]["data"] == "2"
    shown = read_notebook_output(path, 1, 1)
    assert shown["available_mime_types"] == [
        "image/png",
        "image/svg+xml",
        "text/latex",
        "text/html",
        "a/b",
        "image/jpeg",
        "application/javascript",
    ]
    assert shown["metadata"] == {"image/png": {"width": 5}}
    assert read_notebook_output(path, 1, 2)["stream"]["name"] == "stderr"
    assert read_notebook_output(path, 1, 3)["error"]["traceback"] == ["l"]
    assert read_notebook_output(path, 1, 4)["selected"]["data"] == {"a": 1}
    assert read_notebook_output(path, 1, 5)["selected"]["data"] == "{broken"
    assert read_notebook_output(path, 1, 6)["selected"]["data"] == 5
    assert code_of(read_notebook_output, path, 1, 7) == "OUTPUT_TYPE_UNSUPPORTED"
    assert code_of(read_notebook_output, path, 1, 8) == "OUTPUT_DATA_INVALID"


def test_a_directory_of_nbformat_3(folder):
    sheet = NBFORMAT_3["worksheets"][1]["cells"][0]
    cell = {**sheet, "outputs": sheet["outputs"][:5]}
    path = write(folder / "a.ipynb", {"worksheets": [{"cells": [cell]}]})
    kinds = [(each["output_type"], each["available_mime_types"]) for each in listed(path)]
    assert kinds[0] == ("execute_result", ["text/plain"])
    assert kinds[1][1][:2] == ["image/png", "image/svg+xml"]
    assert kinds[2:] == [
        ("stream", []),
        ("error", []),
        ("display_data", ["application/json"]),
    ]


def test_files_that_are_not_there_or_of_another_type(folder):
    write(folder / "a.txt", "x")
    assert code_of(list_notebook_outputs, folder / "b.ipynb", 0) == "FILE_NOT_FOUND"
    assert code_of(list_notebook_outputs, folder / "b.py", 0) == "FILE_NOT_FOUND"
    assert code_of(list_notebook_outputs, folder / "b.txt", 0) == "FILE_NOT_FOUND"
    assert code_of(list_notebook_outputs, folder / "a.txt", 0) == "FILE_TYPE_UNSUPPORTED"
    assert code_of(list_notebook_outputs, folder / "a.txt", -1) == "CELL_NOT_FOUND"
    assert code_of(list_notebook_outputs, folder / "a.txt/b.ipynb", 0) == "FILE_NOT_FOUND"


@pytest.mark.parametrize(
    "path", [None, 5, "a\0.ipynb", b"\0.ipynb", "", [], object(), "\udc00\ud800.py"]
)
def test_a_path_that_is_none_is_not_found(path):
    assert code_of(list_notebook_outputs, path, 0) == "FILE_NOT_FOUND"


def test_a_folder_by_the_name_of_a_notebook_is_not_found(folder):
    for name in ("a.ipynb", "a.py"):
        (folder / name).mkdir()
        assert code_of(list_notebook_outputs, folder / name, 0) == "FILE_NOT_FOUND"


def test_a_link_is_followed_and_named_by_what_it_leads_to(folder):
    real = write(folder / "stored", notebook(code_cell([STREAM])))
    link = folder / "a.ipynb"
    link.symlink_to("stored")
    write.trees[folder] = tree(folder)
    assert resolve_notebook_cell(link, 0)["path"] == str(real)
    assert len(listed(link)) == 1


def test_a_ring_of_links_does_not_hang(folder):
    (folder / "a.ipynb").symlink_to("b.ipynb")
    (folder / "b.ipynb").symlink_to("a.ipynb")
    assert code_of(list_notebook_outputs, folder / "a.ipynb", 0) in (
        "FILE_NOT_FOUND",
        "NOTEBOOK_READ_FAILED",
    )


@pytest.mark.skipif(sys.platform == "emscripten", reason="Pyodide has no FIFOs and no /dev/zero")
def test_what_is_no_regular_file_is_not_waited_for(folder):
    os.mkfifo(folder / "a.ipynb")
    (folder / "b.ipynb").symlink_to("/dev/zero")
    os.mkfifo(folder / "c.py")
    for name in ("a.ipynb", "b.ipynb", "c.py"):
        assert code_of(list_notebook_outputs, folder / name, 0) == "FILE_NOT_FOUND"
    # tree() reads files, so that the fixture must not be asked about these.
    for name in ("a.ipynb", "b.ipynb", "c.py"):
        (folder / name).unlink()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="whoever is root may read everything"
)
def test_a_file_that_may_not_be_read_is_told(folder):
    path = write(folder / "a.ipynb", notebook())
    path.chmod(0)
    with contextlib.ExitStack() as stack:
        stack.callback(path.chmod, 0o600)
        assert code_of(list_notebook_outputs, path, 0) == "NOTEBOOK_READ_FAILED"


def test_reading_leaves_no_descriptor_open(folder):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no list of open files")
    good = write(folder / "a.ipynb", notebook(code_cell([STREAM])))
    bad = write(folder / "b.ipynb", "{")
    before = len(os.listdir("/proc/self/fd"))
    for path in (good, bad, folder):
        with contextlib.suppress(OutputProtocolError):
            read_notebook_output(path, 0, 0)
    assert len(os.listdir("/proc/self/fd")) == before
