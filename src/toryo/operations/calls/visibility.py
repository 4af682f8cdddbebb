"""Who may see what: projects, agents and events; and about which projects a person is asked.

What the caller may not see is treated as not found (`call.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toryo.domain import people
from toryo.domain.agents import Agent, Role
from toryo.domain.events import Event
from toryo.operations.calls.callers import Caller, Kind, Login
from toryo.storage.transaction import Transaction

_OF_ONE_PROJECT = (Kind.SESSION, Kind.LAUNCH, Kind.QUEUE)


class Looking(Protocol):
    """A call, as far as it matters here."""

    tx: Transaction
    caller: Caller


def sees(call: Looking, project_id: str) -> bool:
    """Sessions see their own project; people the projects they belong to; owners, viewers and Toryo all."""
    if call.caller.kind in _OF_ONE_PROJECT:
        return call.caller.project_id == project_id
    return not _is_member(call) or _belongs(call, _me(call), project_id)


def visible_projects(call: Looking) -> Sequence[str] | None:
    """Ids of the projects that this person sees; None: all of them."""
    return call.tx.agents.projects_of(_me(call).id) if _is_member(call) else None


def sees_agent(call: Looking, agent: Agent) -> bool:
    """Members see the people of the server, and the agents of their projects; sessions and API keys who belongs to
    their project, and the people who see every project."""
    if call.caller.kind in _OF_ONE_PROJECT:
        # Also who was a member once: tasks, messages and notes still name them.
        if call.caller.agent is not None and agent.id == call.caller.agent.id:
            return True
        if agent.human and people.role_of(agent, call.tx.people.account(agent.id)) != people.MEMBER:
            return True
        return call.tx.agents.membership(call.caller.project_id or "", agent.id) is not None
    if not _is_member(call) or agent.human:
        return True
    return any(sees(call, project) for project in call.tx.agents.projects_of(agent.id))


def sees_event(call: Looking, event: Event) -> bool:
    """Of a project: who sees the project. Of the server: owners; others what concerns them, and agents they see.

    Viewers see all of it, but for how other people sign in. Who sees one event of a project sees all of them.
    """
    if event.project_id is not None:
        return sees(call, event.project_id)
    if call.caller.kind is not Kind.PERSON or call.caller.login is Login.OWNER:
        return True
    if _me(call).id in (event.agent_id, event.actor_id):
        return True
    if event.kind.startswith(("person.", "server.")):
        return False
    if call.caller.login is Login.VIEWER:
        return True
    agent = call.tx.agents.find(event.agent_id) if event.agent_id is not None else None
    return agent is not None and not agent.human and sees_agent(call, agent)


def asked_about(call: Looking, person: Agent) -> frozenset[str] | None:
    """Ids of the projects about which this person is asked: those they belong to; None (all) for owners. Independent of
    the caller.

    A viewer sees every project but decides nothing, and so is not asked about other projects.
    """
    return None if person.role is Role.OWNER else frozenset(call.tx.agents.projects_of(person.id))


def _is_member(call: Looking) -> bool:
    """Whether a person calls who sees no more than the projects they belong to."""
    return call.caller.kind is Kind.PERSON and call.caller.login is Login.MEMBER


def _me(call: Looking) -> Agent:
    assert call.caller.agent is not None
    return call.caller.agent


def _belongs(call: Looking, agent: Agent, project_id: str) -> bool:
    membership = call.tx.agents.membership(project_id, agent.id)
    return membership is not None and membership[1] is None
