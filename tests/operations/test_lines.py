"""Tasks in line: Toryo starts them one after the other, as soon as nothing prevents it and their agent has a place."""

from __future__ import annotations

import pytest

from tests.operations.test_queue import poller
from tests.stories import World
from toryo.operations.tasks import mutations


@pytest.fixture
def flowing(world: World) -> World:
    world.crew(2, start="when_ready")
    return world


def statuses(world: World, *tasks: str) -> list[str]:
    return [world.owner.call("show_task", task_id=each)["task"]["status"] for each in tasks]


def test_three_tasks_of_one_agent_run_one_after_the_other(flowing: World) -> None:
    first, second, third = (flowing.task("w1", status="todo", title=each) for each in ("one", "two", "three"))
    assert statuses(flowing, first, second, third) == ["in_progress", "todo", "todo"]
    flowing.move(first, "completed")
    assert statuses(flowing, first, second, third) == ["completed", "in_progress", "todo"]
    flowing.move(second, "failed", "no")
    assert statuses(flowing, second, third) == ["failed", "in_progress"]


def test_what_depends_on_a_task_starts_when_it_is_completed(flowing: World) -> None:
    first = flowing.task("w1", status="todo")
    second = flowing.task("w2", status="todo", dependencies=[first])
    both = flowing.task("w2", status="backlog", dependencies=[first, second])
    flowing.move(both, "todo")
    assert statuses(flowing, first, second, both) == ["in_progress", "todo", "todo"]
    flowing.move(first, "completed")
    assert statuses(flowing, first, second, both) == ["completed", "in_progress", "todo"]
    flowing.move(second, "completed")
    assert statuses(flowing, both) == ["in_progress"]


def test_a_dependency_that_is_removed_lets_the_task_start(flowing: World) -> None:
    first = flowing.task("w1", status="backlog")
    second = flowing.task("w2", status="todo", dependencies=[first])
    assert statuses(flowing, second) == ["todo"]
    flowing.owner.call("edit_task", task_id=second, remove_dependencies=[first])
    assert statuses(flowing, second) == ["in_progress"]


def test_what_a_queue_completes_starts_what_waits_for_it(flowing: World) -> None:
    made = flowing.task(status="todo", agent_type="press")
    waiting = flowing.task("w1", status="todo", dependencies=[made])
    press = poller(flowing, "press-1", "press")
    press.call("poll_tasks", agent_id="press-1")
    assert statuses(flowing, waiting) == ["todo"]
    press.call("submit_result", agent_id="press-1", task_id=made, status="completed", result={})
    assert statuses(flowing, waiting) == ["in_progress"]


def test_the_more_important_one_comes_first_and_then_the_older(flowing: World) -> None:
    busy, low = flowing.task("w1", status="todo"), flowing.task("w1", status="todo", priority="low")
    old, new = flowing.task("w1", status="todo"), flowing.task("w1", status="todo")
    high = flowing.task("w1", status="todo", priority="high")
    begun = []
    for _ in range(4):
        flowing.move(busy, "completed")
        [busy] = [each for each in (low, old, new, high) if statuses(flowing, each) == ["in_progress"]]
        begun.append(busy)
    assert begun == [high, old, new, low]


def test_a_task_says_which_place_it_has_in_which_line(flowing: World) -> None:
    _, second, third = (flowing.task("w1", status="todo", title=each) for each in ("one", "two", "three"))
    line = flowing.owner.call("show_task", task_id=third)["task"]["line"]
    assert line.pop("message") == "It starts by itself: number 2 in the line of w1, after “two”."
    assert line == {"agent_id": "w1", "place": 2, "before": [{"task_id": second, "title": "two"}]}
    next_one = flowing.owner.call("show_task", task_id=second)["task"]["line"]["message"]
    assert next_one.startswith("It starts by itself: first in the line of w1. w1 is working on")


def test_in_progress_at_once_means_as_soon_as_it_can(flowing: World) -> None:
    flowing.task("w1")
    made = flowing.owner.call(
        "file_task", project_id=flowing.project_id, title="next", assignee_id="w1", status="in_progress"
    )
    assert made["task"]["status"] == "todo"
    assert made["task"]["line"]["place"] == 1


def test_what_is_put_back_by_hand_stays_there_until_somebody_says_otherwise(flowing: World) -> None:
    task = flowing.task("w1", status="todo")
    flowing.move(task, "todo")
    assert statuses(flowing, task) == ["todo"]
    flowing.move(flowing.task("w1", status="todo"), "completed")
    flowing.housekeep()
    assert statuses(flowing, task) == ["todo"]
    flowing.owner.call("edit_task", task_id=task, start="when_ready")
    assert statuses(flowing, task) == ["in_progress"]


def test_a_retry_and_an_unblocking_need_no_second_command(flowing: World) -> None:
    task = flowing.task("w1", status="todo")
    flowing.move(task, "failed", "no")
    flowing.move(task, "todo")
    assert statuses(flowing, task) == ["in_progress"]
    flowing.move(task, "blocked", "wait")
    flowing.move(task, "todo")
    assert statuses(flowing, task) == ["in_progress"]


def test_a_task_that_gets_its_agent_later_is_in_line_from_then_on(flowing: World) -> None:
    task = flowing.task(status="todo")
    flowing.housekeep()
    assert statuses(flowing, task) == ["todo"]
    flowing.owner.call("edit_task", task_id=task, assignee_id="w1")
    assert statuses(flowing, task) == ["in_progress"]


def test_a_line_goes_on_when_its_agent_gets_other_work_taken_away(flowing: World) -> None:
    first, second = flowing.task("w1", status="todo"), flowing.task("w1", status="todo")
    flowing.owner.call("edit_task", task_id=first, assignee_id="w2")
    assert statuses(flowing, first, second) == ["in_progress", "in_progress"]


def test_a_paused_project_starts_nothing_and_goes_on_when_it_is_resumed(flowing: World) -> None:
    flowing.owner.call("pause_project", project_id=flowing.project_id)
    task = flowing.task("w1", status="todo")
    flowing.housekeep()
    assert statuses(flowing, task) == ["todo"]
    flowing.owner.call("resume_project", project_id=flowing.project_id)
    flowing.housekeep()
    assert statuses(flowing, task) == ["in_progress"]


def test_an_agent_that_becomes_active_goes_on_with_its_line(flowing: World) -> None:
    flowing.owner.call("deactivate_agent", agent_id="w1")
    task = flowing.task("w1", status="backlog")
    flowing.move(task, "todo")
    assert statuses(flowing, task) == ["todo"]
    flowing.owner.call("activate_agent", agent_id="w1")
    flowing.housekeep()
    assert statuses(flowing, task) == ["in_progress"]


def test_a_manual_project_starts_only_what_says_so_itself(world: World) -> None:
    world.crew(2)
    plain, own = world.task("w1", status="todo"), world.task("w2", status="todo", start="when_ready")
    world.housekeep()
    assert statuses(world, plain, own) == ["todo", "in_progress"]


def test_people_begin_what_they_want_to_begin(flowing: World) -> None:
    flowing.member("lena", "owner")
    flowing.owner.call("add_member", project_id=flowing.project_id, agent_id="lena")
    task = flowing.task("lena", status="todo")
    flowing.housekeep()
    assert statuses(flowing, task) == ["todo"]


def test_a_managers_chain_runs_by_itself_and_the_manager_is_started_once_when_it_is_done(world: World) -> None:
    world.crew(2, decomposition="optional")
    main = world.task("boss")
    boss = world.start("boss")
    made = boss.call(
        "create_tasks_batch",
        tasks=[
            {
                "local_id": str(number),
                "title": f"Part {number}",
                "description": "Do it.",
                "start": "when_ready",
                "assignee_id": f"w{number % 2 + 1}",
                "dependencies": [str(number - 1)] if number else [],
            }
            for number in range(4)
        ],
    )
    parts = [each["task_id"] for each in made["tasks"]]
    assert statuses(world, *parts) == ["in_progress", "todo", "todo", "todo"]
    boss.wait()
    coordinator = world.coordinator()
    for number, part in enumerate(parts):
        assert coordinator.reason("boss") == "hold waiting_for_workers"
        assert statuses(world, part) == ["in_progress"]
        world.start(f"w{number % 2 + 1}").report(summary="done")
    boss = world.start("boss")
    assert boss.action() == "report_completion"
    boss.report()
    assert statuses(world, main) == ["completed"]


def test_a_manager_is_woken_where_a_part_in_line_can_never_start(world: World) -> None:
    world.crew(2, decomposition="optional")
    world.task("boss")
    boss = world.start("boss")
    asked = [{"local_id": each, "title": each, "description": "Do it.", "start": "when_ready"} for each in "ab"]
    asked[0] |= {"assignee_id": "w1"}
    asked[1] |= {"assignee_id": "w2", "dependencies": ["a"]}  # type: ignore[dict-item]
    first, second = (each["task_id"] for each in boss.call("create_tasks_batch", tasks=asked)["tasks"])
    boss.wait()
    world.start("w1").report("failed", summary="no")
    assert statuses(world, first, second) == ["failed", "todo"]
    boss = world.start("boss")
    assert boss.action() != "wait"


def test_what_agents_create_is_theirs_to_start(flowing: World) -> None:
    flowing.task("boss")
    boss = flowing.start("boss")
    [part] = boss.assigned({"Walls": "w1"})
    flowing.housekeep()
    assert statuses(flowing, part) == ["todo"]
    boss.begin(part)
    assert statuses(flowing, part) == ["in_progress"]


def test_a_draft_that_is_to_start_may_be_started_by_its_line(flowing: World) -> None:
    draft = flowing.task("w1", status="backlog")
    assert flowing.move(draft, "in_progress")["new_status"] == "in_progress"
    flowing.move(draft, "completed")
    second = flowing.task("w1", status="backlog")
    assert flowing.move(second, "todo")["new_status"] == "in_progress"


@pytest.mark.parametrize("start", ["manual", "when_ready"])
def test_a_request_that_is_approved_starts_as_soon_as_it_can(world: World, start: str) -> None:
    world.crew(2, start=start)
    world.task("w1")
    worker = world.start("w1")
    first, later, left = (
        worker.call("request_task", assignee_id="w2", title=each, description="Please.")["task_id"]
        for each in ("First", "Later", "Left")
    )
    world.owner.call("approve_task", task_id=left, approve_only=True)
    world.owner.call("approve_task", task_id=first)
    world.owner.call("approve_task", task_id=later)
    assert statuses(world, first, later, left) == ["in_progress", "todo", "backlog"]
    world.move(first, "completed")
    assert statuses(world, later, left) == ["in_progress", "backlog"]


def test_the_last_of_a_chain_of_tasks_says_that_it_starts_by_itself(flowing: World) -> None:
    first = flowing.task("w1", status="todo")
    second = flowing.task("w1", status="todo", dependencies=[first])
    third = flowing.task("w2", status="todo", dependencies=[second])
    message = flowing.owner.call("show_task", task_id=third)["task"]["line"]["message"]
    assert message.startswith("It starts by itself: first in the line of w2. ")
    flowing.move(second, "cancelled", "no")
    message = flowing.owner.call("show_task", task_id=third)["task"]["line"]["message"]
    assert message.startswith(f"Task {third} depends on")


def test_parts_start_once_what_they_are_parts_of_keeps_them_no_longer(flowing: World) -> None:
    drafted, given = flowing.task(status="backlog"), flowing.task("boss", status="backlog")
    first = flowing.task("w1", status="todo", parent_task_id=drafted)
    second = flowing.task("w2", status="todo", parent_task_id=given)
    assert statuses(flowing, first, second) == ["todo", "todo"]
    flowing.move(drafted, "todo")
    assert statuses(flowing, first) == ["in_progress"]
    flowing.owner.call("edit_task", task_id=given, assignee_id=None)
    flowing.move(given, "todo")
    assert statuses(flowing, second) == ["in_progress"]


def test_a_part_starts_when_its_whole_is_given_to_nobody(flowing: World) -> None:
    flowing.task("boss")
    whole = flowing.task("boss", status="todo")
    part = flowing.task("w1", status="todo", parent_task_id=whole)
    assert statuses(flowing, whole, part) == ["todo", "todo"]
    flowing.owner.call("edit_task", task_id=whole, assignee_id=None)
    assert statuses(flowing, part) == ["in_progress"]


def test_a_part_of_what_its_agent_works_on_passes_a_part_that_waits_for_its_place(flowing: World) -> None:
    """Else nothing would ever go on: the agent's task waits for this part, and the other part for the agent's task."""
    whole, other = flowing.task("w1"), flowing.task("w2")
    waits = flowing.task("w1", status="todo", parent_task_id=other)
    inner = flowing.task("w2", status="todo", parent_task_id=whole)
    below = flowing.task("w1", status="todo", parent_task_id=inner)
    assert statuses(flowing, waits, inner, below) == ["todo", "todo", "todo"]
    flowing.owner.call("edit_agent", agent_id="w2", max_parallel_tasks=2)
    assert statuses(flowing, waits, inner, below) == ["todo", "in_progress", "in_progress"]


def test_parts_go_on_with_a_whole_that_was_put_back_and_started_again(flowing: World) -> None:
    flowing.person("ann")
    whole = flowing.task("ann")
    part = flowing.task("w1", status="todo", parent_task_id=whole)
    flowing.move(whole, "todo")
    assert statuses(flowing, whole, part) == ["todo", "todo"]
    flowing.move(whole, "in_progress")
    assert statuses(flowing, whole, part) == ["in_progress", "in_progress"]


def test_nothing_waits_behind_the_parts_of_a_draft_however_many_they_are(
    flowing: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "LOOK", 2)
    monkeypatch.setattr(mutations, "MOST_KEPT", 4)
    epic = flowing.task(status="backlog")
    parts = [flowing.task("w1", status="todo", title=f"Part {each}", parent_task_id=epic) for each in range(6)]
    assert statuses(flowing, flowing.task("w1", status="todo"), *parts) == ["in_progress", *["todo"] * 6]


def test_who_resumes_one_agent_lets_all_on_its_account_go_on(flowing: World) -> None:
    flowing.task("w1")
    [launch] = flowing.coordinator().claim()["start"]
    flowing.coordinator().exited(launch["launch_id"], exit_code=1, error="quota: used up")
    other = flowing.task("w2", status="todo")
    assert statuses(flowing, other) == ["todo"]
    flowing.owner.call("resume_agent", agent_id="w1")
    assert statuses(flowing, other) == ["in_progress"]
