"""Tasks for anyone who is free: the first agent that can start one takes it; until then nobody has it."""

from __future__ import annotations

import pytest

from tests.operations.test_lines import statuses
from tests.stories import Coordinator, World
from toryo.domain.errors import Code
from toryo.operations.tasks import mutations
from toryo.workflow import line_rules
from toryo.workflow.snapshot import RuleInput


@pytest.fixture
def team(world: World) -> World:
    """A project that starts nothing by itself, three workers, and a Coordinator that can start them."""
    world.crew(3)
    world.coordinator().claim()
    return world


def assignees(world: World, *tasks: str) -> list[str | None]:
    return [world.owner.call("show_task", task_id=each)["task"]["assignee_id"] for each in tasks]


def anyone(world: World, words: str = "any", **more: object) -> str:
    return world.task(words, status="todo", **more)


def test_three_tasks_for_whoever_is_free_go_to_three_workers_and_the_fourth_to_the_first_that_is_done(
    team: World,
) -> None:
    tasks = [anyone(team, title=f"part {number}") for number in range(4)]
    assert assignees(team, *tasks) == ["w1", "w2", "w3", None]
    assert statuses(team, *tasks) == ["in_progress"] * 3 + ["todo"]
    team.move(tasks[1], "completed")
    assert assignees(team, tasks[3]) == ["w2"]
    assert statuses(team, tasks[3]) == ["in_progress"]


def test_the_one_whose_last_start_is_longest_ago_comes_first(team: World) -> None:
    first, second = anyone(team), anyone(team)
    coordinator = team.coordinator()
    started = coordinator.claim()["start"]
    assert [launch["agent_id"] for launch in started] == ["w1", "w2"]
    for task, launch in zip((first, second), started, strict=True):
        team.process(launch).sign_in()
        team.move(task, "cancelled", "not needed")
        coordinator.exited(launch["launch_id"], exit_code=0)
    assert assignees(team, anyone(team), anyone(team)) == ["w3", "w1"]


def test_whoever_has_tasks_of_their_own_in_line_comes_last(team: World) -> None:
    other = team.task(status="backlog")
    mine = team.task("w1", status="todo", start="when_ready", dependencies=[other])
    team.owner.call("edit_task", task_id=mine, remove_dependencies=[other], start="manual")
    assert assignees(team, anyone(team), anyone(team), anyone(team)) == ["w2", "w3", "w1"]


def test_only_those_with_all_capabilities_take_it(team: World) -> None:
    team.owner.call("edit_agent", agent_id="w3", capabilities=["python", "tests"])
    team.owner.call("edit_agent", agent_id="w2", capabilities=["python"])
    first = team.owner.call(
        "file_task",
        project_id=team.project_id,
        title="first",
        pool={"capabilities": ["python", "tests"]},
    )["task"]
    assert first["assignee_id"] == "w3"
    assert first["pool"] == {"capabilities": ["python", "tests"]}
    second, third = anyone(team, "any:python,tests"), anyone(team, "any:python")
    assert assignees(team, second, third) == [None, "w2"]
    team.move(first["task_id"], "completed")
    assert assignees(team, second) == ["w3"]


def test_neither_managers_people_nor_the_inactive_nor_who_is_no_member_take_one(world: World) -> None:
    world.project()
    world.manager()
    world.person("ann")
    world.worker("away", "boss")
    world.owner.call("deactivate_agent", agent_id="away")
    world.owner.call("create_agent", id="stranger", role="worker", provider="claude")
    world.coordinator().claim()
    task = anyone(world)
    assert assignees(world, task) == [None]
    line = world.owner.call("show_task", task_id=task)["task"]["line"]
    assert line["agent_id"] is None
    assert line["message"].endswith(
        "No worker of the project could do it: none is active and started by a Coordinator."
    )
    world.owner.call("activate_agent", agent_id="away")
    assert assignees(world, task) == ["away"]


def test_a_worker_whose_program_no_coordinator_has_does_not_take_it(team: World) -> None:
    team.owner.call("edit_agent", agent_id="w1", provider="codex")
    team.coordinator().claim(providers=["claude"])
    assert assignees(team, anyone(team), anyone(team), anyone(team)) == ["w2", "w3", None]


def test_of_a_managers_task_only_those_below_it(team: World) -> None:
    team.owner.call("create_agent", id="apart", role="worker", provider="claude", projects=[team.project_id])
    for each in ("w1", "w2"):
        team.task(each)
    plan = team.task("boss")
    boss = team.start("boss")
    team.coordinator("c2").claim(free_slots=0)
    boss.call("get_my_task")
    parts = boss.assigned({"one": "any", "two": "any"})
    assert assignees(team, *parts) == ["w3", None]
    assert statuses(team, plan, *parts) == ["in_progress", "in_progress", "todo"]
    boss.wait()  # nothing for it to do: the second part starts by itself


def test_a_more_important_task_for_anyone_goes_before_the_own_line(team: World) -> None:
    busy = [team.task(each) for each in ("w1", "w2", "w3")]
    own = team.task("w1", status="todo", start="when_ready")
    urgent = anyone(team, priority="critical")
    team.move(busy[0], "completed")
    assert assignees(team, urgent) == ["w1"]
    assert statuses(team, urgent, own) == ["in_progress", "todo"]


def test_nothing_waits_behind_tasks_that_only_others_could_do_however_many_these_are(
    team: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "LOOK", 2)
    monkeypatch.setattr(mutations, "MOST_KEPT", 4)
    busy = [team.task(each) for each in ("w1", "w2", "w3")]
    for _ in range(5):
        anyone(team, "any:joinery", priority="high")
    own, task = team.task("w1", status="todo", start="when_ready"), anyone(team)
    team.move(busy[0], "completed")
    assert statuses(team, own) == ["in_progress"]
    team.move(busy[1], "completed")
    assert assignees(team, task, anyone(team)) == ["w2", None]
    team.owner.call("create_agent", id="w4", role="worker", provider="claude", projects=[team.project_id])
    assert assignees(team, anyone(team)) == [None]  # behind the other one, which w4 has taken


def test_an_agent_that_can_start_nothing_is_asked_once_and_not_for_each_task(
    team: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.owner.call("edit_project", project_id=team.project_id, settings={"budget_per_day": 0})
    tasks = [anyone(team) for _ in range(5)]
    asked: list[str] = []
    decide = line_rules.decide

    def noted(case: RuleInput) -> str | None:
        asked.append(case.agent.id)
        return decide(case)

    monkeypatch.setattr(line_rules, "decide", noted)
    team.housekeep()
    assert sorted(asked) == ["w1", "w2", "w3"]
    assert set(assignees(team, *tasks)) == {None}


def test_what_waits_for_another_task_goes_to_somebody_when_that_is_done(team: World) -> None:
    first = anyone(team)
    then = anyone(team, dependencies=[first])
    assert statuses(team, first, then) == ["in_progress", "todo"]
    team.move(first, "completed")
    assert statuses(team, then) == ["in_progress"]
    assert assignees(team, then) != [None]


def test_a_task_that_is_put_back_stays_with_its_agent_and_waits(team: World) -> None:
    task = anyone(team)
    team.move(task, "todo")
    assert (assignees(team, task), statuses(team, task)) == (["w1"], ["todo"])
    team.owner.call("edit_task", task_id=task, assignee_id="any")
    assert statuses(team, task) == ["in_progress"]


def test_it_can_be_given_to_anyone_later_and_to_one_again(team: World) -> None:
    for each in ("w1", "w2", "w3"):
        team.task(each)
    task = team.task("w1", status="todo")
    shown = team.owner.call("edit_task", task_id=task, pool={"capabilities": []})["task"]
    assert (shown["assignee_id"], shown["pool"]) == (None, {"capabilities": []})
    assert shown["line"]["message"].startswith("It starts by itself: first of those that go to anyone who is free.")
    shown = team.owner.call("edit_task", task_id=task, assignee_id="w2")["task"]
    assert shown["assignee_id"] == "w2"
    assert "pool" not in shown


def test_in_progress_for_anyone_means_as_soon_as_somebody_can(team: World) -> None:
    for each in ("w1", "w2", "w3"):
        team.task(each)
    task = team.task("any")
    assert statuses(team, task) == ["todo"]


@pytest.mark.parametrize("status", ["backlog", "todo"])
def test_who_starts_one_by_hand_gives_it_to_whoever_is_free_or_is_told_that_nobody_is(team: World, status: str) -> None:
    tasks = [team.task("any", status=status, start="manual") for _ in range(4)]
    for each in tasks[:3]:
        team.move(each, "in_progress")
    assert assignees(team, *tasks) == ["w1", "w2", "w3", None]
    said = team.owner.refused("move_task", Code.INVALID_TRANSITION, task_id=tasks[3], status="in_progress")
    assert said["message"] == "Nobody who could do it is free."
    assert team.show(tasks[3])["start"] == "manual"


def test_a_paused_project_gives_nothing_to_anyone_until_it_goes_on(team: World) -> None:
    team.owner.call("pause_project", project_id=team.project_id)
    task = anyone(team)
    assert assignees(team, task) == [None]
    team.owner.call("resume_project", project_id=team.project_id)
    assert statuses(team, task) == ["in_progress"]


def test_an_agent_cannot_be_called_any(team: World) -> None:
    refusal = team.owner.refused("create_agent", Code.VALIDATION_ERROR, id="any", role="worker")
    assert refusal["message"] == "any stands for anyone who is free, where an assignee is written."


def test_an_assignee_and_a_pool_or_a_queue_and_a_pool_are_refused(team: World) -> None:
    asked = {"project_id": team.project_id, "title": "x", "pool": {"capabilities": []}}
    for each in ("w1", "any"):
        team.owner.refused("file_task", Code.VALIDATION_ERROR, **asked, assignee_id=each)
        pool = {"capabilities": ["joinery"]}
        team.owner.refused(
            "edit_task", Code.VALIDATION_ERROR, task_id=team.task(status="todo"), assignee_id=each, pool=pool
        )
    team.owner.refused("file_task", Code.VALIDATION_ERROR, **asked, agent_type="press")


# --- an agent that cannot begin ---------------------------------------------------------------------------------------


def ended(team: World, coordinator: Coordinator, error: str) -> str:
    """The agent of the next launch, which ends at once."""
    [launch] = coordinator.claim()["start"]
    coordinator.exited(launch["launch_id"], exit_code=1, error=error)
    agent: str = launch["agent_id"]
    return agent


def test_a_program_that_is_missing_or_not_logged_in_gives_it_to_the_next_one(team: World) -> None:
    task, coordinator = anyone(team), team.coordinator()
    assert ended(team, coordinator, "not_logged_in: no key") == "w1"
    assert assignees(team, task) == ["w2"]
    assert ended(team, coordinator, "command_not_found: claude") == "w2"
    assert assignees(team, task) == ["w3"]
    assert ended(team, coordinator, "model_not_available: gone") == "w3"
    assert assignees(team, task) == [None]
    line = team.owner.call("show_task", task_id=task)["task"]["line"]
    assert line["message"].endswith("Nobody is left who could do it: w1, w2, w3 could not begin it.")


def test_a_quota_that_is_used_up_gives_it_to_the_next_one_and_to_the_same_again_once_it_is_renewed(team: World) -> None:
    for each in ("w2", "w3"):
        team.owner.call("deactivate_agent", agent_id=each)
    task, coordinator = anyone(team), team.coordinator()
    assert ended(team, coordinator, "quota: used up") == "w1"
    assert (assignees(team, task), statuses(team, task)) == ([None], ["todo"])
    assert [why for about, why in told(team) if about == task] == []
    team.advance(2 * 86_400)
    coordinator.claim()
    team.housekeep()
    assert (assignees(team, task), statuses(team, task)) == (["w1"], ["in_progress"])


def test_a_crash_leaves_it_with_its_agent(team: World) -> None:
    task, coordinator = anyone(team), team.coordinator()
    ended(team, coordinator, "crashed: exit 1")
    assert assignees(team, task) == ["w1"]


def test_an_agent_that_has_signed_in_keeps_it(team: World) -> None:
    task = anyone(team)
    process = team.start("w1")
    process.call("get_my_task")
    team.coordinator().exited(process.launch_id, exit_code=1, error="quota: used up")
    assert assignees(team, task) == ["w1"]


def test_of_several_workers_in_cooldown_another_one_takes_it(team: World) -> None:
    first, coordinator = anyone(team), team.coordinator()
    ended(team, coordinator, "crashed: exit 1")
    team.move(first, "cancelled", "no")
    assert assignees(team, anyone(team), anyone(team), anyone(team)) == ["w2", "w3", None]


# --- what people are told ---------------------------------------------------------------------------------------------


def told(world: World) -> list[tuple[str, str]]:
    """Which tasks need people, and why."""
    return [(item["task_id"], item["text"]) for item in world.owner.call("needs_you")["items"] if item["task_id"]]


def test_people_are_told_at_once_of_a_task_that_nobody_could_ever_take(team: World) -> None:
    task = anyone(team, "any:joinery")
    [(about, why)] = told(team)
    assert (about, why.split(": ")[0]) == (task, "No worker of the project could do it")
    team.owner.call("edit_agent", agent_id="w2", capabilities=["joinery"])
    assert told(team) == []
    assert statuses(team, task) == ["in_progress"]


def test_who_files_one_that_nobody_could_ever_take_is_told_so_wherever_it_stands(team: World) -> None:
    first, second = anyone(team, "any:joinery"), anyone(team, "any:glass")
    for task, words in ((first, "joinery"), (second, "glass")):
        said = team.show(task)["line"]["message"]
        assert said.endswith(f"No worker of the project could do it: none has the capabilities {words}.")


def test_a_task_that_waits_for_somebody_to_be_free_needs_nobody(team: World) -> None:
    for each in ("w1", "w2", "w3"):
        team.task(each)
        team.started(each)
    team.coordinator().claim(free_slots=0)
    anyone(team)
    assert told(team) == []


def test_people_are_told_if_no_coordinator_is_there_for_it(world: World) -> None:
    world.crew(2)
    task = anyone(world)
    [(about, why)] = told(world)
    assert about == task
    assert why.startswith("No Coordinator has called for 90 s.")


def test_a_manager_that_waits_for_a_part_for_anyone_is_not_stuck(team: World) -> None:
    team.owner.call("edit_agent", agent_id="boss", max_parallel_tasks=1)
    for each in ("w1", "w2", "w3"):
        team.task(each)
    team.task("boss")
    boss = team.start("boss")
    boss.call("get_my_task")
    boss.assigned({"one": "any"})
    boss.wait()
    team.coordinator("c2").claim(free_slots=0)
    assert [each for each in told(team) if "Stuck" in each[1]] == []


@pytest.mark.parametrize("how", ["deactivate_agent", "remove_member"])
def test_people_are_told_of_what_stands_in_the_line_of_an_agent_that_is_gone(team: World, how: str) -> None:
    first = team.task("w1")
    task = team.task("w1", status="todo", start="when_ready")
    more = {"project_id": team.project_id} if how == "remove_member" else {}
    team.owner.call(how, agent_id="w1", **more)
    [(about, why)] = told(team)
    assert (about, why.endswith(" The same applies to one more task.")) == (first, True)
    team.move(first, "cancelled", "no")
    [(about, why)] = told(team)
    assert (about, why.split(" w1 ")[0]) == (task, "Its assignee")
