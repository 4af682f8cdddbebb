"""The server: MCP, REST and waiting at the edge; `app.py` builds and runs everything."""
