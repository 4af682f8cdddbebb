"""The conflict forecast at the server: what is held back and when it is released, what people and agents are told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.test_worktrees import Yard
from tests.stories import Answer, Process, World


class Forecast(Yard):
    def __init__(self, world: World, policy: str = "hold", workers: int = 3) -> None:
        super().__init__(world, workers)
        self.set(conflict_policy=policy)

    def set(self, **settings: Any) -> None:
        self.world.owner.call("edit_project", project_id=self.world.project_id, settings=settings)

    def task(self, agent_id: str, *touches: str, **more: Any) -> str:
        return self.world.task(agent_id, touches=list(touches), **more)

    def signed_in(self, launch: Answer) -> Process:
        process = self.world.process(launch)
        process.sign_in()
        process.call("report_model", provider="claude", model_id="model-1")
        return process

    def starts(self, agent_id: str) -> bool:
        """Whether the agent is started now; what is started has no worktree yet."""
        found = self.c1.claim(agent_ids=[agent_id], free_slots=1)["start"]
        self.c1.running.extend(each["launch_id"] for each in found)
        return bool(found)

    def done(self, launch: Answer, *touched: str) -> None:
        process = self.signed_in(launch)
        process.call("get_my_task")
        process.call("report_completed", result="success", summary="done")
        self.told(
            launch, head_commit="h1", commits=1, files_changed=2, insertions=3, deletions=1, touched=list(touched)
        )
        self.c1.exited(launch["launch_id"], exit_code=0)

    def decision(self, agent_id: str) -> Answer:
        decisions = self.world.owner.call("why", agent_id=agent_id)["decisions"]
        found: Answer = next(each for each in decisions if each["purpose"] == "task")
        return found

    def conflicts(self, task: str) -> list[tuple[str, list[str], bool]]:
        shown = self.world.owner.call("show_task", task_id=task)["task"]["may_conflict_with"]
        return [(each["task_id"], each["paths"], each["holds"]) for each in shown]

    def merge(self, task: str) -> None:
        job = self.ask("merge", task)
        self.report(job, done=True, merged=self.merged(task))


@pytest.fixture
def forecast(world: World) -> Forecast:
    return Forecast(world)


def test_a_task_waits_for_the_one_at_work_on_its_files_until_that_is_merged(forecast: Forecast):
    first = forecast.task("w1", "app/**", title="Models")
    launch = forecast.launch("w1")
    forecast.told(launch, touched=["app/models.py"])
    second = forecast.task("w2", "app/models.py", "README.md")
    assert forecast.conflicts(second) == [(first, ["app/models.py"], True)]
    assert not forecast.starts("w2")
    held = forecast.decision("w2")
    assert (held["action"], held["reason"], held["row"]) == ("hold", "may_conflict", "7d")
    assert f"would meet “Models” ({first}) in app/models.py" in held["explanation"]
    forecast.done(launch, "app/models.py")
    assert not forecast.starts("w2")
    held = forecast.decision("w2")
    assert held["reason"] == "waiting_for_merge"
    assert f"toryo task merge {first}" in held["explanation"]
    forecast.merge(first)
    assert forecast.conflicts(second) == []
    assert forecast.starts("w2")


@pytest.mark.parametrize("end", ["cancelled", "blocked", "todo"])
def test_a_task_that_is_no_longer_worked_on_holds_none_back(forecast: Forecast, end: str):
    first = forecast.task("w1", "app/")
    forecast.launch("w1")
    forecast.task("w2", "app/models.py")
    assert not forecast.starts("w2")
    forecast.world.owner.call("move_task", task_id=first, status=end, reason="not now")
    assert forecast.starts("w2")


def test_discarded_work_holds_none_back(forecast: Forecast):
    first = forecast.task("w1", "app/")
    forecast.done(forecast.launch("w1"), "app/models.py")
    forecast.task("w2", "app/models.py")
    assert not forecast.starts("w2")
    job = forecast.ask("discard", first)
    forecast.report(job, done=True, gone=[first])
    assert forecast.starts("w2")


def test_of_two_tasks_that_are_started_at_once_one_goes_first_and_only_one_waits(forecast: Forecast):
    forecast.task("w1", "app/")
    forecast.task("w2", "app/models.py")
    forecast.task("w3", "docs/")
    started = forecast.c1.claim(free_slots=3)["start"]
    assert [each["agent_id"] for each in started] == ["w1", "w3"]
    assert forecast.decision("w2")["reason"] == "may_conflict"


def test_finished_work_counts_with_what_it_changed_and_not_with_what_it_said(forecast: Forecast):
    forecast.task("w1", "app/**")
    forecast.done(forecast.launch("w1"), "app/views.py")
    forecast.task("w2", "app/models.py")
    assert forecast.starts("w2")


def test_what_has_begun_is_never_held_back_again(forecast: Forecast):
    forecast.task("w1", "app/")
    launch = forecast.launch("w1")
    forecast.c1.exited(launch["launch_id"], error="crashed")
    forecast.task("w2", "docs/")
    other = forecast.launch("w2")
    forecast.told(other, touched=["app/models.py"])
    forecast.world.advance(3600)
    assert forecast.decision("w1")["reason"] == "has_in_progress_task"


def test_a_task_is_not_held_back_by_work_that_it_builds_on(forecast: Forecast):
    first = forecast.task("w1", "app/")
    forecast.done(forecast.launch("w1"), "app/models.py")
    second = forecast.task("w2", "app/models.py", dependencies=[first])
    assert forecast.conflicts(second) == []
    assert forecast.starts("w2")


def test_work_that_another_task_goes_on_with_holds_none_back(forecast: Forecast):
    """Else the corrections of two pieces of work could wait for each other's merge."""
    first = forecast.task("w1", "app/")
    forecast.done(forecast.launch("w1"), "app/models.py")
    forecast.world.owner.call(
        "file_task", project_id=forecast.world.project_id, title="Corrections", dependencies=[first]
    )
    second = forecast.task("w2", "app/models.py")
    assert forecast.conflicts(second) == [(first, ["app/models.py"], False)]
    assert forecast.starts("w2")


def test_a_part_is_not_held_back_by_a_finished_part_of_the_same_task(forecast: Forecast):
    """That one is merged with the whole, and the whole waits for this one."""
    whole = forecast.world.task("boss")
    first = forecast.task("w1", "app/", parent_task_id=whole)
    launch = forecast.launch("w1")
    second = forecast.task("w2", "app/models.py", parent_task_id=whole, title="Another")
    assert not forecast.starts("w2")
    forecast.done(launch, "app/models.py")
    assert forecast.conflicts(second) == [(first, ["app/models.py"], False)]
    assert forecast.starts("w2")


def test_with_warn_it_starts_and_people_and_agents_are_told(world: World):
    forecast = Forecast(world, "warn")
    forecast.set(decomposition="never")
    first = forecast.task("w1", "app/", title="Models")
    launch = forecast.launch("w1")
    second = forecast.task("w2", "app/models.py")
    shown = world.owner.call("show_task", task_id=second)["task"]["may_conflict_with"]
    assert [each["message"] for each in shown] == [f"would meet {first} in app/models.py"]
    process = forecast.signed_in(forecast.launch("w2"))
    told = process.call("get_my_task")["instruction"]
    assert f"may conflict with {first} in app/models.py" in told
    assert f"may conflict with {first} in app/models.py" in process.call("get_next_action")["instruction"]
    (warned,) = world.owner.call("why", agent_id="w2")["may_conflict"]
    assert warned == {
        "task_id": second,
        "title": world.owner.call("show_task", task_id=second)["task"]["title"],
        "message": f"may conflict with {first} in app/models.py",
    }
    assert forecast.conflicts(first) == [(second, ["app/models.py"], False)]
    forecast.told(launch, touched=["app/views.py"])


def test_tasks_without_patterns_start_and_both_show_the_file_that_both_have_changed(forecast: Forecast):
    first, second = forecast.task("w1"), forecast.task("w2")
    one, other = forecast.launch("w1"), forecast.launch("w2")
    forecast.told(one, touched=["app/models.py", "app/views.py"])
    assert forecast.conflicts(first) == forecast.conflicts(second) == []
    forecast.told(other, touched=["app/models.py"])
    assert forecast.conflicts(first) == [(second, ["app/models.py"], False)]
    assert forecast.conflicts(second) == [(first, ["app/models.py"], False)]
    met = [each for each in forecast.world.events() if each["kind"] == "task.may_conflict"]
    assert {(each["task_id"], each["data"]["with"]) for each in met} == {(first, second), (second, first)}
    forecast.told(other, touched=["app/models.py"])  # as before
    assert len([each for each in forecast.world.events() if each["kind"] == "task.may_conflict"]) == 2
    forecast.told(other, touched=["docs/a.md"])
    assert forecast.conflicts(first) == []


@pytest.mark.parametrize("settings", [{"conflict_policy": "off"}, {"isolation": "none"}])
def test_nothing_is_compared_without_worktrees_or_with_the_policy_off(forecast: Forecast, settings: dict[str, str]):
    forecast.task("w1", "app/")
    launch = forecast.launch("w1")
    assert launch["workspace"]["watched"] is True
    forecast.set(**settings)
    second = forecast.task("w2", "app/models.py")
    assert forecast.conflicts(second) == []
    (started,) = forecast.c1.claim(agent_ids=["w2"], free_slots=1)["start"]
    assert not started["workspace"].get("watched")


def test_patterns_are_set_changed_and_cleared_and_bad_ones_are_refused(forecast: Forecast):
    owner = forecast.world.owner
    task = owner.call("file_task", project_id=forecast.world.project_id, title="t", touches=["src/", "src/", " *.md "])[
        "task_id"
    ]
    assert owner.call("show_task", task_id=task)["task"]["touches"] == ["src/", "*.md"]
    assert owner.call("edit_task", task_id=task, touches=["docs/**"])["task"]["touches"] == ["docs/**"]
    assert owner.call("edit_task", task_id=task, touches=[])["task"]["touches"] == []
    for bad in ("/", "../x", "a\\b", "!a", "./a", "  "):
        refused = owner.refused("edit_task", "validationError", task_id=task, touches=[bad])
        assert "is not a pattern of paths" in refused["message"], bad
    owner.refused("edit_task", "validationError", task_id=task, touches=["a\nb"])
    owner.refused("edit_task", "tooLarge", task_id=task, touches=["a"] * 51)
    assert owner.ask("edit_task", task_id=task, touches=["a" * 301]).refused


def test_a_manager_says_what_subtasks_touch(forecast: Forecast):
    forecast.world.task("boss")
    manager = forecast.signed_in(forecast.launch("boss"))
    manager.call("get_my_task")
    tasks = [{"local_id": "a", "title": "A", "description": "d", "touches": ["app/"]}]
    made = manager.call("create_tasks_batch", tasks=tasks)["local_id_to_real_id"]["a"]
    assert manager.call("get_task", task_id=made)["task"]["touches"] == ["app/"]
    manager.call("update_task", task_id=made, touches=["docs/"])
    assert manager.call("get_task", task_id=made)["task"]["touches"] == ["docs/"]
    one = manager.call("create_task", title="B", description="d", touches=["lib/"], intent="new")
    assert one["task"]["touches"] == ["lib/"]
