"""Files that are not notebooks: written only where nothing is lost, read in pages, listed by name."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from background import ask, settings
from files import close_all, listing, put, put_and_open, saved, sketch, tabs
from lab import Lab
from pywebmcp.toolset.contents import content_hash

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode("ascii")
JSON_TEXT = '{"b": 1,\n\n   "a" : [1.0, 1e3],"b":2}\n\n'

_SAVE_BINARY = """([path, content]) => pywebmcp.app.serviceManager.contents.save(
    path, { type: "file", format: "base64", mimetype: "image/png", content })"""
_OPEN = """(path) => pywebmcp.app.commands.execute("docmanager:open", { path, factory: "Editor" })
    .then((widget) => widget.context.ready).then(() => null)"""
_EDITOR = """(path) => {
    const { context } = [...pywebmcp.app.shell.widgets("main")].find(
        (widget) => widget.context?.path === path
    );
    return [context.model.sharedModel.getSource(), context.model.dirty];
}"""
_SPY = """() => {
    const { contents } = pywebmcp.app.serviceManager;
    const { get } = contents;
    globalThis.bodies = [];
    contents.get = async function (path, options) {
        const model = await get.call(this, path, options);
        if (model.type !== "directory" && model.content !== null) bodies.push(path);
        return model;
    };
    globalThis.unspy = () => { contents.get = get; };
}"""
_FAIL = """(path) => {
    const { contents } = pywebmcp.app.serviceManager;
    const { save } = contents;
    contents.save = function (at, model) {
        return at === path ? Promise.reject(new Error("No space left.")) : save.call(this, at, model);
    };
    globalThis.mend = () => { contents.save = save; };
}"""


@pytest.fixture(scope="module", autouse=True)
def _notebook(lab: Lab) -> None:
    put_and_open(lab, "beside.ipynb", sketch("1"))


@pytest.fixture(autouse=True)
def nothing_open(lab: Lab) -> Iterator[None]:
    yield
    close_all(lab)


def write(lab: Lab, path: str, content: str, **arguments: Any) -> Any:
    return ask(lab, "jupyter_write_file", path=path, content=content, **arguments)


def read(lab: Lab, path: str, **arguments: Any) -> Any:
    return ask(lab, "jupyter_get_contents", path=path, **arguments)


def whole(lab: Lab, path: str, **arguments: Any) -> tuple[str, int]:
    """The text of a file, page by page, and the number of pages."""
    text, offset, pages, hashes = "", 0, 0, set()
    while True:
        page = read(lab, path, offset=offset, **arguments)
        assert page["success"] is True
        assert "truncated" not in page
        text += page["content"]
        hashes.add(page["contentHash"])
        pages += 1
        if "nextOffset" not in page:
            assert hashes == {content_hash(text)}
            return text, pages
        assert page["nextOffset"] == len(text)
        offset = page["nextOffset"]


# --- writing


def test_a_new_file_is_written_with_its_missing_folders(lab: Lab) -> None:
    text = "first\nsecond: é 😀\n"
    assert write(lab, "new/deep er/notes.txt", text) == {
        "success": True,
        "contentHash": content_hash(text),
    }
    assert saved(lab, "new/deep er/notes.txt") == text
    assert {"new", "new/deep er", "new/deep er/notes.txt"} <= set(listing(lab))
    # Beside it, in a folder that is there.
    assert write(lab, "new/deep er/other.txt", "")["success"] is True
    page = read(lab, "new/deep er/notes.txt")
    assert (page["content"], page["contentHash"]) == (text, content_hash(text))
    assert read(lab, "new/deep er/other.txt")["content"] == ""
    assert tabs(lab) == ["beside.ipynb"]


def test_a_file_that_is_there_is_replaced_only_with_the_hash_of_its_content(lab: Lab) -> None:
    put(lab, "there.txt", "old")
    exists = write(lab, "there.txt", "new")
    assert (exists["code"], exists["contentHash"]) == ("PATH_EXISTS", content_hash("old"))
    stale = write(lab, "there.txt", "new", expectedHash="0123456789")
    assert (stale["code"], stale["contentHash"]) == ("STALE_FILE", content_hash("old"))
    assert saved(lab, "there.txt") == "old"
    replaced = write(lab, "there.txt", "new", expectedHash=content_hash("old"))
    assert replaced == {"success": True, "contentHash": content_hash("new")}
    assert saved(lab, "there.txt") == "new"
    again = write(lab, "there.txt", "newer", expectedHash=content_hash("old"))
    assert again["code"] == "STALE_FILE"
    assert saved(lab, "there.txt") == "new"


def test_a_file_that_is_gone_is_not_written_with_a_hash(lab: Lab) -> None:
    failed = write(lab, "gone.txt", "new", expectedHash=content_hash("old"))
    assert failed["code"] == "STALE_FILE"
    assert "gone.txt" not in listing(lab)


def test_an_open_document_without_changes_shows_the_new_text(lab: Lab) -> None:
    put(lab, "open.txt", "old")
    lab.page.evaluate(_OPEN, "open.txt")
    write(lab, "open.txt", "new", expectedHash=content_hash("old"))
    assert lab.page.evaluate(_EDITOR, "open.txt") == ["new", False]
    lab.page.locator(".jp-FileEditor:visible .cm-content", has_text="new").wait_for()
    assert saved(lab, "open.txt") == "new"


def test_an_open_document_with_changes_is_left_alone(lab: Lab) -> None:
    put(lab, "dirty.txt", "old")
    lab.page.evaluate(_OPEN, "dirty.txt")
    lab.page.locator(".jp-FileEditor:visible .cm-content").click()
    lab.page.keyboard.press("Control+Home")
    lab.type("mine ")
    assert lab.page.evaluate(_EDITOR, "dirty.txt") == ["mine old", True]
    for arguments in ({}, {"expectedHash": content_hash("old")}):
        failed = write(lab, "dirty.txt", "new", **arguments)
        assert failed["code"] in ("STALE_FILE", "PATH_EXISTS")
    assert failed["code"] == "STALE_FILE"
    assert "unsaved" in failed["error"]
    assert saved(lab, "dirty.txt") == "old"
    assert lab.page.evaluate(_EDITOR, "dirty.txt") == ["mine old", True]
    assert lab.page.locator(".jp-Dialog").count() == 0


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../up.txt",
        "a/../../up.txt",
        "a/..",
        "/absolute.txt",
        "back\\slash.txt",
        "a//b.txt",
        "./here.txt",
        "end/",
        "",
        "line\nbreak.txt",
        "nul\0.txt",
        "note.ipynb",
        "a/NOTE.IPYNB",
    ],
)
def test_a_path_that_lands_elsewhere_is_refused(lab: Lab, path: str) -> None:
    before = listing(lab)
    failed = write(lab, path, "text")
    assert failed["code"] == "INVALID_PATH"
    assert listing(lab) == before


def test_a_folder_is_no_file_and_a_file_no_folder(lab: Lab) -> None:
    put(lab, "folder/inside.txt", "text")
    before = listing(lab)
    for path in ("folder", "folder/inside.txt/below.txt", "folder/inside.txt/far/below.txt"):
        failed = write(lab, path, "new")
        assert failed["code"] == "INVALID_PATH", path
    assert listing(lab) == before
    assert saved(lab, "folder/inside.txt") == "text"


def test_a_failure_leaves_no_folders_behind(lab: Lab) -> None:
    before = listing(lab)
    lab.page.evaluate(_FAIL, "lost/deep/notes.txt")
    try:
        failed = write(lab, "lost/deep/notes.txt", "text")
    finally:
        lab.js("mend()")
    assert failed["code"] == "INVALID_PATH"
    assert failed["error"] == '"lost/deep/notes.txt" could not be created: No space left.'
    assert listing(lab) == before
    assert write(lab, "lost/deep/notes.txt", "text")["success"] is True


def test_a_failure_keeps_the_file_that_was_there(lab: Lab) -> None:
    put(lab, "kept.txt", "old")
    lab.page.evaluate(_FAIL, "kept.txt")
    try:
        failed = write(lab, "kept.txt", "new", expectedHash=content_hash("old"))
    finally:
        lab.js("mend()")
    assert failed["code"] == "INVALID_PATH"
    assert saved(lab, "kept.txt") == "old"


def test_5_megabytes_are_written_and_read_back(lab: Lab) -> None:
    line = 'x = "é 😀\\n"\t# \u2028\n'
    text = line * (5_000_000 // len(line.encode()) + 1)
    assert write(lab, "large.txt", text)["contentHash"] == content_hash(text)
    with settings(lab, maxResultLength=1_000_000):
        found, pages = whole(lab, "large.txt")
    assert found == text
    assert pages > 3


# --- reading


def test_a_text_is_read_in_pages_that_fit(lab: Lab) -> None:
    text = "".join(f'line {number} "quoted" é😀\n' for number in range(5000))
    put(lab, "pages.txt", text)
    found, pages = whole(lab, "pages.txt")
    assert found == text
    assert pages > 2
    assert whole(lab, "pages.txt", limit=50_000) == (found, pages)
    assert read(lab, "pages.txt", offset=7, limit=5)["content"] == text[7:12]
    past = read(lab, "pages.txt", offset=len(text) + 1)
    assert past["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", ["data.json", "style.css", "script.py", "table.csv", "no-ending"])
def test_a_file_is_its_text_exactly(lab: Lab, name: str) -> None:
    assert write(lab, f"exact/{name}", JSON_TEXT)["success"] is True
    assert read(lab, f"exact/{name}")["content"] == JSON_TEXT
    newer = JSON_TEXT + " "
    write(lab, f"exact/{name}", newer, expectedHash=content_hash(JSON_TEXT))
    assert read(lab, f"exact/{name}")["content"] == newer


def test_a_file_of_the_site_itself_is_read_and_replaced(lab: Lab) -> None:
    page = read(lab, "bike-counts.csv")
    assert page["content"].startswith("date,")
    text = page["content"] + "\n"
    written = write(lab, "bike-counts.csv", text, expectedHash=page["contentHash"])
    assert written["success"] is True
    assert whole(lab, "bike-counts.csv")[0] == text


def test_a_binary_file_tells_what_it_is_and_is_not_replaced(lab: Lab) -> None:
    lab.page.evaluate(_SAVE_BINARY, ["image.png", PNG])
    found = read(lab, "image.png")
    assert found["success"] is True
    assert found["type"] == "file"
    assert found["size"] > 0
    assert "content" not in found
    assert "contentHash" not in found
    failed = write(lab, "image.png", "text")
    assert failed["code"] == "PATH_EXISTS"
    assert saved(lab, "image.png") == PNG


def test_what_is_not_a_text_file_says_so(lab: Lab) -> None:
    assert read(lab, "nowhere.txt")["code"] == "FILE_NOT_FOUND"
    assert read(lab, "nowhere/at/all.txt")["code"] == "FILE_NOT_FOUND"
    notebook = read(lab, "beside.ipynb")
    assert notebook["type"] == "notebook"
    assert "jupyter_get_cells" in notebook["message"]
    assert "content" not in notebook
    assert read(lab, "../up")["code"] == "INVALID_PATH"


# --- listing


def test_a_folder_is_listed_with_what_is_in_it(lab: Lab) -> None:
    put(lab, "list/b/inside.txt", "text")
    put(lab, "list/a.ipynb", sketch("1"))
    entries = read(lab, "list")["entries"]
    assert [(each["name"], each["path"], each["type"]) for each in entries] == [
        ("a.ipynb", "list/a.ipynb", "notebook"),
        ("b", "list/b", "directory"),
    ]
    assert "modified" in entries[0]
    deep = read(lab, "list", recursive=True)["entries"]
    assert {each["path"] for each in deep} == {"list/a.ipynb", "list/b", "list/b/inside.txt"}
    every = ask(lab, "jupyter_get_contents", recursive=True)["entries"]
    assert sorted(each["path"] for each in every) == listing(lab)


def test_a_large_folder_is_listed_in_pages(lab: Lab) -> None:
    names = [f"many/{number:03}-{'x' * 60}.txt" for number in range(60)]
    for name in names:
        put(lab, name, "")
    with settings(lab, maxResultLength=4000):
        found, offset, pages = [], 0, 0
        while offset is not None:
            page = read(lab, "many", offset=offset)
            assert "truncated" not in page
            found += [each["path"] for each in page["entries"]]
            offset = page.get("nextOffset")
            pages += 1
    assert found == names
    assert pages > 3
    some = read(lab, "many", offset=10, limit=5)
    assert [each["path"] for each in some["entries"]] == names[10:15]
    assert (some["nextOffset"], some["total"]) == (15, 60)


def test_listing_downloads_no_bodies(lab: Lab) -> None:
    put(lab, "list/b/inside.txt", "text")
    requests: list[str] = []
    lab.page.on("request", lambda request: requests.append(request.url))
    lab.page.evaluate(_SPY)
    try:
        assert len(ask(lab, "jupyter_get_contents", recursive=True)["entries"]) > 5
        assert lab.js("bodies") == []
        # The spy sees bodies where there are some.
        read(lab, "README.md")
        assert lab.js("bodies") == ["README.md"]
    finally:
        lab.js("unspy()")
    wanted = [url for url in requests if "/files/" in url and "README.md" not in url]
    assert wanted == []
    assert json.dumps(requests).count("README.md") > 0
