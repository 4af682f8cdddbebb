"""Which members may write to each other: members of one project, superiors and subordinates, and owners."""

from __future__ import annotations

from toryo.deeds import LEFT_OUT, Blank, deed
from toryo.domain.agents import Agent, Role, superiors
from toryo.domain.errors import Code, Refusal
from toryo.domain.projects import Project, Status
from toryo.domain.wording import say
from toryo.operations.calls import reachable_agents
from toryo.operations.calls.call import Call


def refuse_partner(call: Call, project: Project, writer: Agent, other: Agent) -> None:
    """Members of the same project, ancestors and descendants; owners may write to everybody and be written to."""
    if writer.id == other.id:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("You cannot send a message to yourself ({other_id}).", other_id=other.id),
            reachable_agents.ids_in_words(call.tx, call.caller) if call.of_agent else "Choose another member.",
            target_agent_id=other.id,
        )
    if project.status is Status.ARCHIVED:
        raise Refusal(
            Code.NOT_NOW,
            say("Project {project_id} is archived, so no one would read the message.", project_id=project.id),
            say(
                "A person must resume the project first{deed: (…)}.",
                deed=LEFT_OUT if call.of_agent else deed("resume_project", project_id=Blank("PRJ")),
            ),
            project_id=project.id,
        )
    if not other.active:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("{other_id} is inactive, so no one would read the message.", other_id=other.id),
            reachable_agents.ids_in_words(call.tx, call.caller)
            if call.of_agent
            else "Write to an active member, or ask a person to activate it.",
            target_agent_id=other.id,
        )
    members = call.tx.agents.members_among(project.id, [writer.id, other.id])
    if len(members) == 2 or _owner(call, writer) or _owner(call, other) or _related(call, writer.id, other.id):
        return
    raise Refusal(
        Code.PERMISSION_DENIED,
        say(
            "{other_id} is not a member of this project, and neither above nor below {writer_id}.",
            other_id=other.id,
            writer_id=writer.id,
        ),
        reachable_agents.ids_in_words(call.tx, call.caller)
        if call.of_agent
        else say(
            "Write to a member of the project; a person can add one{deed: (…)}.",
            deed=deed("join", agent_id=Blank("ID"), project_id=Blank("PRJ")),
        ),
        target_agent_id=other.id,
    )


def _related(call: Call, one: str, other: str) -> bool:
    above = {
        with_superior.id: with_superior.reports_to for with_superior in call.tx.agents.with_superiors((one, other))
    }
    return one in superiors(other, above) or other in superiors(one, above)


def _owner(call: Call, agent: Agent) -> bool:
    """A person who owns the server: everybody's superior."""
    everything = call.actor.person and call.actor.everything and agent.id == call.caller.actor_id
    return agent.human and (agent.role is Role.OWNER or everything)
