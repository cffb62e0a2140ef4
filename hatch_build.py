"""Gives the labextension in the wheel the version of the package, which is written in one place."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LABEXTENSION = "share/jupyter/labextensions/pywebmcp"


class LabextensionVersion(BuildHookInterface):  # type: ignore[misc]
    """Adds lite/extension/package.json with a version; the rest of the folder is shared data."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file to where it stays until the wheel is built."""
        self._folder = tempfile.TemporaryDirectory()
        source = Path(self.root, "lite", "extension", "package.json")
        package = {**json.loads(source.read_text("utf-8")), "version": self.metadata.version}
        made = Path(self._folder.name, "package.json")
        made.write_text(json.dumps(package, indent=2) + "\n", "utf-8")
        build_data["shared_data"][str(made)] = f"{LABEXTENSION}/package.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove it."""
        self._folder.cleanup()
