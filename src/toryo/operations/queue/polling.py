"""The queue protocol: an agent that already runs claims tasks of its queue.

Which tasks are ready, and in which order they are claimed, is in `storage/poll_order.py`. Plain tasks are claimed by
`batched.py`, for many polls at once, in the way of this handler.
"""

from __future__ import annotations

from pydantic import Field

from toryo.domain import queue
from toryo.domain.errors import Code, Refusal
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.results import Result
from toryo.operations.queue import claims as queue_claims
from toryo.operations.tasks import mutations, queue_tasks


class Poll(Parameters):
    agent_id: Id = Field(description="Your id.", json_schema_extra=PLAIN)
    max_tasks: int = Field(1, ge=1, le=queue.CLAIMED_AT_ONCE, description="The limit.", json_schema_extra=PLAIN)
    wait_seconds: int = Field(0, ge=0, le=45, description="How long to wait for a task.", json_schema_extra=PLAIN)


class Polled(Result):
    result: list[schemas.QueueTask]


@operation("poll_tasks", grant=Grant.QUEUE_AGENT, parameters=Poll, whole=True, waits=True, bare="result", counted=False)
def poll_tasks(call: Call, wanted: Poll) -> Polled | Later:
    """Claim tasks of your queue, by priority, then age. Returns them or an empty list. heartbeat renews your claims."""
    presence = queue_claims.seen(call, queue_claims.present(call, wanted.agent_id))
    held = call.tx.queues.claims_of(presence.agent_id)
    room = queue.CLAIMED_AT_ONCE - len(held)
    if room <= 0:
        raise Refusal(
            Code.LIMIT_REACHED,
            f"You have claimed {len(held)} tasks; the limit is {queue.CLAIMED_AT_ONCE}.",
            "Submit results first (submit_result).",
            limit=queue.CLAIMED_AT_ONCE,
        )
    project = call.project(presence.project_id)
    queue_claims.lapse(call, project.id)
    many = min(wanted.max_tasks, room)
    taken, more = queue_claims.claim_ready(call, project, presence.agent_type, many)
    if more:  # a hint wakes a few of those who wait: there is work for more
        call.tx.hint(mutations.queue_topic(project.id, presence.agent_type))
    if not taken and wanted.wait_seconds and call.may_wait:
        return Later(
            topics(project.id, presence.agent_type), queue_claims.next_look(call, project.id, presence.agent_type)
        )
    return {"success": True, "result": queue_tasks.show_all(call, taken)}


def topics(project_id: str, agent_type: str) -> frozenset[str]:
    """What ends a wait for tasks of a queue."""
    return frozenset({mutations.queue_topic(project_id, agent_type), f"project-status:{project_id}"})
