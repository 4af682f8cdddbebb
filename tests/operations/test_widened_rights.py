"""What an agent may do is never widened by accident: merging, asking first, old rows, unknown providers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.stories import World
from toryo.storage.transaction import Transaction


def stored(world: World, agent_id: str, **options: Any) -> None:
    """As a Toryo that accepted anything has left it."""

    def write(connection: Any) -> None:
        agents = Transaction(connection).agents
        before = agents.find(agent_id)
        assert before is not None
        agents.save(before, replace(before, provider_options=options, version=before.version + 1))

    world.database.write(write)


def options(world: World, agent_id: str) -> dict[str, Any]:
    found: dict[str, Any] = world.owner.call("show_agent", agent_id=agent_id)["agent"]["provider_options"]
    return found


def edit(world: World, **wanted: Any) -> dict[str, Any]:
    return world.owner.call("edit_agent", agent_id="ann", **wanted)


def claude(world: World, **more: Any) -> str:
    return world.agent("ann", "worker", **{"projects": [], **more})


def test_naming_one_option_leaves_the_others_alone(world: World) -> None:
    claude(world, provider_options={"permissions": "read", "labels": ["gpu"]})
    answer = edit(world, provider_options={"account": "second", "labels": None})
    assert options(world, "ann") == {"permissions": "read", "account": "second"}
    assert answer["changes"] == ["labels: [gpu] → none", "account: none → second"]
    assert "widened" not in answer


def test_an_option_is_replaced_as_a_whole_not_key_by_key(world: World) -> None:
    claude(world, provider_options={"fallback": {"provider": "gemini", "model": "gemini-2.5-flash"}})
    edit(world, provider_options={"fallback": {"provider": "codex"}})
    assert options(world, "ann") == {"fallback": {"provider": "codex"}}


def test_replacing_all_options_is_said_in_a_word_of_its_own_and_tells_what_is_lost(world: World) -> None:
    claude(world, provider_options={"permissions": "read"})
    answer = edit(world, provider_options={"account": "second"}, replace_options=True)
    assert options(world, "ann") == {"account": "second"}
    assert answer["changes"] == ["permissions: read → none", "account: none → second"]
    assert answer["widened"] == ["permissions: read → edit"]


def test_a_preview_changes_nothing_and_says_what_would_be_widened(world: World) -> None:
    claude(world, provider_options={"permissions": "read"})
    before, events = world.owner.call("show_agent", agent_id="ann"), world.events()
    answer = edit(world, provider_options={"permissions": "full"}, role="manager", preview=True)
    assert answer["widened"] == ["role: worker → manager", "permissions: read → full"]
    assert world.owner.call("show_agent", agent_id="ann") == before
    assert world.events() == events


def test_options_that_were_stored_without_a_provider_are_told_once_it_has_one(world: World) -> None:
    claude(world, provider="claude", provider_options={"permissions": "read"})
    assert "widened" not in edit(world, provider=None)
    assert "widened" not in edit(world, provider_options={"permissions": "full", "args": ["--yolo"]})
    told = ["provider: none → claude", "permissions: edit → full", "args: none → [--yolo]"]
    assert edit(world, provider="claude", preview=True)["widened"] == told
    assert edit(world, provider="claude")["widened"] == told
    assert world.events("agent.edited")[-1]["data"]["widened"] == told


def test_an_agent_that_was_made_without_a_provider_is_told_as_one_that_lost_it(world: World) -> None:
    made = world.owner.call("create_agent", id="ann", role="manager", provider_options={"permissions": "full"})
    assert "widened" not in made
    assert edit(world, provider="codex")["widened"] == ["provider: none → codex", "permissions: read → full"]


def test_a_program_without_permissions_is_told_also_by_way_of_no_provider(world: World) -> None:
    claude(world, provider="claude", provider_options={"permissions": "read"})
    edit(world, provider=None, provider_options={"permissions": None})
    assert edit(world, provider="claude", preview=True)["widened"] == ["provider: none → claude"]
    assert edit(world, provider="command")["widened"] == ["provider: none → command (not limited by permissions)"]


@pytest.mark.parametrize("name", ["provider", "model", "agent_type"])
def test_an_empty_text_is_refused_where_null_removes_the_value(world: World, name: str) -> None:
    claude(world)
    world.owner.refused("edit_agent", "validationError", agent_id="ann", **{name: ""})
    edit(world, **{name: None})
    assert world.owner.call("show_agent", agent_id="ann")["agent"][name] is None


def test_what_was_widened_stands_in_the_events(world: World) -> None:
    claude(world, provider_options={"permissions": "read"})
    edit(world, provider_options={"permissions": "full"})
    world.agent("bob", "worker", provider="codex", projects=[], provider_options={"permissions": "full"})
    project = world.owner.call("create_project", name="x", working_directory="/x", settings={"budget_per_day": 5})
    told = {"commands_from": "managers", "budget_per_day": None}
    world.owner.call("edit_project", project_id=project["project_id"], settings=told)
    widened = [event["data"]["widened"] for event in world.events() if event["data"].get("widened")]
    assert widened == [
        ["permissions: read → full"],
        ["permissions: edit → full"],
        ["commands_from: people → managers", "budget_per_day: 5.0 → none"],
    ]


def test_an_agent_with_options_that_an_older_toryo_accepted_is_not_started_and_people_are_told(world: World) -> None:
    project = world.project()
    claude(world, projects=[project])
    stored(world, "ann", permissons="read", account="second")
    world.task("ann", project_id=project)
    coordinator = world.coordinator()
    assert coordinator.starts() == []
    assert coordinator.reason("ann", purpose="task") == "hold bad_options"
    [need] = world.owner.call("needs_you")["items"]
    assert need["kind"] == "agent_cannot_start"
    assert "Did you mean permissions?" in need["text"]
    [mistake] = world.owner.call("show_agent", agent_id="ann")["agent"]["mistakes"]
    assert mistake in need["text"]

    edit(world, name="Ann the builder")  # what has nothing to do with it can be changed
    world.owner.refused("edit_agent", "validationError", agent_id="ann", provider_options={"account": "third"})
    edit(world, provider_options={"permissons": None, "permissions": "read"})
    assert options(world, "ann") == {"account": "second", "permissions": "read"}
    assert world.owner.call("needs_you")["items"] == []
    assert coordinator.starts() == ["ann"]


def test_an_unknown_provider_is_accepted_and_everybody_is_told_that_nothing_starts_it(world: World) -> None:
    made = world.owner.call("create_agent", id="ann", role="worker", provider="cluade")
    [warning] = made["warnings"]
    assert "Did you mean claude?" in warning
    [need] = world.owner.call("needs_you")["items"]
    assert (need["kind"], need["agent_id"]) == ("agent_cannot_start", "ann")
    assert need["text"] == warning
    assert edit(world, provider="claude").get("warnings") is None
    assert world.owner.call("needs_you")["items"] == []


def test_a_provider_of_a_coordinators_file_is_known_as_soon_as_it_has_called(world: World) -> None:
    world.coordinator().claim(providers=["house-model"])
    made = world.owner.call("create_agent", id="ann", role="worker", provider="house-model")
    assert "warnings" not in made
    stands_in = {"fallback": {"provider": "huose-model"}}
    [warning] = edit(world, provider_options=stands_in)["warnings"]
    assert "Did you mean house-model?" in warning


def test_who_stands_in_is_given_no_arguments_of_another_program(world: World) -> None:
    from toryo.domain.agents import Agent

    claude(world, provider_options={"permissions": "read", "args": ["--verbose"], "fallback": {"provider": "codex"}})
    found: list[Agent | None] = []
    world.database.read(lambda connection: found.append(Transaction(connection).agents.find("ann")))
    [agent] = found
    assert agent is not None
    assert agent.options_for("codex") == {"permissions": "read", "fallback": {"provider": "codex"}}
    assert agent.options_for("claude") == agent.provider_options


def test_a_person_who_may_do_more_than_before_stands_in_the_events(world: World) -> None:
    world.project()
    world.owner.call("add_person", person_id="mia", login="viewer")
    for login in ("owner", "member"):
        world.owner.call("change_person", person_id="mia", login=login)
    assert [event["data"].get("widened") for event in world.events("person.changed")] == [
        ["role: viewer → owner"],
        None,
    ]


def test_a_role_that_comes_with_a_password_stands_in_the_events_too(world: World) -> None:
    world.owner.call("add_person", person_id="mia", login="viewer")
    world.owner.call("set_password", person_id="mia", password="correct horse battery", login="owner")
    assert [event["data"].get("widened") for event in world.events("person.password_set")] == [["role: viewer → owner"]]
