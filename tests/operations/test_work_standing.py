"""Whether the work of a task is in review, and whether it is merged: on the board, in lists and in the task."""

from __future__ import annotations

import pytest

from tests.operations.test_merged_dependencies import discarded, merged
from tests.operations.test_worktrees import Yard
from tests.stories import World

AT_WORK, IN_REVIEW, MERGED = (False, False), (True, False), (False, True)


@pytest.fixture
def yard(world: World) -> Yard:
    return Yard(world)


def standing(world: World, task: str) -> tuple[bool, bool]:
    """As all three say it."""
    call, project = world.owner.call, world.project_id
    [card] = [each for each in call("show_board", project_id=project)["tasks"] if each["task_id"] == task]
    [row] = [each for each in call("list_project_tasks", project_id=project)["tasks"] if each["task_id"] == task]
    found = {(each["in_review"], each["merged"]) for each in (card, row, call("show_task", task_id=task)["task"])}
    [one] = found
    return one


def test_completed_work_is_in_review_until_it_is_merged(yard: Yard) -> None:
    walls = yard.world.task("w1", title="Walls")
    assert standing(yard.world, walls) == AT_WORK
    yard.work("w1", walls)
    assert standing(yard.world, walls) == IN_REVIEW
    merged(yard, walls)
    assert standing(yard.world, walls) == MERGED


def test_work_that_is_discarded_is_neither(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    discarded(yard, walls)
    assert standing(yard.world, walls) == AT_WORK


def test_what_was_completed_without_a_worktree_is_settled_at_once(world: World) -> None:
    world.crew(1)
    task = world.task("w1")
    world.move(task, "completed")
    assert standing(world, task) == AT_WORK


def test_a_report_that_a_person_has_to_judge_is_in_review_while_the_task_is_in_progress(world: World) -> None:
    world.crew(1, decomposition="never")
    task = world.task("w1", acceptance=[{"review": {"by": "person"}}])
    process = world.started("w1")
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    process.call("report_completed", result="success", summary="done")
    assert world.status(task) == "in_progress"
    assert standing(world, task) == IN_REVIEW


def test_work_that_was_blocked_with_its_whole_is_no_longer_in_review_and_takes_a_place_again(world: World) -> None:
    world.crew(1, start="when_ready", decomposition="never")
    whole = world.task("boss", title="House")
    walls = world.task("w1", title="Walls", parent_task_id=whole, acceptance=[{"review": {"by": "person"}}])
    process = world.start("w1")
    process.call("report_completed", result="success", summary="done")
    assert standing(world, walls) == IN_REVIEW
    world.move(whole, "blocked", "hold on")
    world.move(whole, "todo")
    world.move(whole, "in_progress")
    assert (world.status(walls), standing(world, walls)) == ("in_progress", AT_WORK)
    behind = world.task("w1", status="todo", title="Next")
    assert world.status(behind) == "todo"
