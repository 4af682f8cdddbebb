"""Work taken out of somebody's hands: told, read-only, stopped after its grace time. Pause and reassignment."""

from __future__ import annotations

import pytest

from tests.stories import Process, World


def working(world: World, agent_id: str = "w1") -> tuple[str, Process]:
    task = world.task(agent_id)
    return task, world.start(agent_id)


WITHDRAWALS = {
    "blocked": lambda world, task: world.move(task, "blocked", "wait"),
    "cancelled": lambda world, task: world.move(task, "cancelled", "not needed"),
    "put back": lambda world, task: world.move(task, "todo"),
    "completed by a person": lambda world, task: world.move(task, "completed"),
    "reassigned": lambda world, task: world.owner.call("edit_task", task_id=task, assignee_id="w2"),
}


@pytest.mark.parametrize("way", WITHDRAWALS)
def test_its_session_is_told_and_may_only_read_note_report_and_leave(crew: World, way: str):
    """UC010: an interrupt is recorded and shown at the next call."""
    task, worker = working(crew)
    WITHDRAWALS[way](crew, task)
    assert worker.action() == "get_notifications"
    refusal = worker.refused("create_task", "notNow", title="More", description="x")
    assert (refusal["action"], refusal["reason"]) == ("exit", "task_withdrawn")
    assert refusal["notifications_pending"] == 1
    worker.call("get_my_task")
    worker.call("list_tasks")
    worker.call("save_progress", progress="half")
    (notice,) = worker.call("get_notifications")["notifications"]
    assert (notice["kind"], notice["priority"], notice["task_id"]) == ("interrupt", "high", task)
    said = worker.next()
    assert (said["action"], said["reason"]) == ("exit", "task_withdrawn")
    assert crew.sessions() == []
    worker.call("save_progress", progress="last words")
    worker.call("logout")


def test_a_report_on_a_withdrawn_task_changes_nothing_and_keeps_the_summary(crew: World):
    task, worker = working(crew)
    crew.move(task, "cancelled", "not needed")
    answer = worker.report(summary="it was nearly done")
    assert (answer["action"], answer["status"]) == ("exit", "unchanged")
    assert crew.status(task) == "cancelled"
    assert [event["task_id"] for event in crew.events("note.saved")] == [task]
    assert worker.report(summary="it was nearly done") == answer
    assert crew.sessions() == []


@pytest.mark.pitfall("F38")
def test_one_that_does_not_listen_is_stopped_after_the_grace_time(crew: World):
    """F38."""
    coordinator = crew.coordinator()
    task = crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    crew.move(task, "blocked", "wait")
    crew.advance(50)
    assert coordinator.claim()["stop"] == []
    crew.advance(11)
    (stop,) = coordinator.claim()["stop"]
    assert (stop["launch_id"], stop["reason"], stop["grace_seconds"]) == (launch["launch_id"], "task_withdrawn", 0)
    assert crew.sessions() == []
    assert coordinator.exited(launch["launch_id"], signal=15, error="stopped")["cooling_down_until"] is None
    assert crew.status(task) == "blocked"


def test_a_change_that_was_undone_before_any_call_interrupts_nobody(crew: World):
    """F110."""
    task, worker = working(crew)
    crew.move(task, "blocked", "wait")
    crew.move(task, "in_progress")
    assert worker.action() == "create_subtasks"
    assert worker.call("get_notifications")["notifications"] == []


def test_an_ancestor_that_is_cancelled_takes_the_work_below_along(crew: World):
    main = crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.wait()
    worker = crew.start("w1")
    crew.move(main, "cancelled", "not needed")
    worker.call("get_notifications")
    assert worker.next()["reason"] == "task_withdrawn"
    assert crew.status(part) == "cancelled"


def test_a_reassigned_task_starts_its_new_agent_once_the_old_one_has_left(crew: World):
    task, worker = working(crew)
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    coordinator = crew.coordinator()
    assert coordinator.reason("w2") == "hold handing_over"
    worker.call("get_notifications")
    assert worker.action() == "exit"
    assert coordinator.reason("w2") == "start has_in_progress_task"


def test_a_reassigned_task_is_free_when_the_old_agent_only_died(crew: World):
    task, _ = working(crew)
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    crew.advance(91)
    crew.housekeep()
    assert crew.coordinator().reason("w2") == "start has_in_progress_task"


def test_the_strikes_of_one_agent_are_not_the_next_ones(crew: World):
    """Ends without a report are an agent's, not its task's."""
    task = crew.task("w1")
    for _ in range(2):
        crew.start("w1").call("logout")
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    crew.start("w2").call("logout")
    assert crew.status(task) == "in_progress"


def test_reassigning_takes_the_open_self_made_subtasks_along(crew: World):
    task, worker = working(crew)
    one, two = worker.batch("One", "Two")
    worker.set(one, "in_progress")
    worker.set(one, "completed")
    crew.owner.call("edit_task", task_id=task, assignee_id="w2")
    assert [crew.show(each)["assignee_id"] for each in (one, two)] == ["w1", "w2"]
    worker.call("get_notifications")
    worker.next()
    successor = crew.start("w2")
    assert successor.next()["subtask"]["task_id"] == two


# --- pause -----------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F37")
def test_a_paused_project_tells_its_agents_to_leave_and_keeps_their_tasks(crew: World):
    """F37, UC011."""
    task, worker = working(crew)
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert worker.action() == "get_notifications"
    (notice,) = worker.call("get_notifications")["notifications"]
    assert notice["cause"] == "project_paused"
    said = worker.next()
    assert (said["action"], said["reason"]) == ("exit", "project_paused")
    assert "save_progress" in said["tools"]
    worker.call("save_progress", progress="step 1")
    worker.call("logout")
    assert crew.status(task) == "in_progress"
    assert crew.coordinator().reason("w1") == "hold project_paused"
    crew.task("w2", status="todo")
    assert crew.coordinator().starts() == []
    crew.owner.call("resume_project", project_id=crew.project_id)
    seen = crew.start("w1").call("get_my_task")["task"]
    assert (seen["resumed"], seen["context"]["previous"]["progress"]) == (True, "step 1")


def test_in_a_paused_project_a_session_that_goes_on_is_refused_and_told_why(crew: World):
    _, worker = working(crew)
    crew.owner.call("pause_project", project_id=crew.project_id)
    for name, arguments in (
        ("create_task", {"title": "More", "description": "x"}),
        ("create_tasks_batch", {"tasks": [{"local_id": "a", "title": "More", "description": "x"}]}),
    ):
        refusal = worker.refused(name, "notNow", **arguments)
        assert (refusal["action"], refusal["reason"]) == ("exit", "project_paused")
    worker.call("save_progress", progress="half")


def test_nothing_is_started_in_a_paused_project(crew: World):
    task = crew.task("w1", status="todo")
    crew.owner.call("pause_project", project_id=crew.project_id)
    refusal = crew.owner.refused("move_task", "notNow", task_id=task, status="in_progress")
    assert refusal["reason"] == "project_paused"
    crew.move(task, "backlog")
    crew.owner.call("edit_task", task_id=task, title="People may still plan")


@pytest.mark.pitfall("F37")
def test_a_process_that_does_not_leave_a_paused_project_is_stopped_after_its_longer_grace(crew: World):
    coordinator = crew.coordinator()
    crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    crew.owner.call("pause_project", project_id=crew.project_id)
    for _ in range(4):
        crew.advance(70)
        assert coordinator.claim()["stop"] == []
    crew.advance(21)
    assert [each["reason"] for each in coordinator.claim()["stop"]] == ["project_paused"]


def test_a_project_paused_and_resumed_before_any_call_interrupts_nobody(crew: World):
    _, worker = working(crew)
    crew.owner.call("pause_project", project_id=crew.project_id)
    crew.owner.call("resume_project", project_id=crew.project_id)
    assert worker.action() == "create_subtasks"


def test_other_projects_go_on(crew: World):
    other = crew.project(name="Garden")
    crew.owner.call("add_member", project_id=other, agent_id="w2")
    crew.owner.call("file_task", project_id=other, title="Dig", assignee_id="w2", status="in_progress")
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert crew.coordinator().starts() == ["w2"]


# --- members and agents ----------------------------------------------------------------------------------------------


def test_an_agent_that_was_deactivated_is_stopped_at_once(crew: World):
    coordinator = crew.coordinator()
    crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    worker = crew.process(launch)
    worker.sign_in()
    worker.call("report_model", provider="claude", model_id="m")
    crew.owner.call("deactivate_agent", agent_id="w1")
    assert crew.sessions() == []
    assert [each["reason"] for each in coordinator.claim()["stop"]] == ["dismissed"]


def test_one_that_asks_after_it_was_deactivated_hears_exit(crew: World):
    _, worker = working(crew)
    crew.owner.call("deactivate_agent", agent_id="w1")
    said = worker.next()
    assert (said["action"], said["reason"]) == ("exit", "session_over")


def test_a_member_that_was_removed_is_not_started_and_its_session_leaves(crew: World):
    _, worker = working(crew)
    crew.owner.call("remove_member", project_id=crew.project_id, agent_id="w1")
    assert worker.action() == "exit"
    assert crew.coordinator().reason("w1", project_id=crew.project_id) == "hold agent_not_assigned"


# --- handing over where no Coordinator reports the process -----------------------------------------------------------


def handed_over(world: World, *, by_hand: bool) -> str:
    """w1 has signed in, by hand or for a Coordinator that asks agent by agent; then its task is given to w2."""
    world.crew(workers=2, decomposition="never")
    task = world.task("w1")
    if by_hand:
        passkey = world.passkeys["w1"]
        assert world.nobody.call("authenticate", agent_id="w1", passkey=passkey)["session_token"]
    else:
        launch = world.coordinator().action("w1")["launch"]
        world.process(launch).sign_in()
    world.owner.call("edit_task", task_id=task, assignee_id="w2")
    assert world.why("w2") == "hold handing_over"
    return task


def test_whoever_asks_why_is_told_whose_session_it_is_and_what_ends_it(world: World):
    handed_over(world, by_hand=True)
    (decision,) = [
        each for each in world.owner.call("why", agent_id="w2")["decisions"] if each["reason"] == "handing_over"
    ]
    (session,) = world.sessions()
    assert "A session of w1" in decision["explanation"]
    assert f"toryo sessions --end {session['session_id']}" in decision["explanation"]


def test_a_coordinator_that_asks_agent_by_agent_is_told_to_stop_once_and_the_other_starts(world: World):
    handed_over(world, by_hand=False)
    desk = world.coordinator()
    assert desk.reason("w1") == "hold already_running"
    world.advance(61)
    assert desk.reason("w1") == "stop task_withdrawn"
    assert desk.reason("w1") == "hold no_in_progress_task"
    assert desk.reason("w2") == "start has_in_progress_task"


def test_a_session_started_by_hand_ends_after_the_grace_time_and_the_other_starts(world: World):
    handed_over(world, by_hand=True)
    world.housekeep()
    assert world.why("w2") == "hold handing_over"
    world.advance(61)
    world.housekeep()
    assert world.sessions() == []
    assert world.why("w2") == "start has_in_progress_task"
