"""Runs that are stored: what, when, and reading them back."""

from __future__ import annotations

import base64
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pywebmcp.outputs import OutputProtocolError
from pywebmcp.outputs.retention import Limits
from pywebmcp.outputs.store import OutputStoreError, needs_storing, persist, show

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0\x00\x02\xff\xd9").decode()


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def display(data: Any, **more: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}, **more}


def error(ename: str, evalue: str, *traceback: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": [*traceback]}


def store(tmp_path: Path, *outputs: Any, run_id: str = "run", **more: Any) -> Path:
    path = persist(outputs, tmp_path, new_id=lambda: run_id, now=lambda: 5.0, **more)
    assert path is not None
    return path


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [stream("x" * 4000)],
        [stream(["x" * 2000, "y" * 2000])],
        [stream("\x1b[31m" + "x" * 4000 + "\x1b[0m")],
        [display({"text/plain": "p"})],
        [display({})],
        [error("E", "v", "t")],
        [stream("x")] * 20,
    ],
)
def test_short_text_is_not_stored(outputs: list[Any], tmp_path: Path) -> None:
    assert persist(outputs, tmp_path) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "outputs",
    [
        [stream("x" * 4001)],
        [stream("x" * 4000), stream("x")],
        [stream("x" * 3000), error("E", "v", "t" * 1000)],
        [display({"text/plain": "x" * 4001})],
        [display({"text/html": "<b>"})],
        [display({"application/json": {}})],
        [display({"text/plain": "x", "application/x-own": "y"})],
        [display("no bundle")],
        [{"output_type": "clear_output"}],
        ["no output"],
        [stream("x")] * 21,
    ],
)
def test_all_else_is_stored(outputs: list[Any]) -> None:
    assert needs_storing(outputs)


def test_the_characters_of_text_count_and_not_those_of_json() -> None:
    assert not needs_storing([stream('"\n' * 2000)])
    assert not needs_storing([stream("é😀" * 2000)])


def test_a_manifest_says_what_it_is(tmp_path: Path) -> None:
    path = store(tmp_path, display({"text/html": "<b>é"}))
    assert path == tmp_path.resolve() / ".pywebmcp" / "outputs" / "run" / "manifest.json"
    assert json.loads(path.read_bytes()) == {
        "schema_version": 1,
        "managed_by": "pywebmcp",
        "status": "complete",
        "run_id": "run",
        "created_at": 5.0,
        "cwd": str(tmp_path.resolve()),
        "source": {"kind": "inline", "cwd": str(tmp_path.resolve()), "run_id": "run"},
        "outputs": [display({"text/html": "<b>é"})],
    }
    assert [each.name for each in path.parent.iterdir()] == ["manifest.json"]


def test_images_are_files_beside_the_manifest(tmp_path: Path) -> None:
    outputs = [
        stream("a"),
        display({"image/png": PNG[:6] + "\n" + PNG[6:], "image/jpeg": [JPEG], "text/plain": "p"}),
        display({"image/png": PNG}),
    ]
    before = json.dumps(outputs)
    path = store(tmp_path, *outputs)
    assert json.dumps(outputs) == before
    files = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    del files["manifest.json"]
    assert files == {
        "output-1.png": base64.b64decode(PNG),
        "output-1.jpg": base64.b64decode(JPEG),
        "output-2.png": base64.b64decode(PNG),
    }
    data = json.loads(path.read_bytes())["outputs"][1]["data"]
    assert data["image/png"] == {
        "type": "file",
        "path": str(path.parent / "output-1.png"),
        "mime": "image/png",
        "bytes": 8,
    }
    assert show(path, 1)["selected"] == {
        "mime_type": "image/png",
        "encoding": "base64",
        "bytes": 8,
        "data": PNG,
    }
    assert show(path, 1, mime_type="image/jpeg")["selected"]["data"] == JPEG
    assert show(path, 1, mime_type="text/plain")["selected"]["data"] == "p"


def test_an_image_that_cannot_be_decoded_loses_nothing_else(tmp_path: Path) -> None:
    path = store(
        tmp_path, display({"image/png": "***", "image/jpeg": 5, "image/gif": "", "text/plain": "p"})
    )
    assert show(path, 0, mime_type="text/plain")["selected"]["data"] == "p"
    with pytest.raises(OutputProtocolError) as caught:
        show(path, 0)
    assert caught.value.code == "OUTPUT_DATA_INVALID"


def test_lone_surrogates_and_large_numbers_come_back(tmp_path: Path) -> None:
    path = store(tmp_path, display({"application/json": {"n": 2**60, "s": "\udc00"}}))
    assert show(path, 0)["selected"]["data"] == {"n": 2**60, "s": "\udc00"}


def test_values_that_are_no_json_do_not_lose_the_run(tmp_path: Path) -> None:
    path = store(tmp_path, display({"application/json": {"b": b"x", "n": float("nan")}}))
    assert show(path, 0)["selected"]["data"] == {"b": "eA==", "n": None}


def test_a_run_is_listed_as_a_cell_is(tmp_path: Path) -> None:
    path = store(tmp_path, display({"image/png": PNG, "text/plain": "p"}), stream("x"))
    answer = show(path)
    assert answer["source"] == {"kind": "inline", "cwd": str(tmp_path.resolve()), "run_id": "run"}
    assert [each["available_mime_types"] for each in answer["outputs"]] == [
        ["image/png", "text/plain"],
        [],
    ]
    assert show(path, 1)["source"]["output_index"] == 1


def test_a_stored_text_is_read_in_pages(tmp_path: Path) -> None:
    path = store(tmp_path, stream("ab" * 3000))
    page = show(path, 0, offset=5999, limit=7)["stream"]
    assert (page["data"], page["returned_characters"], page["total_characters"]) == ("b", 1, 6000)


def test_a_workspace_may_be_moved(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    store(old, display({"image/png": PNG}))
    old.rename(tmp_path / "new")
    path = tmp_path / "new" / ".pywebmcp" / "outputs" / "run" / "manifest.json"
    assert show(path, 0)["selected"]["data"] == PNG
    assert show(path.parent)["outputs"]


def code_of(manifest: Path, *arguments: Any) -> str:
    with pytest.raises(OutputProtocolError) as caught:
        show(manifest, *arguments)
    return caught.value.code


def rewrite(path: Path, **changes: Any) -> None:
    manifest = json.loads(path.read_bytes())
    manifest.update(changes)
    path.write_text(json.dumps(manifest))


def referring(to: Any) -> list[Any]:
    return [display({"image/png": {"type": "file", "path": to, "mime": "image/png", "bytes": 8}})]


@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": 2},
        {"managed_by": "someone"},
        {"status": "writing"},
        {"run_id": "other"},
        {"source": {"kind": "inline", "run_id": "other"}},
        {"source": None},
        {"outputs": {}},
        {"created_at": "soon"},
        {"created_at": True},
        {"created_at": 10**400},
    ],
)
def test_a_manifest_of_anything_else_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    path = store(tmp_path, stream("x" * 5000))
    rewrite(path, **changes)
    assert code_of(path) == "OUTPUT_DATA_INVALID"


def test_a_manifest_that_is_no_json_or_no_file_is_refused(tmp_path: Path) -> None:
    path = store(tmp_path, stream("x" * 5000))
    for content in (b"{", b"[]", b"\xff", b"[" * 10_000, b""):
        path.write_bytes(content)
        assert code_of(path) == "OUTPUT_DATA_INVALID"
    assert code_of(path.with_name("other.json")) == "OUTPUT_NOT_FOUND"
    path.rename(path.with_name("other.json"))
    assert code_of(path.with_name("other.json")) == "OUTPUT_DATA_INVALID"
    assert code_of(path) == "OUTPUT_NOT_FOUND"
    path.symlink_to(path.with_name("other.json"))
    assert code_of(path) == "OUTPUT_DATA_INVALID"
    assert code_of(Path("a\0b")) in ("OUTPUT_DATA_INVALID", "OUTPUT_NOT_FOUND")


def test_a_file_that_is_not_the_runs_own_is_not_read(tmp_path: Path) -> None:
    path = store(tmp_path, stream("x" * 5000))
    outside = tmp_path / "x.png"
    outside.write_bytes(base64.b64decode(PNG))
    linked = path.parent / "output-0.png"
    linked.symlink_to(outside)
    places = [outside, linked, "x.png", "../../../x.png", 5, None, "a\0b", path, path.parent]
    places += [f"{path.parent}/../../../x.png", path.parent / "gone.png"]
    for place in places:
        where = str(place) if isinstance(place, Path) else place
        rewrite(path, outputs=referring(where))
        assert code_of(path, 0) == "OUTPUT_DATA_INVALID"
        assert show(path)["outputs"][0]["available_mime_types"] == ["image/png"]


def test_json_that_looks_like_a_reference_is_json(tmp_path: Path) -> None:
    value = {"type": "file", "path": "/etc/passwd"}
    path = store(tmp_path, display({"application/json": value}))
    assert show(path, 0)["selected"]["data"] == value


def test_an_image_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = store(tmp_path, display({"image/png": PNG}))
    with open(path.parent / "output-0.png", "r+b") as file:
        file.truncate(30 * 2**20)
    assert code_of(path, 0) == "OUTPUT_TOO_LARGE"


@pytest.mark.parametrize("index", [-1, 1, True, "0"])
def test_an_output_that_is_not_there_is_not_found(index: Any, tmp_path: Path) -> None:
    assert code_of(store(tmp_path, stream("x" * 5000)), index) == "OUTPUT_NOT_FOUND"


def test_a_full_disk_leaves_no_half_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def no_space(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OutputStoreError, match="No space left"):
        store(tmp_path, display({"image/png": PNG, "image/jpeg": JPEG}))
    assert not list((tmp_path / ".pywebmcp" / "outputs").iterdir())


def test_an_interrupt_leaves_no_half_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(source: Any, target: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path, stream("x" * 5000))
    assert not list((tmp_path / ".pywebmcp" / "outputs").iterdir())


@pytest.mark.parametrize("name", [".pywebmcp", ".pywebmcp/outputs"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "w", tmp_path / "elsewhere"
    (workspace / name).parent.mkdir(parents=True)
    elsewhere.mkdir()
    (workspace / name).symlink_to(elsewhere)
    with pytest.raises(OutputStoreError):
        store(workspace, stream("x" * 5000))
    assert not list(elsewhere.iterdir())


def test_an_id_that_is_taken_overwrites_nothing(tmp_path: Path) -> None:
    path = store(tmp_path, stream("x" * 5000))
    before = path.read_bytes()
    with pytest.raises(OutputStoreError):
        store(tmp_path, stream("y" * 5000))
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputStoreError):
        store(tmp_path / "gone", stream("x" * 5000))


def test_a_new_run_cleans_up_and_stays_itself(tmp_path: Path) -> None:
    store(tmp_path, stream("x" * 5000), run_id="old", limits=Limits())
    path = persist(
        [stream("x" * 5000)],
        tmp_path,
        # A clock that was set back: the new run is the oldest.
        now=lambda: 1.0,
        new_id=lambda: "new",
        limits=Limits(max_runs=1),
    )
    assert path is not None
    assert sorted(each.name for each in path.parents[1].iterdir()) == ["new", "old"]
    store(tmp_path, stream("x" * 5000), run_id="zz", limits=Limits(max_runs=1))
    assert [each.name for each in path.parents[1].iterdir()] == ["zz"]
