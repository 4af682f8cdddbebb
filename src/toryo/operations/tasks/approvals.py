"""Messages to people about requests: each in their thread with the agent that created the task."""

from __future__ import annotations

from toryo.domain.agents import Agent, approvers
from toryo.domain.tasks import Task
from toryo.domain.texts import quoted
from toryo.domain.wording import say
from toryo.operations.calls import visibility
from toryo.operations.calls.call import Call
from toryo.operations.messaging import messages


def ask_approvers(call: Call, task: Task) -> None:
    """Each of them gets a message; `overview/needs/` lists the request for the same people."""
    seeds = [task.assignee_id] if task.assignee_id is not None else []
    known = {agent.id: agent for agent in (*call.tx.agents.with_superiors(seeds), *call.tx.agents.owners())}
    tree = {agent.id: agent.reports_to for agent in known.values()}
    asked = approvers(task.assignee_id, known, tree, lambda person: _is_asked(call, person, task.project_id))
    told = say(
        "{asker} requests a task for {assignee_id}: {title} ({task_id}).",
        asker=_asker(call, task),
        assignee_id=task.assignee_id,
        title=quoted(task.title),
        task_id=task.id,
    )
    for person in asked:
        about = task.assignee_id if task.assignee_id not in (None, person.id) else call.actor.id
        if about not in (None, person.id):
            messages.tell_person(call, task.project_id, person.id, about, told, task.id)
    call.event("task.approval_asked", task=task, data={"asked": [person.id for person in asked]})


def _is_asked(call: Call, person: Agent, project_id: str) -> bool:
    projects = visibility.asked_about(call, person)
    return projects is None or project_id in projects


def tell_consented(call: Call, task: Task, person: Agent) -> None:
    """What a person's message has approved, in their own thread: they have not seen the text that was filed."""
    told = say(
        "{agent} created {title} ({task_id}) for {assignee_id}; your message approved it.",
        agent=call.agent.name,
        title=quoted(task.title),
        task_id=task.id,
        assignee_id=task.assignee_id,
    )
    messages.tell_person(call, task.project_id, person.id, call.agent.id, told, task.id)


def _asker(call: Call, task: Task) -> str:
    """Who asks, and on whose behalf."""
    named = {
        agent.id: agent.name for agent in call.tx.agents.find_all({task.created_by, task.requested_by or ""} - {""})
    }
    asker, wisher = named.get(task.created_by, task.created_by), task.requested_by
    if wisher in (None, task.created_by):
        return asker
    return say("{asker}, for {wisher},", asker=asker, wisher=named.get(wisher or "", wisher))
