"""What docs/outputs.md says of the reader is so."""

import json
import re
from pathlib import Path

import pytest
import pywebmcp.outputs
from pywebmcp.mcp import roots
from pywebmcp.outputs import retention, store

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "outputs.md").read_text("utf-8")
# The modules of the reader; the store of runs and the MCP server have codes of their own.
READER = ("reading", "selection", "windows", "transport", "errors", "files", "notebook", "pairing")


def listed_in(section):
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE)


def test_the_table_has_every_code_of_the_reader():
    listed = listed_in("Failures")
    folder = ROOT / "py" / "pywebmcp" / "outputs"
    raised = {
        code
        for name in READER
        for code in re.findall(r"Code\.([A-Z_]+)", (folder / f"{name}.py").read_text("utf-8"))
    }
    assert sorted(listed) == sorted(raised)


def test_the_other_table_has_every_code_of_the_roots():
    codes = {name for name, value in vars(roots).items() if name.isupper() and name == value}
    assert sorted(listed_in("For MCP clients")) == sorted(codes)


def test_the_page_names_what_limits_the_stored_runs():
    for name in (retention.DAYS_VARIABLE, retention.MAX_RUNS_VARIABLE):
        assert f"`{name}`" in PAGE
    words = " ".join(PAGE.split())
    assert f"{retention.DAYS} days or not among the newest {retention.MAX_RUNS}" in words
    assert (
        f"{store.INLINE_CHARACTERS:,} characters of text, in at most {store.INLINE_OUTPUTS}"
        in words
    )


def test_the_page_names_every_public_name():
    public = set(pywebmcp.outputs.__all__) - {"DEFAULT_TEXT_LIMIT", "MAX_TRANSPORT_BYTES"}
    assert [name for name in public if f"    {name}, " not in PAGE] == []
    assert f"({pywebmcp.outputs.DEFAULT_TEXT_LIMIT:,};" in PAGE
    assert f"({pywebmcp.outputs.MAX_TRANSPORT_BYTES >> 20} MiB)" in PAGE


def test_the_adapter_of_the_page_works(tmp_path):
    (example,) = re.findall(r"```python\n([^`]*def show[^`]*)```", PAGE)
    names = {}
    exec(compile(example, "docs/outputs.md", "exec"), names)
    outputs = [{"output_type": "stream", "name": "stdout", "text": "caf\udce9"}]
    cell = {"cell_type": "code", "metadata": {}, "source": "", "outputs": outputs}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}))
    assert json.loads(names["show"](path, 0))["outputs"][0]["output_type"] == "stream"
    shown = names["show"](path, 0, 0)
    shown.encode()
    assert json.loads(shown)["stream"]["data"] == "caf\udce9"
    assert names["show"](path, 1).startswith("CELL_NOT_FOUND: ")


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
def test_the_json_of_the_page_is_json(block):
    if block.startswith("{"):
        assert json.loads(block)["schema_version"] == 1
    else:
        assert json.loads("{" + re.sub(r"}\n\"", '},\n"', block.strip()) + "}")
