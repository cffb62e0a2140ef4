"""Random and damaged notebooks, outputs and scripts give a value or an OutputProtocolError.

PYWEBMCP_EXAMPLES=50000 tries as many of each, at random.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pywebmcp.outputs import (
    OutputProtocolError,
    dumps,
    files,
    json_reader,
    list_notebook_outputs,
    list_outputs,
    read_notebook_output,
    read_output,
    resolve_notebook_cell,
)

PNG = "iVBORw0KGgo="
MIME_TYPES = st.sampled_from(
    [
        "text/plain",
        "text/html",
        "text/latex",
        "image/png",
        "image/jpeg",
        "image/svg+xml",
        "application/json",
        "application/x+json",
        "application/pdf",
        "IMAGE/PNG",
    ]
)
texts = st.one_of(
    st.text(max_size=8), st.sampled_from(["", PNG, PNG + "\n", "\ud83d", "\ude00", "%%", "# %%"])
)
numbers = st.one_of(
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from([10**30, 1e308, True]),
    st.builds(lambda: -(10**5000)),
)
scalars = st.one_of(st.none(), numbers, texts)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
multiline = texts | st.lists(texts, max_size=3)


def usually(strategy):
    """What nbformat says, and now and then something else."""
    return st.one_of(strategy, strategy, strategy, anything)


def fields(required, **optional):
    return usually(st.fixed_dictionaries(required, optional=optional))


bundles = fields(
    {
        "output_type": st.sampled_from(["display_data", "execute_result", "pyout"]),
        "data": usually(st.dictionaries(MIME_TYPES, usually(multiline), max_size=4)),
    },
    metadata=anything,
    execution_count=anything,
    prompt_number=anything,
    png=multiline,
    json=multiline,
)
streams = fields(
    {"output_type": st.just("stream"), "text": usually(multiline)}, name=anything, stream=anything
)
errors = fields(
    {"output_type": st.sampled_from(["error", "pyerr"])},
    ename=anything,
    evalue=anything,
    traceback=usually(st.lists(texts, max_size=3)),
)
outputs = usually(st.lists(bundles | streams | errors, max_size=3))
ids = st.sampled_from(["i1", "i2", None, 5])
sources = st.sampled_from(["a = 1", "%time x", ["a\n", "b"], "", "x\n"]) | texts
cells = fields(
    {"cell_type": st.sampled_from(["code", "markdown", "heading", "raw"]), "outputs": outputs},
    source=sources,
    input=sources,
    id=ids,
    execution_count=anything,
    metadata=anything,
)
notebooks = fields(
    {"nbformat": st.sampled_from([4, 4, 3])},
    cells=usually(st.lists(cells, max_size=3)),
    worksheets=usually(st.lists(fields({"cells": st.lists(cells, max_size=2)}), max_size=2)),
    metadata=anything,
)
indices = st.sampled_from([0, 0, 0, 1, 2, -1, None, True, "0", 1.0])
wishes = st.fixed_dictionaries(
    {},
    optional={
        "mime_type": MIME_TYPES | anything,
        "supported_mime_types": st.lists(MIME_TYPES) | anything,
        "offset": st.integers(0, 3) | anything,
        "limit": st.integers(1, 3) | anything,
        "max_transport_bytes": st.integers(1, 900) | anything,
    },
)


def answered(call, *args, **kwargs):
    """A value that is UTF-8 JSON, or the code of an OutputProtocolError; all else is raised."""
    try:
        answer = call(*args, **kwargs)
    except OutputProtocolError as error:
        error.message.encode("utf-8", "surrogatepass")
        return error.code
    text = dumps(answer).encode()
    assert len(text) <= kwargs.get("max_transport_bytes", len(text))
    assert json.loads(text, parse_constant=pytest.fail) == json.loads(
        json.dumps(answer, allow_nan=False)
    )
    return answer


@given(outputs, indices, wishes, usually(st.dictionaries(texts, scalars, max_size=2)))
def test_outputs_of_any_kind(some, index, wish, source):
    answered(read_output, some, index, source=source, **wish)
    limit = {key: each for key, each in wish.items() if key == "max_transport_bytes"}
    answered(list_outputs, some, source=source, **limit)


@st.composite
def damaged(draw, texts_of):
    """A text of which pieces may be missing, double or something else."""
    data = draw(texts_of)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 9)))
        piece = draw(st.sampled_from([b"", data[start:end] * 2]) | st.binary(max_size=3))
        data = data[:start] + piece + data[end:]
    return data


@st.composite
def written(draw):
    """A notebook as one of the programs that write them does it, numbers beyond Python's as well."""
    style = draw(st.sampled_from([{"indent": 1}, {"separators": (",", ":")}, {"indent": 2}]))
    text = json.dumps(shortened(draw(notebooks)), **style)
    return text.replace(
        '"\\u0000huge"', draw(st.sampled_from(["1e999", "9" * 5000, "-1e999"]))
    ).encode()


def shortened(value):
    """Python cannot write these numbers itself."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return "\x00huge" if isinstance(value, int) and abs(value) > 10**300 else value


def both_ways(call, *args, **kwargs):
    """The answers of a file that is parsed and of one that is passed through in small blocks."""
    whole = answered(call, *args, **kwargs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "WHOLE_FILE", 0)
        patch.setattr(json_reader, "BLOCK", 5)
        return whole, answered(call, *args, **kwargs)


same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@same_folder
@given(damaged(written()), indices, indices, wishes)
def test_notebook_files_of_any_kind(tmp_path, data, cell, output, wish):
    path = tmp_path / "a.ipynb"
    path.write_bytes(data)
    for call, args, more in (
        (list_notebook_outputs, (path, cell), {}),
        (read_notebook_output, (path, cell, output), wish),
    ):
        whole, passed = both_ways(call, *args, **more)
        # A mistake in what nobody asked for is found by a parse of everything alone.
        assert passed == whole or whole == "NOTEBOOK_READ_FAILED"
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


lines = st.sampled_from(
    [
        "# %%",
        "# %% [markdown]",
        '# %% id="i1"',
        "# %% id=i2",
        "#%% t",
        "# ---",
        "",
        '"""',
        "'''",
        "a = 1",
        "# %time x",
        "%time x",
        "# a",
        "x",
        '# %% language="bash"',
        "# %% {",
        "\ufeff",
    ]
)
scripts = st.lists(lines | texts, max_size=9).map(
    lambda parts: "\n".join(parts).encode("utf-8", "surrogatepass")
)


@same_folder
@given(damaged(scripts), written(), indices)
def test_scripts_of_any_kind(tmp_path, script, notebook, index):
    path = tmp_path / "p.py"
    path.write_bytes(script)
    (tmp_path / "p.ipynb").write_bytes(notebook)
    whole, passed = both_ways(resolve_notebook_cell, path, index)
    assert passed == whole
    assert len(list(tmp_path.iterdir())) == 2
