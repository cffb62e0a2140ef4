"""A static server on 127.0.0.1 for the built site, as plain web hosting would serve it.

No COOP/COEP headers: with them the Pyodide kernel hangs now and then, and hosts such as GitHub Pages
do not send them either. Every file is revalidated (ETag), so a rebuilt site shows at once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

# Not from `mimetypes`, which reads the machine's own tables: the types are the same everywhere.
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".ipynb": "application/json",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".whl": "application/zip",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}


class SiteServer(ThreadingHTTPServer):
    """Serves one folder under an optional prefix such as `/some/place`."""

    daemon_threads = True
    # A browser opens many connections at once when a page loads.
    request_queue_size = 128

    def __init__(self, folder: Path, *, port: int = 0, prefix: str = "") -> None:
        """Bind the port (0: a free one); OSError where it is taken."""
        self.folder = folder.resolve(strict=True)
        self.prefix = "/" + prefix.strip("/") if prefix.strip("/") else ""
        super().__init__(("127.0.0.1", port), SiteHandler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Report what went wrong, unless a browser just closed a connection, as they do."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """The address of the folder, with a slash at its end."""
        return f"http://127.0.0.1:{self.server_port}{quote(self.prefix)}/"


class SiteHandler(BaseHTTPRequestHandler):
    """GET and HEAD of files; nothing is logged."""

    server: SiteServer
    protocol_version = "HTTP/1.1"
    # Headers and body leave in two writes: without this each answer waits for the browser's ACK.
    disable_nagle_algorithm = True
    # A connection that says nothing for so many seconds is closed.
    timeout = 120

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Send a file's headers."""
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        path = self._find()
        if isinstance(path, str):
            self._send_headers(HTTPStatus.MOVED_PERMANENTLY, {"Location": path})
            return
        try:
            handle: BinaryIO | None = path.open("rb") if path else None
        except OSError:
            handle = None
        if path is None or handle is None:
            self._send_error(with_body)
            return
        with handle:
            facts = os.fstat(handle.fileno())
            headers = {
                "Cache-Control": "no-cache",
                "ETag": f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"',
                "Last-Modified": formatdate(facts.st_mtime, usegmt=True),
            }
            if self._is_known(headers["ETag"]):
                self._send_headers(HTTPStatus.NOT_MODIFIED, headers, length=None)
                return
            headers["Content-Type"] = TYPES.get(path.suffix.lower(), "application/octet-stream")
            self._send_headers(HTTPStatus.OK, headers, length=facts.st_size)
            if with_body:
                shutil.copyfileobj(handle, self.wfile, 1 << 20)

    def _find(self) -> Path | str | None:
        """The file to send, an address to go to instead, or None."""
        path = unquote(urlsplit(self.path).path)
        prefix = self.server.prefix
        if path in ("/", prefix) and prefix:
            return quote(prefix) + "/"
        if not path.startswith(prefix + "/") or "\0" in path:
            return None
        # resolve() follows `..` and links: what it ends at has to lie in the folder.
        found = (self.server.folder / path.removeprefix(prefix).lstrip("/")).resolve()
        if not found.is_relative_to(self.server.folder):
            return None
        if found.is_dir():
            if not path.endswith("/"):
                query = urlsplit(self.path).query
                inside = "".join(f"{part}/" for part in found.relative_to(self.server.folder).parts)
                return quote(f"{prefix}/{inside}") + (f"?{query}" if query else "")
            found /= "index.html"
        return found if found.is_file() else None

    def _is_known(self, etag: str) -> bool:
        known = self.headers.get("If-None-Match", "")
        return etag in [item.strip().removeprefix("W/") for item in known.split(",")]

    def _send_error(self, with_body: bool) -> None:
        if self.path == "/favicon.ico":
            # Asked for by the browser, not by the page: no error to show in its console.
            self._send_headers(HTTPStatus.NO_CONTENT, {}, length=None)
            return
        body = b"Not found\n"
        headers = {"Content-Type": TYPES[".txt"], "Cache-Control": "no-cache"}
        self._send_headers(HTTPStatus.NOT_FOUND, headers, length=len(body))
        if with_body:
            self.wfile.write(body)

    def _send_headers(
        self, status: HTTPStatus, headers: dict[str, str], *, length: int | None = 0
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: a page load is some 200 requests."""


@contextlib.contextmanager
def serving(folder: Path, *, port: int = 0, prefix: str = "") -> Iterator[str]:
    """Serve a folder in the background while the block runs; gives the address of the folder."""
    with SiteServer(folder, port=port, prefix=prefix) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()
