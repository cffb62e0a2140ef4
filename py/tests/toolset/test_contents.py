"""jupyter_get_contents and jupyter_write_file: pages, guards, nothing half written."""

from __future__ import annotations

import json

import pytest
from desk import Desk
from pywebmcp import jsontext
from pywebmcp.settings import Settings
from pywebmcp.testing import notebook
from pywebmcp.toolset.contents import content_hash


async def test_a_folder_lists_its_entries_without_bodies() -> None:
    desk = Desk("x", files={"data.csv": "a,b\n1,2\n", "sub/deep/n.txt": "n"}, folders=["empty"])
    entries = (await desk.ok("jupyter_get_contents"))["entries"]
    assert [(entry["name"], entry["type"]) for entry in entries] == [
        ("a.ipynb", "notebook"),
        ("data.csv", "file"),
        ("empty", "directory"),
        ("sub", "directory"),
    ]
    assert entries[1]["size"] == 8
    assert set(entries[1]) == {"name", "path", "type", "size", "modified"}


async def test_a_folder_by_its_path_and_recursively() -> None:
    desk = Desk(files={"sub/deep/n.txt": "n", "sub/m.txt": "m"})
    inside = (await desk.ok("jupyter_get_contents", path="sub"))["entries"]
    assert [entry["path"] for entry in inside] == ["sub/deep", "sub/m.txt"]
    everything = (await desk.ok("jupyter_get_contents", recursive=True))["entries"]
    assert [entry["path"] for entry in everything] == [
        "a.ipynb",
        "sub",
        "sub/deep",
        "sub/m.txt",
        "sub/deep/n.txt",
    ]


async def test_a_large_folder_comes_in_pages() -> None:
    files = {f"f{number:04}.txt": "x" for number in range(300)}
    desk = Desk(files=files, settings=Settings(max_result_length=4000))
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await desk.ok("jupyter_get_contents", offset=offset)
        assert jsontext.length(jsontext.dumps(page)) <= 4000
        names += [entry["name"] for entry in page["entries"]]
        offset = page.get("nextOffset")
    assert names == ["a.ipynb", *files]
    limited = await desk.ok("jupyter_get_contents", offset=1, limit=2)
    assert [entry["name"] for entry in limited["entries"]] == ["f0000.txt", "f0001.txt"]
    assert limited["total"] == 301


async def test_a_text_file_comes_whole_with_its_hash() -> None:
    desk = Desk(files={"data.csv": "a,b\n1,ä\n"})
    answer = await desk.ok("jupyter_get_contents", path="data.csv")
    assert answer["content"] == "a,b\n1,ä\n"
    assert answer["contentHash"] == content_hash("a,b\n1,ä\n")
    assert "nextOffset" not in answer


@pytest.mark.parametrize(
    "text", ["x" * 100_000, '"' * 50_000, "😀" * 30_000, "\x00\n" * 9 + "y" * 50_000]
)
async def test_a_long_text_comes_in_pages_that_join_to_the_whole(text: str) -> None:
    text = text.replace("\x00", "\x01")
    desk = Desk(files={"long.txt": text})
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await desk.ok("jupyter_get_contents", path="long.txt", offset=offset)
        assert jsontext.length(jsontext.dumps(page)) <= 40_000
        assert "truncated" not in page
        pieces.append(page["content"])
        offset = page.get("nextOffset")
    assert "".join(pieces) == text
    assert len(pieces) > 1


async def test_a_window_of_a_text() -> None:
    desk = Desk(files={"t.txt": "0123456789"})
    page = await desk.ok("jupyter_get_contents", path="t.txt", offset=3, limit=4)
    assert page["content"] == "3456"
    assert (page["nextOffset"], page["totalCharacters"]) == (7, 10)
    await desk.fail("INVALID_ARGUMENT", "jupyter_get_contents", path="t.txt", offset=11)


async def test_what_is_no_text_says_what_it_is() -> None:
    desk = Desk("x", files={"blob.bin": "\x00\x01"})
    binary = await desk.ok("jupyter_get_contents", path="blob.bin")
    assert binary["type"] == "file"
    assert binary["size"] == 2
    assert "binary" in binary["message"]
    book = await desk.ok("jupyter_get_contents", path="a.ipynb")
    assert "jupyter_get_cells" in book["message"]
    assert "content" not in book


@pytest.mark.parametrize(
    ("path", "code"),
    [("no.txt", "FILE_NOT_FOUND"), ("../x", "INVALID_PATH"), ("/x", "INVALID_PATH")],
)
async def test_reading_refused(path: str, code: str) -> None:
    await Desk().fail(code, "jupyter_get_contents", path=path)


async def test_write_creates_a_file_and_its_folders() -> None:
    desk = Desk()
    answer = await desk.ok("jupyter_write_file", path="new/deep/t.txt", content="hello\n")
    assert answer == {"success": True, "contentHash": content_hash("hello\n")}
    assert await desk.frontend.read_text("new/deep/t.txt") == "hello\n"


async def test_an_existing_file_is_replaced_only_with_its_hash() -> None:
    desk = Desk(files={"t.txt": "one"})
    refused = await desk.fail("PATH_EXISTS", "jupyter_write_file", path="t.txt", content="two")
    assert refused["contentHash"] == content_hash("one")
    stale = await desk.fail(
        "STALE_FILE", "jupyter_write_file", path="t.txt", content="two", expectedHash="0123456789"
    )
    assert stale["contentHash"] == content_hash("one")
    assert await desk.frontend.read_text("t.txt") == "one"
    await desk.ok(
        "jupyter_write_file", path="t.txt", content="two", expectedHash=content_hash("one")
    )
    assert await desk.frontend.read_text("t.txt") == "two"


async def test_a_hash_for_a_file_that_is_gone_is_stale() -> None:
    desk = Desk()
    await desk.fail(
        "STALE_FILE", "jupyter_write_file", path="t.txt", content="x", expectedHash="0123456789"
    )
    assert await desk.frontend.entry("t.txt") is None


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../t.txt", "INVALID_PATH"),
        ("/t.txt", "INVALID_PATH"),
        ("a\\t.txt", "INVALID_PATH"),
        ("", "INVALID_PATH"),
        ("b.ipynb", "INVALID_PATH"),
        ("B.IPYNB", "INVALID_PATH"),
        ("folder", "INVALID_PATH"),
        ("t.txt/below.txt", "INVALID_PATH"),
        ("blob.bin", "PATH_EXISTS"),
    ],
)
async def test_writing_refused_changes_nothing(path: str, code: str) -> None:
    desk = Desk(files={"t.txt": "one", "blob.bin": "\x00"}, folders=["folder"])
    before = await desk.ok("jupyter_get_contents", recursive=True)
    await desk.fail(code, "jupyter_write_file", path=path, content="two")
    assert await desk.ok("jupyter_get_contents", recursive=True) == before


async def test_a_document_open_with_unsaved_changes_is_left_alone() -> None:
    desk = Desk(files={"t.txt": "one"})
    desk.person.open("t.txt")
    desk.frontend.texts["t.txt"] = True
    refused = await desk.fail(
        "STALE_FILE",
        "jupyter_write_file",
        path="t.txt",
        content="two",
        expectedHash=content_hash("one"),
    )
    assert "unsaved" in refused["error"]
    assert await desk.frontend.read_text("t.txt") == "one"


async def test_a_notebook_is_never_written_as_a_file() -> None:
    desk = Desk("x", files={"b.ipynb": notebook("y")})
    refused = await desk.fail("INVALID_PATH", "jupyter_write_file", path="b.ipynb", content="{}")
    assert "jupyter_open_notebook" in refused["error"]


async def test_five_megabytes() -> None:
    desk = Desk()
    text = json.dumps(["row"] * 700_000)
    answer = await desk.ok("jupyter_write_file", path="big.json", content=text)
    assert answer["contentHash"] == content_hash(text)
    assert await desk.frontend.read_text("big.json") == text
