"""A small client for Toryo's server: MCP tools and REST, blocking and async. Used by agents, Coordinator and CLI.

It knows the wire and nothing of what the tools mean; it imports no other part of Toryo.
"""

from toryo.client.asynchronous import AsyncClient
from toryo.client.blocking import Client
from toryo.client.errors import ProtocolError, RefusalError, Unreachable

__all__ = ["AsyncClient", "Client", "ProtocolError", "RefusalError", "Unreachable"]
