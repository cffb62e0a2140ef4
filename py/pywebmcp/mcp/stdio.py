"""MCP's stdio transport: one message a line, UTF-8, from standard input to standard output. Nothing
else may come out there, so a stray print goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator

from pywebmcp.mcp.jsonrpc import ErrorCode, InvalidMessageError
from pywebmcp.mcp.server import Server

MAX_LINE = 64 * 2**20
"""Bytes of a message; twice what an answer may have. A longer one is refused, not collected."""

GRACE = 1.0
"""Seconds for what runs when the client has gone. Clients end a server that stays two seconds."""

_CHUNK = 2**16

_AHEAD = 64
"""Messages that are read before the first of them was looked at."""


def run(server: Server) -> None:
    """Serve one client on this process's standard streams until it closes them."""
    with private_output() as output:
        asyncio.run(serve(server, 0, output))


@contextlib.contextmanager
def private_output() -> Iterator[int]:
    """A descriptor for the real standard output, while everyone else's goes to standard error."""
    sys.stdout.flush()
    private, stdout = os.dup(1), sys.stdout
    try:
        try:
            os.dup2(2, 1)
        except OSError:
            # Started without a standard error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = sys.stderr
        yield private
    finally:
        sys.stdout = stdout
        os.dup2(private, 1)
        os.close(private)


async def serve(server: Server, source: int, target: int, *, grace: float = GRACE) -> None:
    """Serve one client until its input ends or it no longer reads.

    Args:
        server: what is served.
        source: the descriptor to read from. Of any kind: it is read in a thread.
        target: the descriptor to write to.
        grace: seconds for what still runs when the input has ended.
    """
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[bytes | InvalidMessageError | None] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)

    def put(message: bytes | InvalidMessageError | None) -> None:
        # The loop may have ended; then there is nobody to tell.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(messages.put_nowait, message)

    def read() -> None:
        for message in lines(source):
            room.acquire()
            put(message)
        put(None)

    writer = _Writer(target, on_broken=lambda: put(None))
    session = server.connect(writer.put)
    # Daemons, and no buffered reader: nothing may keep the process when the client has gone.
    threading.Thread(target=read, daemon=True).start()
    while (message := await messages.get()) is not None:
        room.release()
        if isinstance(message, InvalidMessageError):
            session.refuse(message)
        else:
            session.receive(message)
    await session.end(grace)
    await asyncio.to_thread(writer.end, grace)


def lines(source: int) -> Iterator[bytes | InvalidMessageError]:
    """The messages that a descriptor gives; an error in the place of one that is too long.

    What the last line has without an end of line counts too.
    """
    pieces: list[bytes] = []
    length = 0
    while chunk := _read(source):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield from _line(pieces, part, length + len(part))
            pieces, length = [], 0
        length += len(rest)
        # Of a line that is too long only its length is kept.
        if length > MAX_LINE:
            pieces = []
        elif rest:
            pieces.append(rest)
    yield from _line(pieces, b"", length)


def _line(pieces: list[bytes], last: bytes, length: int) -> Iterator[bytes | InvalidMessageError]:
    if length > MAX_LINE:
        yield InvalidMessageError(
            ErrorCode.INVALID_REQUEST, f"A message has {MAX_LINE} bytes at most"
        )
        return
    line = b"".join([*pieces, last]).strip()
    if line:
        yield line


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


class _Writer:
    """Writes in a thread: a client that reads slowly delays no one but itself."""

    def __init__(self, target: int, on_broken: Callable[[], object]) -> None:
        self._target = target
        self._on_broken = on_broken
        self._texts: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, text: str) -> None:
        self._texts.put(text)

    def end(self, patience: float) -> None:
        """Wait until all is written, or the client does not read it for ``patience`` seconds."""
        self._texts.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        try:
            while (text := self._texts.get()) is not None:
                data = memoryview(text.encode("utf-8") + b"\n")
                while data:
                    data = data[os.write(self._target, data) :]
        except OSError:
            self._on_broken()
