"""People's roles as several groups need them: reading, comparing, and creating people."""

from __future__ import annotations

from typing import Any

from toryo.deeds import deed
from toryo.domain import people
from toryo.domain.agents import Agent, Kind, Role, Status
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.wording import say
from toryo.operations.calls import credential_verification, did_you_mean, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login


def id_taken(existing: Agent) -> Refusal:
    """Why nobody can be added with this one's id."""
    words, edit = "Agent {agent_id} already exists, and agents and people share ids.", "agent edit {}"
    if existing.human:
        words = "Person {agent_id} already exists, and agents and people share ids."
        edit = "person edit {} --role ROLE"
    if existing.human and not existing.active:
        words, edit = "The id {agent_id} belongs to a person who was removed.", "agent activate {}"
    return Refusal(
        Code.CONFLICT,
        say(words, agent_id=existing.id),
        say("Choose another id, or change the existing one: toryo {command}", command=edit.format(existing.id)),
        existing_id=existing.id,
    )


def person(call: Call, person_id: str) -> Agent:
    found = call.tx.agents.find(person_id)
    if found is None or not visibility.sees_agent(call, found):
        people = (agent for agent in call.tx.agents.all() if agent.human and visibility.sees_agent(call, agent))
        raise Refusal(
            Code.AGENT_NOT_FOUND,
            say("There is no person {person_id}.", person_id=person_id),
            did_you_mean.hint(
                person_id,
                [(agent.id, agent.name) for agent in people],
                say("{deed:List them: ….}", deed=deed("list_people")),
            ),
            agent_id=person_id,
        )
    if not found.human:
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("{found_id} is an agent. Only people can sign in.", found_id=found.id),
            say("Choose a person{deed: (…)}.", deed=deed("list_people")),
        )
    return found


def of_caller(call: Call) -> Login:
    """What the caller may do now: perhaps less than their role."""
    return call.caller.login or Login.VIEWER


def is_whole(call: Call) -> bool:
    """Whether the caller's browser or token is worth as much as the person."""
    return not people.is_above(credential_verification.role_of(call.tx, call.agent).value, of_caller(call).value)


def capped_role(call: Call, person: Agent, at_most: str) -> Login:
    return credential_verification.at_most(call.tx, person, at_most)


def refuse_more(person: Agent, at_most: str, own: str) -> None:
    """Raises Refusal for a link or token with a higher role than its creator's."""
    if people.is_above(at_most, own):
        raise Refusal(
            Code.PERMISSION_DENIED,
            say(
                "A link or token for {person_id} can have at most the role {own}, your own role.",
                person_id=person.id,
                own=own,
            ),
            say("Use --role {own} or lower.", own=own),
        )


def mailto(email: str) -> str:
    """How an account is found at the first sign-in with an identity provider."""
    return f"{people.MAILTO}{people.address(email)}"


def renewed(call: Call, person: Agent, **changes: Any) -> Agent:
    """Stored as changed: a person's version counts what changes them and their account, for who changes them next.

    What they may do stands in their account. `Agent.role` only repeats it, for those who read no accounts.
    """
    role = _role(people.role_of(person, call.tx.people.account(person.id)), person.role)
    after = replace(person, **changes, role=role, updated_at=call.now, version=person.version + 1)
    call.tx.agents.save(person, after)
    return after


def _role(login: str, otherwise: Role) -> Role:
    if login == people.OWNER:
        return Role.OWNER
    return Role.WORKER if otherwise is Role.OWNER else otherwise


def make_person(call: Call, person_id: str, name: str | None, login: str) -> Agent:
    """Creates a person: can be given tasks and is not started by a Coordinator."""
    made = Agent(
        id=person_id,
        name=(name or person_id).strip() or person_id,
        kind=Kind.HUMAN,
        role=_role(login, Role.WORKER),
        reports_to=None,
        status=Status.ACTIVE,
        provider=None,
        model=None,
        agent_type=None,
        capabilities=(),
        max_parallel_tasks=1,
        system_prompt="",
        provider_options={},
        created_at=call.now,
        updated_at=call.now,
    )
    call.tx.agents.add(made, None)
    call.event("agent.created", agent_id=made.id, data={"role": made.role.value, "provider": None})
    return made
