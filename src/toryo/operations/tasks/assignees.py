"""Who a person may give a task to: a member of the project, or a queue, not both."""

from __future__ import annotations

from toryo.deeds import deed
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Project
from toryo.domain.wording import say
from toryo.operations.calls.call import Call


def refuse(call: Call, project: Project, assignee_id: str | None, agent_type: str | None) -> None:
    """Raises Refusal."""
    if assignee_id is not None and agent_type is not None:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A task cannot have both an assignee and a queue.",
            "Give either an assignee or a queue.",
        )
    if assignee_id is None:
        return
    agent = call.known_agent(assignee_id)
    if not call.tx.agents.members_among(project.id, [agent.id]):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{agent_id} is not a member of project {project_id}.", agent_id=agent.id, project_id=project.id),
            say(
                "Add it first{deed: (…)}, or choose a member.",
                deed=deed("join", agent_id=agent.id, project_id=project.id),
            ),
            assignee_id=agent.id,
        )
