"""Work that outlives its caller: tools/call answers a task at once, and the result waits to be
asked for.

A task does no work of its own. `TaskService` is given a coroutine function that does it, follows
that, and keeps what came of it in a `TaskStore`. For a tool of the page this function is
``ToolServer.work``: it puts the call into the one registry (`pywebmcp.calls`) that every other door
uses, so the call waits its turn for the kernel like any other, is in ``jupyter_get_context``, and
``jupyter_wait_for_result`` finds it; `follow` tells the task what becomes of the call's `Record`: its
state, its output so far, its result. What is no tool of the page (another host's own coroutine
function) works as well, and has `register_interrupt`, `record_output` and `needs_input` for this.

========================  ======================================================================
`TaskService`             create, get, page, cancel, result; `recover` after a reload, `close`
`TaskMethods`             the same as JSON-RPC methods: params in, result or `TaskError` out
`TaskStore`               what a store has to do; `MemoryTaskStore`, `build_store`
`follow`, `Cancellation`  a call of the registry as the work of a task
`capabilities`            what a server advertises
========================  ======================================================================
"""

from pywebmcp.tasks.current import current_task, needs_input, record_output, register_interrupt
from pywebmcp.tasks.errors import TaskError
from pywebmcp.tasks.following import Cancellation, follow
from pywebmcp.tasks.keeping import NOTIFICATION
from pywebmcp.tasks.loading import VARIABLE, StoreError, build_store, store_from
from pywebmcp.tasks.parameters import IDEMPOTENCY_KEY
from pywebmcp.tasks.record import TERMINAL, TaskRecord
from pywebmcp.tasks.run import Notify, Work
from pywebmcp.tasks.service import TaskService
from pywebmcp.tasks.store import MemoryTaskStore, TaskStore
from pywebmcp.tasks.wire import EXTENSION, METHODS, SETTINGS, SUPPORT, TaskMethods, capabilities

__all__ = [
    "EXTENSION",
    "IDEMPOTENCY_KEY",
    "METHODS",
    "NOTIFICATION",
    "SETTINGS",
    "SUPPORT",
    "TERMINAL",
    "VARIABLE",
    "Cancellation",
    "MemoryTaskStore",
    "Notify",
    "StoreError",
    "TaskError",
    "TaskMethods",
    "TaskRecord",
    "TaskService",
    "TaskStore",
    "Work",
    "build_store",
    "capabilities",
    "current_task",
    "follow",
    "needs_input",
    "record_output",
    "register_interrupt",
    "store_from",
]
