"""Runs one cell's Python as IPython does, in small: streams, rich results, tracebacks, ``await``."""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import inspect
import io
import linecache
import traceback
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any

Emit = Callable[[dict[str, Any]], None]
"""Takes an nbformat output, or ``{"output_type": "clear_output", "wait": bool}``."""

Ask = Callable[[str, bool], Awaitable[str]]
"""Asks the person: prompt, whether it is a password."""

FORMATS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}

RULE = "-" * 75


@dataclass(frozen=True, slots=True)
class Raised:
    """An error reply: the fields of Jupyter messaging's ``error``."""

    ename: str
    evalue: str
    traceback: list[str]

    def content(self) -> dict[str, Any]:
        """As ``CellRun.error`` has it."""
        return {"ename": self.ename, "evalue": self.evalue, "traceback": list(self.traceback)}


class _Stream(io.TextIOBase):
    """A text stream whose every write is a stream message."""

    def __init__(self, name: str, emit: Emit) -> None:
        self.name = name
        self._emit = emit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._emit({"output_type": "stream", "name": self.name, "text": text})
        return len(text)


class _Questions(ast.NodeTransformer):
    """``input()`` at the top level of a cell becomes an ``await``: there is no thread to block."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name not in ("input", "getpass"):
            return node
        ask = ast.Name("__input__" if name == "input" else "__getpass__", ast.Load())
        return ast.Await(ast.Call(ask, node.args, node.keywords))


class _Steps:
    """Awaits a coroutine and enters a context around each of its steps, not around its waits."""

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, Any],
        context: Callable[[], contextlib.AbstractContextManager[Any]],
        thrown: Callable[[BaseException], BaseException],
    ) -> None:
        self._coroutine = coroutine
        self._context = context
        self._thrown = thrown

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[Any], Any] = self._coroutine.send
        value: Any = None
        while True:
            with self._context():
                try:
                    waits = step(value)
                except StopIteration as stop:
                    return stop.value
            try:
                step, value = self._coroutine.send, (yield waits)
            except BaseException as error:
                step, value = self._coroutine.throw, self._thrown(error)


def namespace() -> dict[str, Any]:
    """The variables of a fresh kernel."""
    return {"__name__": "__main__", "__builtins__": dict(vars(builtins))}


async def execute(
    source: str,
    variables: dict[str, Any],
    count: int,
    emit: Emit,
    ask: Ask,
    thrown: Callable[[BaseException], BaseException] = lambda error: error,
) -> Raised | None:
    """Run one cell's source in a namespace; answers the error it ended with, or None.

    ``count`` is the execution count; ``thrown`` may put another exception in the place of the
    one that is thrown into a waiting cell (an interrupt in the place of a cancellation).
    A cancellation that ``thrown`` leaves alone, and what closes the coroutine, is passed on.
    """
    name = f"<cell {count}>"
    out, err = _Stream("stdout", emit), _Stream("stderr", emit)
    stopped: list[BaseException] = []

    def seen(error: BaseException) -> BaseException:
        turned = thrown(error)
        if turned is error:
            stopped.append(error)
        return turned

    @contextlib.contextmanager
    def captured() -> Generator[None, None, None]:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield

    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    _install(variables, emit, ask)
    try:
        await _Steps(_evaluate(source, name, variables, count, emit), captured, seen)
    except BaseException as error:
        if error in stopped or isinstance(error, GeneratorExit):
            raise
        return _raised(error, name)
    return None


async def _evaluate(
    source: str, name: str, variables: dict[str, Any], count: int, emit: Emit
) -> None:
    tree = _Questions().visit(ast.parse(source, name))
    ast.fix_missing_locations(tree)
    shown = None
    # A semicolon at the end hides the value, as in IPython.
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        shown = ast.Expression(tree.body.pop().value)
    await _step(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), variables)
    if shown is None:
        return
    value = await _step(compile(shown, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), variables)
    if value is None:
        return
    variables["_"] = value
    data, metadata = mime_bundle(value)
    emit(
        {
            "output_type": "execute_result",
            "data": data,
            "metadata": metadata,
            "execution_count": count,
        }
    )


async def _step(block: types.CodeType, variables: dict[str, Any]) -> Any:
    value = eval(block, variables)
    return await value if block.co_flags & inspect.CO_COROUTINE else value


def mime_bundle(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data and metadata of a value, by the ``_repr_*_`` methods that IPython documents."""
    data: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    if isinstance(value, type):
        return {"text/plain": repr(value)}, {}
    for method, mime in FORMATS.items():
        try:
            represent = getattr(value, method, None)
            made = represent() if represent is not None else None
        except Exception:
            # As in IPython: the other formats are shown, and why this one is not.
            traceback.print_exc()
            continue
        if isinstance(made, tuple):
            made, metadata[mime] = made
        if isinstance(made, bytes):
            made = base64.b64encode(made).decode()
        if made is not None:
            data[mime] = made
    bundle = getattr(value, "_repr_mimebundle_", None)
    if bundle is not None:
        data |= bundle(include=None, exclude=None)
    return {"text/plain": repr(value)} | data, metadata


def _install(variables: dict[str, Any], emit: Emit, ask: Ask) -> None:
    """Put what IPython adds to the builtins there, bound to this cell's outputs."""

    def display(*values: Any) -> None:
        for value in values:
            data, metadata = mime_bundle(value)
            emit({"output_type": "display_data", "data": data, "metadata": metadata})

    def clear_output(wait: bool = False) -> None:
        emit({"output_type": "clear_output", "wait": wait})

    async def question(prompt: object = "") -> str:
        return await ask(str(prompt), False)

    async def secret(prompt: object = "Password: ", stream: Any = None) -> str:
        return await ask(str(prompt), True)

    def blocked(prompt: object = "") -> str:
        raise RuntimeError("the in-memory kernel answers input() at the top level of a cell only")

    variables["__builtins__"].update(
        display=display,
        clear_output=clear_output,
        input=blocked,
        __input__=question,
        __getpass__=secret,
    )


def _raised(error: BaseException, name: str) -> Raised:
    ename, evalue = type(error).__name__, str(error)
    last = f"\x1b[31m{ename}\x1b[39m: {evalue}"
    if isinstance(error, SyntaxError) and error.filename == name:
        place = f"  \x1b[36mCell\x1b[39m\x1b[32m {_cell_name(name)}, line {error.lineno}\x1b[39m\n"
        pointer = " " * (4 + max((error.offset or 1) - 1, 0)) + "^"
        text = f"{place}    {(error.text or '').rstrip()}\n{pointer}\n{last}"
        return Raised(ename, evalue, [text])
    head = f"\x1b[31m{ename}\x1b[39m{'Traceback (most recent call last)':>{75 - len(ename)}}"
    frames = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__:
            frames.append(_frame(file, trace.tb_frame.f_code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return Raised(ename, evalue, [f"\x1b[31m{RULE}\x1b[39m", head, *frames, last])


def _frame(file: str, function: str, line: int) -> str:
    """One level of a traceback: two lines around the one that failed, marked with an arrow."""
    place = f"Cell {_cell_name(file)}" if file.startswith("<cell ") else f"File {file}"
    called = "" if function == "<module>" else f", in {function}()"
    shown = [f"\x1b[36m{place}\x1b[39m\x1b[32m, line {line}{called}\x1b[39m"]
    for number in range(max(line - 2, 1), line + 3):
        text = linecache.getline(file, number)
        if text:
            mark = f"\x1b[32m----> {number}\x1b[39m" if number == line else f"{number:>7}"
            shown.append(f"{mark} {text.rstrip()}")
    return "\n".join(shown) + "\n"


def _cell_name(name: str) -> str:
    return f"In[{name.removeprefix('<cell ').rstrip('>')}]"
