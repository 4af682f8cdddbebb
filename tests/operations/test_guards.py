"""Guards against runaways: each trips at its limit, is recorded, sends the session away, and cools its agent down."""

from __future__ import annotations

import pytest

from tests.stories import Process, World
from toryo.settings import GuardSettings, Settings
from toryo.storage.engine.database import Database


def tripped(world: World) -> list[str]:
    return [event["data"]["guard"] for event in world.events("session.runaway")]


def working(world: World, agent_id: str = "w1") -> tuple[str, Process]:
    task = world.task(agent_id)
    return task, world.start(agent_id)


def test_the_defaults_are_those_of_the_specification():
    guards = GuardSettings()
    assert (guards.same_answers, guards.refusals, guards.idle_calls, guards.calls) == (25, 20, 300, 2_000)
    assert (guards.moves_of_one_task, guards.silence, guards.run_time) == (20, 1_800, 86_400)
    assert (guards.idle_launches, guards.unreported_ends) == (5, 3)
    assert (guards.stop_grace, guards.pause_grace) == (60, 300)
    assert (guards.cooldown, guards.longest_cooldown, guards.quota_margin_percent) == (60, 3_600, 10)


def test_the_same_answer_twenty_five_times_is_a_runaway(crew: World):
    _, worker = working(crew)
    answers = [worker.action() for _ in range(25)]
    assert set(answers) == {"create_subtasks"}
    assert tripped(crew) == ["same_answer"]
    said = worker.next()
    assert (said["action"], said["reason"]) == ("exit", "runaway")


def test_the_same_answer_after_a_change_of_facts_is_counted_anew(crew: World):
    task, worker = working(crew)
    for _ in range(4):
        for _ in range(20):
            worker.next()
        crew.owner.call("edit_task", task_id=task, description=f"more at {crew.now}")
        worker.call("get_notifications")
    assert tripped(crew) == []
    for _ in range(25):
        worker.next()
    assert tripped(crew) == ["same_answer"]


def test_twenty_refused_calls_in_a_row_are_a_runaway(crew: World):
    _, worker = working(crew)
    for _ in range(20):
        worker.refused("create_task", None, title="x")
    assert tripped(crew) == ["refused_calls"]
    refusal = worker.refused("create_task", "runaway", title="x", description="x")
    assert refusal["action"] == "exit"


def test_refusals_with_a_change_of_facts_between_them_are_counted_anew(crew: World):
    task, worker = working(crew)
    for _ in range(3):
        for _ in range(18):
            worker.refused("create_task", None, title="x")
        crew.owner.call("edit_task", task_id=task, description=f"more at {crew.now}")
        worker.refused("create_task", None, title="x")
    assert tripped(crew) == []
    for _ in range(19):
        worker.refused("create_task", None, title="x")
    assert tripped(crew) == ["refused_calls"]


def test_three_hundred_calls_without_a_change_are_a_runaway_and_notes_are_no_change(crew: World):
    _, worker = working(crew)
    calls = 2  # report_model and get_my_task
    while calls < 301 and not worker.ask("save_progress", progress=f"note {calls}").refused:
        calls += 1
    assert calls == 300
    assert tripped(crew) == ["calls_without_change"]


def test_twenty_moves_of_one_task_in_one_session_are_a_runaway(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    statuses = ("in_progress", "todo") * 10
    for status in statuses:
        boss.set(part, status)
    assert tripped(crew) == []
    boss.refused("update_task_status", "runaway", task_id=part, status="in_progress")
    assert tripped(crew) == ["restless"]


def test_two_thousand_calls_in_one_session_are_a_runaway(fresh: Database):
    """With a smaller limit: the counting is the same."""
    world = World(fresh, Settings(guards=GuardSettings(calls=40)))
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    for _ in range(37):
        world.owner.call("edit_task", task_id=task, description=f"more at {world.now}")
        worker.call("list_tasks")
    assert tripped(world) == ["too_many_calls"]


def test_a_runaway_may_still_report_blocked_or_failed_but_no_success(crew: World):
    task, worker = working(crew)
    for _ in range(25):
        worker.next()
    worker.refused("report_completed", "runaway", result="success")
    worker.refused("list_tasks", "runaway")
    answer = worker.report("blocked", summary="I was going round in circles")
    assert answer["action"] == "exit"
    assert crew.status(task) == "blocked"


def test_a_runaway_may_leave_and_that_is_not_counted(crew: World):
    task, worker = working(crew)
    for _ in range(25):
        worker.next()
    worker.call("logout")
    assert crew.status(task) == "in_progress"
    assert crew.sessions() == []


@pytest.mark.parametrize("leaves", ["by itself", "stopped"])
def test_a_runaway_cools_down_however_it_ends(crew: World, leaves: str):
    coordinator = crew.coordinator()
    crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    worker = crew.process(launch)
    worker.sign_in()
    for _ in range(25):
        worker.next()
    if leaves == "stopped":
        (stop,) = coordinator.claim()["stop"]
        assert (stop["reason"], stop["grace_seconds"]) == ("runaway", 0)
        coordinator.exited(launch["launch_id"], signal=15, error="stopped")
    else:
        assert worker.next()["action"] == "exit"
        coordinator.exited(launch["launch_id"], exit_code=0)
    assert coordinator.reason("w1") == "hold cooling_down"
    assert [event["data"]["failures"] for event in crew.events("agent.cooling_down")] == [1]
    crew.advance(61)
    assert coordinator.reason("w1") == "start has_in_progress_task"


def test_the_cooldown_of_a_runaway_doubles_with_the_next_one(crew: World):
    task = crew.task("w1")
    for _ in range(2):
        worker = crew.start("w1")
        for _ in range(26):
            worker.next()
        crew.advance(61)
    assert [event["data"]["failures"] for event in crew.events("agent.cooling_down")] == [1, 2]
    crew.move(task, "in_progress")
    assert crew.coordinator().reason("w1") == "hold cooling_down"


@pytest.mark.parametrize("by", ["the server", "its Coordinator"])
def test_a_task_whose_agent_a_guard_has_stopped_twice_in_a_row_is_blocked_and_people_hear_of_it(crew: World, by: str):
    coordinator, task = crew.coordinator(), crew.task("w1")
    for number in range(2):
        (launch,) = coordinator.claim()["start"]
        worker = crew.process(launch)
        worker.sign_in()
        if by == "the server":
            for _ in range(26):
                worker.next()
        how = {"exit_code": 0} if by == "the server" else {"signal": 15, "error": "runaway"}
        coordinator.exited(launch["launch_id"], **how)
        assert crew.status(task) == ("blocked" if number else "in_progress")
        crew.advance(121)
    assert coordinator.claim()["start"] == []
    (need,) = [each for each in crew.owner.call("needs_you")["items"] if each["task_id"] == task]
    assert "twice" in need["text"]
    crew.move(task, "in_progress")
    assert len(coordinator.claim()["start"]) == 1, "a person has said that it goes on"


def test_stops_by_a_guard_with_work_between_them_block_nothing(crew: World):
    coordinator, task = crew.coordinator(), crew.task("w1")
    for error in ("runaway", "service_failed", "runaway"):
        (launch,) = coordinator.claim()["start"]
        crew.process(launch).sign_in()
        coordinator.exited(launch["launch_id"], signal=15, error=error)
        crew.advance(301)
    assert crew.status(task) == "in_progress"


def test_a_silent_process_is_stopped_and_its_output_is_a_sign_of_life(crew: World):
    coordinator = crew.coordinator()
    crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    for minute in range(60):
        crew.advance(60)
        assert coordinator.claim()["stop"] == [], minute
        if minute < 31:
            coordinator.call("append_log", launch_id=launch["launch_id"], offset=minute, text=".")
    crew.advance(60)
    coordinator.claim()
    crew.advance(61)
    assert crew.events("session.stopped")[0]["data"]["reason"] == "silent"


def test_a_task_with_a_longer_time_limit_may_be_silent_that_long(crew: World):
    coordinator = crew.coordinator()
    crew.task("w1", context={"timeout_seconds": 7200})
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    for _ in range(119):
        crew.advance(60)
        assert coordinator.claim()["stop"] == []
    crew.advance(65)
    assert [each["reason"] for each in coordinator.claim()["stop"]] == ["silent"]


def test_a_launch_that_runs_for_a_day_is_stopped(crew: World):
    coordinator = crew.coordinator()
    task = crew.task("w1")
    launch = coordinator.claim()["start"][0]
    coordinator.running = [launch["launch_id"]]
    worker = crew.process(launch)
    worker.sign_in()
    for _ in range(57):
        crew.advance(1500)
        crew.owner.call("edit_task", task_id=task, description=f"more at {crew.now}")
        worker.call("get_notifications")
    assert coordinator.claim()["stop"] == []
    crew.advance(1000)
    assert worker.next()["reason"] == "time_limit"


def test_five_launches_without_progress_block_the_task_and_tell_a_person(crew: World):
    coordinator = crew.coordinator()
    task = crew.task("w1")
    for _ in range(5):
        worker = crew.start("w1")
        coordinator.exited(worker.launch_id, exit_code=1)
        crew.advance(3700)
    assert coordinator.reason("w1") == "hold blocked_without_in_progress"
    shown = crew.show(task)
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "no_progress")
    crew.move(task, "in_progress")
    assert coordinator.reason("w1") == "start has_in_progress_task"


def test_a_worker_that_blocks_and_a_manager_that_unblocks_do_not_go_on_for_ever(crew: World):
    """Each starts the other; nothing is done; after five such launches a person has to look."""
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    for _ in range(5):
        boss.wait()
        crew.start("w1").report("blocked", summary="I do not understand it")
        boss = crew.start("boss")
        assert boss.action() == "review_and_resolve_blocks"
        boss.set(part, "todo")
        boss.begin(part)
    boss.wait()
    assert crew.coordinator().starts(agent_ids=["w1"]) == []
    assert crew.show(part)["blocked_reason"] == "no_progress"
    assert crew.coordinator().starts() == ["boss"]


def test_progress_of_its_tree_lets_it_be_started_again(crew: World):
    """A child was created for the first time, or a task was completed."""
    coordinator = crew.coordinator()
    task = crew.task("w1")
    for number in range(12):
        worker = crew.start("w1")
        if number == 2:
            worker.batch("One", "Two")
        elif number in (5, 8):
            subtask = worker.next()["subtask"]["task_id"]
            worker.set(subtask, "in_progress")
            worker.set(subtask, "completed")
        coordinator.exited(worker.launch_id, exit_code=1)
        crew.advance(3700)
    assert crew.status(task) == "in_progress"


def test_a_launch_that_ended_by_a_lost_lease_is_not_held_against_its_task(crew: World):
    task = crew.task("w1")
    for _ in range(8):
        crew.start("w1")
        crew.advance(91)
    assert crew.coordinator().starts() == ["w1"]
    assert crew.status(task) == "in_progress"


def test_only_a_person_lifts_the_block_of_a_guard(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    boss.begin(part)
    boss.wait()
    for _ in range(3):
        crew.start("w1").call("logout")
    boss = crew.start("boss")
    said = boss.next()
    assert said["action"] == "review_and_resolve_blocks"
    (blocked,) = said["blocked_subtasks"]
    assert (blocked["blocked_reason"], blocked["you_may_resolve"]) == ("agent_left_without_reporting", False)
    boss.refused("update_task_status", "permissionDenied", task_id=part, status="todo")
    boss.call("cancel_task", task_id=part, reason="another way")


def test_a_block_by_a_person_is_lifted_by_a_person_only(crew: World):
    crew.task("boss")
    boss = crew.start("boss")
    (part,) = boss.assigned({"Part": "w1"})
    crew.move(part, "blocked", "not yet")
    boss.refused("update_task_status", "permissionDenied", task_id=part, status="todo")
    crew.move(part, "todo")


def test_limits_are_settings(fresh: Database):
    world = World(fresh, Settings(guards=GuardSettings(refusals=3, unreported_ends=1)))
    world.crew(workers=1)
    task = world.task("w1")
    worker = world.start("w1")
    for _ in range(3):
        worker.refused("create_task", None, title="x")
    assert tripped(world) == ["refused_calls"]
    worker.call("logout")
    world.advance(61)
    world.start("w1").call("logout")
    assert world.show(task)["blocked_reason"] == "agent_left_without_reporting"


def test_a_chat_that_gets_nowhere_is_a_runaway_and_is_told_nothing_that_only_work_may_call(crew: World):
    crew.say("w1", "Hello?")
    chat = crew.start_chat("w1")
    for _ in range(20):
        chat.refused("respond_chat", "messageNotFound", message_id="msg_none", content="Hi")
    assert tripped(crew) == ["refused_calls"]
    assert crew.why_chat("w1") == "stop runaway"
    assert "report_completed" not in chat.refused("get_pending_messages", "runaway")["instruction"]
    told = chat.next()
    assert (told["action"], told["reason"], told["tools"]) == ("exit", "runaway", ["logout"])
    assert "refused_calls" in told["instruction"]
    assert crew.why_chat("w1") == "hold cooling_down"
    assert [each["content"] for each in crew.thread("w1") if each["kind"] == "message"] == ["Hello?"]


def test_a_chat_that_says_nothing_for_too_long_is_stopped(crew: World):
    crew.open_chat("w1")
    chat = crew.start_chat("w1")
    coordinator = crew.coordinator()
    coordinator.running = [chat.launch_id]
    for _ in range(29):
        crew.advance(60)
        assert coordinator.claim(free_slots=0)["stop"] == []
    crew.advance(60)
    assert crew.why_chat("w1") == "stop silent"
    assert [each["reason"] for each in coordinator.claim(free_slots=0)["stop"]] == ["silent"]
