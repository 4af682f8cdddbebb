"""Notes and handoffs: what a session leaves for the next session of its task."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field

from toryo.domain import ids
from toryo.domain.errors import Code, Refusal
from toryo.domain.handover import Handoff
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Said
from toryo.operations.sessions.notes import Progress, Text, add_note, of_own_tree


class Noted(Said):
    note_id: str


@operation(
    "save_progress",
    shown_to=Audience.WORKER | Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=Progress,
)
def save_progress(call: Call, note: Progress) -> Noted:
    """Save progress on a task for its next session."""
    task = of_own_tree(call, note.task_id)
    if not any((note.progress, note.findings, note.blockers, note.next_steps)):
        raise Refusal(Code.VALIDATION_ERROR, "The note is empty.", "Pass progress, findings, blockers or next_steps.")
    return {"success": True, "note_id": add_note(call, task.id, note)}


class CreateHandoff(Parameters):
    task_id: Id = Field(description="A task of your own tree.")
    summary: Text = Field(min_length=1, description="Where things stand.")
    to_agent_id: Id | None = Field(None, description="The recipient; default: the next agent on the task.")
    context: Any = Field(None, description="JSON for the next agent.")
    recommendations: Text | None = Field(None, description="What you would do next.")


class HandoffResult(Said):
    handoff_id: str
    handoff: NotRequired[schemas.Handoff]


@operation("create_handoff", grant=Grant.ANY_SESSION, parameters=CreateHandoff)
def create_handoff(call: Call, wanted: CreateHandoff) -> HandoffResult:
    """Leave what you know about a task for another agent. The assignee stays the same. Returns the handoff_id."""
    task = of_own_tree(call, wanted.task_id)
    if wanted.to_agent_id is not None:
        call.known_agent(wanted.to_agent_id)
    handoff = Handoff(
        id=call.new_id(ids.HANDOFF),
        task_id=task.id,
        from_agent_id=call.agent.id,
        to_agent_id=wanted.to_agent_id,
        summary=wanted.summary,
        context=wanted.context,
        recommendations=wanted.recommendations,
        created_at=call.now,
    )
    call.tx.handovers.add_handoff(handoff)
    call.event("handoff.created", task=task, data={"handoff_id": handoff.id, "to": wanted.to_agent_id})
    return {"success": True, "handoff_id": handoff.id, "handoff": rendering.handoff(handoff)}


class AcceptHandoff(Parameters):
    handoff_id: Id = Field(description="The handoff, from get_my_task or get_task.")


@operation("accept_handoff", grant=Grant.ANY_SESSION, parameters=AcceptHandoff)
def accept_handoff(call: Call, wanted: AcceptHandoff) -> HandoffResult:
    """Confirm that you have read a handoff and continue from it."""
    handoff = call.tx.handovers.handoff(wanted.handoff_id)
    task = call.tx.tasks.find(handoff.task_id) if handoff is not None else None
    if handoff is None or task is None or not visibility.sees(call, task.project_id):
        raise Refusal(
            Code.HANDOFF_NOT_FOUND,
            f"There is no handoff {wanted.handoff_id} here.",
            "Call get_my_task or get_task: they return the handoffs of a task.",
        )
    if handoff.to_agent_id not in (None, call.agent.id):
        raise Refusal(
            Code.PERMISSION_DENIED,
            f"This handoff is for {handoff.to_agent_id}.",
            "Accept only handoffs that are addressed to you or to no one.",
        )
    if handoff.accepted_at is None:
        handoff = call.tx.handovers.accept(handoff, call.agent.id, call.now)
        call.event("handoff.accepted", task=task, data={"handoff_id": handoff.id})
    return {"success": True, "handoff_id": handoff.id, "handoff": rendering.handoff(handoff)}
