"""The agents that a caller may write to or request tasks from; listed when it names an unknown one."""

from __future__ import annotations

from typing import Literal

from toryo.domain.agents import Agent
from toryo.operations.calls import schemas
from toryo.operations.calls.callers import Caller
from toryo.storage.transaction import Transaction

_NAMED = 20


def others(tx: Transaction, caller: Caller, project_id: str) -> list[Agent]:
    """The agents the caller may write to in a project: its other active members, and the people who own the server."""
    ids = tx.agents.members(project_id)
    place = {each: at for at, each in enumerate(ids)}
    owners = [owner for owner in tx.agents.owners() if owner.id not in place]
    here = sorted(tx.agents.find_all(ids), key=lambda each: place[each.id]) + owners
    return [agent for agent in here if agent.active and agent.id != caller.actor_id]


def ids_in_words(tx: Transaction, caller: Caller) -> str:
    """Their ids, for the refusal of an unknown recipient."""
    here = others(tx, caller, caller.project_id or "")
    names = ", ".join(f"{agent.id} ({rank(agent)})" for agent in here[:_NAMED])
    rest = len(here) - _NAMED
    more = f", and {rest} more{' (list_team)' if caller.session is not None else ''}" if rest > 0 else ""
    return f"You can reach: {names}{more}." if names else "You can reach no one else."


Rank = schemas.RoleName | Literal["person"]


def rank(agent: Agent) -> Rank:
    """What somebody is, in a word."""
    return "person" if agent.human else agent.role.value
