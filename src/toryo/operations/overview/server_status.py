"""The server: its version and database, and the Coordinators that have called. Changes nothing."""

from __future__ import annotations

from typing import Literal

import toryo
from toryo.domain.times import iso
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.storage.coordinators import Seen


class Status(Result):
    version: str
    database: str
    database_bytes: int
    coordinators: list[schemas.Coordinator]
    projects: int
    agents: int
    running: int
    last_event: int
    auth_mode: Literal["keys", "local", "open"]


@operation(
    "server_status",
    grant=Grant.PERSON,
    route=Route("GET", "/status"),
    tool=False,
    reads=True,
)
def server_status(call: Call, _: NoParameters) -> Status:
    """How the server stands: version, database, Coordinators seen, what runs. Members are told of what they may see."""
    seen = {each.id for each in call.tx.agents.all() if visibility.sees_agent(call, each)}
    call.tx.connection.check()
    return {
        "success": True,
        "version": toryo.__version__,
        "database": call.tx.connection.dialect,
        "database_bytes": call.tx.database_bytes(),
        "coordinators": [_coordinator(call, each, seen) for each in call.tx.coordinators.all()],
        "projects": sum(visibility.sees(call, each.id) for each in call.tx.projects.all()),
        "agents": len(seen),
        "running": sum(visibility.sees(call, each.project_id) for each in call.tx.sessions.live()),
        "last_event": call.tx.events.last(),
        "auth_mode": call.context.settings.auth.mode,
    }


def _coordinator(call: Call, seen: Seen, agents: set[str]) -> schemas.Coordinator:
    return {
        "coordinator_id": seen.id,
        "providers": seen.providers or [],
        "accounts": seen.accounts,
        "labels": seen.labels,
        "capabilities": seen.capabilities,
        "agents": seen.agents if seen.agents is None else [agent for agent in seen.agents if agent in agents],
        "running": seen.running,
        "seen_at": iso(seen.seen_at),
        "seconds_ago": (call.now - seen.seen_at) // 1000,
        "disk": rendering.disk(seen.disk),
    }
