"""Requests for approval to people: everyone above the assignee, each in their thread with the agent that created the
task.
"""

from __future__ import annotations

from toryo.domain.agents import Agent, superiors
from toryo.domain.tasks import Task
from toryo.domain.texts import quoted
from toryo.operations.calls.call import Call
from toryo.operations.messaging import messages


def ask_superiors(call: Call, task: Task) -> None:
    """Every person above the assignee is asked; where there is none, the owners are."""
    people = [call.tx.agents.find(superior) for superior in superiors(task.assignee_id or "", call.tx.agents.tree())]
    asked = [person for person in people if person is not None and person.human and person.active]
    asked = asked or [owner for owner in call.tx.agents.owners() if owner.active]
    told = (
        f"{_asker(call, task)} requests a task for {task.assignee_id}: {quoted(task.title)} ({task.id}). Approve "
        f"or reject it: toryo task approve {task.id}, or toryo task reject {task.id} --reason …"
    )
    for person in asked:
        about = task.assignee_id if task.assignee_id not in (None, person.id) else call.actor.id
        if about not in (None, person.id):
            messages.tell_person(call, task.project_id, person.id, about, told, task.id)
    call.event("task.approval_asked", task=task, data={"asked": [person.id for person in asked]})


def tell_consented(call: Call, task: Task, person: Agent) -> None:
    """What a person's message has approved, in their own thread: they have not seen the text that was filed."""
    told = (
        f"{call.agent.name} created {quoted(task.title)} ({task.id}) for {task.assignee_id}; your message "
        f"approved it. See it: toryo task show {task.id}. Start it: toryo task move {task.id} in_progress. "
        f"Cancel it: toryo task cancel {task.id} --reason …"
    )
    messages.tell_person(call, task.project_id, person.id, call.agent.id, told, task.id)


def _asker(call: Call, task: Task) -> str:
    """Who asks, and on whose behalf."""
    named = {
        agent.id: agent.name for agent in call.tx.agents.find_all({task.created_by, task.requested_by or ""} - {""})
    }
    asker, wisher = named.get(task.created_by, task.created_by), task.requested_by
    return asker if wisher in (None, task.created_by) else f"{asker}, for {named.get(wisher or '', wisher)},"
