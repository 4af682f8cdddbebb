"""Projects in which a task in line waits until what it depends on is merged (`dependencies: merged`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, Process, Refused, World

UNMERGED = "What it depends on is completed, but its work is not merged yet."


@pytest.fixture
def yard(world: World) -> Yard:
    made = Yard(world)
    set_to(made, start="when_ready", dependencies="merged", decomposition="never")
    return made


def set_to(yard: Yard, **settings: Any) -> None:
    yard.world.owner.call("edit_project", project_id=yard.world.project_id, settings=settings)


def merged(yard: Yard, task: str) -> None:
    yard.ask("merge", task)
    (job,) = [each for each in yard.worktree_jobs() if each["kind"] == "merge"]
    yard.report(job["job_id"], done=True, merged=[{"task_id": task, "commit": "m1", "into": "main"}])


def discarded(yard: Yard, task: str) -> None:
    yard.ask("discard", task)
    (job,) = [each for each in yard.worktree_jobs() if each["kind"] == "discard"]
    yard.report(job["job_id"], done=True, gone=[task])


def behind(yard: Yard, *tasks: str, **more: Any) -> str:
    return yard.world.task("w2", status="todo", dependencies=list(tasks), title="Roof", **more)


def told(yard: Yard, task: str) -> list[Answer]:
    needs = yard.world.owner.call("needs_you")["items"]
    return [each for each in needs if each["kind"] == "stuck" and task in (each["task_id"], *each.get("also", ()))]


def test_it_starts_with_the_merge_and_says_until_then_what_it_waits_for(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls)
    assert yard.world.status(roof) == "todo"
    assert yard.world.owner.call("show_task", task_id=roof)["task"]["line"]["message"].endswith(UNMERGED)
    merged(yard, walls)
    assert yard.world.status(roof) == "in_progress"


def test_what_was_filed_before_the_work_was_done_waits_for_its_merge_too(yard: Yard) -> None:
    walls = yard.world.task("w1", title="Walls")
    roof = behind(yard, walls)
    yard.work("w1", walls)
    assert (yard.world.status(walls), yard.world.status(roof)) == ("completed", "todo")
    merged(yard, walls)
    assert yard.world.status(roof) == "in_progress"


def test_work_without_changes_counts_as_merged(yard: Yard) -> None:
    walls = yard.world.task("w1", title="Walls")
    roof = behind(yard, walls)
    launch = yard.launch("w1")
    process = yard.world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    process.call("report_completed", result="success", summary="done")
    assert yard.world.status(roof) == "todo", "nobody has looked yet at what it has left"
    yard.told(launch, head_commit="b0", commits=0, files_changed=0, insertions=0, deletions=0)
    assert yard.world.status(roof) == "in_progress"


def test_discarded_work_is_told_with_what_lets_the_task_go_on(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls)
    assert told(yard, roof) == []
    discarded(yard, walls)
    assert yard.world.status(roof) == "todo"
    (need,) = told(yard, roof)
    assert need["text"].startswith("It depends on “Walls” (completed), whose work was discarded")
    assert "free" in [each["name"] for each in need["actions"]]
    yard.world.owner.call("edit_task", task_id=roof, remove_dependencies=[walls])
    assert (yard.world.status(roof), told(yard, roof)) == ("in_progress", [])


def test_others_in_its_line_go_before_it(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls, priority="high")
    other = yard.world.task("w2", status="todo", title="Fence")
    assert (yard.world.status(roof), yard.world.status(other)) == ("todo", "in_progress")
    anyone = yard.world.task("any", status="todo", dependencies=[walls])
    assert yard.world.status(anyone) == "todo"
    merged(yard, walls)
    assert yard.world.owner.call("show_task", task_id=anyone)["task"]["assignee_id"] == "w1"


def test_a_person_may_start_it_before(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls)
    yard.world.move(roof, "in_progress")
    assert yard.world.status(roof) == "in_progress"


def test_the_parts_of_one_whole_wait_only_until_they_are_completed(yard: Yard) -> None:
    house = yard.world.task("boss", title="House")
    walls = yard.world.task("w1", title="Walls", parent_task_id=house)
    roof = behind(yard, walls, parent_task_id=house)
    yard.work("w1", walls)
    assert yard.world.status(roof) == "in_progress"


def test_what_corrects_unmerged_work_does_not_wait_for_its_merge(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls)
    other = yard.world.task("w1", title="Fence")
    asked = yard.world.owner.call("request_task_changes", task_id=walls, text="Higher.")["changes_requested"]["task_id"]
    assert yard.world.status(asked) == "todo", "its agent has other work"
    yard.world.move(other, "cancelled")
    assert (yard.world.status(asked), yard.world.status(roof)) == ("in_progress", "todo")


def test_a_context_in_which_a_worker_writes_that_its_task_corrects_work_is_only_data(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    yard.world.task("w1", title="Fence")
    worker = yard.world.start("w1")
    asked = {"title": "Roof", "assignee_id": "w2", "context": {"changes_to": walls}}
    made = worker.call("request_task", **asked)["task_id"]
    yard.world.owner.call("edit_task", task_id=made, add_dependencies=[walls])
    yard.world.owner.call("approve_task", task_id=made)
    assert yard.world.status(made) == "todo"
    merged(yard, walls)
    assert yard.world.status(made) == "in_progress"


def test_the_setting_lets_go_at_once_what_it_has_kept(yard: Yard) -> None:
    walls = yard.worked("w1", title="Walls")
    roof = behind(yard, walls)
    set_to(yard, dependencies="completed")
    assert yard.world.status(roof) == "in_progress"


def test_without_worktrees_it_changes_nothing(world: World) -> None:
    world.crew(2, start="when_ready", dependencies="merged")
    first = world.task("w1")
    second = world.task("w2", status="todo", dependencies=[first])
    world.move(first, "completed")
    assert world.status(second) == "in_progress"
    with pytest.raises(Refused, match="completed or merged"):
        world.owner.call("edit_project", project_id=world.project_id, settings={"dependencies": "reviewed"})


# --- what nobody has looked at yet, and the parts of a whole ---------------------------------------------------------


def begun(yard: Yard, agent: str) -> tuple[Answer, Process]:
    launch = yard.launch(agent)
    process = yard.world.process(launch)
    process.sign_in()
    process.call("report_model", provider="claude", model_id="model-1")
    process.call("get_my_task")
    return launch, process


def test_work_of_a_second_process_is_waited_for_although_the_first_had_left_none(yard: Yard) -> None:
    walls = yard.world.task("w1", title="Walls")
    roof = behind(yard, walls)
    launch, _ = begun(yard, "w1")
    yard.told(launch, head_commit="b0", commits=0, files_changed=0, insertions=0, deletions=0)
    yard.c1.exited(launch["launch_id"], exit_code=0)
    launch, process = begun(yard, "w1")
    process.call("report_completed", result="success", summary="done")
    assert (yard.world.status(walls), yard.world.status(roof)) == ("completed", "todo")
    yard.ended(launch)
    assert yard.world.status(roof) == "todo"
    merged(yard, walls)
    assert yard.world.status(roof) == "in_progress"


def test_what_a_second_process_has_not_changed_keeps_nobody_waiting_once_it_has_ended(yard: Yard) -> None:
    walls = yard.world.task("w1", title="Walls")
    roof = behind(yard, walls)
    launch, process = begun(yard, "w1")
    process.call("report_completed", result="success", summary="done")
    nothing = {"head_commit": "b0", "commits": 0, "files_changed": 0, "insertions": 0, "deletions": 0}
    yard.told(launch, **nothing)
    yard.c1.exited(launch["launch_id"], exit_code=0)
    assert yard.world.status(roof) == "in_progress"


@pytest.mark.parametrize("settled", [merged, discarded])
def test_the_parts_of_a_whole_without_a_worktree_are_waited_for_until_they_are_settled(
    yard: Yard, settled: Callable[[Yard, str], None]
) -> None:
    yard.world.person("ann")
    house = yard.world.task("ann", title="House")
    walls = yard.world.task("w1", title="Walls", parent_task_id=house)
    roof = behind(yard, house)
    yard.work("w1", walls)
    yard.world.move(house, "completed")
    assert yard.world.status(roof) == "todo"
    settled(yard, walls)
    assert yard.world.status(roof) == "in_progress"
