"""The notebook open in the page, as tools for agents: WebMCP, MCP and the shell."""

__version__ = "0.1.0"
