"""One reader for every saved output: which there are, and one of them as an agent can take it."""

from pywebmcp.outputs.errors import OutputProtocolError
from pywebmcp.outputs.notebook import (
    list_notebook_outputs,
    read_notebook_output,
    resolve_notebook_cell,
)
from pywebmcp.outputs.reading import list_outputs, read_output
from pywebmcp.outputs.transport import MAX_TRANSPORT_BYTES, dumps
from pywebmcp.outputs.windows import DEFAULT_TEXT_LIMIT

__all__ = [
    "DEFAULT_TEXT_LIMIT",
    "MAX_TRANSPORT_BYTES",
    "OutputProtocolError",
    "dumps",
    "list_notebook_outputs",
    "list_outputs",
    "read_notebook_output",
    "read_output",
    "resolve_notebook_cell",
]
