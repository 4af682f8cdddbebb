"""Obedience ends: whoever does what it is told finishes, from many states, in bounded calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest

from tests.obedience import Obedient, crew_works, obedient
from tests.stories import World


def test_an_obedient_worker_without_subtasks_needs_at_most_six_calls(world: World):
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    assert Obedient(world.started("w1")).run() <= 6
    assert world.status(task) == "completed"


def test_an_obedient_worker_with_three_subtasks_needs_at_most_eighteen_calls(world: World):
    world.crew(workers=1)
    task = world.task("w1")
    assert Obedient(world.started("w1"), ("One", "Two", "Three")).run() <= 18
    assert world.status(task) == "completed"


def test_an_obedient_crew_finishes_a_task_of_three_levels(world: World):
    world.crew(workers=2)
    task = world.task("boss")
    crew_works(world)
    assert world.status(task) == "completed"
    assert world.sessions() == []


@pytest.mark.parametrize("decomposition", ["required", "optional", "never"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_obedient_crew_finishes_whatever_the_settings_of_the_project(
    world: World, decomposition: str, language: str
):
    world.crew(workers=1, decomposition=decomposition, language=language)
    task = world.task("boss")
    crew_works(world)
    assert world.status(task) == "completed"


def test_a_manager_without_workers_is_started_once_and_reports_that(world: World):
    """F61."""
    world.crew(workers=0)
    task = world.task("boss")
    crew_works(world)
    shown = world.show(task)
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "no_available_workers")
    assert len(world.launches()) == 1
    world.advance(4000)
    assert world.coordinator().starts() == []


def test_a_worker_whose_subtask_cannot_be_done_reports_blocked_and_its_manager_decides(world: World):
    world.crew(workers=1)
    task = world.task("boss")
    launch = world.coordinator().claim()["start"][0]
    obedient(world, launch).run()
    worker = Obedient(world.started("w1"), fails=frozenset({"Second half"}))
    worker.run()
    assert "review_and_resolve_blocks" in worker.told
    crew_works(world)
    assert world.status(task) == "completed"


# --- from many states ------------------------------------------------------------------------------------------------

STATES = (
    "todo",
    "in_progress",
    "backlog",
    "completed",
    "failed",
    "cancelled",
    "blocked by a person",
    "blocked by its agent",
    "somebody else's",
    "nobody's",
    "rejected",
    "waits for the one before",
    "waits for one that failed",
)
AFFORDED = 120
"""Calls of everybody together, from any of these states to the end."""


def subtask(world: World, main: str, own: str, other: str, state: str, before: str | None) -> str:
    """One subtask of the main task in that state."""
    assignee: dict[str, str] = {"somebody else's": other, "nobody's": ""}
    more = {"parent_task_id": main, "title": f"{state} {world.now}"}
    task = world.task(assignee.get(state, own) or None, status="todo", **more)
    if state == "rejected":
        world.owner.call("reject_task", task_id=task, reason="not now")
    elif state == "waits for the one before" and before is not None:
        world.owner.call("edit_task", task_id=task, add_dependencies=[before])
    elif state == "waits for one that failed":
        failed = world.task(other, status="backlog", title=f"failed {world.now}")
        world.move(failed, "cancelled", "no")
        world.owner.call("edit_task", task_id=task, add_dependencies=[failed])
    else:
        _move(world, task, state)
    return task


def _move(world: World, task: str, state: str) -> None:
    if state in ("in_progress", "completed", "failed", "blocked by its agent"):
        world.move(task, "in_progress")
    if state in ("completed", "failed", "cancelled", "backlog"):
        world.move(task, state, "so it was")
    elif state == "somebody else's":
        world.move(task, "in_progress")
    elif state.startswith("blocked"):
        world.move(task, "blocked", "so it was")


def states() -> list[tuple[str, ...]]:
    return [(), *((each,) for each in STATES), *combinations_with_replacement(STATES, 2)]


def some(world: World, share: int) -> list[tuple[int, tuple[str, ...]]]:
    """A quarter of the states; on PostgreSQL, where a call costs several times as much, every seventh of them."""
    quarter = list(enumerate(states()))[share::4]
    return quarter if world.dialect == "sqlite" else quarter[share::7]


@pytest.mark.parametrize("share", range(4))
def test_an_obedient_worker_comes_to_an_end_from_any_state_of_its_subtasks(world: World, share: int):
    world.project()
    for number, state in some(world, share):
        own, other = f"w{number}", f"o{number}"
        world.worker(own)
        world.worker(other, max_parallel_tasks=5)
        main = world.task(own)
        _fill(world, main, own, other, state)
        assert crew_works(world, own, other) <= AFFORDED, state
        ended = world.status(main)
        assert ended in ("completed", "blocked"), (state, ended, world.why(own))
        if set(state) <= {"todo", "in_progress", "completed"}:
            assert ended == "completed", state


@pytest.mark.parametrize("share", range(4))
def test_an_obedient_manager_comes_to_an_end_from_any_state_of_its_subtasks(world: World, share: int):
    world.project()
    for number, state in some(world, share):
        boss, own, other = f"b{number}", f"w{number}", f"o{number}"
        world.manager(boss)
        world.worker(own, boss, max_parallel_tasks=2)
        world.worker(other, boss, max_parallel_tasks=2)
        main = world.task(boss)
        _fill(world, main, own, other, state)
        assert crew_works(world, boss, own, other) <= AFFORDED, state
        ended = world.status(main)
        assert ended in ("completed", "blocked"), (state, ended, world.why(boss))
        if set(state) <= {"todo", "in_progress", "completed", "cancelled", "nobody's", "waits for the one before"}:
            assert ended == "completed", state


def _fill(world: World, main: str, own: str, other: str, state: Sequence[str]) -> None:
    before: str | None = None
    for each in state:
        before = subtask(world, main, own, other, each, before)
