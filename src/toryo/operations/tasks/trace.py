"""One request as a tree: every task, attempt, launch, conversation and event that belongs to a correlation id."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import Task
from toryo.domain.times import Millis, iso, iso_or_none
from toryo.domain.traces import trace_id_of
from toryo.domain.wording import say
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

_EVENTS = 100
"""Of each task, the oldest."""


class OneTrace(Parameters):
    correlation_id: str = Field(min_length=1, max_length=200, description="The request's id, or a task's id.")


class Attempt(TypedDict):
    """One agent's turn at a queue task."""

    attempt: int
    agent_id: str
    claimed_at: str
    ended_at: str | None
    end_reason: str | None


TracedTalk = TypedDict(
    "TracedTalk", {"conversation_id": str, "with": str, "turns": int, "state": schemas.ConversationState}
)


class TracedEvent(TypedDict):
    sequence: int
    at: str
    kind: str
    actor_id: str
    session_id: str | None
    launch_id: str | None


class TracedTask(TypedDict):
    """A task of the request, with its oldest events, and the tasks below it."""

    task_id: str
    title: str
    status: schemas.StatusName
    project_id: str
    assignee_id: str | None
    agent_type: str | None
    created_by: str
    parent_task_id: str | None
    dependencies: list[str]
    attempt: int
    created_at: str
    started_at: str | None
    completed_at: str | None
    duration_ms: int | None
    attempts: list[Attempt]
    conversations: list[TracedTalk]
    events: list[TracedEvent]
    tasks: list[TracedTask]


class Trace(Result):
    correlation_id: str
    trace_id: str
    project_ids: list[str]
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    tasks: list[TracedTask]


@operation(
    "show_trace",
    grant=Grant.PERSON,
    parameters=OneTrace,
    route=Route("GET", "/traces/{correlation_id}"),
    tool=False,
    reads=True,
)
def show_trace(call: Call, wanted: OneTrace) -> Trace:
    """Everything that one request has caused, as a tree of tasks with their attempts, launches, talk and events."""
    correlation_id = wanted.correlation_id
    task = call.tx.tasks.find(correlation_id)
    if task is not None and visibility.sees(call, task.project_id):  # a task's id means the request it belongs to
        correlation_id = task.correlation_id or correlation_id
    tasks = [each for each in call.tx.tasks.correlated(correlation_id) if visibility.sees(call, each.project_id)]
    if not tasks:
        raise Refusal(
            Code.TASK_NOT_FOUND,
            say("No task belongs to the request {correlation_id}.", correlation_id=wanted.correlation_id),
            "Give the correlation_id of a task (toryo task show ID), or the id of one of its tasks.",
            correlation_id=wanted.correlation_id,
        )
    ids = {task.id for task in tasks}
    roots = [task for task in tasks if task.parent_id not in ids]
    start, end = min(task.created_at for task in tasks), _end(tasks)
    return {
        "success": True,
        "correlation_id": correlation_id,
        "trace_id": trace_id_of(correlation_id),
        "project_ids": sorted({task.project_id for task in tasks}),
        "started_at": iso(start),
        "ended_at": iso_or_none(end),
        "duration_ms": end - start if end is not None else None,
        "tasks": [_node(call, root, tasks) for root in roots],
    }


def _end(tasks: Sequence[Task]) -> Millis | None:
    """When the last of them was closed; None while one is open."""
    if any(task.open for task in tasks):
        return None
    return max(task.completed_at or task.moved_at for task in tasks)


def _node(call: Call, task: Task, tasks: Sequence[Task]) -> TracedTask:
    events = call.tx.events.after(0, _EVENTS, task_id=task.id)
    return {
        "task_id": task.id,
        "title": task.title,
        "status": task.status.value,
        "project_id": task.project_id,
        "assignee_id": task.assignee_id,
        "agent_type": task.agent_type,
        "created_by": task.created_by,
        "parent_task_id": task.parent_id,
        "dependencies": call.tx.tasks.depends_on([task.id]).get(task.id, []),
        "attempt": task.attempt,
        "created_at": iso(task.created_at),
        "started_at": iso_or_none(task.started_at),
        "completed_at": iso_or_none(task.completed_at),
        "duration_ms": task.completed_at - task.started_at if task.completed_at and task.started_at else None,
        "attempts": [
            {
                "attempt": claim.attempt,
                "agent_id": claim.agent_id,
                "claimed_at": iso(claim.claimed_at),
                "ended_at": iso_or_none(claim.ended_at),
                "end_reason": claim.end_reason,
            }
            for claim in call.tx.queues.claims_of_task(task.id)
        ],
        "conversations": [
            {
                "conversation_id": conversation.id,
                "with": conversation.partner_id,
                "turns": conversation.turns,
                "state": conversation.state.value,
            }
            for conversation in call.tx.chat.conversations_of_task(task.id)
        ],
        "events": [
            {
                "sequence": event.sequence,
                "at": iso(event.at),
                "kind": event.kind,
                "actor_id": event.actor_id,
                "session_id": event.session_id,
                "launch_id": event.launch_id,
            }
            for event in events
        ],
        "tasks": [_node(call, each, tasks) for each in tasks if each.parent_id == task.id],
    }
