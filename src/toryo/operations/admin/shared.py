"""What setting up projects, agents and members has in common."""

from __future__ import annotations

from typing import Annotated, NotRequired, final

from pydantic import Field
from typing_extensions import TypedDict

from toryo.operations.calls import schemas
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Id
from toryo.operations.calls.pagination import Page

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class OneProject(Parameters):
    project_id: Id = Field(description="The project.")


@final
class Widened(TypedDict):
    widened: NotRequired[list[str]]


def widened_told(widened: list[str]) -> Widened:
    """In an event and in an answer: what a change widens, if anything."""
    return {"widened": widened} if widened else {}


def join(call: Call, project_id: str, agent_id: str) -> bool:
    if call.tx.agents.members_among(project_id, [agent_id]):
        return False
    call.tx.agents.join(project_id, agent_id, call.now)
    call.event("project.member_added", project_id=project_id, agent_id=agent_id)
    call.tx.hint(WORK, f"project:{project_id}")
    return True


class AgentsResult(Page):
    agents: list[schemas.Agent]
