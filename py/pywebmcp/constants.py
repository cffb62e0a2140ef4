"""Every number and name that shapes what an agent or a person sees, with its reason."""

METADATA_KEY = "pywebmcp"
"""The key of a notebook's metadata under which everything is that we keep there."""

WEBMCP_FLAG = "chrome://flags/#enable-experimental-web-platform-features"
"""Where a person turns WebMCP on in Chromium and Chrome."""

# A bridge may run one call at a time and its own patience starts at 30 s (Playwright),
# so a call answers before that.
EXECUTION_TIMEOUT = 20.0
"""Seconds after which a call that still runs answers pending."""

MAX_RESULT_LENGTH = 40_000
"""Characters of JSON text (as JavaScript counts a string's length) that a result may have."""

HASH_LENGTH = 10
"""Hex digits of a source hash: 40 bits tell the versions of one cell apart."""

ENVELOPES = ("full", "text", "structured")

BLOCKED_COMMANDS = ("apputils:run-*",)
"""Globs of the commands that run other commands: they would go around every other block."""

OPEN_PROPOSALS = 100
"""Changes that wait for a person at most: more than that nobody decides about one by one."""

KEPT_PROPOSALS = 50
"""Settled proposals that can still be looked at."""

ACTIVITY = 200
"""Calls that the log of what happened holds at most."""

KEPT_TEXT = 20_000_000
"""Characters of sources and files that edits in the log keep for their diff and undo; as many again
proposals that wait, and settled ones. Of more, the oldest keep none."""

HARMLESS_COMMANDS = (
    "application:*",
    "apputils:[!nru]*",
    "filebrowser:create-*",
    "filebrowser:go-to-path",
    "filebrowser:toggle-*",
    "help:*",
    "launcher:*",
    "settingeditor:open*",
)
"""Globs of the commands that an agent may run while people keep something from it: all others may
read or change cells, or files, and nobody can tell which (those of extensions too). Of apputils:*
not those that run other commands, nor notifications, whose buttons do."""

MAX_IMAGE = 3_750_000
"""Bytes of an image that goes to an agent: 5 MB of base64, which is what model APIs take at most."""

MAX_IMAGES = 10
"""Images that come along with the result of one run."""

MAX_SEARCH_LINE = 300
"""Characters of a matching line that a search shows around its match."""

INSERT_FAR = 50
"""Cells that are moved across the one a person is typing in; farther, the caret is let go."""

RETENTION = 600.0
"""Seconds a settled call is kept after it answered pending (ten minutes)."""

KEPT_CALLS = 50
"""Settled calls that are kept at most; the oldest go first, running ones never."""

ERROR_DIALOG_GRACE = 1.0
"""Seconds to wait for a call after its error dialog was closed: a failed one often never settles."""

DIALOG_TURN = 0.02
"""Seconds until an opening dialog is looked at again: a page shows it a turn after it was made."""

SETTLE_GRACE = 1.0
"""Seconds a restart waits for the calls that it ended to say so."""

KERNEL_TIMEOUT = 120.0
"""Seconds for a kernel to start or restart. Pyodide needs 10, a slow and busy machine 40."""

FOCUS_TIMEOUT = 1.5
"""Seconds for a far cell of a long notebook to come into view; rendering all of it takes 24."""

MAX_DIALOG_BODY = 2000
"""Characters of a dialog's text that are shown; a dialog with more is a document."""

TASK_TTL = 900_000
"""Milliseconds a task is kept after it settled, where its request does not say (15 minutes)."""

MAX_TASK_TTL = 86_400_000
"""Milliseconds a task is kept at most after it settled (24 hours)."""

TASK_POLL_INTERVAL = 1000
"""Milliseconds between two looks at a task that a client is advised to leave."""

TASK_PAGE = 50
"""Tasks in one answer of tasks/list."""

TASK_MESSAGE = 500
"""Characters of a task's status message: every poll carries it."""

TASK_ERROR = 4000
"""Characters of what tasks/result raises for a failed task."""

TASK_SNAPSHOT = 5.0
"""Seconds between two copies of a running task's output into its store, where a reload finds it."""

STORE_TIMEOUT = 10.0
"""Seconds a task store may take for one answer; after that its caller gets an error."""

STORE_RETRY = 30.0
"""Seconds, at most, until a change of a task that the store did not take is given to it again."""

INTERRUPT_TIMEOUT = 5.0
"""Seconds that cancelling a task waits for the interrupt before it stops waiting for the work."""

CANCEL_GRACE = 0.5
"""Seconds that cancelled work has to end, and to answer what it has, before the task settles."""

PROGRESS_INTERVAL = 2.0
"""Seconds between two signs of life for an MCP client; the shortest known time limit is 30."""
