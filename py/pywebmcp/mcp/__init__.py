"""MCP, the Model Context Protocol: sessions in JSON-RPC 2.0 without any I/O, the transport over
standard streams, and the server for saved outputs.
"""
