"""What a pending answer tells the agent to do."""

from __future__ import annotations

from pywebmcp import dialogs
from pywebmcp.frontend import DialogState
from pywebmcp.records import Record

_THEN = "then get its result with jupyter_wait_for_result and this pendingId"


def message(record: Record, dialog: DialogState | None, waits: bool, timeout: float | None) -> str:
    """The message for what a call waits behind.

    ``dialog`` is its own open one; ``waits`` says whether that one is behind another dialog.
    """
    if dialog is not None and dialogs.is_error(dialog):
        return (
            "While the call ran, an error dialog came up: the call has probably failed. Read it, "
            "close it with jupyter_answer_dialog (or ask the person, if your call did not cause "
            f"it), {_THEN}."
        )
    if dialog is not None and waits:
        return (
            "The call has a dialog that is not on the screen yet: shownDialog has to be closed "
            "first. If that comes from one of your calls, answer it with jupyter_answer_dialog and "
            f"its dialogId, else ask the person; {_THEN}."
        )
    if dialog is not None:
        return (
            "The call has probably stopped at this dialog: choose a button with "
            "jupyter_answer_dialog, or ask the person if your call did not cause it. After that "
            "the call goes on."
        )
    if record.prompt is not None:
        return (
            "The code asks for input that only the person can give, in the page: ask them, "
            f"{_THEN}."
        )
    if record.proposal is not None:
        return (
            "The change waits for the person, who accepts or denies it in the page: go on with "
            f"something else or tell them, {_THEN}."
        )
    queue = record.queue()
    if "kernelInput" in queue:
        return (
            "The kernel runs code that the person started, and that asks them for input: tell "
            f"them. This call's code starts when theirs is done; {_THEN}."
        )
    if queue:
        return (
            f"The kernel is busy with {queue['queuedBehind']}; this call's code has not begun and "
            f"starts when that is done; {_THEN}."
        )
    after = f" after {timeout:g} seconds" if timeout else ""
    stop = f" {record.stop_hint}" if record.stop_hint else ""
    return f"The call is still running{after} and stays in the background; {_THEN}.{stop}"
