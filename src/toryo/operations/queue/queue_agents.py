"""The agents of each queue, for people. REST and CLI."""

from __future__ import annotations

from pydantic import Field

from toryo.domain.times import iso
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cut, paged


class ListQueueAgents(Paged):
    project_id: Id = Field(description="The project.")


class QueueAgents(Page):
    agents: list[schemas.QueueAgent]


@operation(
    "list_queue_agents",
    grant=Grant.PERSON,
    parameters=ListQueueAgents,
    route=Route("GET", "/projects/{project_id}/queue-agents"),
    tool=False,
    reads=True,
)
def list_queue_agents(call: Call, wanted: ListQueueAgents) -> QueueAgents:
    """The agents that have registered themselves: which queue, last seen, with which tasks."""
    project = call.project(wanted.project_id)
    present, more = cut(call.tx.queues.presences(project.id), wanted, lambda each: each.agent_id)
    found = []
    for each in present:
        claims = call.tx.queues.claims_of(each.agent_id)
        offline = not each.online or each.silent(call.now)
        agent: schemas.QueueAgent = {
            "agent_id": each.agent_id,
            "agent_type": each.agent_type,
            "capabilities": list(each.capabilities),
            "status": "offline" if offline else "busy" if claims else "online",
            "last_seen": iso(each.seen_at),
            "current_tasks": [claim.task_id for claim in claims],
        }
        found.append(agent)
    answer: QueueAgents = {"success": True, "agents": found}
    return paged(answer, more)
