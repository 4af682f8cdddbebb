"""Notifications: every human action on running work is told to whoever works there, and never swallows an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.operations.talkers import stop, two
from tests.stories import Process, World
from toryo.domain.agents import NO_ACCOUNT
from toryo.domain.errors import Code

Act = Callable[[World, str], None]
"""What a person does to a task (or to the project)."""


def moved(status: str) -> Act:
    def act(world: World, task: str) -> None:
        world.move(task, status, "I changed my mind.")

    return act


def edited(**fields: object) -> Act:
    def act(world: World, task: str) -> None:
        world.owner.call("edit_task", task_id=task, **fields)

    return act


def depends(world: World, task: str) -> None:
    other = world.task("w2", status="todo", title="Before it")
    world.owner.call("edit_task", task_id=task, add_dependencies=[other])


def steered(world: World, task: str) -> None:
    world.owner.call("steer_task", task_id=task, text="Use the red bricks.")


def paused(world: World, _: str) -> None:
    world.owner.call("pause_project", project_id=world.project_id)


def resumed(world: World, _: str) -> None:
    world.owner.call("pause_project", project_id=world.project_id)
    world.owner.call("resume_project", project_id=world.project_id)


def kinds(process: Process) -> list[str]:
    return [notification["kind"] for notification in process.call("get_notifications")["notifications"]]


# --- every human action ----------------------------------------------------------------------------------------------


ON_RUNNING_WORK: dict[str, tuple[Act, list[str]]] = {
    "block": (moved("blocked"), ["interrupt"]),
    "cancel": (moved("cancelled"), ["interrupt"]),
    "fail": (moved("failed"), ["interrupt"]),
    "put back": (moved("todo"), ["interrupt"]),
    "reassign": (edited(assignee_id="w2"), ["interrupt"]),
    "rename": (edited(title="Other"), ["plan_change"]),
    "describe": (edited(description="Otherwise."), ["plan_change"]),
    "give context": (edited(context={"colour": "red"}), ["plan_change"]),
    "reprioritise": (edited(priority="critical"), ["plan_change"]),
    "check otherwise": (edited(acceptance=[{"file": "x"}]), ["plan_change"]),
    "pause": (paused, ["interrupt"]),
    "resume": (resumed, ["status_change"]),
    "steer": (steered, ["message"]),
}


@pytest.mark.pitfall("F111")
@pytest.mark.parametrize("name", ON_RUNNING_WORK)
def test_each_human_action_on_a_running_task_is_told_to_its_session(world: World, name: str) -> None:
    """F111."""
    act, told = ON_RUNNING_WORK[name]
    world.crew(workers=2)
    task = world.task("w1")
    worker = world.start("w1")
    assert kinds(worker) == []
    act(world, task)
    assert kinds(worker) == told
    assert kinds(worker) == []


ON_A_SUBTASK: dict[str, tuple[Act, list[str]]] = {
    "block": (moved("blocked"), ["status_change"]),
    "cancel": (moved("cancelled"), ["status_change"]),
    "start": (moved("in_progress"), ["status_change"]),
    "reassign": (edited(assignee_id="w2"), ["plan_change"]),
    "rename": (edited(title="Other"), ["plan_change"]),
    "reprioritise": (edited(priority="critical"), ["plan_change"]),
    "dependencies": (depends, ["plan_change"]),
    "steer": (steered, ["message"]),
}


@pytest.mark.pitfall("F111")
@pytest.mark.parametrize("name", ON_A_SUBTASK)
def test_each_human_action_below_a_running_manager_is_told_to_it(world: World, name: str) -> None:
    act, told = ON_A_SUBTASK[name]
    world.crew(workers=2)
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    act(world, part)
    assert kinds(boss) == told


@pytest.mark.pitfall("F111")
@pytest.mark.parametrize(("verdict", "word"), [("approve_task", "approved"), ("reject_task", "rejected")])
def test_a_verdict_is_told_to_the_session_that_asked(world: World, verdict: str, word: str) -> None:
    world.crew(workers=2)
    world.task("w1")
    worker = world.start("w1")
    wanted = worker.call("request_task", title="Bring bricks", assignee_id="w2")["task_id"]
    world.owner.call(verdict, task_id=wanted, reason="I looked at it.")
    (told,) = worker.call("get_notifications")["notifications"]
    assert told["kind"] == "status_change" and word in told["message"]


@pytest.mark.parametrize("verdict", ["approve_task", "reject_task"])
def test_a_verdict_below_a_running_manager_is_told_to_it(world: World, verdict: str) -> None:
    world.crew(workers=1, approvals="all")
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    world.owner.call(verdict, task_id=part)
    assert kinds(boss) == ["status_change"]


def test_what_an_agent_does_to_its_own_work_is_no_news_to_itself(world: World) -> None:
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    boss.set(part, "in_progress")
    assert kinds(boss) == []


# --- how they travel -------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F109")
def test_they_ride_on_the_next_answer_and_swallow_nothing(world: World) -> None:
    """F109: what a call makes is made, and answered."""
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    world.owner.call("edit_task", task_id=task, title="Other")
    steered(world, task)
    made = worker.call("create_tasks_batch", tasks=[{"local_id": "x", "title": "Part", "description": "Do it."}])
    assert made["notifications_pending"] == 2
    assert world.show(made["local_id_to_real_id"]["x"])["title"] == "Part"
    assert worker.call("get_my_profile")["notifications_pending"] == 2
    assert len(worker.call("get_notifications")["notifications"]) == 2
    assert "notifications_pending" not in worker.call("get_my_profile")


@pytest.mark.pitfall("F109")
def test_an_interrupted_call_does_nothing_rather_than_half_of_it(world: World) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    world.move(task, "blocked", "stop")
    asked = {"tasks": [{"local_id": "x", "title": "Part", "description": "Do it."}]}
    refusal = worker.refused("create_tasks_batch", Code.NOT_NOW, **asked)
    assert refusal["notifications_pending"] == 1
    assert len(world.owner.call("list_project_tasks", project_id=world.project_id)["tasks"]) == 1
    assert len(worker.call("get_notifications")["notifications"]) == 1


@pytest.mark.parametrize("mark_as_read", [True, False])
def test_an_interrupt_is_the_next_action_until_it_is_handed_out(world: World, mark_as_read: bool) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    world.move(task, "blocked", "wrong plan")
    for _ in range(2):
        assert worker.action() == "get_notifications"
    (told,) = worker.call("get_notifications", mark_as_read=mark_as_read)["notifications"]
    assert (told["kind"], told["priority"], told["cause"]) == ("interrupt", "high", "blocked")
    assert "wrong plan" in told["message"]
    assert worker.next()["reason"] == "task_withdrawn"


def test_what_does_not_interrupt_is_no_next_action(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    worker = world.start("w1")
    steered(world, task)
    assert worker.action() == "execute_task"


# --- void ------------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F110")
def test_one_whose_cause_is_void_is_dropped(world: World) -> None:
    """F110: blocked, then unblocked before anybody looked."""
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    worker = world.start("w1")
    world.move(task, "blocked", "stop")
    world.move(task, "in_progress")
    assert "interrupt" not in kinds(worker)
    assert worker.action() == "execute_task"


def test_a_pause_that_is_over_before_anybody_looked_interrupts_nobody(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    world.task("w1")
    worker = world.start("w1")
    resumed(world, "")
    assert worker.action() == "execute_task"


@pytest.mark.pitfall("F110")
def test_the_end_of_a_pause_voids_no_interrupt_but_its_own(world: World) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    paused(world, "")
    world.move(task, "blocked", "stop")
    world.owner.call("resume_project", project_id=world.project_id)
    causes = [
        notification["cause"]
        for notification in worker.call("get_notifications")["notifications"]
        if notification["cause"]
    ]
    assert causes == ["blocked"]


def test_resuming_what_goes_on_already_tells_nobody_anything(world: World) -> None:
    world.crew(workers=1)
    world.task("w1")
    worker = world.start("w1")
    world.owner.call("resume_project", project_id=world.project_id)
    assert kinds(worker) == []


@pytest.mark.pitfall("F110")
def test_one_that_was_left_by_a_session_that_is_over_does_not_stop_the_next_one(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    worker = world.start("w1")
    world.move(task, "blocked", "stop")
    stop(world, worker)
    world.move(task, "in_progress")
    worker = world.start("w1")
    assert worker.action() == "execute_task"
    assert kinds(worker) == []


# --- to whom ---------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F110")
def test_it_is_the_task_sessions_and_the_chat_session_reads_none_of_it(world: World) -> None:
    """F110."""
    two(world)
    task = world.task("a")
    worker = world.start("a")
    world.open_chat("a")
    chat = world.start_chat("a")
    world.move(task, "blocked", "stop")
    paused(world, "")
    answer = chat.call("get_pending_messages")
    assert "notifications_pending" not in answer
    assert kinds(chat) == []
    assert chat.action() == "wait_for_messages"
    assert kinds(worker) == ["interrupt", "interrupt"]


def test_steering_reaches_the_next_session_where_none_runs(world: World) -> None:
    world.crew(workers=1, decomposition="never")
    task = world.task("w1")
    said = world.owner.call("steer_task", task_id=task, text="Use the red bricks.")
    assert said["delivered_to"] == "the next session of this task"
    worker = world.start("w1")
    (told,) = worker.call("get_notifications")["notifications"]
    assert "Use the red bricks." in told["message"]
    stop(world, worker)
    assert kinds(world.start("w1")) == []


def test_steering_a_subtask_that_nobody_works_on_reaches_the_manager_above(world: World) -> None:
    world.crew(workers=1)
    world.task("boss")
    boss = world.start("boss")
    (part,) = boss.assigned({"Walls": "w1"})
    said = world.owner.call("steer_task", task_id=part, text="Use the red bricks.")
    assert said["delivered_to"] == "boss"
    assert kinds(boss) == ["message"]


def test_steering_another_task_of_the_agent_does_not_reach_this_one(world: World) -> None:
    world.crew(workers=1)
    task = world.task("w1")
    other = world.task("w1", status="todo", title="Later")
    worker = world.start("w1")
    world.owner.call("steer_task", task_id=other, text="Use the red bricks.")
    assert kinds(worker) == []
    world.owner.call("steer_task", task_id=task, text="Use the grey bricks.")
    assert kinds(worker) == ["message"]


@pytest.mark.parametrize("provider", sorted(NO_ACCOUNT))
@pytest.mark.parametrize("running", [True, False])
def test_steering_an_agent_without_a_model_says_that_it_changes_nothing(
    world: World, provider: str, running: bool
) -> None:
    world.project()
    world.worker("hand", provider=provider)
    task = world.task("hand")
    if running:
        world.start("hand")
    (warning,) = world.owner.call("steer_task", task_id=task, text="Use the red bricks.")["warnings"]
    assert warning.startswith(f"hand runs without a model (provider {provider}), so a message does not change")
    world.worker("w1")
    world.owner.call("edit_task", task_id=task, assignee_id="w1")
    assert "warnings" not in world.owner.call("steer_task", task_id=task, text="Use the red bricks.")


# --- from the agent's own chat ---------------------------------------------------------------------------------------


def chatting(world: World) -> Process:
    two(world)
    world.open_chat("a")
    return world.start_chat("a")


@pytest.mark.pitfall("F110")
def test_a_chat_session_tells_its_own_task_session(world: World) -> None:
    chat = chatting(world)
    world.task("a")
    worker = world.start("a")
    said = chat.call("notify_task_session", message="Ann wants it red.")
    assert said["delivered_to"] == "the running task session"
    assert kinds(chat) == []
    (told,) = worker.call("get_notifications")["notifications"]
    assert (told["kind"], told["message"]) == ("message", "Your chat session says:\n| Ann wants it red.")


@pytest.mark.parametrize("named", [True, False])
def test_what_a_chat_leaves_while_no_task_session_runs_waits_for_the_next_one(world: World, named: bool) -> None:
    chat = chatting(world)
    task = world.task("a")
    more = {"task_id": task} if named else {}
    said = chat.call("notify_task_session", message="Ann wants it red.", **more)
    assert said["delivered_to"] == "the next task session"
    assert kinds(world.start("a")) == ["message"]


def test_a_chat_leaves_no_more_than_twenty(world: World) -> None:
    chat = chatting(world)
    world.task("a")
    worker = world.start("a")
    for number in range(20):
        chat.call("notify_task_session", message=f"{number}")
    chat.refused("notify_task_session", Code.RATE_LIMITED, message="one more")
    assert len(kinds(worker)) == 20
    chat.call("notify_task_session", message="one more")


def test_a_chat_tells_nobody_elses_task_session(world: World) -> None:
    chat = chatting(world)
    task = world.task("b")
    worker = world.start("b")
    chat.refused("notify_task_session", Code.PERMISSION_DENIED, message="psst", task_id=task)
    assert kinds(worker) == []
