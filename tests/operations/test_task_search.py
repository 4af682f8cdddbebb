"""Tasks are found by the words that are written in them, by those who see their project."""

from __future__ import annotations

import pytest

from tests.stories import World

pytestmark = pytest.mark.both


def titles(world: World, text: str, **more: object) -> list[str]:
    return [each["title"] for each in world.owner.call("search_tasks", text=text, **more)["tasks"]]


def test_a_task_is_found_by_words_of_its_title_and_its_description_in_any_order_and_case(crew: World):
    crew.task("w1", title="Round prices", description="Half a cent goes UP.", status="todo")
    crew.task("w1", title="Print labels", description="For parcels.", status="todo")
    assert titles(crew, "cent round") == ["Round prices"]
    assert titles(crew, "up") == ["Round prices"]
    assert titles(crew, "round parcels") == []


def test_signs_that_mean_something_to_a_database_are_words_like_others(crew: World):
    crew.task("w1", title="Take 5% off", status="todo")
    crew.task("w1", title="Take 50 off", status="todo")
    crew.task("w1", title="a_b", description="back\\slash", status="todo")
    assert titles(crew, "5%") == ["Take 5% off"]
    assert titles(crew, "a_b") == ["a_b"]
    assert titles(crew, "k\\s") == ["a_b"]
    assert titles(crew, "_") == ["a_b"]


def test_what_is_urgent_comes_first_and_no_more_than_asked_for(crew: World):
    for number, priority in enumerate(("low", "critical", "medium")):
        crew.task("w1", title=f"Paint {number}", priority=priority, status="todo")
    assert titles(crew, "paint", limit=2) == ["Paint 1", "Paint 2"]
    assert titles(crew, "paint", project_id=crew.project_id)[-1] == "Paint 0"


def test_nobody_finds_tasks_of_projects_that_they_do_not_belong_to(crew: World):
    crew.task("w1", title="Round prices", status="todo")
    stranger = crew.member("zoe")
    assert stranger.call("search_tasks", text="round")["tasks"] == []
    stranger.refused("search_tasks", "projectNotFound", text="round", project_id=crew.project_id)
