"""Asking people to approve: those above the assignee, each in their thread with it."""

from __future__ import annotations

from toryo.domain.agents import Agent, superiors
from toryo.domain.tasks import Task
from toryo.operations import talking
from toryo.operations.call import Call


def ask_superiors(call: Call, task: Task, requester: Agent) -> None:
    """Every person above the assignee is asked; where there is none, the owners are."""
    people = [call.tx.agents.find(each) for each in superiors(task.assignee_id or "", call.tx.agents.tree())]
    asked = [each for each in people if each is not None and each.human and each.active]
    asked = asked or [each for each in call.tx.agents.owners() if each.active]
    told = (
        f"{requester.name} asks for a task of {task.assignee_id}: “{task.title}” ({task.id}). "
        f"Approve or reject it: toryo task approve {task.id}, or toryo task reject {task.id} --reason …"
    )
    for each in asked:
        about = task.assignee_id if task.assignee_id not in (None, each.id) else requester.id
        if about not in (None, each.id):
            talking.tell_person(call, task.project_id, each.id, about, told, task.id)
    call.event("task.approval_asked", task=task, data={"asked": [each.id for each in asked]})
