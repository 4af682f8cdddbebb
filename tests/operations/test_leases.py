"""How long a session lives: its lease, what renews it, what is released when it ends, and what comes back."""

from __future__ import annotations

import pytest

from tests.stories import Caller, World

pytestmark = pytest.mark.both


@pytest.fixture
def crew(world: World) -> World:
    world.crew(workers=2)
    world.task("w1")
    return world


def test_where_a_coordinator_reports_processes_a_session_lives_ninety_seconds(crew: World):
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    assert crew.process(launch).sign_in()["expires_in"] == 90
    crew.advance(89)
    assert crew.why("w1") == "hold already_running"
    crew.advance(2)
    assert coordinator.starts() == ["w1"]
    assert [each["state"] for each in crew.launches(agent_id="w1")] == ["ordered", "lost"]


def test_of_a_model_that_is_silent_it_is_said_since_when_and_when_that_ends(crew: World):
    """Its program waits for a service that does not answer: the process runs, and nothing moves."""
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    coordinator.running.append(launch["launch_id"])
    crew.process(launch).sign_in()
    since = crew.iso()
    for seconds in (60, 59, 1):
        assert _explained(crew) == "It is running, or was started and is about to sign in."
        crew.advance(seconds)
        coordinator.claim()
    assert f"has made no call and printed nothing since {since}." in _explained(crew)
    coordinator.call("append_log", launch_id=launch["launch_id"], offset=0, text="thinking")
    assert _explained(crew) == "It is running, or was started and is about to sign in."


@pytest.mark.parametrize("who", ["its Coordinator", "the agent"])
def test_after_a_restart_a_process_is_not_said_to_run_until_it_or_its_coordinator_has_reported(crew: World, who: str):
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    coordinator.running.append(launch["launch_id"])
    process = crew.process(launch)
    process.sign_in()
    seen = crew.iso()
    assert (_explained(crew), _listed(crew)) == ("It is running, or was started and is about to sign in.", (seen, True))
    crew.advance(30)
    crew.restart()
    assert f"It was running when last seen, at {seen}." in _explained(crew)
    assert "has reported since the server started" in _explained(crew)
    assert (crew.why("w1"), _listed(crew)) == ("hold already_running", (seen, False))
    coordinator.claim() if who == "its Coordinator" else process.next()
    now = crew.iso()
    assert (_explained(crew), _listed(crew)) == ("It is running, or was started and is about to sign in.", (now, True))


def _explained(crew: World) -> str:
    words: str = crew.owner.call("why", agent_id="w1")["decisions"][0]["explanation"]
    return words


def _listed(crew: World) -> tuple[str, bool]:
    (session,) = crew.sessions()
    return session["last_seen_at"], session["confirmed"]


@pytest.mark.parametrize("way", ["get_agent_action", "by hand"])
def test_where_nobody_reports_processes_it_lives_an_hour(crew: World, way: str):
    if way == "by hand":
        said = crew.nobody.call("authenticate", agent_id="w1", passkey=crew.passkeys["w1"])
    else:
        said = crew.process(crew.coordinator().action("w1")["launch"]).sign_in()
    assert said["expires_in"] == 3600
    crew.advance(3590)
    assert crew.coordinator().call("should_start", agent_id="w1")["should_start"] is False
    crew.housekeep()
    assert len(crew.sessions()) == 1
    crew.advance(20)
    assert crew.coordinator().reason("w1") == "start has_in_progress_task"


@pytest.mark.pitfall("F15")
def test_every_call_renews_it_without_limit(crew: World):
    """F15: five hours of a call every minute, and then silence."""
    process = crew.start("w1")
    for _ in range(290):
        crew.advance(60)
        process.call("list_tasks")
    assert len(crew.sessions()) == 1
    crew.advance(91)
    assert crew.coordinator().starts() == ["w1"]


def test_a_silent_process_lives_on_while_its_coordinator_reports_it(crew: World):
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    crew.process(launch).sign_in()
    coordinator.running = [launch["launch_id"]]
    for _ in range(20):
        crew.advance(60)
        assert coordinator.starts() == []
    assert len(crew.sessions()) == 1
    coordinator.running = []
    crew.advance(91)
    assert coordinator.starts() == ["w1"]


def test_a_call_after_the_lease_revives_the_session_if_nobody_has_released_it(crew: World):
    process = crew.start("w1")
    crew.advance(600)
    process.call("get_my_task")
    assert crew.why("w1") == "hold already_running"


def test_a_call_after_the_lease_and_a_newer_launch_is_refused(crew: World):
    process = crew.start("w1")
    crew.advance(91)
    newer = crew.started("w1")
    process.refused("create_task", "sessionExpired", title="x", description="x")
    newer.sign_in()
    assert process.refused("update_task_status", "sessionExpired", task_id="tsk_x", status="todo")["action"] == "exit"
    assert process.next()["action"] == "exit"
    assert len(crew.sessions()) == 1


def test_the_task_of_a_lost_session_stays_in_progress_and_the_next_one_resumes_it(crew: World):
    process = crew.start("w1")
    process.call("save_progress", progress="half of it", next_steps="the roof")
    (one,) = process.batch("Roof")
    crew.advance(91)
    again = crew.start("w1")
    seen = again.call("get_my_task")["task"]
    assert seen["resumed"] is True
    assert seen["context"]["previous"]["progress"] == "half of it"
    assert again.next()["subtask"]["task_id"] == one


def test_expires_in_is_what_is_left(crew: World):
    process = crew.started("w1")
    process.sign_in()
    crew.advance(30)
    assert process.sign_in()["expires_in"] in (59, 60)


@pytest.mark.pitfall("F9", "F19")
def test_the_exit_of_one_process_ends_its_own_session_only(world: World):
    """F9, F19: also when the report comes after the next start."""
    world.crew(workers=2)
    world.task("w1")
    world.task("w2")
    coordinator = world.coordinator()
    first, second = coordinator.claim()["start"]
    world.process(first).sign_in()
    other = world.process(second)
    other.sign_in()
    world.advance(1)
    coordinator.exited(first["launch_id"], exit_code=0)
    assert [session["agent_id"] for session in world.sessions()] == ["w2"]
    other.call("get_next_action")
    again = coordinator.claim()["start"][0]
    world.process(again).sign_in()
    assert coordinator.exited(first["launch_id"], exit_code=0)["released"] == []
    assert sorted(session["agent_id"] for session in world.sessions()) == ["w1", "w2"]


def test_an_exit_report_that_comes_twice_is_taken_once(crew: World):
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    crew.process(launch).sign_in()
    assert len(coordinator.exited(launch["launch_id"], exit_code=1)["released"]) == 1
    assert coordinator.exited(launch["launch_id"], exit_code=1)["released"] == []
    assert len(crew.events("agent.cooling_down")) == 1


def test_a_session_that_a_person_ends_is_over_at_once_and_its_agent_starts_again(crew: World):
    process = crew.start("w1")
    (session,) = crew.sessions()
    crew.owner.call("end_session", session_id=session["session_id"], reason="stuck")
    assert process.action() == "exit"
    assert crew.coordinator().starts() == ["w1"]
    crew.owner.call("end_session", session_id=session["session_id"])


def test_a_fence_grows_with_every_launch(crew: World):
    fences = []
    for _ in range(3):
        crew.start("w1")
        fences.append(crew.launches(agent_id="w1")[0]["fence"])
        crew.advance(91)
    assert fences == [1, 2, 3]


def test_reading_is_still_open_for_a_minute_after_the_end_and_closed_then(crew: World):
    process = crew.start("w1")
    process.report("failed", summary="x")
    process.call("get_my_task")
    process.call("save_progress", progress="a last word")
    process.refused("create_handoff", "sessionExpired", task_id="tsk_1", summary="x")
    crew.advance(61)
    process.refused("get_my_task", "sessionExpired")
    assert process.action() == "exit"
    process.call("logout")


def test_a_token_of_a_session_that_is_over_is_known_and_leads_to_the_exit(crew: World):
    process = crew.start("w1")
    token = process.signed_in["session_token"]
    process.report("failed", summary="x")
    agent = Caller(crew, None, token)
    said = agent.call("get_next_action")
    assert (said["action"], said["reason"]) == ("exit", "session_over")
    assert said["tools"] == ["logout"]
