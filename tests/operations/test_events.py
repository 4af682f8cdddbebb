"""Reading the event log: forwards after what one has seen, backwards page by page, and only what is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import World
from toryo.domain.errors import Code
from toryo.domain.times import iso


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
        backwards += [each["sequence"] for each in page["events"]]
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
    assert {each.split(".")[0] for each in nouns} == {"task"}


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
