"""Tasks in line, attacked: what several changes at once, people, approvals and tangled dependencies do to a line."""

from __future__ import annotations

import pytest

from tests.operations.test_conflict_forecast import Forecast
from tests.stories import Answer, Process, World


@pytest.fixture
def flowing(world: World) -> World:
    world.crew(2, start="when_ready")
    return world


def statuses(world: World, *tasks: str) -> list[str]:
    return [world.status(each) for each in tasks]


def in_batch(boss: Process, *tasks: Answer) -> dict[str, str]:
    """These parts, each to start when it is ready; answers their ids."""
    wanted = [{"title": each["local_id"], "description": "Do it.", "start": "when_ready", **each} for each in tasks]
    made: dict[str, str] = boss.call("create_tasks_batch", tasks=wanted)["local_id_to_real_id"]
    return made


# --- several changes of one task are one act --------------------------------------------------------------------------


def test_a_task_that_gets_its_agent_and_a_dependency_at_once_waits_for_the_dependency(flowing: World) -> None:
    needed, task = flowing.task("w2", status="backlog"), flowing.task(status="todo")
    flowing.owner.call("edit_task", task_id=task, assignee_id="w1", add_dependencies=[needed])
    assert statuses(flowing, task) == ["todo"]


def test_a_task_that_gets_its_agent_and_is_to_be_started_by_hand_is_not_started(flowing: World) -> None:
    task = flowing.task(status="todo")
    flowing.owner.call("edit_task", task_id=task, assignee_id="w1", start="manual")
    assert statuses(flowing, task) == ["todo"]


def test_a_task_that_loses_its_dependency_and_is_to_be_started_by_hand_is_not_started(flowing: World) -> None:
    needed = flowing.task("w2", status="backlog")
    task = flowing.task("w1", status="todo", dependencies=[needed])
    flowing.owner.call("edit_task", task_id=task, remove_dependencies=[needed], start="manual")
    assert statuses(flowing, task) == ["todo"]


def test_a_task_that_comes_to_another_line_starts_only_there(flowing: World) -> None:
    task = flowing.task("w1", status="todo", start="manual")
    flowing.task("w2", status="todo")
    flowing.owner.call("edit_task", task_id=task, assignee_id="w2", start="when_ready")
    assert statuses(flowing, task) == ["todo"]


# --- people -----------------------------------------------------------------------------------------------------------


def test_what_a_person_files_in_progress_for_a_person_is_in_progress(flowing: World) -> None:
    flowing.person("lena")
    assert statuses(flowing, flowing.task("lena", status="in_progress")) == ["in_progress"]


def test_approving_a_task_in_line_starts_it_at_once(world: World) -> None:
    world.crew(2, approvals="all", decomposition="optional")
    world.task("boss")
    part = in_batch(world.start("boss"), {"local_id": "a", "assignee_id": "w1"})["a"]
    assert statuses(world, part) == ["todo"]
    world.owner.call("approve_task", task_id=part)
    assert statuses(world, part) == ["in_progress"]


def test_a_start_by_hand_of_what_its_line_has_just_started_is_no_error(flowing: World) -> None:
    task = flowing.task("w1", status="todo")
    assert flowing.move(task, "in_progress")["new_status"] == "in_progress"


def test_a_task_can_be_given_back_to_the_setting_of_its_project(flowing: World) -> None:
    task = flowing.task("w1", status="todo", start="manual")
    flowing.owner.call("edit_task", task_id=task, start=None)
    assert statuses(flowing, task) == ["in_progress"]


# --- whether a manager has something to wait for ----------------------------------------------------------------------


def test_a_manager_does_not_wait_for_a_task_of_another_tree_that_can_never_start(world: World) -> None:
    world.crew(3, decomposition="optional")
    dead = world.task("w2", status="backlog")
    other = world.task("w3", status="todo", start="when_ready", dependencies=[dead])
    world.move(dead, "cancelled", "no")
    world.task("boss")
    boss = world.start("boss")
    in_batch(boss, {"local_id": "a", "assignee_id": "w1", "dependencies": [other]})
    boss.call("get_next_action")
    boss.refused("select_action", "notNow", action="wait")


def test_a_manager_waits_for_parts_that_all_depend_on_all_of_the_layer_before(world: World) -> None:
    """It is decided by looking at each of them once, not along each of the ways through them (3 to the 19th)."""
    world.crew(2, decomposition="optional", open_subtasks=60)
    failing = world.task("w1")
    coordinator = world.coordinator()
    coordinator.exited(coordinator.action("w1")["launch"]["launch_id"], exit_code=1)
    world.move(failing, "completed")
    world.task("boss")
    boss = world.start("boss")
    in_batch(
        boss,
        *(
            {
                "local_id": f"{layer}-{each}",
                "assignee_id": "w1",
                "priority": "high" if layer == 19 else "low",
                "dependencies": [f"{layer - 1}-{other}" for other in range(3)] if layer else [],
            }
            for layer in range(20)
            for each in range(3)
        ),
    )
    boss.wait()


# --- what is known to go wrong ----------------------------------------------------------------------------------------


def test_twenty_tasks_that_wait_for_the_files_of_another_one_hold_no_other_task_back(world: World) -> None:
    forecast = Forecast(world)
    forecast.task("w2", "src/a.py")
    forecast.told(forecast.launch("w2"), touched=["src/a.py"])
    forecast.set(start="when_ready")
    held = [forecast.task("w1", "src/a.py", status="todo") for _ in range(20)]
    assert statuses(world, held[0], held[-1]) == ["todo", "todo"]
    assert statuses(world, forecast.task("w1", "src/b.py", status="todo")) == ["in_progress"]


def test_no_part_starts_below_a_task_that_was_put_back_by_hand(world: World) -> None:
    world.crew(2, decomposition="optional")
    main = world.task("boss")
    parts = in_batch(world.start("boss"), *({"local_id": each, "assignee_id": "w1"} for each in "abc")).values()
    world.move(main, "todo")
    world.housekeep()
    assert statuses(world, main, *parts) == ["todo"] * 4


def test_no_part_starts_below_a_task_in_the_backlog(flowing: World) -> None:
    plan = flowing.task("boss", status="backlog")
    assert statuses(flowing, flowing.task("w1", status="todo", parent_task_id=plan)) == ["todo"]


def test_an_agents_parts_of_a_task_that_it_has_not_begun_do_not_start(flowing: World) -> None:
    flowing.task("w1", status="todo")
    waiting = flowing.task("w1", status="todo")
    parts = [flowing.task("w1", status="todo", title=each, parent_task_id=waiting) for each in "abc"]
    assert statuses(flowing, waiting, *parts) == ["todo"] * 4


def test_an_agent_with_many_places_gets_as_many_tasks_at_once(world: World) -> None:
    world.crew(2)
    world.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=30)
    tasks = [world.task("w1", status="todo") for _ in range(33)]
    world.owner.call("edit_project", project_id=world.project_id, settings={"start": "when_ready"})
    assert statuses(world, *tasks) == ["in_progress"] * 30 + ["todo"] * 3


def test_a_task_that_waits_for_a_cancelled_one_does_not_say_that_it_starts_by_itself(flowing: World) -> None:
    needed = flowing.task("w2", status="backlog")
    task = flowing.task("w1", status="todo", dependencies=[needed])
    flowing.move(needed, "cancelled", "no")
    assert "It starts by itself" not in flowing.show(task)["line"]["message"]


# --- what a reader found ----------------------------------------------------------------------------------------------


def test_a_part_waits_for_the_start_of_what_it_is_a_part_of(flowing: World) -> None:
    flowing.member("lena", "owner")
    flowing.owner.call("add_member", project_id=flowing.project_id, agent_id="lena")
    needed = flowing.task("w1", status="todo")
    persons = flowing.task("lena", status="todo")
    waiting = flowing.task("boss", status="todo", dependencies=[needed])
    parts = [flowing.task("w2", status="todo", parent_task_id=each) for each in (persons, waiting)]
    assert statuses(flowing, *parts) == ["todo", "todo"]
    flowing.move(needed, "completed")
    assert statuses(flowing, waiting, *parts) == ["in_progress", "todo", "in_progress"]
    flowing.move(parts[1], "completed")
    flowing.move(persons, "in_progress")
    assert statuses(flowing, parts[0]) == ["in_progress"]


def test_a_manager_does_not_wait_for_a_part_below_one_that_it_has_not_started(world: World) -> None:
    world.crew(2, decomposition="optional")
    world.task("boss")
    boss = world.start("boss")
    made = in_batch(boss, {"local_id": "C", "assignee_id": "w1", "start": "manual"})
    world.task("w2", status="todo", parent_task_id=made["C"], start="when_ready")
    boss.call("get_next_action")
    assert boss.ask("select_action", action="wait").refused


def test_a_schedule_hears_that_its_agent_is_inactive(flowing: World) -> None:
    flowing.owner.call("deactivate_agent", agent_id="w1")
    flowing.owner.refused(
        "file_task", None, project_id=flowing.project_id, title="x", assignee_id="w1", status="in_progress"
    )


def test_what_was_put_back_and_started_again_by_hand_is_in_line_as_before_after_a_retry(flowing: World) -> None:
    task = flowing.task("w1", status="todo")
    for status in ("todo", "in_progress", "failed", "todo"):
        flowing.move(task, status, "why")
    assert statuses(flowing, task) == ["in_progress"]


def test_a_task_whose_agent_is_in_cooldown_stays_in_line_and_says_so(flowing: World) -> None:
    first, second = flowing.task("w1", status="todo"), flowing.task("w1", status="todo")
    coordinator = flowing.coordinator()
    (launch,) = coordinator.claim(agent_ids=["w1"], free_slots=1)["start"]
    coordinator.exited(launch["launch_id"], exit_code=1, error="not_logged_in")
    flowing.move(first, "cancelled", "not needed")
    assert statuses(flowing, second) == ["todo"]
    assert "in cooldown after a failure" in flowing.show(second)["line"]["message"]
    flowing.owner.call("resume_agent", agent_id="w1")
    assert statuses(flowing, second) == ["in_progress"]
