"""Prompts: made from what is so, for those who may see it, in the project's language."""

from __future__ import annotations

import pytest

from tests.stories import World
from toryo.domain.errors import Code
from toryo.operations.calls.catalogue import catalogue
from toryo.operations.overview.prompts import PROMPTS


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_no_tool_and_changes_nothing(name: str) -> None:
    operation = catalogue()[name]
    assert not operation.tool
    assert operation.reads


def test_a_manager_is_told_whom_it_may_ask_and_what_exists(world: World) -> None:
    world.crew(workers=2)
    world.owner.call("edit_agent", agent_id="w1", capabilities=["bricks", "mortar"])
    main = world.task("boss", title="Build the house {0}", description="With a {door}.")
    boss = world.start("boss")
    boss.batch("Walls")
    text = boss.call("task_breakdown")["text"]
    for each in ("Build the house {0}", "With a {door}.", "- w1 (worker): bricks, mortar", "- w2 (worker)", "Walls"):
        assert each in text
    assert "boss (manager)" not in text, "a manager gives subtasks to others"
    assert f'create_tasks_batch(parent_task_id="{main}"' in text


def test_a_worker_breaks_its_task_down_for_itself(world: World) -> None:
    world.crew(workers=2)
    world.task("w1")
    text = world.start("w1").call("task_breakdown")["text"]
    assert "- w1 (worker)" in text
    assert "w2" not in text


def test_a_report_says_who_does_what_what_is_stuck_and_what_was_done(world: World) -> None:
    world.crew(workers=2)
    world.task("w1", title="Under way")
    stuck = world.task("w2", title="Stuck")
    world.move(stuck, "blocked", "no bricks")
    world.start("w1").report(summary="four walls")
    world.task(status="todo", title="Later")
    text = world.owner.call("status_report", project_id=world.project_id)["text"]
    for each in ("- Stuck (w2): blocked, no bricks", "- Under way: four walls", "- Later (-)", "completed 1"):
        assert each in text


def test_a_handoff_is_made_from_the_notes(world: World) -> None:
    world.crew(workers=2)
    main = world.task("w1")
    worker = world.start("w1")
    worker.call("save_progress", progress="half a wall", next_steps="the other half")
    text = worker.call("handoff", to_agent_id="w2")["text"]
    assert "- w1: half a wall / the other half" in text
    assert f'create_handoff(task_id="{main}", to_agent_id="w2"' in text


def test_a_list_that_is_long_is_cut_and_says_so(world: World) -> None:
    world.project()
    for number in range(20):
        world.task(status="todo", title=f"T{number}")
    text = world.owner.call("status_report", project_id=world.project_id)["text"]
    assert "- … (+5)" in text


def test_the_first_words_are_of_whoever_starts(world: World) -> None:
    world.crew(workers=1, language="ja")
    world.task("w1")
    started = world.started("w1")
    assert "エージェント w1" in started.call("agent_start")["text"]
    assert "パスキー" not in started.call("agent_start")["text"]
    started.refused("agent_start", Code.AGENT_NOT_FOUND, agent_id="boss")
    assert "パスキー" in world.owner.call("agent_start", agent_id="w1", project_id=world.project_id)["text"]
    assert "passkey" in world.nobody.call("agent_start", agent_id="w1", project_id=world.project_id)["text"]
    world.nobody.refused("agent_start", Code.VALIDATION_ERROR)


def test_what_is_of_another_project_is_not_found_and_what_is_not_named_is_asked_for(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    elsewhere = world.project(name="Elsewhere")
    foreign = world.owner.call("file_task", project_id=elsewhere, title="Secret")["task_id"]
    worker = world.start("w1")
    for name in ("task_breakdown", "handoff"):
        worker.refused(name, Code.TASK_NOT_FOUND, task_id=foreign)
        world.owner.refused(name, Code.VALIDATION_ERROR)
        world.nobody.refused(name, Code.AUTHENTICATION_REQUIRED, task_id=foreign)
    worker.refused("status_report", Code.PROJECT_NOT_FOUND, project_id=elsewhere)
    world.owner.refused("status_report", Code.VALIDATION_ERROR)
