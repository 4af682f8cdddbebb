"""A small client for Toryo's server: MCP tools and REST, blocking and async. Used by agents, Coordinator and CLI.

It knows the wire and nothing of what the tools mean; it imports no other part of Toryo. What stands on an event loop
is loaded when it is asked for: no one else must pay for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toryo.client.blocking import Client
from toryo.client.errors import ProtocolError, RefusalError, Unreachable
from toryo.client.handler_failures import Retry, TaskFailed

if TYPE_CHECKING:
    from toryo.client.asynchronous import AsyncClient
    from toryo.client.queue_agent import AsyncQueueAgent, QueueAgent

__all__ = [
    "AsyncClient",
    "AsyncQueueAgent",
    "Client",
    "ProtocolError",
    "QueueAgent",
    "RefusalError",
    "Retry",
    "TaskFailed",
    "Unreachable",
]


_LATER = {"AsyncClient": "asynchronous", "AsyncQueueAgent": "queue_agent", "QueueAgent": "queue_agent"}


if not TYPE_CHECKING:  # a type checker would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
