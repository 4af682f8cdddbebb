"""Who a person may give a task to: a member of the project, or a queue, not both; and what nobody can begin."""

from __future__ import annotations

from toryo.deeds import deed
from toryo.domain import pools
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Project
from toryo.domain.tasks import Pool, Status
from toryo.domain.wording import say
from toryo.operations.calls.call import Call


def refuse_both(assignee_id: str | None, agent_type: str | None, pool: Pool | None = None) -> None:
    """Raises Refusal."""
    if sum(each is not None for each in (assignee_id, agent_type, pool)) > 1:
        raise Refusal(
            Code.VALIDATION_ERROR,
            "A task goes to one of these only: an assignee, anyone who is free, a queue.",
            "Give only one of assignee_id, pool and agent_type.",
        )


def refuse_nobody(status: Status, assignee_id: str | None, pool: Pool | None = None) -> None:
    """Raises Refusal."""
    if status is Status.IN_PROGRESS and assignee_id is None and pool is None:
        raise Refusal(
            Code.INVALID_TRANSITION,
            "A task cannot start in progress without an assignee.",
            "Choose one (`assignee_id`, on the command line --assignee), or let it begin in todo.",
        )


def refuse(
    call: Call, project: Project, assignee_id: str | None, agent_type: str | None, pool: Pool | None = None
) -> None:
    """Raises Refusal. An assignee may be written as a pool."""
    refuse_both(assignee_id, agent_type, pool)
    if pools.written(assignee_id) is not None:
        return
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
