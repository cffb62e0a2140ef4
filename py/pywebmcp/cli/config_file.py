"""Other programs' configuration files: read, and replaced in one step or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from pywebmcp.cli.errors import CommandError

MAX_BYTES = 64 * 2**20
"""A larger file is no configuration."""


class ConfigFile:
    """A file as it is now; ``content`` is None when there is none.

    Links are followed, as people keep their dotfiles elsewhere, and then the file at the end is
    replaced, not the link.

    Args:
        path: where the file is to be.
        within: a folder out of which a link must not lead. A repository is not trusted to say which
            file of its user's is written.

    Raises:
        CommandError: CONFIG_LINKED, CONFIG_INVALID.
    """

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        self.path = path
        self._target = _target(path)
        if within is not None and not self._target.is_relative_to(within.resolve()):
            raise CommandError("CONFIG_LINKED", f"{path} is a link that leads out of {within}")
        self.content = self._read()

    def replace(self, content: bytes | None) -> bool:
        """Write the new content; None removes the file. Answers whether anything changed.

        Raises:
            CommandError: CONFIG_CHANGED when another program has written it since it was read.
            OSError: when it cannot be written; the old file is still there.
        """
        if content is None and self.path.is_symlink():
            content = b""
        if content == self.content:
            return False
        if content is None:
            self._refuse_changed()
            self._target.unlink()
        else:
            self._write(content)
        return True

    def _refuse_changed(self) -> None:
        """Directly before the change, so that hardly a moment is left for another program's."""
        if self._read() != self.content:
            raise CommandError("CONFIG_CHANGED", f"{self.path} has just been changed; try again")

    def _read(self) -> bytes | None:
        try:
            status = self._target.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise CommandError("CONFIG_INVALID", f"{self.path} is no file")
        if status.st_size > MAX_BYTES:
            raise CommandError("CONFIG_INVALID", f"{self.path} is too large")
        return self._target.read_bytes()

    def _private(self, path: str, flags: int) -> int:
        # Such files hold keys: the copy of one is nobody else's before it has the old file's mode.
        return os.open(path, flags, 0o666 if self.content is None else 0o600)

    def _write(self, content: bytes) -> None:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        draft = self._target.with_name(f".{self._target.name}.{os.getpid()}.part")
        try:
            with open(draft, "xb", opener=self._private) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self.content is not None:
                os.chmod(draft, stat.S_IMODE(self._target.stat().st_mode))
            self._refuse_changed()
            os.replace(draft, self._target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise


def _target(path: Path) -> Path:
    try:
        target = path.resolve()
    except (OSError, RuntimeError):
        raise CommandError("CONFIG_LINKED", f"{path} is a link that leads nowhere") from None
    if path.is_symlink() and not target.exists():
        raise CommandError("CONFIG_LINKED", f"{path} is a link that leads nowhere")
    return target
