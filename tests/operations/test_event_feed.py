"""One reading of events for many streams: each reader sees what `read_events` shows them, at the cost of one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Caller, Following, World

pytestmark = pytest.mark.both


def shown_by_read_events(caller: Caller, after: int) -> list[int]:
    return [event["sequence"] for event in caller.call("read_events", after=after, limit=1000)["events"]]


def last(world: World) -> int:
    return int(world.owner.call("server_status")["last_event"])


def household(world: World) -> dict[str, Caller]:
    """One person of each kind: `ann` belongs to the project of the crew, `bob` to none."""
    world.crew(workers=1)
    people = {"owner": world.owner, "ann": world.member("ann"), "bob": world.member("bob")}
    world.owner.call("add_member", project_id=world.project_id, agent_id="ann")
    world.owner.call("add_person", person_id="vic", login="viewer")
    made = world.owner.call("make_access_token", name="t", person_id="vic")
    return {**people, "vic": Caller(world, made["token"])}


def test_each_reader_sees_what_they_would_read_themselves(world: World) -> None:
    people = household(world)
    following = Following(world, (each.credentials for each in people.values()))
    other = world.owner.call("create_project", name="Other", working_directory="/srv/other")["project_id"]
    following.read()
    steps: list[tuple[str, dict[str, Any]]] = [
        ("file_task", {"project_id": world.project_id, "title": "For ann"}),
        ("file_task", {"project_id": other, "title": "For nobody but owners and viewers"}),
        ("add_member", {"project_id": other, "agent_id": "bob"}),
        ("file_task", {"project_id": other, "title": "For bob, too"}),
        ("create_agent", {"id": "w9", "role": "worker", "provider": "command", "projects": [other]}),
        ("remove_member", {"project_id": world.project_id, "agent_id": "ann"}),
        ("file_task", {"project_id": world.project_id, "title": "No longer for ann"}),
        ("change_person", {"person_id": "vic", "login": "member"}),
        ("file_task", {"project_id": world.project_id, "title": "No longer for vic"}),
        ("make_access_token", {"name": "another"}),
        ("change_person", {"person_id": "vic", "login": "owner"}),
        ("file_task", {"project_id": other, "title": "Vic sees everything"}),
    ]
    for name, arguments in steps:
        before = last(world)
        world.owner.call(name, **arguments)
        told = following.read()
        for who, caller in people.items():
            assert told[caller.credentials] == shown_by_read_events(caller, before), (who, name, arguments)


def test_an_event_costs_as_many_statements_for_many_readers_as_for_one(world: World) -> None:
    people = household(world)
    many = [
        *(each.credentials for each in people.values()),
        *(Caller(world, world.owner.call("make_access_token", name=str(n))["token"]).credentials for n in range(10)),
    ]
    one, all_of_them = Following(world, [people["ann"].credentials]), Following(world, many)
    costs = []
    for following in (one, all_of_them):
        world.task("w1", status="backlog")  # what the readers see of the project is looked up once
        following.read()
        world.task("w1", status="backlog")
        with world.statements() as ran:
            told = following.read()
        assert len(told[people["ann"].credentials]) == 1
        costs.append(len(ran))
    assert costs == [1, 1]


def test_many_who_ask_for_what_changed_on_a_board_are_answered_by_one_reading_of_the_cards(world: World) -> None:
    people = household(world)
    world.owner.call("add_member", project_id=world.project_id, agent_id="bob")
    task = world.task("w1", status="backlog")
    asked = {"project_id": world.project_id, "after": last(world) - 1}
    costs, answers = [], []
    for caller in people.values():
        with world.statements() as ran:
            answers.append(caller.call("show_board", **asked))
        costs.append(sum(table.endswith((" tasks", " dependencies", " sessions")) for table, _ in ran))
    assert [card["task_id"] for card in answers[0]["tasks"]] == [task]
    assert answers == answers[:1] * len(people)
    assert costs[0] > 0
    assert costs[1:] == [0] * (len(people) - 1)


def test_a_board_that_changed_again_is_read_again_and_is_shown_to_nobody_who_may_not_see_it(world: World) -> None:
    people = household(world)
    task = world.task("w1", status="backlog", title="Before")
    asked = {"project_id": world.project_id, "after": last(world) - 1}
    assert people["ann"].call("show_board", **asked)["tasks"][0]["title"] == "Before"
    people["bob"].refused("show_board", "projectNotFound", **asked)
    world.owner.call("edit_task", task_id=task, title="After")
    assert people["ann"].call("show_board", **asked)["tasks"][0]["title"] == "After"
    world.owner.call("remove_member", project_id=world.project_id, agent_id="ann")
    people["ann"].refused("show_board", "projectNotFound", **asked)
