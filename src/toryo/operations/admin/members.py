"""Members of a project. REST and CLI; not MCP tools."""

from __future__ import annotations

from pydantic import Field

from toryo.operations.calls import rendering
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import Parameters, Proof, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.directory import confusable_names as directory_names
from toryo.operations.directory.memberships import AgentsResult, join
from toryo.operations.launches import agent_dismissal
from toryo.operations.messaging import mailboxes
from toryo.operations.tasks import mutations


class OneProject(Parameters):
    project_id: Id = Field(description="The project.")


class Membership(OneProject):
    agent_id: Id = Field(description="The agent.")


class ListMembers(OneProject, Paged):
    pass


@operation(
    "list_members",
    grant=Grant.PERSON,
    parameters=ListMembers,
    route=Route("GET", "/projects/{project_id}/members"),
    tool=False,
    reads=True,
)
def list_members(call: Call, wanted: ListMembers) -> AgentsResult:
    """The members of a project."""
    project = call.project(wanted.project_id)
    shown, more = cut(call.tx.agents.members(project.id), wanted, lambda each: each)
    found = {each.id: each for each in call.tx.agents.find_all(shown)}
    answer: AgentsResult = {"success": True, "agents": [rendering.agent(found[each]) for each in shown]}
    return paged(answer, more)


class Joined(Result):
    project_id: str
    agent_id: str
    member: bool
    changed: bool


@operation(
    "add_member",
    grant=Grant.OWNER,
    parameters=Membership,
    route=Route("POST", "/projects/{project_id}/members/{agent_id}"),
    tool=False,
    proof=Proof.WHERE_WIDER,
)
def add_member(call: Call, wanted: Membership) -> Joined:
    """Make an agent a member of a project. Only members are assigned, started or signed in there."""
    call.enter(wanted.project_id)
    project, agent = call.project(wanted.project_id), call.known_agent(wanted.agent_id)
    if agent.human:
        call.prove()
    if not agent.human and not call.tx.agents.members_among(project.id, [agent.id]):
        directory_names.refuse_misleading(call, agent.id, agent.name, [project.id])
    joined = join(call, project.id, agent.id)
    mutations.start_line(call, project.id, agent.id)
    return _joined(call, project.id, agent.id, joined)


def _joined(call: Call, project_id: str, agent_id: str, changed: bool) -> Joined:
    member = bool(call.tx.agents.members_among(project_id, [agent_id]))
    return {"success": True, "project_id": project_id, "agent_id": agent_id, "member": member, "changed": changed}


@operation(
    "remove_member",
    grant=Grant.OWNER,
    parameters=Membership,
    route=Route("DELETE", "/projects/{project_id}/members/{agent_id}"),
    tool=False,
)
def remove_member(call: Call, wanted: Membership) -> Joined:
    """End a membership: the agent's session there ends at once, and what it has claimed goes back."""
    call.enter(wanted.project_id)
    project, agent = call.project(wanted.project_id), call.known_agent(wanted.agent_id)
    left = call.tx.agents.leave(project.id, agent.id, call.now)
    if left:
        call.event("project.member_removed", project_id=project.id, agent_id=agent.id)
        agent_dismissal.dismiss(call, agent, project.id)
        call.tx.hint(WORK, f"project:{project.id}")
        mailboxes.wake(call, project.id, agent.id)
    return _joined(call, project.id, agent.id, left)
