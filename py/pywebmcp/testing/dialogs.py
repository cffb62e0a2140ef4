"""The page's dialogs in memory: one is shown, the others wait behind it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pywebmcp.frontend import DialogState


@dataclass(slots=True, eq=False)
class MemoryDialog:
    """An open dialog; ``result`` becomes the index of the button that is clicked."""

    id: str
    title: str
    body: str
    buttons: Sequence[str]
    plain: bool
    input: str | bool | None
    result: asyncio.Future[int]
    drawn: bool = True
    """Whether it is on the screen when its turn has come; a page draws it a turn after it is made."""


class MemoryDialogs:
    """The queue of dialogs and who is told of them."""

    def __init__(self) -> None:
        self._open: list[MemoryDialog] = []
        self._numbers = itertools.count(1)
        self._watchers: list[tuple[Callable[[str], None], Callable[[str], None]]] = []

    def open(
        self,
        title: str,
        body: str = "",
        buttons: Sequence[str] = ("Cancel", "OK"),
        *,
        plain: bool = True,
        input: str | bool | None = None,  # noqa: A002 (the field's name in results)
        drawn: bool = True,
    ) -> MemoryDialog:
        """Open a dialog; await its ``result`` for the answer."""
        result: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        dialog = MemoryDialog(
            f"dialog-{next(self._numbers)}", title, body, buttons, plain, input, result, drawn
        )
        self._open.append(dialog)
        for opened, _ in self._watchers:
            opened(dialog.id)
        return dialog

    async def ask(self, title: str, body: str = "", buttons: Sequence[str] = ("OK",)) -> str:
        """Open a dialog and wait for the label of the button that is clicked."""
        return buttons[await self.open(title, body, buttons).result]

    def listing(self) -> list[DialogState]:
        """The open dialogs, as ``Frontend.dialogs`` gives them."""
        listed = []
        for place, dialog in enumerate(self._open):
            state = DialogState(
                id=dialog.id,
                title=dialog.title,
                body=dialog.body,
                buttons=list(dialog.buttons),
                shown=place == 0 and dialog.drawn,
                plain=dialog.plain,
            )
            if dialog.input is not None:
                state["input"] = dialog.input
            listed.append(state)
        return listed

    def answer(self, dialog_id: str, button: int) -> None:
        """Click a button of the dialog that is shown; it closes."""
        dialog = self._open[0]
        if dialog.id != dialog_id:
            raise AssertionError(f"{dialog_id} is not the dialog that is shown")
        self._open.remove(dialog)
        dialog.result.set_result(button)
        for _, closed in self._watchers:
            closed(dialog_id)

    def watch(self, opened: Callable[[str], None], closed: Callable[[str], None]) -> None:
        """Tell the ids of dialogs as they open and close."""
        self._watchers.append((opened, closed))
        for dialog in self._open:
            opened(dialog.id)
