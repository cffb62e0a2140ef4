"""The closed set of error codes and the one exception that becomes a failed result."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """Every code that a result can carry; agents may rely on nothing outside this set."""

    NO_ACTIVE_NOTEBOOK = "NO_ACTIVE_NOTEBOOK"
    NOTEBOOK_NOT_FOUND = "NOTEBOOK_NOT_FOUND"
    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    CELL_NOT_FOUND = "CELL_NOT_FOUND"
    STALE_CELL = "STALE_CELL"
    STALE_FILE = "STALE_FILE"
    INVALID_PATH = "INVALID_PATH"
    PATH_EXISTS = "PATH_EXISTS"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    UNKNOWN_ARGUMENT = "UNKNOWN_ARGUMENT"
    KERNEL_UNAVAILABLE = "KERNEL_UNAVAILABLE"
    KERNEL_RESTARTED = "KERNEL_RESTARTED"
    KERNEL_DIED = "KERNEL_DIED"
    INTERRUPT_UNSUPPORTED = "INTERRUPT_UNSUPPORTED"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    COMMAND_NOT_FOUND = "COMMAND_NOT_FOUND"
    COMMAND_BLOCKED = "COMMAND_BLOCKED"
    COMMAND_FAILED = "COMMAND_FAILED"
    DIALOG_NOT_FOUND = "DIALOG_NOT_FOUND"
    DIALOG_AMBIGUOUS = "DIALOG_AMBIGUOUS"
    DIALOG_QUEUED = "DIALOG_QUEUED"
    BUTTON_NOT_FOUND = "BUTTON_NOT_FOUND"
    PENDING_NOT_FOUND = "PENDING_NOT_FOUND"
    COMMENT_NOT_FOUND = "COMMENT_NOT_FOUND"
    COMMENT_ANCHOR_STALE = "COMMENT_ANCHOR_STALE"
    CELL_ACCESS_DENIED = "CELL_ACCESS_DENIED"
    NOTEBOOK_ACCESS_DENIED = "NOTEBOOK_ACCESS_DENIED"
    PROPOSAL_PENDING = "PROPOSAL_PENDING"
    TOOL_DISABLED = "TOOL_DISABLED"
    ABORTED = "ABORTED"
    INTERNAL_ERROR = "INTERNAL_ERROR"

    # What can be wrong with a notebook's file, or with one of its outputs.
    FILE_TYPE_UNSUPPORTED = "FILE_TYPE_UNSUPPORTED"
    NOTEBOOK_PAIR_NOT_FOUND = "NOTEBOOK_PAIR_NOT_FOUND"
    NOTEBOOK_READ_FAILED = "NOTEBOOK_READ_FAILED"
    CELL_MAPPING_UNRELIABLE = "CELL_MAPPING_UNRELIABLE"
    OUTPUT_NOT_FOUND = "OUTPUT_NOT_FOUND"
    OUTPUT_TYPE_UNSUPPORTED = "OUTPUT_TYPE_UNSUPPORTED"
    OUTPUT_DATA_INVALID = "OUTPUT_DATA_INVALID"
    MIME_NOT_FOUND = "MIME_NOT_FOUND"
    MIME_NOT_SUPPORTED = "MIME_NOT_SUPPORTED"
    MIME_NOT_APPLICABLE = "MIME_NOT_APPLICABLE"
    INVALID_WINDOW = "INVALID_WINDOW"
    WINDOW_NOT_SUPPORTED = "WINDOW_NOT_SUPPORTED"
    INVALID_TRANSPORT_LIMIT = "INVALID_TRANSPORT_LIMIT"
    OUTPUT_TOO_LARGE = "OUTPUT_TOO_LARGE"


class ToolError(Exception):
    """An expected failure: it becomes a result with ``success: false``, never a throw.

    ``message`` is one sentence: what happened and what to do. ``details`` are further
    fields of the payload (the present hash, candidates, outputs so far, ...).
    """

    def __init__(self, code: Code, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    def payload(self) -> dict[str, Any]:
        """The failed result; see ``docs/results.md``."""
        return {
            "success": False,
            "isError": True,
            "error": self.message,
            "code": str(self.code),
            **self.details,
        }
