"""Names of agents that would be taken for somebody else: a person, Toryo itself, another agent of the project.

Looked at where an agent is made, makes itself known, gets another name, or joins a project. What exists keeps its
name. Owners may give two agents one name: their ids tell them apart.
"""

from __future__ import annotations

from collections.abc import Collection

from toryo.domain import people
from toryo.domain.agents import SCHEDULE, SYSTEM
from toryo.domain.errors import Code, Refusal
from toryo.domain.texts import bare, reads_as
from toryo.domain.wording import say
from toryo.operations.calls.call import Call

_TORYO = frozenset(bare(each) for each in (SYSTEM, SCHEDULE, "Toryo", "System", "You", "Nobody"))


def refuse_misleading(
    call: Call, agent_id: str, name: str, projects: Collection[str], *, by_itself: bool = False
) -> None:
    """Raises Refusal for an id or a name by which an agent of these projects reads as somebody else there.

    `by_itself`: the agent has chosen it, and may not bear the name of another one either.
    """
    names = {agent_id, name}
    if any(bare(each) in _TORYO for each in names):
        raise _misleading(name, "Toryo itself")
    members = {member for project_id in projects for member in call.tx.agents.members(project_id)}
    accounts = {account.agent_id: account for account in call.tx.people.accounts()}
    for other in call.tx.agents.all():
        owner = other.human and people.role_of(other, accounts.get(other.id)) == people.OWNER
        if other.id != agent_id and (other.id in members or owner):
            looks = bare if other.human else reads_as
            strict = other.human or by_itself
            like_its_name = {looks(each) for each in (names if strict else {agent_id})}
            if looks(other.id) in {looks(each) for each in names} or looks(other.name) in like_its_name:
                raise _misleading(name, other.id)


def _misleading(name: str, other: str) -> Refusal:
    return Refusal(
        Code.CONFLICT,
        say("{name!r} is too similar to {other}.", name=name, other=other),
        "Choose an id and a name that cannot be confused with another.",
    )
