"""How an agent's MCP client reaches the server, as its configuration says it: the address and a bearer header.

Programs speak MCP over TCP; where only a Unix socket leads to the server they start the stdio bridge (`toryo mcp`),
which is a client like any other: no configuration names a database or starts a server.
"""

from __future__ import annotations

import sys
from typing import Any

from toryo.coordinator.environment import CREDENTIAL, SERVER_URL, own_python_path
from toryo.coordinator.provider import Setting


def mcp_server(setting: Setting) -> dict[str, Any]:
    """One entry of `mcpServers`. It holds the launch's credential: only this user may read what it is written to."""
    return _bridge(setting) if setting.server_url.startswith("unix:") else _address(setting)


def _address(setting: Setting) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {setting.launch.credential}"} if setting.launch.credential else {}
    return {"type": "http", "url": f"{setting.server_url.rstrip('/')}/mcp", "headers": headers}


def _bridge(setting: Setting) -> dict[str, Any]:
    """Its environment is given whole, because programs pass little of their own to what they start."""
    env = {SERVER_URL: setting.server_url, **own_python_path()}
    if setting.launch.credential:
        env[CREDENTIAL] = setting.launch.credential
    return {"type": "stdio", "command": sys.executable, "args": ["-P", "-m", "toryo", "mcp"], "env": env}
