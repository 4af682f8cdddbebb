"""The server: MCP, REST and waiting at the edge, and the one place that builds and runs everything (`app.py`)."""
