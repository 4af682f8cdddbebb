"""What happened while a person was away, task by task, and only what they may see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories import Answer, Caller, World
from toryo.domain.times import HOUR, SECOND, iso
from toryo.operations.overview import news as overview_news


@pytest.fixture
def crew(world: World) -> World:
    world.crew(workers=2)
    world.owner.call("dismiss_news")
    return world


def news(world: World, caller: Caller | None = None, **wanted: Any) -> Answer:
    answer: Answer = (caller or world.owner).call("show_news", **wanted)
    return answer


def moves(world: World, **wanted: Any) -> dict[str, list[str]]:
    return {each["title"]: [move["what"] for move in each["moves"]] for each in news(world, **wanted)["tasks"]}


def test_who_was_never_away_is_told_nothing(world: World) -> None:
    world.crew()
    world.move(world.task("w1"), "completed")
    assert (news(world)["since"], news(world)["tasks"]) == (None, [])


def test_each_task_has_what_happened_to_it_in_order_and_the_last_one_changed_comes_first(crew: World) -> None:
    failed = crew.task("w2", title="Failed")
    crew.move(failed, "failed", "no")
    crew.move(failed, "todo")
    done = crew.task("w1", title="Done")
    process = crew.start("w1")
    process.report()
    usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.5}
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=usage)
    assert list(moves(crew).items()) == [("Done", ["completed"]), ("Failed", ["failed", "decided"])]
    first = news(crew)["tasks"][0]
    assert (first["task_id"], first["cost_usd"], first["tokens"]) == (done, 0.5, 15)
    assert news(crew)["tasks"][1]["moves"][0]["reason"] == "no"
    assert news(crew)["complete"]


def test_what_an_agent_asks_for_is_told(crew: World) -> None:
    crew.task("w1", title="Main")
    worker = crew.start("w1")
    worker.call("request_task", title="More paint", description="Buy it.", assignee_id="w2")
    assert moves(crew)["More paint"] == ["asked"]


def test_after_it_is_dismissed_nothing_is_left_and_one_may_ask_since_any_time(crew: World) -> None:
    crew.move(crew.task("w1", title="Done"), "completed")
    crew.owner.call("dismiss_news")
    assert moves(crew) == {}
    assert moves(crew, since=iso(crew.now - HOUR)) == {"Done": ["completed"]}
    assert moves(crew, since=iso(crew.now + SECOND)) == {}
    crew.owner.refused("show_news", "validationError", since="yesterday")


def test_one_hears_of_ones_own_projects_only(crew: World) -> None:
    crew.move(crew.task("w1", title="Done"), "completed")
    other = crew.project(name="Hall", project_id="hall")
    eve = crew.member("eve")
    crew.owner.call("add_member", project_id=other, agent_id="eve")
    long_ago = iso(crew.now - HOUR)
    assert news(crew, eve, since=long_ago)["tasks"] == []
    eve.refused("show_news", "projectNotFound", since=long_ago, project_id=crew.project_id)
    assert [each["title"] for each in news(crew, since=long_ago, project_id=crew.project_id)["tasks"]] == ["Done"]
    assert news(crew, since=long_ago, project_id=other)["tasks"] == []


def test_what_is_too_much_to_tell_is_not_complete(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        crew.move(crew.task("w1", title=f"Task {number}"), "completed")
    for most, complete in ((3, True), (2, False)):
        monkeypatch.setattr(overview_news, "_MOST_TASKS", most)
        told = news(crew)
        assert (len(told["tasks"]), told["complete"]) == (most, complete)
