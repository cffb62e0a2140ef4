"""From a process of this machine to a page: a Chromium that is opened or attached to, and the page's
MCP endpoint through it. Playwright (``pip install "pywebmcp[mcp]"``) is imported when it is needed.
"""
