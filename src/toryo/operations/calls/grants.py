"""What an operation declares about its callers: one grant, and the transports on which it exists.

`permissions.py` defines what each grant means for each caller.
"""

from __future__ import annotations

from enum import StrEnum


class Grant(StrEnum):
    """One per operation; each names one or more kinds of caller."""

    OPEN = "open"
    COORDINATOR = "coordinator"
    ANY_SESSION = "any_session"
    TASK_SESSION = "task_session"
    CHAT_SESSION = "chat_session"
    MANAGER = "manager"
    """A manager in a task session (and, for the tools that say so, a worker on its own self-made subtasks)."""
    LEADING = "leading"
    """A task session; the operation itself sees to it that workers touch self-made subtasks only."""
    FILER = "filer"
    """A task session, or an orchestrator (an API key or a session that may file for queues)."""
    QUEUE_AGENT = "queue_agent"
    """An API key, or an orchestrator's session."""
    SHARER = "sharer"
    """A session or an API key that works in a project."""
    REGISTRAR = "registrar"
    """An API key; without one where the server lets agents of the same machine register themselves."""
    READER = "reader"
    """A session or a person that may see a project."""
    PERSON = "person"
    WRITER = "writer"
    """A person whose login may change things (not a viewer)."""
    OWNER = "owner"


KEYED = frozenset({Grant.FILER, Grant.QUEUE_AGENT, Grant.SHARER, Grant.REGISTRAR})
"""Grants whose operations take an API key, as the bearer or as `api_key`."""


class Door(StrEnum):
    """The transport of a call. An operation exists only on those that it declares."""

    MCP = "mcp"
    """`tools/call`, over TCP, the Unix socket and stdio alike."""
    CONTEXT = "context"
    """MCP resources and prompts."""
    REST = "rest"
    OWN = "own"
    """The server's own code names the operation; whether it may is still a matter of the grant."""
