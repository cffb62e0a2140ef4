"""The notebooks of public bug reports as files: those in `cases`, and two that are too long to keep."""

from __future__ import annotations

import atexit
import base64
import json
import random
import shutil
import struct
import tempfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from pywebmcp.testing import code, notebook, stream

WIDTH, HEIGHT = 320, 260


@lru_cache(maxsize=1)
def folder() -> Path:
    """A folder with all of them, for as long as the tests run."""
    made = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for path in (Path(__file__).parent / "cases").glob("*.ipynb"):
        shutil.copyfile(path, made / path.name)
    for name, content in (("bound-01-huge-png", _huge_png()), ("perf-01-stream-flood", _flood())):
        (made / f"{name}.ipynb").write_text(json.dumps(content), "utf-8")
    return made


def _flood() -> dict[str, Any]:
    """6,000 pieces of a stream, and one of a million characters."""
    ticks = [stream(f"tick {number}\n") for number in range(6000)]
    source = "for i in range(6000): print('tick', i, flush=True)"
    return notebook(
        code(source, "flood", outputs=ticks, execution_count=1),
        code(
            "print('x' * 1_000_000)",
            "one",
            outputs=[stream("x" * 1_000_000 + "\n")],
            execution_count=2,
        ),
        metadata=_PYODIDE,
    )


def _huge_png() -> dict[str, Any]:
    """A picture of noise, which no compression makes small."""
    noise = random.Random(1)
    rows = b"".join(b"\0" + noise.randbytes(3 * WIDTH) for _ in range(HEIGHT))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    shown = {
        "output_type": "display_data",
        "data": {
            "image/png": base64.b64encode(png).decode(),
            "text/plain": f"<Figure size {WIDTH}x{HEIGHT} with 1 Axes>",
        },
        "metadata": {"image/png": {"width": WIDTH, "height": HEIGHT}},
    }
    outputs = [stream("mean=0.51\n"), shown]
    return notebook(
        code("fig.savefig(...)", "pic", outputs=outputs, execution_count=1), metadata=_PYODIDE
    )


_PYODIDE = {
    "kernelspec": {"display_name": "Python (Pyodide)", "language": "python", "name": "python"},
    "language_info": {"name": "python"},
}
