"""A right that was taken away is refused from the next call on, on each of two servers, while others change more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import Any

import pytest

from tests.stories import Answer, Caller, World
from toryo.domain.errors import Code
from toryo.storage.open_database import open_database, upgrade

ROUNDS = 8
SECONDS = 100


@pytest.fixture
def servers(database_url: str, quiet: None) -> Iterator[tuple[World, World]]:
    """Two servers on one database of each kind, with a project and an agent that serves a queue."""
    with open_database(database_url, exclusive=False) as one, open_database(database_url, exclusive=False) as other:
        upgrade(one)
        here, there = World(one, seed=1), World(other, seed=2)
        here.crew(1)
        there.project_id = here.project_id
        yield here, there


def key(world: World, **more: Any) -> Answer:
    return world.owner.call("make_api_key", project_id=world.project_id, **more)


def revoked_key(here: World, there: World, name: str) -> None:
    made = key(here, name=name)
    agents = [Caller(world, made["token"]) for world in (here, there)]
    for each in agents:
        each.call("poll_tasks", agent_id=_registered(agents[0], name))
    there.owner.call("revoke_api_key", key_id=made["key"]["key_id"])
    for each in agents:
        each.refused("poll_tasks", Code.INVALID_CREDENTIALS, agent_id=name)


def _registered(agent: Caller, name: str) -> str:
    registered: str = agent.call("register_agent", agent_id=name, agent_type="build")["agent_id"]
    return registered


def removed_member(here: World, there: World, name: str) -> None:
    made = key(there, name=name)
    agents = [Caller(world, made["token"]) for world in (here, there)]
    _registered(agents[1], name)
    for each in agents:
        each.call("heartbeat", agent_id=name)
    here.owner.call("remove_member", project_id=here.project_id, agent_id=name)
    for each in agents:
        each.refused("heartbeat", Code.PERMISSION_DENIED, agent_id=name)
    there.owner.call("add_member", project_id=here.project_id, agent_id=name)
    for each in agents:
        each.call("heartbeat", agent_id=name)


def revoked_token(here: World, there: World, name: str) -> None:
    made = here.owner.call("make_access_token", name=name, login="viewer")
    programs = [Caller(world, made["token"]) for world in (there, here)]
    for each in programs:
        each.call("list_projects")
    here.owner.call("revoke_access_token", token_id=made["access_token"]["token_id"])
    for each in programs:
        each.refused("list_projects", Code.INVALID_CREDENTIALS)


def deactivated_person(here: World, there: World, name: str) -> None:
    person = here.member(name)
    pair = (person, Caller(there, person.bearer))
    here.owner.call("add_member", project_id=here.project_id, agent_id=name)
    for each in pair:
        each.call("show_project", project_id=here.project_id)
    there.owner.call("remove_member", project_id=here.project_id, agent_id=name)
    for each in pair:
        each.refused("show_project", project_id=here.project_id)


CHANGES: dict[str, Callable[[World, World, str], None]] = {
    each.__name__: each for each in (revoked_key, removed_member, revoked_token, deactivated_person)
}


@pytest.mark.deep
def test_what_was_taken_away_is_refused_at_the_next_call_while_both_servers_change_the_directory(
    servers: tuple[World, World],
) -> None:
    problems: list[BaseException] = []
    over = Event()

    def repeatedly(which: str) -> None:
        here, there = servers
        try:
            for number in range(ROUNDS):
                CHANGES[which](here, there, f"{which.replace('_', '-')}-{number}")
                here, there = there, here
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            problems.append(error)

    def reads(world: World) -> None:
        try:
            while not over.is_set():
                world.owner.call("list_projects")
                world.owner.call("show_project", project_id=world.project_id)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            problems.append(error)

    changing = [Thread(target=repeatedly, args=(which,)) for which in CHANGES]
    reading = [Thread(target=reads, args=(world,)) for world in servers]
    for thread in (*changing, *reading):
        thread.start()
    for thread in changing:
        thread.join(SECONDS)
    over.set()
    for thread in reading:
        thread.join(SECONDS)
    assert not problems, problems
    assert not [thread for thread in (*changing, *reading) if thread.is_alive()]
