"""Obedience ends: whoever does what it is told finishes, from many states, in bounded calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import pytest

from tests.invariants import hold
from tests.obedience import Obedient, ObedientChat, crew_works, obedient
from tests.stories import World


def test_an_obedient_worker_without_subtasks_needs_at_most_four_calls(world: World):
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    assert Obedient(world.started("w1")).run() <= 4
    assert world.status(task) == "completed"


def test_an_obedient_worker_with_three_subtasks_needs_at_most_eleven_calls(world: World):
    world.crew(workers=1)
    task = world.task("w1")
    assert Obedient(world.started("w1"), ("One", "Two", "Three")).run() <= 11
    assert world.status(task) == "completed"


def test_an_obedient_crew_finishes_a_task_of_three_levels(world: World):
    world.crew(workers=2)
    task = world.task("boss")
    crew_works(world)
    assert world.status(task) == "completed"
    assert world.sessions() == []


@pytest.mark.pitfall("F88")
@pytest.mark.parametrize("decomposition", ["required", "optional", "never"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_obedient_crew_finishes_whatever_the_settings_of_the_project(
    world: World, decomposition: str, language: str
):
    world.crew(workers=1, decomposition=decomposition, language=language)
    task = world.task("boss")
    crew_works(world)
    assert world.status(task) == "completed"


@pytest.mark.pitfall("F61")
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
        world.owner.ask("edit_task", task_id=task, add_dependencies=[before])  # refused where that one is over
    elif state == "waits for one that failed":
        failed = world.task(other, status="backlog", title=f"failed {world.now}")
        world.owner.call("edit_task", task_id=task, add_dependencies=[failed])
        world.move(failed, "cancelled", "no")
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


SHARES = [*range(3), *(pytest.param(share, marks=pytest.mark.deep) for share in range(3, 8))]


def some(world: World, share: int) -> list[tuple[int, tuple[str, ...]]]:
    """An eighth of the states; on PostgreSQL, where a call costs several times as much, every seventh of them."""
    eighth = list(enumerate(states()))[share::8]
    return eighth if world.dialect == "sqlite" else eighth[share::7]


@pytest.mark.parametrize("share", SHARES)
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


@pytest.mark.first(1)
@pytest.mark.parametrize("share", SHARES)
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


# --- talking ---------------------------------------------------------------------------------------------------------


def pair(world: World) -> None:
    world.project(decomposition="never")
    world.manager()
    world.worker("a", "boss")
    world.worker("b", "boss")


def test_an_obedient_chat_answers_and_leaves(world: World):
    pair(world)
    world.say("a", "How far are you?")
    assert crew_works(world) <= 10
    assert [each["content"] for each in world.thread("a")] == ["How far are you?", "Understood."]
    assert world.sessions() == []


def test_an_obedient_task_has_its_agents_talk_and_is_done(world: World):
    pair(world)
    task = world.task("a")
    assert crew_works(world, delegates="b") <= 60
    assert world.status(task) == "completed"
    (one,) = world.owner.call("list_conversations", project_id=world.project_id)["conversations"]
    assert (one["state"], one["summary"], one["turns"] >= 6) == ("ended", "agreed", True)
    assert world.sessions() == []
    hold(world)


def test_an_obedient_task_tells_a_person_and_is_done(world: World):
    pair(world)
    task = world.task("a")
    assert crew_works(world, delegates="owner") <= 30
    assert world.status(task) == "completed"
    assert [each["content"] for each in world.thread("a")] == ["Agree on colours."]


def test_two_tasks_whose_agents_want_each_other_are_both_done(world: World):
    """Each is invited while it invites: one conversation serves both."""
    pair(world)
    tasks = [world.task("a"), world.task("b")]
    desk = world.coordinator()
    for launch, other in zip(desk.claim()["start"], ("b", "a"), strict=True):
        assert obedient(world, launch, delegates=other).run() <= 12
        desk.exited(launch["launch_id"], exit_code=0)
    assert crew_works(world) <= 120
    assert [world.status(each) for each in tasks] == ["completed", "completed"]
    hold(world)


@pytest.mark.parametrize("killed", ["a", "b"])
def test_wherever_a_chat_is_killed_the_task_is_done_in_the_end(world: World, killed: str):
    """F96, F98, F102: after each number of its steps in turn, with nobody else to help."""
    pair(world)
    for steps in range(6 if world.dialect == "sqlite" else 3):
        task = world.task("a", title=f"After {steps}")
        crew = chats_until(world, killed, steps)
        world.advance(70)
        calls = crew_works(world)
        assert (world.status(task), crew + calls <= 200) == ("completed", True), (steps, crew, calls)
        assert world.sessions() == []
        hold(world)
        world.advance(4000)


def chats_until(world: World, killed: str, steps: int) -> int:
    """The task delegates, and its chats talk until one of them has done so many steps and is killed."""
    desk = world.coordinator()
    (launch,) = desk.claim()["start"]
    calls = obedient(world, launch, delegates="b").run()
    desk.exited(launch["launch_id"], exit_code=0)
    talking: dict[str, ObedientChat] = {}
    for _ in range(40):
        desk.running = [obedient_chat.process.launch_id for obedient_chat in talking.values()]
        for launch in desk.claim(free_slots=0, free_chat_slots=5)["start"]:
            talking[launch["agent_id"]] = ObedientChat(world.process(launch))
            talking[launch["agent_id"]].begin()
        for agent_id, obedient_chat in list(talking.items()):
            if agent_id == killed and len(obedient_chat.told) >= steps:
                desk.exited(obedient_chat.process.launch_id, signal=9, error="killed")
                other = talking.get("a" if killed == "b" else "b")
                if other is not None:
                    desk.exited(other.process.launch_id, exit_code=0)
                return calls + sum(chat.calls for chat in talking.values())
            obedient_chat.said = (
                obedient_chat.goes_on(obedient_chat.said)
                if not (obedient_chat.waits or obedient_chat.over)
                else obedient_chat.ask("get_next_action")
            )
    raise AssertionError(f"{killed} had no {steps} steps to do")
