"""What a release has to be: its version everywhere, a wheel with all that belongs into it and no more.

Each check raises SetupError, which says what is wrong.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

from _setup import BUILD, ROOT, WINDOWS, SetupError, digest, run

PACKAGE = ROOT / "py" / "pywebmcp"
EXTENSION = ROOT / "lite" / "extension"
LABEXTENSION = "share/jupyter/labextensions/pywebmcp"
ENTRY_POINTS = ("pywebmcp = pywebmcp.cli:main", "pywebmcp = pywebmcp.addon.lite:PywebmcpAddon")


def version() -> str:
    """The version of the sources."""
    text = (PACKAGE / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise SetupError("py/pywebmcp/__init__.py has no __version__")
    return found[1]


def check_changelog(text: str, wanted: str) -> None:
    """The changelog has a dated section of this version that is not empty."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    heads = {section.partition("\n")[0].strip(): section.partition("\n")[2] for section in sections}
    for head, body in heads.items():
        if re.fullmatch(rf"\[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d", head):
            if not re.search(r"^- \S", body, re.MULTILINE):
                raise SetupError(f"CHANGELOG.md says nothing under {wanted}")
            return
    raise SetupError(f"CHANGELOG.md has no section `## [{wanted}] - YYYY-MM-DD`")


def check_tag(tags: list[str], wanted: str) -> None:
    """The commit is tagged as this version, and as no other."""
    versions = [tag for tag in tags if re.match(r"v\d", tag)]
    if versions != [f"v{wanted}"]:
        found = ", ".join(versions) or "none"
        raise SetupError(f"the commit has to have the tag v{wanted}; it has {found}")


def tags_of_commit() -> list[str]:
    """The tags at the commit that is checked out; SetupError where files differ from it."""
    changed = run(["git", "status", "--porcelain", "--untracked-files=no"]).split("\n")
    if any(changed):
        raise SetupError("there are changes that are not committed")
    return run(["git", "tag", "--points-at", "HEAD"]).split()


def build(target: str, folder: Path, source: Path = ROOT) -> Path:
    """Build a `wheel` or an `sdist` with the pinned backend, without another environment."""
    words: list[str | Path] = [sys.executable, "-m", "hatchling", "build", "--target", target]
    run([*words, "--directory", folder], cwd=source)
    [built] = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


def check_same_wheel(sdist: Path, wheel: Path) -> None:
    """The sdist alone builds the same wheel, byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            # Python 3.11.2 has no filters yet, and later ones warn without.
            archive.extractall(
                folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
            )
        [source] = Path(folder).iterdir()
        again = build("wheel", Path(folder, "wheel"), source)
        if digest(again) != digest(wheel):
            names = _differences(again, wheel)
            raise SetupError(f"the sdist builds another wheel; these differ: {', '.join(names)}")


def _differences(one: Path, other: Path) -> list[str]:
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        contents = [{item.filename: item.CRC for item in each.infolist()} for each in (a, b)]
    names = contents[0].keys() | contents[1].keys()
    return sorted(n for n in names if contents[0].get(n) != contents[1].get(n)) or ["their order"]


def package_sources() -> set[str]:
    """The files of the package that git knows, as a wheel has them."""
    names = run(["git", "ls-files", "--", PACKAGE]).splitlines()
    # One that is deleted but not committed yet is not there to be built.
    return {name.removeprefix("py/") for name in names if (ROOT / name).is_file()}


def check_wheel(wheel: Path, wanted: str, sources: set[str]) -> None:
    """The wheel has the package, the labextension, the entry points, the version, and nothing else."""
    info, data = f"pywebmcp-{wanted}.dist-info", f"pywebmcp-{wanted}.data/data/{LABEXTENSION}"
    if wheel.name != f"pywebmcp-{wanted}-py3-none-any.whl":
        raise SetupError(f"{wheel.name} is not a wheel of {wanted} for any machine")
    loader = {
        f"{data}/{path.relative_to(EXTENSION).as_posix()}"
        for path in EXTENSION.rglob("*")
        if path.is_file()
    }
    facts = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    expected = sources | loader | {f"{info}/{name}" for name in facts}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        if missing := expected - names:
            raise SetupError(f"{wheel.name} lacks {', '.join(sorted(missing))}")
        if more := names - expected:
            raise SetupError(f"{wheel.name} has what no commit has: {', '.join(sorted(more))}")
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        package = json.loads(archive.read(f"{data}/package.json"))
        entry_points = archive.read(f"{info}/entry_points.txt").decode().splitlines()
    for what, found in (("METADATA", metadata["Version"]), ("package.json", package["version"])):
        if found != wanted:
            raise SetupError(f"{what} in {wheel.name} has version {found}, not {wanted}")
    for line in ENTRY_POINTS:
        if line not in entry_points:
            raise SetupError(f"{wheel.name} lacks the entry point {line}")


def check_upload(*files: Path) -> None:
    """`twine check --strict`: an index would take these files and show their description."""
    run([_twine(), "check", "--strict", *files])


def _twine() -> Path:
    """Twine in a venv of its own: nothing else needs it, and it brings some twenty packages."""
    venv = BUILD / "release-venv"
    pins = [ROOT / "constraints.txt", ROOT / "constraints-release.txt"]
    twine, stamp = venv / ("Scripts/twine.exe" if WINDOWS else "bin/twine"), venv / "stamp.txt"
    wanted = digest(*pins)
    if not (stamp.is_file() and stamp.read_text() == wanted):
        shutil.rmtree(venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", venv])
        pip: list[str | Path] = [twine.with_name(twine.name.replace("twine", "pip")), "install"]
        constraints = [word for path in pins for word in ("--constraint", path)]
        run([*pip, "--quiet", *constraints, "twine"])
        stamp.write_text(wanted)
    return twine
