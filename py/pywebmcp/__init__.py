"""The notebook open in the page, as WebMCP tools for the agent of the browser."""

__version__ = "0.1.0"
