"""Pitfalls F1 to F53: starting agents, sessions, leases, and the Coordinator, in process.

What only real processes can show stands in `test_processes.py`.
"""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path

import pytest

from tests.operations.talkers import begin, delegate
from tests.pitfalls.kit import left_waiting, log_lines, starts
from tests.stories import Answer, Caller, Coordinator, World
from toryo.coordinator.orders import Launch
from toryo.coordinator.workspaces import working_directory


@pytest.mark.pitfall("F4")
def test_f4_a_failed_sign_in_starts_no_second_process_and_is_seen_by_people(crew: World) -> None:
    crew.task("w1")
    coordinator = crew.coordinator()
    started = coordinator.starts()
    crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    for _ in range(12):
        crew.advance(9.9)
        started += coordinator.starts()
    assert started == ["w1"]
    assert [event["agent_id"] for event in crew.events("session.refused")] == ["w1"]


@pytest.mark.pitfall("F5")
@pytest.mark.parametrize("signs_in", [True, False])
def test_f5_an_order_times_out_once_and_only_while_nobody_has_signed_in_for_it(crew: World, signs_in: bool) -> None:
    crew.task("w1")
    process = crew.started("w1")
    crew.advance(119)
    if signs_in:
        process.sign_in()
    for _ in range(6):
        crew.advance(10)
        crew.housekeep()
    assert len(crew.events("launch.expired")) == (0 if signs_in else 1)


@pytest.mark.pitfall("F7")
def test_f7_a_process_that_stays_after_a_refused_sign_in_is_ended_by_its_coordinator(crew: World) -> None:
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.running = [launch["launch_id"]]
    crew.owner.call("deactivate_agent", agent_id="w1")
    refusal = crew.process(launch).refused("authenticate")
    assert (refusal["success"], refusal["action"]) == (False, "exit")
    (stop,) = coordinator.claim()["stop"]
    assert stop["launch_id"] == launch["launch_id"]
    assert 0 < stop["grace_seconds"] <= 60


@pytest.mark.pitfall("F11")
def test_f11_what_a_coordinator_took_along_when_it_was_stopped_is_started_by_the_next_one(crew: World) -> None:
    crew.task("w1")
    leaving = crew.coordinator("leaving")
    (launch,) = leaving.claim()["start"]
    crew.process(launch).sign_in()
    leaving.exited(launch["launch_id"], signal=2, error="coordinator_stopped")
    assert crew.sessions() == []
    assert crew.coordinator("next").starts() == ["w1"]


@pytest.mark.pitfall("F12")
def test_f12_a_dead_session_holds_up_nobody_for_longer_than_its_lease_and_is_swept(crew: World) -> None:
    crew.task("w1")
    crew.task("w2")
    for each in ("w1", "w2"):
        crew.start(each)
    crew.advance(89)
    assert crew.coordinator("next").starts() == []
    crew.advance(2)
    crew.housekeep()
    assert crew.sessions() == []
    assert {launch["end_reason"] for launch in crew.launches()} == {"lease_expired"}
    assert sorted(crew.coordinator("next").starts()) == ["w1", "w2"]


@pytest.mark.pitfall("F13")
def test_f13_a_manager_that_left_to_wait_is_started_by_the_next_poll_after_its_last_worker_finished(
    crew: World,
) -> None:
    crew.task("boss")
    left_waiting(crew, Walls="w1", Roof="w2")
    coordinator = crew.coordinator()
    crew.start("w1").report()
    assert coordinator.reason("boss") == "hold waiting_for_workers"
    crew.start("w2").report()
    assert coordinator.reason("boss") == "start workers_finished"


@pytest.mark.pitfall("F14")
@pytest.mark.parametrize("end", ["wait", "report"])
def test_f14_the_logout_that_an_answer_tells_to_make_succeeds_though_the_session_is_over(crew: World, end: str) -> None:
    crew.task("boss")
    if end == "wait":
        boss, _ = left_waiting(crew, Walls="w1")
    else:
        boss = crew.start("boss")
        assert boss.report("failed", summary="cannot")["action"] == "exit"
    assert crew.sessions() == []
    for _ in range(2):
        boss.call("logout")


@pytest.mark.pitfall("F15")
def test_f15_a_session_that_calls_every_ten_minutes_lives_for_hours_and_a_silent_one_does_not(crew: World) -> None:
    crew.task("w1")
    token = crew.nobody.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])["session_token"]
    agent = Caller(crew, None, token)
    for _ in range(30):
        crew.advance(600)
        assert crew.why("w1") == "hold already_running"
        assert agent.call("get_my_task")["has_task"]
    crew.advance(3601)
    assert crew.coordinator().reason("w1") == "start has_in_progress_task"


@pytest.mark.pitfall("F16")
def test_f16_a_restarted_session_resumes_the_same_main_task_with_three_levels_below(crew: World) -> None:
    crew.manager("chief")
    crew.owner.call("edit_agent", agent_id="boss", reports_to="chief")
    main = crew.task("chief")
    chief = crew.start("chief")
    (part,) = chief.assigned({"Part": "boss"})
    chief.begin(part)
    boss = crew.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.begin(walls)
    worker = crew.start("w1")
    (bricks,) = worker.batch("Bricks")
    worker.set(bricks, "in_progress")
    asked = delegate(worker, "w2")
    chat = crew.start_chat("w1")
    chat.fetch()
    talk = begin(chat, "w2", delegation_id=asked)
    crew.advance(91)
    for agent_id, task in (("chief", main), ("boss", part), ("w1", walls)):
        again = crew.start(agent_id)
        assert again.call("get_my_task")["task"]["task_id"] == task
        assert again.call("get_my_task")["task"]["resumed"]
    (told,) = again.call("get_task_conversations")["delegations"]
    assert told["delegation_id"] == asked, "and so does what it has had said, three levels below"
    assert [each["conversation_id"] for each in again.call("get_task_conversations")["conversations"]] == [talk]


@pytest.mark.pitfall("F17")
def test_f17_waiting_costs_an_agent_no_turns(crew: World) -> None:
    crew.task("boss")
    boss, _ = left_waiting(crew, Walls="w1")
    assert starts(crew, "boss", 600) == 0
    assert boss.action() == "exit"


@pytest.mark.pitfall("F18")
def test_f18_an_order_for_chat_is_a_chat_whatever_begins_before_its_process_signs_in(crew: World) -> None:
    crew.open_chat("w1")
    coordinator = crew.coordinator()
    (ordered,) = coordinator.claim(free_slots=0, free_chat_slots=1)["start"]
    coordinator.running = [ordered["launch_id"]]
    main = crew.task("w1")
    (second,) = coordinator.claim()["start"]
    chat, work = crew.process(ordered), crew.process(second)
    work.sign_in()
    chat.sign_in()
    assert [(session["purpose"], session["launch_id"]) for session in crew.sessions()] == [
        ("task", second["launch_id"]),
        ("chat", ordered["launch_id"]),
    ]
    work.call("report_model", provider="claude", model_id="model-1")
    assert work.call("get_my_task")["task"]["task_id"] == main
    crew.owner.call("close_chat", project_id=crew.project_id, agent_id="w1")
    assert work.action() == "create_subtasks"
    chat.call("report_model", provider="claude", model_id="model-1")
    assert chat.action() in ("exit", "logout"), "closing the chat ends the chat"


@pytest.mark.pitfall("F19")
@pytest.mark.parametrize("gone", ["task", "chat"])
def test_f19_of_an_agents_two_processes_the_one_that_dies_ends_its_own_session(crew: World, gone: str) -> None:
    crew.task("w1")
    crew.open_chat("w1")
    launches = {each["purpose"]: each for each in crew.coordinator().claim(free_slots=1, free_chat_slots=1)["start"]}
    for each in launches.values():
        crew.process(each).sign_in()
    assert {session["purpose"] for session in crew.sessions()} == {"task", "chat"}
    crew.coordinator().exited(launches.pop(gone)["launch_id"], signal=9, error="killed")
    (left,) = launches
    assert [session["purpose"] for session in crew.sessions()] == [left]
    crew.process(launches[left]).call("authenticate")


@pytest.mark.pitfall("F19")
def test_f19_an_exit_report_that_comes_after_the_next_start_ends_nothing_of_it(crew: World) -> None:
    crew.task("w1")
    dead = crew.start("w1")
    crew.advance(91)
    crew.start("w1").call("list_tasks")
    assert crew.coordinator().exited(dead.launch_id, signal=9, error="killed")["released"] == []
    assert [launch["state"] for launch in crew.launches()] == ["signed_in", "lost"]
    assert len(crew.sessions()) == 1


@pytest.mark.pitfall("F20")
def test_f20_an_order_is_cleared_by_its_own_sign_in_or_time_out_and_by_nothing_else(crew: World) -> None:
    crew.task("w1")
    coordinator = crew.coordinator()
    launch = coordinator.action("w1")["launch"]
    crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    assert coordinator.reason("w1", purpose="chat") == "hold no_chat_work"
    crew.move(crew.task("w2"), "blocked", "an act elsewhere")
    assert coordinator.reason("w1", purpose="task") == "hold start_pending"
    assert coordinator.call("should_start", agent_id="w1")["should_start"] is False
    assert [each["launch_id"] for each in crew.launches(agent_id="w1")] == [launch["launch_id"]]
    crew.process(launch).sign_in()
    assert coordinator.reason("w1", purpose="task") == "hold already_running"


@pytest.mark.pitfall("F23")
def test_f23_wait_is_accepted_only_if_somebody_is_sure_to_wake_the_manager(crew: World) -> None:
    crew.task("boss")
    boss = crew.start("boss")
    (walls,) = boss.assigned({"Walls": "w1"})
    boss.next()
    refusal = boss.refused("select_action", "notNow", action="wait")
    assert refusal["alternatives"]
    boss.call("select_action", action="start")
    boss.set(walls, "in_progress")
    crew.start("w1")
    boss.next()
    boss.call("select_action", action="wait")
    crew.advance(91)
    boss.call("select_action", action="wait")
    crew.owner.call("deactivate_agent", agent_id="w1")
    boss.next()
    boss.refused("select_action", "notNow", action="wait")


@pytest.mark.pitfall("F24")
def test_f24_a_quota_message_holds_for_its_time_and_a_tenth_whichever_coordinator_asks(crew: World) -> None:
    crew.task("w1")
    launch = crew.coordinator("first").action("w1")["launch"]
    crew.coordinator("first").exited(launch["launch_id"], exit_code=1, error="quota", quota_reset_seconds=23 * 60)
    assert starts(crew, "w1", 25 * 60) == 0
    assert crew.coordinator("second").reason("w1") == "hold cooling_down"
    assert starts(crew, "w1", 30) == 1


@pytest.mark.pitfall("F24")
def test_f24_gaps_grow_with_each_plain_failure_and_a_success_begins_anew(crew: World) -> None:
    crew.task("w1")
    gaps = [_failed(crew) for _ in range(3)]
    assert gaps == [60, 120, 240]
    crew.advance(241)
    crew.start("w1").report()
    crew.task("w1", title="Another")
    assert _failed(crew) == 60


def _failed(world: World) -> int:
    """The agent is started once it may be, and its process crashes; seconds until it may be started again."""
    coordinator = world.coordinator()
    while coordinator.action("w1")["action"] != "start":
        world.advance(10)
    launch = world.launches(agent_id="w1")[0]
    until = coordinator.exited(launch["launch_id"], exit_code=1)["cooling_down_until"]
    return round(datetime.fromisoformat(until).timestamp() - world.now / 1000)


@pytest.mark.pitfall("F25")
def test_f25_an_agent_that_cools_down_is_not_ordered_and_people_see_until_when(crew: World) -> None:
    crew.task("w1")
    coordinator = crew.coordinator()
    coordinator.exited(coordinator.action("w1")["launch"]["launch_id"], exit_code=1)
    crew.advance(20)
    assert coordinator.reason("w1") == "hold cooling_down"
    assert [launch["state"] for launch in crew.launches()] == ["exited"]
    told = crew.owner.call("why", agent_id="w1")["decisions"][0]
    assert told["reason"] == "cooling_down"
    assert 38 <= told["seconds_left"] <= 40


@pytest.mark.pitfall("F26")
def test_f26_a_failed_agent_without_other_work_is_not_started_by_its_own_failure(crew: World) -> None:
    crew.task("w1")
    process = crew.start("w1")
    process.report("failed", summary="cannot")
    crew.coordinator().exited(process.launch_id, exit_code=1, error="crashed")
    assert starts(crew, "w1", 100 * 60, every=60) == 0


@pytest.mark.pitfall("F39")
def test_f39_with_one_slot_ten_agents_start_within_ten_rounds_each(world: World) -> None:
    world.crew(workers=10)
    for number in range(1, 11):
        world.task(f"w{number}")
    coordinator = world.coordinator()
    started = [_one_that_does_not_finish(coordinator) for _ in range(10)]
    assert sorted(started) == sorted(f"w{number}" for number in range(1, 11))


def _one_that_does_not_finish(coordinator: Coordinator) -> str:
    coordinator.world.advance(10)
    (launch,) = coordinator.claim(free_slots=1)["start"]
    coordinator.world.process(launch).sign_in()
    coordinator.exited(launch["launch_id"], error="coordinator_stopped")
    agent_id: str = launch["agent_id"]
    return agent_id


@pytest.mark.pitfall("F41")
def test_f41_a_second_start_of_an_agent_touches_no_file_of_the_first(tmp_path: Path) -> None:
    from toryo.coordinator.workspaces import Workspaces

    workspaces = Workspaces(tmp_path)
    for each in ("lau_task", "lau_chat"):
        workspaces.make(each)
        workspaces.write(each, {"mcp.json": each})
    workspaces.remove("lau_chat")
    assert (tmp_path / "lau_task" / "mcp.json").read_text() == "lau_task"


@pytest.mark.pitfall("F43")
def test_f43_what_a_process_printed_elsewhere_is_read_from_the_server(crew: World) -> None:
    crew.task("w1")
    process = crew.start("w1")
    coordinator = crew.coordinator()
    for offset, text in ((0, "one\n"), (4, "two\n"), (4, "two\n"), (4, "two\nthree\n")):
        coordinator.call("append_log", launch_id=process.launch_id, offset=offset, text=text)
    coordinator.exited(process.launch_id, exit_code=0)
    told = crew.owner.call("read_launch_log", launch_id=process.launch_id)
    assert (told["text"], told["ended"]) == ("one\ntwo\nthree\n", True)


@pytest.mark.pitfall("F51")
def test_f51_a_working_directory_is_expanded_and_real_and_the_agents_own_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for each in ("own", "project"):
        (tmp_path / each).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "own")
    launch = Launch("lau_1", "w1", "prj", working_directory="~/project")
    assert working_directory(launch, None) == tmp_path / "project"
    for own in ("~/own", "~/link", str(tmp_path / "project" / ".." / "own")):
        assert working_directory(launch, own) == tmp_path / "own"


@pytest.mark.pitfall("F53")
def test_f53_an_idle_hour_of_fifty_agents_writes_next_to_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.crew(workers=50)
    for number in range(1, 51):
        world.task(f"w{number}", status="todo")
    coordinator = world.coordinator()
    lines = log_lines(monkeypatch, logging.INFO)
    for _ in range(6):
        world.advance(600)
        coordinator.claim()
        for number in range(1, 51):
            coordinator.action(f"w{number}")
            coordinator.call("should_start", agent_id=f"w{number}")
    assert len(lines) < 100
    assert {line["metadata"]["outcome"] for line in lines} <= {"ok"}


@pytest.mark.pitfall("F53")
def test_f53_every_call_is_one_line_that_says_who_what_and_how_it_ended_and_no_secret(
    crew: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew.task("w1")
    process = crew.started("w1")
    lines = log_lines(monkeypatch, logging.INFO)
    token = process.sign_in()["session_token"]
    Caller(crew, None).call("get_my_task", session_token=token)
    crew.nobody.refused("authenticate", None, agent_id="w1", passkey=crew.passkeys["w1"])
    process.refused("create_task", "validationError", title=["x" * 5000])
    tools = ["authenticate", "get_my_task", "authenticate", "create_task"]
    assert [line["metadata"]["tool"] for line in lines] == tools
    assert [line["metadata"]["outcome"] for line in lines] == ["ok", "ok", "alreadyRunning", "validationError"]
    told = lines[1]
    assert (told["agent_id"], told["metadata"]["project"], told["metadata"]["purpose"]) == (
        "w1",
        crew.project_id,
        "task",
    )
    assert told["metadata"]["session"].startswith("ses_")
    assert all(len(line["metadata"]["arguments"]) <= 2048 for line in lines)
    secrets: list[str] = [token, crew.passkeys["w1"], process.bearer or ""]
    assert _found(lines, secrets) == []


def _found(lines: list[Answer], secrets: list[str]) -> list[str]:
    return [secret for secret in secrets if secret in repr(lines)]
