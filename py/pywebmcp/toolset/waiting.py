"""Getting the result of a call that went on in the background, and answering dialogs."""

from __future__ import annotations

from typing import Annotated

from pywebmcp import constants, dialogs
from pywebmcp.tools import Call, tool
from pywebmcp.types import Arg, Payload


@tool("Answer a dialog", "CU", waits=True)
async def jupyter_answer_dialog(
    call: Call,
    *,
    button: Annotated[str | int, Arg("Label, or 0-based index")],
    dialog_id: Annotated[str, Arg("Needed when several are open")] | None = None,
) -> Payload:
    """Click a button of the dialog that is shown; its fields keep their values. Answers the result of
    the call the dialog belongs to."""
    registry = call.calls
    dialog = dialogs.choose(registry.open_dialogs(), dialog_id)
    index = dialogs.button_index(dialog, button)
    record = registry.owner(dialog["id"])
    call.frontend.answer_dialog(dialog["id"], index)
    registry.dialog_answered(dialog["id"])
    answered = {"dialogId": dialog["id"], "button": dialog["buttons"][index]}
    if record is None:
        return {"answered": answered}
    call.record = record
    failed = dialogs.is_error(dialog)
    timeout = constants.ERROR_DIALOG_GRACE if failed else call.settings.execution_timeout
    payload = await registry.wait(record, timeout, call.signal)
    if failed and payload.get("status") == "pending" and "dialog" not in payload:
        payload = {
            **payload,
            "message": "The error dialog is closed, and the call has not settled: one that failed "
            "often never does. Go on, or look again later with jupyter_wait_for_result.",
        }
    return {**payload, "answered": answered}


@tool("Wait for a result", "RU", waits=True)
async def jupyter_wait_for_result(
    call: Call,
    *,
    pending_id: str,
    timeout: Annotated[float, Arg("Seconds; at most (and by default) the time limit", ge=0)]  # noqa: ASYNC109
    | None = None,
) -> Payload:
    """Wait for a pending call: answers its result, or pending again."""
    limit = call.settings.execution_timeout
    record = call.record = call.calls.find(pending_id)
    return await call.calls.wait(
        record, timeout if timeout is not None and timeout <= limit else limit, call.signal
    )
