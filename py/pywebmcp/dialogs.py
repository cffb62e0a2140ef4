"""What is known of the page's dialogs, without the page: which is shown, which reports an error.

Jupyter shows one dialog at a time and queues the others. Nothing in here ever closes one for the
agent: it reports them, and the agent or the person answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pywebmcp.bounding import cut_text
from pywebmcp.constants import MAX_DIALOG_BODY as MAX_BODY
from pywebmcp.errors import Code, ToolError
from pywebmcp.frontend import DialogState
from pywebmcp.types import Payload

_INDEX = re.compile(r"[0-9]{1,4}")


def shown(dialog: DialogState) -> Payload:
    """A dialog as results list it: ``{id, title, body, buttons, shown, input?}``."""
    listed: Payload = {
        "id": dialog["id"],
        "title": dialog["title"],
        "body": cut_text(dialog["body"], MAX_BODY // 2)[0],
        "buttons": dialog["buttons"],
        "shown": dialog["shown"],
    }
    if "input" in dialog:
        listed["input"] = dialog["input"]
    return listed


def is_error(dialog: DialogState) -> bool:
    """Whether it only reports: it has words, and nothing to choose between."""
    return dialog["plain"] and len(dialog["buttons"]) == 1 and bool(dialog["body"])


def choose(dialogs: Sequence[DialogState], dialog_id: str | None) -> DialogState:
    """The dialog that an answer is for.

    Raises ``ToolError`` DIALOG_NOT_FOUND, DIALOG_AMBIGUOUS (several are open and none was named)
    or DIALOG_QUEUED (it is not on the screen yet).
    """
    if dialog_id is None:
        if not dialogs:
            raise ToolError(Code.DIALOG_NOT_FOUND, "No dialog is open: there is nothing to answer.")
        if len(dialogs) > 1:
            raise ToolError(
                Code.DIALOG_AMBIGUOUS,
                f"{len(dialogs)} dialogs are open: name the one you mean with dialogId.",
                dialogs=[shown(dialog) for dialog in dialogs],
            )
        chosen = dialogs[0]
    else:
        found = [dialog for dialog in dialogs if dialog["id"] == dialog_id]
        if not found:
            raise ToolError(
                Code.DIALOG_NOT_FOUND,
                f'The dialog "{dialog_id}" is not open (any more).',
                **({"dialogs": [shown(dialog) for dialog in dialogs]} if dialogs else {}),
            )
        chosen = found[0]
    if not chosen["shown"]:
        front = next((dialog for dialog in dialogs if dialog["shown"]), None)
        raise ToolError(
            Code.DIALOG_QUEUED,
            f'The dialog "{chosen["title"]}" waits behind another one'
            + (
                f': "{front["title"]}" ({front["id"]}) has to be closed first, by you if it comes '
                "from one of your calls, else by the person."
                if front
                else ": try again when it is shown."
            ),
            **({"dialog": shown(front)} if front else {}),
        )
    return chosen


def button_index(dialog: DialogState, button: str | int) -> int:
    """The 0-based index of a button given by label (whatever its case) or index.

    Raises ``ToolError`` BUTTON_NOT_FOUND with the labels.
    """
    labels = dialog["buttons"]
    if isinstance(button, int):
        if 0 <= button < len(labels):
            return button
    else:
        wanted = button.strip().casefold()
        matches = [n for n, label in enumerate(labels) if label.strip().casefold() == wanted]
        if matches:
            return matches[0]
        if _INDEX.fullmatch(button.strip()) and int(button) < len(labels):
            return int(button)
    names: list[Any] = [f'"{label}"' for label in labels]
    raise ToolError(
        Code.BUTTON_NOT_FOUND,
        f'The dialog has no button "{button}". Its buttons: {", ".join(names) or "none"}.',
        dialog=shown(dialog),
    )
