"""Budgets of an agent's day and of a task: the rules of a project's budget hold for them, too. Only people set them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_usage import MIDNIGHT, needed, told, used
from tests.stories import Answer, Process, World

pytestmark = pytest.mark.crew(workers=2)


def stopped(world: World, *running: Process) -> dict[str, str]:
    """What a Coordinator is told to stop of these: the reasons by launch."""
    coordinator = world.coordinator()
    coordinator.running = [each.launch_id for each in running]
    return {each["launch_id"]: each["reason"] for each in coordinator.claim(free_slots=0)["stop"]}


def starts(world: World) -> list[str]:
    return sorted(world.coordinator().starts())


def limit(world: World, agent_id: str, **budget: Any) -> None:
    world.owner.call("edit_agent", agent_id=agent_id, provider_options=budget)


def up(world: World, whose: str) -> list[Answer]:
    return [each["data"] for each in world.events(f"{whose}.budget_used_up")]


# --- of an agent, for a day -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budget", "usage"), [({"budget_per_day": 1}, used(1.0)), ({"tokens_per_day": 1050}, used())])
def test_an_agent_whose_budget_of_today_is_used_up_is_stopped_and_others_go_on(
    crew: World, budget: Answer, usage: Answer
):
    limit(crew, "w1", **budget)
    crew.task("w1")
    crew.task("w2")
    process = crew.start("w1")
    told(crew, process, usage)
    assert stopped(crew, process) == {process.launch_id: "agent_budget_exhausted"}
    assert up(crew, "agent") == [budget]
    ended = crew.coordinator().exited(process.launch_id, signal=15, usage=usage)
    assert ended["cooling_down_until"] is None
    assert starts(crew) == ["w2"]
    (why,) = (each for each in crew.owner.call("why", agent_id="w1")["decisions"] if each["purpose"] == "task")
    assert (why["reason"], why["until"]) == ("agent_budget_exhausted", MIDNIGHT)
    assert "toryo agent edit w1 --option budget_per_day=N" in why["explanation"]


def test_people_are_told_which_agents_budget_is_used_up_and_a_higher_one_starts_it_at_once(crew: World):
    limit(crew, "w1", budget_per_day=1)
    crew.task("w1")
    process = crew.start("w1")
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(1.0))
    (need,) = needed(crew)
    raise_it = "toryo agent edit w1 --option budget_per_day=…"
    assert (need["agent_id"], need["actions"][0]["command"]) == ("w1", raise_it)
    crew.hints.clear()
    limit(crew, "w1", budget_per_day=2)
    assert any("work" in hint for hint in crew.hints)
    assert needed(crew) == []
    assert starts(crew) == ["w1"]


def test_an_agents_day_counts_what_it_spends_in_all_of_its_projects_and_ends_at_midnight(crew: World):
    limit(crew, "w1", budget_per_day=1)
    crew.task("w1")
    process = crew.start("w1")
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(1.0))
    other = crew.project(name="Garden")
    crew.owner.call("add_member", agent_id="w1", project_id=other)
    crew.owner.call("file_task", project_id=other, title="Dig", status="in_progress", assignee_id="w1")
    assert starts(crew) == []
    crew.advance(86_400)
    assert starts(crew) == ["w1", "w1"]


@pytest.mark.parametrize("wrong", [{"budget_per_day": -1}, {"tokens_per_day": 1.5}, {"budget_per_day": "much"}])
def test_what_is_no_amount_is_refused(crew: World, wrong: Answer):
    refused = crew.owner.refused("edit_agent", agent_id="w1", provider_options=wrong)
    assert "is not a valid value" in str(refused)


@pytest.mark.parametrize("whose", ["agent", "task"])
def test_who_asks_what_to_do_next_is_told_to_leave_and_whose_budget_it_is(crew: World, whose: str):
    limit(crew, "w1", budget_per_day=1 if whose == "agent" else 9)
    crew.task("w1", budget_usd=1 if whose == "task" else 9)
    process = crew.start("w1")
    told(crew, process, used(1.0))
    said = process.next()
    assert (said["action"], said["reason"]) == ("exit", f"{whose}_budget_exhausted")
    assert "save_progress" in said["instruction"]


# --- of a task, in all ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "usage", "option"),
    [({"budget_usd": 1}, used(1.0), "--budget …"), ({"budget_tokens": 1050}, used(), "--budget-tokens …")],
)
def test_a_task_whose_budget_is_used_up_is_stopped_waits_for_people_and_goes_on_when_it_is_raised(
    crew: World, budget: Answer, usage: Answer, option: str
):
    task = crew.task("w1", **budget)
    process = crew.start("w1")
    told(crew, process, usage)
    assert stopped(crew, process) == {process.launch_id: "task_budget_exhausted"}
    assert up(crew, "task") == [budget]
    ended = crew.coordinator().exited(process.launch_id, signal=15, usage=usage)
    assert (ended["cooling_down_until"], crew.status(task)) == (None, "in_progress")
    crew.advance(3 * 86_400)
    crew.housekeep()
    assert starts(crew) == [], "a task's budget is not that of a day"
    assert [each["kind"] for each in crew.owner.call("needs_you")["items"]] == ["budget_used_up"], "and nothing else"
    (need,) = needed(crew)
    assert (need["task_id"], need["actions"][0]["command"]) == (task, f"toryo task edit {task} {option}")
    (why,) = (each for each in crew.owner.call("why", agent_id="w1")["decisions"] if each["purpose"] == "task")
    assert (why["reason"], why["until"]) == ("task_budget_exhausted", None)
    assert f"toryo task edit {task} --budget N" in why["explanation"]
    assert crew.owner.refused("start_agent", agent_id="w1", project_id=crew.project_id)
    crew.owner.call("edit_task", task_id=task, **{name: 2 * most for name, most in budget.items()})
    assert (needed(crew), starts(crew)) == ([], ["w1"])


def test_what_subtasks_use_counts_for_the_task_above_and_its_budget_stops_them(crew: World):
    whole = crew.task("boss", budget_usd=1)
    part = crew.task("w1", parent_task_id=whole)
    crew.task("w2")
    boss, worker, other = crew.start("boss"), crew.start("w1"), crew.start("w2")
    told(crew, boss, used(0.6))
    assert stopped(crew, boss, worker, other) == {}
    told(crew, worker, used(0.4))
    reason = "task_budget_exhausted"
    assert stopped(crew, boss, worker, other) == {boss.launch_id: reason, worker.launch_id: reason}
    assert [need["task_id"] for need in needed(crew)] == [whole]
    assert crew.show(part)["budget_usd"] is None
    told(crew, worker, used(0.5))
    assert up(crew, "task") == [{"budget_usd": 1}], "it is told once"


def test_the_budget_of_a_part_stops_the_part_alone(crew: World):
    whole = crew.task("boss", budget_usd=10)
    part = crew.task("w1", parent_task_id=whole, budget_usd=1)
    boss, worker = crew.start("boss"), crew.start("w1")
    told(crew, worker, used(1.0))
    assert stopped(crew, boss, worker) == {worker.launch_id: "task_budget_exhausted"}
    assert [need["task_id"] for need in needed(crew)] == [part]


def test_an_agent_goes_on_with_another_task_while_one_has_no_budget_left(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=2)
    crew.task("w1", budget_usd=0)
    other = crew.task("w1", title="Another")
    (launch,) = crew.coordinator().claim()["start"]
    assert crew.launches(agent_id="w1")[0]["launch_id"] == launch["launch_id"]
    assert crew.launches(agent_id="w1")[0]["task_id"] == other


def test_a_queue_task_without_budget_is_not_taken(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", agent_type="writers")
    crew.task(None, status="todo", agent_type="writers", budget_usd=0)
    assert starts(crew) == []
    crew.task(None, status="todo", agent_type="writers")
    assert starts(crew) == ["w1"]


def test_a_start_is_told_the_least_that_its_budgets_leave(crew: World):
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"budget_per_day": 9, "tokens_per_day": 9000})
    limit(crew, "w1", budget_per_day=5)
    task = crew.task("w1", budget_usd=3, budget_tokens=4000)
    (launch,) = crew.coordinator().claim()["start"]
    assert (launch["budget_usd"], launch["budget_tokens"]) == (3, 4000)
    crew.coordinator().exited(launch["launch_id"], error="stopped", usage=used(1.0))
    crew.owner.call("edit_task", task_id=task, budget_usd=None, budget_tokens=None)
    (launch,) = crew.coordinator().claim()["start"]
    assert (launch["budget_usd"], launch["budget_tokens"]) == (4, 7950)


def test_no_agent_sets_or_raises_a_budget(crew: World):
    whole = crew.task("boss", budget_usd=1)
    boss = crew.start("boss")
    boss.refused("update_task", task_id=whole, budget_usd=100)
    made = {"local_id": "a", "title": "Part", "description": "Do it", "budget_usd": 100}
    boss.refused("create_tasks_batch", tasks=[made])
    assert crew.show(whole)["budget_usd"] == 1


def test_a_used_up_budget_of_a_task_that_nobody_works_on_needs_nobody(crew: World) -> None:
    task = crew.task("w1", status="todo", budget_usd=0)

    def kinds() -> list[str]:
        return [each["kind"] for each in crew.owner.call("needs_you")["items"] if each["task_id"] == task]

    assert kinds() == []
    crew.owner.call("move_task", task_id=task, status="in_progress")
    assert kinds() == ["budget_used_up"]


# --- of work that is sent back ----------------------------------------------------------------------------------------


def worked(crew: World, usage: Answer, **task: Any) -> tuple[str, Process]:
    """A completed task of w1, whose process has not ended yet."""
    made, process = crew.task("w1", title="Walls", **task), crew.start("w1")
    told(crew, process, usage)
    process.report()
    return made, process


def back(crew: World, task: str) -> tuple[str, Answer]:
    answer = crew.owner.call("request_task_changes", task_id=task, text="Round them.")
    made: str = answer["changes_requested"]["task_id"]
    return made, answer


def left(crew: World, task: str) -> tuple[float | None, int | None]:
    shown = crew.show(task)
    return shown["budget_usd"], shown["budget_tokens"]


def test_changes_to_work_have_what_is_left_of_its_budget(crew: World) -> None:
    walls, process = worked(crew, used(0.25), budget_usd=1, budget_tokens=2000)
    made, _ = back(crew, walls)
    assert (left(crew, made), crew.status(made)) == ((0.75, 950), "in_progress")
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(0.5, output_tokens=60))
    assert left(crew, made) == (0.5, 940), "what its process has used until it ended is not left either"
    crew.owner.call("edit_task", task_id=made, budget_usd=3)
    assert left(crew, made) == (3, 940)


def test_changes_to_work_without_a_budget_have_none(crew: World) -> None:
    walls, process = worked(crew, used(0.25))
    made, _ = back(crew, walls)
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(0.5))
    assert left(crew, made) == (None, None)


@pytest.mark.parametrize("open_whole", [True, False])
def test_changes_to_a_part_are_limited_by_what_limited_the_part(crew: World, open_whole: bool) -> None:
    whole = crew.task("boss", budget_usd=1, budget_tokens=5000)
    part, process = worked(crew, used(0.25), parent_task_id=whole, budget_usd=5)
    crew.coordinator().exited(process.launch_id, exit_code=0)
    if not open_whole:
        crew.move(whole, "completed")
    made, _ = back(crew, part)
    assert (crew.show(made)["parent_task_id"], left(crew, made)) == (
        (whole, (4.75, None)) if open_whole else (None, (0.75, 3950))
    )


def test_changes_for_which_no_budget_is_left_wait_in_line_and_people_are_told(crew: World) -> None:
    walls, _ = worked(crew, used(1.5), budget_usd=1)
    made, answer = back(crew, walls)
    assert (left(crew, made), crew.status(made)) == ((0, None), "todo")
    assert "It starts by itself: first in the line of w1." in answer["waits"]
    assert "budget" in answer["waits"]
    (need,) = needed(crew)
    assert (need["task_id"], need["actions"][0]["command"]) == (made, f"toryo task edit {made} --budget …")
    crew.owner.call("edit_task", task_id=made, budget_usd=1)
    assert (crew.status(made), needed(crew)) == ("in_progress", [])


def test_changes_wait_in_line_for_a_new_day_where_that_of_the_agent_has_no_budget_left(crew: World) -> None:
    limit(crew, "w1", budget_per_day=1)
    walls, process = worked(crew, used(1.0))
    crew.coordinator().exited(process.launch_id, exit_code=0)
    made, answer = back(crew, walls)
    assert (crew.status(made), "budget" in answer["waits"]) == ("todo", True)
    crew.advance(86_400)
    crew.housekeep()
    assert crew.status(made) == "in_progress"


def test_what_the_work_uses_at_its_end_and_the_first_changes_use_is_not_left_for_the_second(crew: World) -> None:
    walls, process = worked(crew, used(0.25), budget_usd=1)
    first, second = (back(crew, walls)[0] for _ in range(2))
    crew.coordinator().exited(process.launch_id, exit_code=0, usage=used(0.5))
    assert [left(crew, each)[0] for each in (first, second)] == [0.5, 0.5]
    told(crew, crew.start("w1"), used(0.2))
    assert [left(crew, each)[0] for each in (first, second)] == [0.5, 0.3]
