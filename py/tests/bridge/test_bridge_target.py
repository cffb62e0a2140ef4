"""Which page is meant, which Chromium, and what a shell's call keeps."""

from __future__ import annotations

import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "emscripten":
    pytest.skip("has no processes and no sockets", allow_module_level=True)

from pywebmcp.bridge import chromium
from pywebmcp.bridge.browser import _same_site
from pywebmcp.bridge.errors import UsageError
from pywebmcp.bridge.target import Target, served


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "lab").mkdir(parents=True)
    (folder / "jupyter-lite.json").write_text("{}")
    (folder / "lab" / "index.html").write_text("lab")
    return folder


def test_a_folder_is_served_at_an_address_that_stays(site: Path) -> None:
    with served(Target(site=site)) as first:
        assert first.url is not None
        assert urllib.request.urlopen(first.url).read() == b"lab"
        # Taken: another one would find none of what is kept under the first address.
        with pytest.raises(UsageError, match="--isolated"), served(Target(site=site)):
            pass
        with served(Target(site=site, isolated=True)) as other:
            assert other.url != first.url
    with served(Target(site=site)) as again:
        assert again.url == first.url


def test_a_folder_without_a_site_is_refused_and_an_address_taken_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"jupyter-lite\.json"), served(Target(site=tmp_path)):
        pass
    target = Target(url="http://x/")
    with served(target) as same:
        assert same is target


def test_each_site_has_a_profile_of_its_own(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    profiles = {Target(url="http://x/").profile, Target(url="http://y/").profile}
    profiles.add(Target(site=site).profile)
    assert len(profiles) == 3
    assert Target(url="http://x/", headless=False).profile in profiles
    if sys.platform == "linux":
        assert all(str(each).startswith("/data/pywebmcp/profiles/") for each in profiles)


@pytest.mark.parametrize(
    ("shown", "wanted", "same"),
    [
        ("http://x/lab/index.html?path=a", "http://x/lab/index.html", True),
        ("http://x/notebooks/index.html", "http://x/lab/index.html?path=b#c", True),
        ("http://x/lite/lab", "http://x/lite/", True),
        ("http://x/lite/lab", "http://x/other/lab", False),
        ("http://y/lab", "http://x/lab", False),
    ],
)
def test_a_tab_of_the_same_site_is_known(shown: str, wanted: str, same: bool) -> None:
    assert _same_site(shown, wanted) is same


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes programs that tell a version; only they are on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setattr(chromium, "_PLACES", ())
    chromium._version.cache_clear()

    def make(name: str, says: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{says}\n")
        path.chmod(0o755)
        return path

    return make


def test_the_first_chromium_that_is_new_enough_is_taken(programs: Any) -> None:
    with pytest.raises(chromium.ChromiumError, match=r"no Chromium .* found; install one"):
        chromium.find()
    programs("chromium", "echo Chromium 120.0.1.2")
    programs("chromium-browser", "exit 1")
    with pytest.raises(chromium.ChromiumError, match=r"version 120 .* does not tell its version"):
        chromium.find()
    newest = programs("google-chrome", "echo Google Chrome 156.0.1.2")
    assert chromium.find() == newest


def test_a_chromium_that_is_named_is_taken_or_refused(
    programs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = programs("mine", "echo 200.1.2.3")
    monkeypatch.setenv(chromium.VARIABLE, str(named))
    assert chromium.find() == named
    monkeypatch.setenv(chromium.VARIABLE, str(programs("old", "echo 1.2.3.4")))
    with pytest.raises(chromium.ChromiumError, match="old, which is version 1"):
        chromium.find()
    monkeypatch.setenv(chromium.VARIABLE, "/nowhere")
    with pytest.raises(chromium.ChromiumError, match="not there"):
        chromium.find()


def test_root_has_no_sandbox_and_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--no-sandbox" in chromium.switches()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--no-sandbox" not in chromium.switches()
