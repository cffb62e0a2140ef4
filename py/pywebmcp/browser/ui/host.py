"""What a tab of the panel asks of the panel."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol


class Host(Protocol):
    """Draws a tab and does for it what takes a page."""

    def changed(self) -> None:
        """What the tab shows has changed: draw it before the next frame, if it is seen."""
        ...

    def focus(self, element_id: str) -> None:
        """Move the keyboard focus there after the next drawing."""
        ...

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run something in the background."""
        ...
