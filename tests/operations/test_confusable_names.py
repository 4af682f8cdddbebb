"""Names by which an agent would be taken for somebody else."""

from __future__ import annotations

import pytest

from tests.stories import World
from toryo.domain.errors import Code

MISLEADING = [
    *("Owner", "0wner", "OWNER!", "Оwner", "o w n e r", "Öwner", "Ｏｗｎｅｒ"),
    *("Toryo", "toryo", "T0ryo", "system:toryo", "System", "Тоryo", "you"),
    *("w1", "W1", "Ｗ1", "ѡ1".replace("ѡ", "ｗ")),
]


@pytest.fixture
def office(world: World) -> World:
    world.project()
    world.worker("w1")
    return world


@pytest.mark.parametrize("name", MISLEADING)
def test_an_agent_that_makes_itself_known_reads_as_nobody_else(office: World, name: str) -> None:
    key = office.owner.call("make_api_key", project_id=office.project_id)["token"]
    agent = {"agent_id": "stranger", "agent_type": "paint", "name": name}
    outcome = office.nobody.ask("register_agent", **agent, api_key=key)
    assert outcome.refused and outcome.result is not None
    assert outcome.result["error"] == Code.CONFLICT.value
    assert not office.nobody.ask("register_agent", **{**agent, "name": "Stranger"}, api_key=key).refused


@pytest.mark.parametrize("name", ["toryo", "system", "0wner", "you"])
def test_its_id_is_looked_at_too(office: World, name: str) -> None:
    key = office.owner.call("make_api_key", project_id=office.project_id)["token"]
    assert office.nobody.ask("register_agent", agent_id=name, agent_type="paint", name="X", api_key=key).refused


def test_people_name_no_agent_so_either(office: World) -> None:
    asked = {"role": "worker", "projects": [office.project_id]}
    office.owner.refused("create_agent", Code.CONFLICT, id="w2", name="Owner", **asked)
    office.owner.call("create_agent", id="w2", name="Second", **asked)
    office.owner.refused("edit_agent", Code.CONFLICT, agent_id="w2", name="Ｗ1")
    office.owner.call("edit_agent", agent_id="w2", name="Second painter")


def test_agents_of_different_projects_may_have_one_name(office: World) -> None:
    office.owner.call("create_agent", id="a", name="Writer", role="worker", projects=[office.project_id])
    office.owner.call("create_agent", id="b", name="Writer", role="worker")


def test_owners_may_give_two_agents_one_name_and_no_agent_the_id_of_another(office: World) -> None:
    asked = {"role": "worker", "projects": [office.project_id]}
    office.owner.call("create_agent", id="a", name="Worker", **asked)
    office.owner.call("create_agent", id="b", name="Worker", **asked)
    office.owner.refused("create_agent", Code.CONFLICT, id="c", name="A", **asked)
    office.owner.refused("create_agent", Code.CONFLICT, id="worker", name="C", **asked)


def test_an_agent_takes_no_name_of_another_one_by_itself(office: World) -> None:
    office.owner.call("create_agent", id="a", name="Writer", role="worker", projects=[office.project_id])
    key = office.owner.call("make_api_key", project_id=office.project_id)["token"]
    assert office.nobody.ask("register_agent", agent_id="b", agent_type="x", name="Writer", api_key=key).refused


def test_an_agent_that_reads_as_a_member_does_not_join(office: World) -> None:
    office.owner.call("create_agent", id="other", name="W1", role="worker")
    asked = {"project_id": office.project_id, "agent_id": "other"}
    office.owner.refused("add_member", Code.CONFLICT, **asked)
    office.owner.call("edit_agent", agent_id="other", name="Other")
    assert office.owner.call("add_member", **asked)["changed"]


def test_whoever_is_made_an_owner_is_nobodys_name_anywhere(office: World) -> None:
    office.owner.call("add_person", person_id="mia", login="member")
    office.owner.call("change_person", person_id="mia", login="owner")
    office.owner.refused("create_agent", Code.CONFLICT, id="x", name="Mia", role="worker")
