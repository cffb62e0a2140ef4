import contextlib

import pytest
from pywebmcp.outputs.percent import AmbiguousMarkerError, script_cells

HEADER = """\
# -*- coding: utf-8 -*-
# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
# ---

"""


def cells(text):
    return [(each.cell_type, each.sources[0]) for each in script_cells(text)]


def test_cells_lie_between_markers_and_know_their_lines():
    text = "# %%\na = 1\n\n# %% A title\n\nb = 2\n\nc = 3\n\n\n#%%\n# %%%% deeper\nd\n"
    assert cells(text) == [
        ("code", "a = 1"),
        ("code", "\nb = 2\n\nc = 3"),
        ("code", ""),
        ("code", "d"),
    ]
    assert [each.lines for each in script_cells(text)] == [(2, 2), (6, 8), None, (13, 13)]


def test_a_header_is_no_cell_but_its_lines_count():
    found = script_cells(HEADER + "# %%\na = 1\n")
    assert [each.sources for each in found] == [("a = 1",)]
    assert found[0].lines == (9, 9)


def test_a_header_that_does_not_end_is_text():
    assert cells("# ---\nx\n\n# %%\na\n")[0] == ("code", "# ---\nx")
    assert cells("# ---\n# x\n") == [("code", "# ---\n# x")]


def test_text_before_the_first_marker_is_a_cell():
    found = script_cells("import os\n\n# %%\na\n")
    assert [each.sources[0] for each in found] == ["import os", "a"]
    assert found[0].lines == (1, 1)
    assert cells("\n\n# %%\na\n") == [("code", "a")]
    assert cells("#!/usr/bin/env python\n\n# %%\na\n")[0] == ("code", "#!/usr/bin/env python")


def test_without_markers_all_is_one_cell_and_nothing_is_none():
    (cell,) = script_cells("a = 1\n\nb = 2\n")
    assert cell.sources == ("a = 1\n\nb = 2",)
    assert cell.lines is None
    assert script_cells("") == script_cells("\n \n") == script_cells(HEADER) == []


@pytest.mark.parametrize(
    ("marker", "cell_type"),
    [
        ("# %% [markdown]", "markdown"),
        ("# %% [md]", "markdown"),
        ("# %% Title [markdown]", "markdown"),
        ("# %% [markdown] Title", "markdown"),
        ("# %% Title[raw]", "raw"),
        ("# %% [code]", "code"),
        ("# %% data[0] [1]", "code"),
        ('# %% t="[markdown]"', "code"),
        ("# In[3]:", "code"),
        ("# <codecell>", "code"),
        ("#\t%%\tx", "code"),
        ("  # %%", "code"),
    ],
)
def test_a_marker_names_the_type(marker, cell_type):
    assert cells(f"{marker}\n# a\n") == [(cell_type, "# a" if cell_type == "code" else "a")]


@pytest.mark.parametrize("line", ["# %%time", '# %%id="a"', "# %%%", "x # %%", "#", "## %%"])
def test_what_only_looks_like_a_marker_is_text(line):
    assert len(script_cells(f"# %%\n{line}\nx\n")) == 1


@pytest.mark.parametrize(
    ("options", "cell_id"),
    [
        ('id="i1"', "i1"),
        ("id='i1'", "i1"),
        ("id=i1", "i1"),
        ('Title tags=["a", "b"] id="i1" slideshow={"slide_type": "slide"}', "i1"),
        ('[markdown] id="i1"', "i1"),
        ('{"id": "i1", "n": 1}', "i1"),
        ('id="a\\"b\\u00e9"', 'a"bé'),
        ('title="the id=3 case"', None),
        ('cell_id="i1"', None),
        ('id=""', None),
        ("{broken", None),
        ('{"id": 5}', None),
        ("[1]", None),
    ],
)
def test_a_marker_names_the_id(options, cell_id):
    assert script_cells(f"# %% {options}\nx\n")[0].cell_id == cell_id


def test_a_marker_with_two_ids_is_ambiguous():
    with pytest.raises(AmbiguousMarkerError):
        script_cells('# %% id="a" id="b"\n')


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("# # Title\n#\n# text", "# Title\n\ntext"),
        ("#no blank\nno sign", "no blank\nno sign"),
        ("#   indented", "  indented"),
        ('"""\nhi\n\nthere\n"""', "hi\n\nthere"),
        ("'''\n# hi\n'''", "# hi"),
        ('r"""\n$\\frac$\n"""', "$\\frac$"),
        ('"""one"""', "one"),
        ('"""\nno end', '"""\nno end'),
        ("#", ""),
        ('"""\n# %%\n"""', "# %%"),
    ],
)
@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_prose_is_in_comments_or_in_a_string(kind, body, source):
    assert cells(f"# %% [{kind}]\n{body}\n\n# %%\nx\n") == [(kind, source), ("code", "x")]


# As jupytext 1.19 writes them.
@pytest.mark.parametrize(
    ("written", "source"),
    [
        ("# %time f()", "%time f()"),
        ("# # %time f()", "# %time f()"),
        ("# # # %time f()", "# # %time f()"),
        ("# #%time", "#%time"),
        ("# %%time\nx=1", "%%time\nx=1"),
        ("# %matplotlib inline\nx", "%matplotlib inline\nx"),
        ("# !ls", "!ls"),
        ("# # !ls", "# !ls"),
        ("# !  ls", "!  ls"),
        ("# !{cmd}", "!{cmd}"),
        ("# !./run", "!./run"),
        ("if x:\n    # !ls -l\n    # %cd ..", "if x:\n    !ls -l\n    %cd .."),
        ("# x = !ls", "x = !ls"),
        ("# x = %time y", "x = %time y"),
        ("# obj?", "obj?"),
        ("# obj.attr??", "obj.attr??"),
        ("# ?obj", "?obj"),
        ("# ls -l", "ls -l"),
        ("# cd ..", "cd .."),
        ("# pip = 1", "# pip = 1"),
        ("# ls = 3", "# ls = 3"),
        ("# a comment", "# a comment"),
        ("# really, is it?", "# really, is it?"),
        ("x = 1 # %time", "x = 1 # %time"),
        ("# 5 % of it", "# 5 % of it"),
    ],
)
def test_magics_are_read_without_the_comment_sign_that_the_script_needs(written, source):
    (cell,) = script_cells(f"# %%\n{written}\n")
    assert cell.sources[0] == source
    assert cell.has_source(written)


@pytest.mark.parametrize(
    ("options", "body", "source"),
    [
        ('language="bash"', "# ls\n#\n# # pwd", "%%bash\nls\n\n# pwd"),
        ('magic_args="--out x" language="bash"', "# ls", "%%bash --out x\nls"),
        ('language="bash"', "", "%%bash"),
        ('active="ipynb"', "# a = 1\n# # c", "a = 1\n# c"),
        ('tags=["active-ipynb"]', "# a = 1", "a = 1"),
    ],
)
def test_cells_in_other_languages_are_comments_in_the_script(options, body, source):
    assert script_cells(f"# %% {options}\n{body}\n")[0].sources[0] == source


def test_a_marker_in_a_string_of_three_quotes_is_text():
    text = "# %%\ns = '''\n# %%\n'''  # it's\n\n# %%\nt = \"\"\"a\"\"\"; u = '\"\"\"'\n# %%\nx\n"
    assert len(script_cells(text)) == 3
    # One that does not end is none: the file would have no further cells.
    assert len(script_cells("# %%\ns = '''\n\n# %%\nx\n")) == 2


def test_line_ends_of_windows_and_a_byte_order_mark_are_no_text():
    text = "\ufeff# %%\r\na = 1\r\nb = 2\r\n\r\n# %%\r\nc\r\n"
    assert cells(text) == [("code", "a = 1\nb = 2"), ("code", "c")]
    assert [each.lines for each in script_cells(text)] == [(2, 3), (6, 6)]


def test_blank_lines_before_a_marker_may_be_the_cells():
    one, two, three = script_cells("# %%\na\n\n# %%\na\n\n\n\n# %%\na\n")
    assert [one.has_source(source) for source in ("a", "a\n", "b")] == [True, False, False]
    assert [two.has_source("a" + "\n" * n) for n in range(4)] == [True, True, True, False]
    assert [three.has_source(source) for source in ("a", "a\n")] == [True, False]


def test_hostile_scripts_take_linear_time():
    units = ("'''", '"""\\', "'", '# %% id="', "# %% [", "# # # ", "!", "a=", '"\\', "# %%\n")
    more = ('\\"""\n', "\\'''\n", "k=[ ", "k={ ", " k='\\", "#", "?", "? ", "%", "a.", "\t")
    for unit in (*units, *more):
        for start in ("# %%\n", "# %% ", "# %%\n# "):
            with contextlib.suppress(AmbiguousMarkerError):
                script_cells(start + unit * 30_000 + "x")


def test_a_string_that_does_not_end_hides_no_markers():
    assert cells('# %%\na = """\n# %%\nb\n') == [("code", 'a = """'), ("code", "b")]
    # Another kind of quotes, and what lies before, are strings all the same.
    text = '# %%\n"""\n# %%\n"""\n# %%\n"""\n# %%\n\'\'\'\n# %%\n\'\'\'\n'
    assert len(cells(text)) == 3


def test_options_in_brackets_may_have_blanks_and_need_an_end():
    for option in ('tags=["a b", "[raw]"]', "tags={'[raw]': 1}", 'tags="[raw]"', 'k=["x\'"] '):
        [found] = script_cells(f'# %% t {option} id="i"\nx\n')
        assert (found.cell_type, found.cell_id) == ("code", "i")
    [found] = script_cells('# %% [markdown] tags=["a id="i"\n# x\n')
    assert (found.cell_type, found.cell_id) == ("markdown", "i")


def test_a_million_blank_lines_are_not_counted_one_by_one():
    [found] = script_cells("# %%\na\n" + "\n" * 1_000_000)
    assert found.has_source("a" + "\n" * 900_000)
    assert not found.has_source("a" + "\n" * 1_000_001)
