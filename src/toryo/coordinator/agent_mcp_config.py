"""The MCP server entry in an agent program's configuration: the address and a bearer header.

Programs speak MCP over TCP; if the server has only a Unix socket, they start the stdio bridge (`toryo mcp`), a normal
client. No configuration names a database or starts a server.
"""

from __future__ import annotations

import sys
from typing import Any

from toryo.agents.env_vars import CREDENTIAL, SERVER_URL, own_python_path
from toryo.coordinator.provider import Setting

NAME = "toryo"
"""The name of the server in every program's configuration."""
TOOL_TIME_OUT = 120
"""Seconds that a program must wait for an answer: Toryo's own longest wait (`long_waits.py`) is shorter."""


def mcp_server(setting: Setting, reference: str | None = None) -> dict[str, Any]:
    """One entry of `mcpServers`.

    `reference` is how the program's configuration names an environment variable (`${{{}}}` for `${NAME}`): then no
    file holds the credential. Without one it is written out: only this user may read what it is written to.
    """
    credential = _credential(setting, reference)
    return _bridge(setting, credential) if over_socket(setting) else _address(setting, credential)


def mcp_server_of_gemini(setting: Setting) -> dict[str, Any]:
    """The same entry in the format of Gemini CLI and its descendants. It is marked as trusted; otherwise they offer
    none of our tools without a person who can confirm calls."""
    entry = mcp_server(setting, "${{{}}}")
    kind = entry.pop("type")
    address = {"httpUrl": entry.pop("url")} if kind == "http" else {}
    return {**address, **entry, "timeout": TOOL_TIME_OUT * 1000, "trust": True}


def over_socket(setting: Setting) -> bool:
    """Whether only the bridge leads to the server."""
    return setting.server_url.startswith("unix:")


def mcp_url(setting: Setting) -> str:
    return f"{setting.server_url.rstrip('/')}/mcp"


def _credential(setting: Setting, reference: str | None) -> str | None:
    if not setting.launch.credential:
        return None
    return setting.launch.credential if reference is None else reference.format(CREDENTIAL)


def _address(setting: Setting, credential: str | None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {credential}"} if credential else {}
    return {"type": "http", "url": mcp_url(setting), "headers": headers}


def _bridge(setting: Setting, credential: str | None) -> dict[str, Any]:
    """Contains the whole environment, because agent programs pass little of theirs to the servers that they start."""
    env = {SERVER_URL: setting.server_url, **own_python_path()}
    if credential:
        env[CREDENTIAL] = credential
    return {"type": "stdio", "command": sys.executable, "args": ["-P", "-m", "toryo", "mcp"], "env": env}
