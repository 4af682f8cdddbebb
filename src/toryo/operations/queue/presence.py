"""The queue protocol: registered agents send heartbeats, leave, and list each other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from toryo.domain import queue
from toryo.domain.times import iso
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.results import Result, Said
from toryo.operations.queue import claims as queue_claims

TypeName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


class Here(Parameters):
    agent_id: Id = Field(description="Your id.", json_schema_extra=PLAIN)


class Alive(Result):
    agent_id: str
    status: str
    heartbeat_seconds: int
    claims: list[queue_claims.HeldClaim]


@operation("heartbeat", grant=Grant.QUEUE_AGENT, parameters=Here)
def heartbeat(call: Call, here: Here) -> Alive:
    """Show that you are here and renew your claims. Call it every 30 seconds."""
    presence = queue_claims.note_seen(call, queue_claims.present(call, here.agent_id), heartbeat=True)
    for claim in call.tx.queues.claims_of(presence.agent_id):
        call.tx.queues.save_claim(queue.renewed(claim, call.now))
    return {
        "success": True,
        "agent_id": presence.agent_id,
        "status": queue_claims.status_of(call, presence),
        "heartbeat_seconds": queue.HEARTBEAT_SECONDS,
        "claims": queue_claims.held_by(call, presence.agent_id),
    }


class Left(Said):
    agent_id: str
    released: list[str]


@operation("unregister_agent", grant=Grant.QUEUE_AGENT, parameters=Here)
def unregister_agent(call: Call, here: Here) -> Left:
    """Leave the queue. Your unfinished tasks go back to it."""
    presence = queue_claims.present(call, here.agent_id, leaving=True)
    released = [claim.task_id for claim in call.tx.queues.claims_of(presence.agent_id)]
    if presence.online:
        queue_claims.go_offline(call, presence, releases=True, counted=False, leaves=True)
    return {"success": True, "agent_id": presence.agent_id, "released": released}


class ListAgents(Parameters):
    agent_type: TypeName | None = Field(None, description="Only of this queue.", json_schema_extra=PLAIN)
    status: Literal["online", "busy", "offline"] | None = Field(
        None, description="Only these.", json_schema_extra=PLAIN
    )


class QueueAgent(schemas.QueueAgent):
    registered_at: str


class Agents(Result):
    agents: list[QueueAgent]


@operation("list_agents", grant=Grant.QUEUE_AGENT, parameters=ListAgents)
def list_agents(call: Call, wanted: ListAgents) -> Agents:
    """Returns the agents of queues: status, when last seen, current tasks."""
    found = []
    for presence in call.tx.queues.presences(call.caller.project_id or ""):
        queue_claims.lapse_presence(call, presence)
        now = call.tx.queues.presence(presence.agent_id) or presence
        shown: QueueAgent = {
            "agent_id": now.agent_id,
            "agent_type": now.agent_type,
            "capabilities": list(now.capabilities),
            "status": queue_claims.status_of(call, now),
            "last_seen": iso(now.seen_at),
            "registered_at": iso(now.registered_at),
            "current_tasks": [claim.task_id for claim in call.tx.queues.claims_of(now.agent_id)],
        }
        if wanted.agent_type in (None, shown["agent_type"]) and wanted.status in (None, shown["status"]):
            found.append(shown)
    return {"success": True, "agents": found}
