"""Reading the event log: forwards after what one has seen, backwards page by page, and only what is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Caller, World
from toryo.domain.errors import Code
from toryo.domain.times import iso, parse


def read(world: World, **wanted: Any) -> list[dict[str, Any]]:
    return list(world.owner.call("read_events", **wanted)["events"])


def test_pages_backwards_hold_every_event_once_the_newest_first(world: World) -> None:
    world.crew(workers=2)
    world.task("w1")
    forwards = [each["sequence"] for each in read(world, limit=1000)]
    backwards: list[int] = []
    before: int | None = None
    while True:
        more = {} if before is None else {"before": before}
        page = world.owner.call("read_events", newest=True, limit=3, **more)
        if not page["events"]:
            break
        backwards += [event["sequence"] for event in page["events"]]
        before = page["last"]
    assert len(forwards) > 3
    assert backwards == forwards[::-1]


@pytest.mark.parametrize("newest", [False, True])
def test_one_kind_is_found_and_so_are_all_kinds_of_a_noun(world: World, newest: bool) -> None:
    world.crew(workers=1)
    world.move(world.task("w1"), "cancelled", "not needed")
    cancelled = read(world, kind="task.cancelled", newest=newest)
    assert [each["kind"] for each in cancelled] == ["task.cancelled"]
    nouns = {each["kind"] for each in read(world, kind="task.", newest=newest)}
    assert {"task.created", "task.cancelled"} <= nouns
    assert {noun.split(".")[0] for noun in nouns} == {"task"}


def test_events_of_a_time_are_those_from_its_first_instant_to_before_its_end(world: World) -> None:
    world.crew(workers=1)
    world.advance(60)
    began = world.now
    task = world.task("w1", title="Within")
    world.advance(60)
    ended = world.now
    world.move(task, "cancelled", "too late")
    found = read(world, since=iso(began), until=iso(ended), newest=True)
    assert {each["task_id"] for each in found if each["kind"] == "task.created"} == {task}
    assert "task.cancelled" not in {each["kind"] for each in found}


def test_what_somebody_did_is_found_by_its_actor(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    worker = world.start("w1")
    worker.report()
    found = read(world, actor_id="w1", newest=True)
    assert found
    assert {each["actor_id"] for each in found} == {"w1"}


def test_a_kind_that_is_none_is_refused(world: World) -> None:
    world.owner.refused("read_events", Code.VALIDATION_ERROR, kind="everything")


def test_a_member_reads_what_happens_in_their_projects_and_nothing_else_of_the_server(world: World) -> None:
    here, other = world.project(), world.project(name="Elsewhere")
    world.worker("w1", projects=[here])
    world.worker("far", projects=[other])
    for each in ("ann", "bob"):
        world.owner.call("add_person", person_id=each, login="member", projects=[here])
    world.owner.call("make_access_token", name="secret plan", person_id="bob")
    ann = Caller(world, world.owner.call("make_access_token", name="x", person_id="ann")["token"])
    found = ann.call("read_events", limit=1000)["events"]
    assert {each["agent_id"] for each in found} == {"w1", "ann", "bob", None}
    of_bob = [each for each in found if each["agent_id"] == "bob"]
    assert {each["kind"] for each in of_bob} == {"project.member_added"}
    assert {each["project_id"] for each in found} == {here, None}
    assert ann.call("show_agent", agent_id="w1")["projects"] == [here]


def test_nobody_but_owners_reads_how_other_people_sign_in(world: World) -> None:
    for each in ("ann", "vic"):
        world.owner.call("add_person", person_id=each, login="viewer")
    vic = Caller(world, world.owner.call("make_access_token", name="x", person_id="vic")["token"])
    kinds = {(event["kind"], event["agent_id"]) for event in vic.call("read_events", limit=1000)["events"]}
    assert not any(kind.startswith("person.") and agent_id == "ann" for kind, agent_id in kinds)
    assert ("person.token_made", "vic") in kinds


def test_show_agent_names_no_project_that_its_reader_does_not_see(world: World) -> None:
    here, other = world.project(), world.project(name="Elsewhere")
    world.worker("w1", projects=[here, other])
    world.owner.call("add_person", person_id="ann", login="member", projects=[here])
    ann = Caller(world, world.owner.call("make_access_token", name="x", person_id="ann")["token"])
    assert ann.call("show_agent", agent_id="w1")["projects"] == [here]


def test_moments_in_what_an_event_tells_are_times_like_all_others(world: World):
    world.crew(workers=1)
    world.task("w1")
    worker = world.start("w1")
    for _ in range(26):
        worker.next()
    worker.report("blocked", summary="x")
    (ended,) = world.events("task.blocked")
    (cooling,) = world.events("agent.cooling_down")
    until = parse(cooling["data"]["until"])
    assert until > parse(cooling["at"])
    task = world.task("w1", title="Other", status="todo")
    world.move(task, "in_progress")
    world.move(task, "completed")
    (completed,) = world.events("task.completed")
    assert completed["data"]["started_at"].endswith("Z")
    assert ended["data"]["reason"] == "x"
