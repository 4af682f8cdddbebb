"""Membership of projects: joining, and the list of members."""

from __future__ import annotations

from toryo.operations.calls import schemas
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.pagination import Page


class AgentsResult(Page):
    agents: list[schemas.Agent]


def join(call: Call, project_id: str, agent_id: str) -> bool:
    """False if it is a member already."""
    if call.tx.agents.members_among(project_id, [agent_id]):
        return False
    call.tx.agents.join(project_id, agent_id, call.now)
    call.event("project.member_added", project_id=project_id, agent_id=agent_id)
    call.tx.hint(WORK, f"project:{project_id}")
    return True
