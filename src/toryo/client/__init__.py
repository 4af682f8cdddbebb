"""A small client for Toryo's server: MCP tools and REST, blocking and async. Used by agents, Coordinator and CLI.

It knows the wire and nothing of what the tools mean; it imports no other part of Toryo. Queue agents, which know seed
4's tools, are loaded when they are asked for: they stand on an event loop, which nobody else shall pay for.
"""

from typing import TYPE_CHECKING, Any

from toryo.client.asynchronous import AsyncClient
from toryo.client.blocking import Client
from toryo.client.errors import ProtocolError, RefusalError, Unreachable
from toryo.client.outcomes import Retry, TaskFailed

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name not in ("AsyncQueueAgent", "QueueAgent"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from toryo.client import queue_agent

    return getattr(queue_agent, name)
