"""What a Coordinator claims and reports: slots, fairness, lost answers, stops, adoption, cooldowns, logs."""

from __future__ import annotations

import pytest

from tests.stories import Answer, World
from toryo.domain.times import parse
from toryo.workflow.guard_limits import Limits

pytestmark = pytest.mark.crew(workers=3)


# --- starts ----------------------------------------------------------------------------------------------------------


def test_a_launch_says_how_to_start_and_nothing_about_the_task(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", model="sonnet", provider_options={"permissions": "read"})
    crew.task("w1", title="A secret title")
    (launch,) = crew.coordinator().claim()["start"]
    assert set(launch) >= {
        "launch_id", "agent_id", "project_id", "purpose", "ai_type", "model", "working_directory", "workspace",
        "credential", "deadline", "reason", "takes_slot", "provider_options", "language",
    }  # fmt: skip
    assert (launch["ai_type"], launch["model"], launch["purpose"]) == ("claude", "sonnet", "task")
    assert (launch["working_directory"], launch["language"]) == ("/srv/house", "en")
    assert (launch["provider_options"], launch["defaults"]) == ({"permissions": "read"}, [])
    assert parse(launch["deadline"]) - crew.now == 120_000
    assert "secret" not in str(launch)


@pytest.mark.pitfall("F51")
def test_an_agents_own_directory_goes_before_the_projects(crew: World):
    """F51."""
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"working_directory": "/srv/own"})
    crew.task("w1")
    assert crew.coordinator().claim()["start"][0]["working_directory"] == "/srv/own"
    assert crew.start("w1").call("get_my_task")["task"]["working_directory"] == "/srv/own"


def test_a_claim_starts_no_more_than_it_has_slots_for(crew: World):
    for each in ("w1", "w2", "w3"):
        crew.task(each)
    coordinator = crew.coordinator()
    assert len(coordinator.starts(free_slots=2)) == 2
    assert coordinator.starts(free_slots=0) == []
    assert len(coordinator.starts(free_slots=5)) == 1


def test_a_claim_that_means_another_server_is_refused_and_starts_nobody(crew: World):
    """A Coordinator that was left behind must not take the agents of whoever answers at the same address."""
    crew.task("w1")
    coordinator = crew.coordinator()
    asked = {"coordinator_id": coordinator.id, "free_slots": 5, "running": []}
    refusal = coordinator.refused("claim_starts", "conflict", **asked, server_id="srv_another")
    assert "not the server that the Coordinator was started for" in refusal["message"]
    own = crew.nobody.call("health_check")["server_id"]
    assert coordinator.starts(server_id=own) == ["w1"]


@pytest.mark.pitfall("F39")
def test_the_longest_waiting_comes_first_and_every_agent_gets_its_turn(world: World):
    """F39: ten startable agents, one slot, and processes that end without being done: each starts within ten rounds."""
    world.crew(workers=10)
    for number in range(1, 11):
        world.task(f"w{number}")
        world.advance(1)
    coordinator = world.coordinator()
    order = []
    for _ in range(10):
        (launch,) = coordinator.claim(free_slots=1)["start"]
        order.append(launch["agent_id"])
        world.process(launch).sign_in()
        world.owner.call("end_session", session_id=world.sessions()[0]["session_id"])
        world.advance(1)
    assert order == [f"w{number}" for number in range(1, 11)]


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ({"agent_ids": ["w2"]}, ["w2"]),
        ({"agent_ids": []}, []),
        ({"providers": ["gemini"]}, ["w3"]),
        ({"providers": ["claude"]}, ["w1", "w2"]),
        ({"agent_ids": ["w1", "w3"], "providers": ["gemini"]}, ["w3"]),
        ({}, ["w1", "w2", "w3"]),
    ],
)
def test_a_coordinator_is_given_only_what_it_says_it_can_start(crew: World, only: Answer, expected: list[str]):
    crew.owner.call("edit_agent", agent_id="w3", provider="gemini")
    for each in ("w1", "w2", "w3"):
        crew.task(each)
    assert sorted(crew.coordinator().starts(**only)) == expected


def test_an_order_whose_answer_was_lost_is_handed_out_again_with_a_fresh_credential(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (lost,) = coordinator.claim()["start"]
    (again,) = coordinator.claim()["start"]
    assert again["launch_id"] == lost["launch_id"]
    assert again["credential"] != lost["credential"]
    crew.process(lost).refused("authenticate", "invalidCredentials")
    crew.process(again).sign_in()
    assert len(crew.launches()) == 1


def test_an_order_that_its_coordinator_reports_is_not_handed_out_again(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    assert coordinator.starts() == ["w1"]
    assert coordinator.starts() == []


def test_an_order_of_one_coordinator_is_not_another_ones(crew: World):
    crew.task("w1")
    assert crew.coordinator("a").starts() == ["w1"]
    assert crew.coordinator("b").starts() == []
    crew.advance(121)
    assert crew.coordinator("b").starts() == ["w1"]


def test_an_own_order_that_expired_is_replaced_by_the_same_claim(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (first,) = coordinator.claim()["start"]
    crew.advance(121)
    (second,) = coordinator.claim()["start"]
    assert second["launch_id"] != first["launch_id"]


def test_a_lost_order_of_a_project_that_was_paused_meanwhile_is_not_started(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    coordinator.claim()
    crew.owner.call("pause_project", project_id=crew.project_id)
    assert coordinator.claim()["start"] == []
    crew.owner.call("resume_project", project_id=crew.project_id)
    assert [each["agent_id"] for each in coordinator.claim()["start"]] == ["w1"]


def test_a_lost_order_of_a_project_whose_budget_is_used_up_meanwhile_is_not_started(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    coordinator.claim()
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"budget_per_day": 0})
    assert coordinator.claim()["start"] == []
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"budget_per_day": None})
    assert [each["agent_id"] for each in coordinator.claim()["start"]] == ["w1"]


def test_a_claim_that_waits_looks_again_when_the_time_to_leave_a_paused_project_is_over(crew: World):
    crew.owner.call("pause_project", project_id=crew.project_id)
    paused = crew.now
    asked = {"coordinator_id": "c1", "free_slots": 1}
    outcome = crew.perform("claim_starts", asked, crew.coordinator().credentials, may_wait=True)
    assert outcome.later is not None
    assert outcome.later.at == paused + Limits().pause_grace


def test_a_claim_that_may_wait_waits_until_there_is_something(crew: World):
    coordinator = crew.coordinator()
    asked = {"coordinator_id": "c1", "free_slots": 1}
    outcome = crew.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert outcome.later is not None
    assert "work" in outcome.later.topics
    crew.hints.clear()
    crew.task("w1")
    assert any("work" in hint for hint in crew.hints)
    outcome = crew.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert outcome.result is not None
    assert [each["agent_id"] for each in outcome.result["start"]] == ["w1"]


def test_a_waiting_claim_looks_again_when_a_cooldown_ends(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.exited(launch["launch_id"], error="crashed", exit_code=1)
    asked = {"coordinator_id": "c1", "free_slots": 1}
    outcome = crew.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert outcome.later is not None
    assert outcome.later.at is not None
    assert 55_000 < outcome.later.at - crew.now <= 60_000


def test_every_act_that_may_start_or_stop_somebody_wakes_those_who_claim(crew: World):
    """A wait ends by an event, not by polling: each of these leaves the hint `work`."""
    task = crew.task("w1", status="todo")
    acts = [
        lambda: crew.move(task, "in_progress"),
        lambda: crew.move(task, "blocked", "x"),
        lambda: crew.owner.call("pause_project", project_id=crew.project_id),
        lambda: crew.owner.call("resume_project", project_id=crew.project_id),
        lambda: crew.owner.call("deactivate_agent", agent_id="w1"),
        lambda: crew.owner.call("activate_agent", agent_id="w1"),
        lambda: crew.owner.call("remove_member", project_id=crew.project_id, agent_id="w1"),
        lambda: crew.owner.call("add_member", project_id=crew.project_id, agent_id="w1"),
        lambda: crew.owner.call("edit_task", task_id=task, assignee_id="w2"),
        lambda: crew.owner.call("edit_agent", agent_id="w1", provider="gemini"),
    ]
    for number, act in enumerate(acts):
        crew.hints.clear()
        act()
        assert any("work" in hint for hint in crew.hints), number


# --- stops and adoption ----------------------------------------------------------------------------------------------


def test_a_process_that_outlives_its_launch_is_left_alone_for_the_grace_time(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.running = [launch["launch_id"]]
    worker = crew.process(launch)
    worker.sign_in()
    worker.report("failed", summary="x")
    (stop,) = coordinator.claim()["stop"]
    assert (stop["launch_id"], stop["reason"]) == (launch["launch_id"], "launch_over")
    assert 55 <= stop["grace_seconds"] <= 60


def test_the_process_of_a_session_that_a_person_ends_gets_no_time_to_leave_by_itself(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    crew.owner.call("end_session", session_id=crew.sessions()[0]["session_id"], reason="stuck")
    (stop,) = coordinator.claim()["stop"]
    told = {"launch_id": launch["launch_id"], "reason": "ended_by_person", "grace_seconds": 0}
    assert stop == told
    assert coordinator.claim()["stop"] == []
    crew.advance(61)
    assert coordinator.claim()["stop"] == [told]


def test_a_stop_is_told_once_and_again_after_a_while(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.running = [launch["launch_id"]]
    worker = crew.process(launch)
    worker.sign_in()
    worker.report("failed", summary="x")
    assert len(coordinator.claim()["stop"]) == 1
    assert coordinator.claim()["stop"] == []
    crew.advance(16)
    (again,) = coordinator.claim()["stop"]
    assert 40 <= again["grace_seconds"] <= 44
    crew.advance(60)
    assert coordinator.claim()["stop"][0]["grace_seconds"] == 0


def test_a_launch_nobody_knows_is_to_be_stopped_at_once(crew: World):
    coordinator = crew.coordinator()
    coordinator.running = ["lau_unknown"]
    assert coordinator.claim()["stop"] == [{"launch_id": "lau_unknown", "reason": "launch_unknown", "grace_seconds": 0}]


def test_another_coordinator_adopts_a_process_once_its_owner_has_not_called_for_a_while(crew: World):
    crew.task("w1")
    first, second = crew.coordinator("a"), crew.coordinator("b")
    (launch,) = first.claim()["start"]
    first.running = [launch["launch_id"]]
    crew.process(launch).sign_in()
    crew.advance(60)
    first.claim()
    second.running = [launch["launch_id"]]
    crew.advance(80)
    second.claim()
    assert crew.launches()[0]["coordinator_id"] == "a"
    crew.process(launch).call("get_next_action")
    crew.advance(20)
    second.claim()
    assert crew.launches()[0]["coordinator_id"] == "b"
    crew.advance(80)
    second.claim()
    assert len(crew.sessions()) == 1


def test_after_a_hard_kill_of_the_coordinator_the_next_one_goes_on(crew: World):
    """F11, F12."""
    task = crew.task("w1")
    crew.start("w1")
    crew.advance(91)
    successor = crew.coordinator("successor")
    assert successor.starts() == ["w1"]
    assert crew.status(task) == "in_progress"


# --- ends and cooldowns ----------------------------------------------------------------------------------------------


def failing(world: World, times: int, **end: object) -> list[int]:
    """Starts and fails so often; how long each cooldown was, in seconds."""
    coordinator = world.coordinator()
    waits = []
    for _ in range(times):
        (launch,) = coordinator.claim(agent_ids=["w1"])["start"]
        until = coordinator.exited(launch["launch_id"], **end)["cooling_down_until"]
        waits.append(round((parse(until) - world.now) / 1000))
        world.now = parse(until)
    return waits


@pytest.mark.pitfall("F24")
def test_failures_cool_down_for_a_minute_and_double_up_to_an_hour(crew: World):
    """F24."""
    crew.task("w1")
    assert failing(crew, 9, exit_code=1) == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_a_success_clears_the_row_of_failures(crew: World):
    crew.task("w1")
    failing(crew, 3, exit_code=1)
    crew.start("w1").report()
    crew.task("w1")
    assert failing(crew, 1, exit_code=1) == [60]


@pytest.mark.pitfall("F24")
def test_a_quota_message_sets_the_time_it_names_and_a_tenth_more(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    answer = coordinator.exited(launch["launch_id"], exit_code=1, error="quota: resets", quota_reset_seconds=23 * 60)
    assert parse(answer["cooling_down_until"]) - crew.now == 23 * 60 * 1100, "with a margin of 10 %"
    crew.advance(25 * 60)
    assert coordinator.starts() == []
    assert crew.why("w1") == "hold cooling_down"
    crew.advance(19)
    assert coordinator.starts() == ["w1"]


def test_a_quota_message_of_a_process_that_reported_its_task_cools_down_too(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    worker = crew.start("w1")
    worker.report()
    answer = coordinator.exited(worker.launch_id, exit_code=1, quota_reset_seconds=100)
    assert parse(answer["cooling_down_until"]) - crew.now == 110_000


@pytest.mark.parametrize("error", ["stopped", "coordinator_stopped"])
def test_an_end_that_was_ordered_cools_nobody_down(crew: World, error: str):
    crew.task("w1")
    coordinator = crew.coordinator()
    worker = crew.start("w1")
    assert coordinator.exited(worker.launch_id, signal=15, error=error)["cooling_down_until"] is None
    assert coordinator.starts() == ["w1"]


def test_a_process_that_ended_before_it_signed_in_could_not_connect(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    answer = coordinator.exited(launch["launch_id"], exit_code=0)
    assert answer["released"] == [launch["launch_id"]]
    assert answer["cooling_down_until"] is not None
    assert crew.events("agent.cooling_down")[0]["data"]["reason"] == "could_not_connect"


def test_a_cooldown_is_shown_with_what_is_left_of_it_and_a_person_ends_it(crew: World):
    """F25."""
    crew.task("w1")
    failing_launch = crew.coordinator().claim()["start"][0]
    crew.coordinator().exited(failing_launch["launch_id"], exit_code=1, error="crashed: boom")
    crew.advance(10)
    said = crew.owner.call("why", agent_id="w1")["decisions"][0]
    assert (said["reason"], said["facts"]["cooldown"]) == ("cooling_down", "crashed")
    assert 48 <= said["seconds_left"] <= 50
    crew.owner.call("activate_agent", agent_id="w1")
    assert crew.coordinator().starts() == ["w1"]


@pytest.mark.pitfall("F25")
def test_an_agent_in_cooldown_is_ordered_by_nobody_for_a_hundred_polls(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    (launch,) = coordinator.claim()["start"]
    coordinator.exited(launch["launch_id"], exit_code=1)
    launches = len(crew.launches())
    for _ in range(100):
        assert coordinator.starts() == []
    assert len(crew.launches()) == launches


def test_what_is_known_of_an_end_is_kept_with_its_launch(crew: World):
    """F43."""
    crew.task("w1")
    coordinator = crew.coordinator()
    worker = crew.start("w1")
    coordinator.exited(worker.launch_id, exit_code=3, error="crashed: boom", usage={"turns": 7}, log_tail="the end")
    shown = crew.owner.call("read_launch_log", launch_id=worker.launch_id)
    assert (shown["text"], shown["ended"]) == ("the end", True)
    assert shown["launch"]["usage"]["turns"] == 7
    assert (shown["launch"]["exit_code"], shown["launch"]["exit_error"]) == (3, "crashed: boom")


def test_an_exit_of_a_launch_that_is_not_there_is_refused(crew: World):
    crew.coordinator().refused("report_process_exit", "launchNotFound", launch_id="lau_none")


# --- logs ------------------------------------------------------------------------------------------------------------


def test_output_is_appended_by_offset_and_nothing_is_stored_twice(crew: World):
    crew.task("w1")
    coordinator = crew.coordinator()
    launch = crew.start("w1").launch_id
    say = {"launch_id": launch}
    assert coordinator.call("append_log", offset=0, text="one\n", **say)["next_offset"] == 4
    assert coordinator.call("append_log", offset=4, text="two\n", **say)["next_offset"] == 8
    assert coordinator.call("append_log", offset=4, text="two\n", **say)["next_offset"] == 8
    assert coordinator.call("append_log", offset=6, text="o\nthree", **say)["next_offset"] == 13
    read = crew.owner.call("read_launch_log", launch_id=launch)
    assert (read["text"], read["next_offset"]) == ("one\ntwo\nthree", 13)
    assert crew.owner.call("read_launch_log", launch_id=launch, offset=5)["text"] == "wo\nthree"


def test_a_gap_is_not_stored_and_the_answer_says_where_to_go_on(crew: World):
    crew.task("w1")
    launch = crew.start("w1").launch_id
    coordinator = crew.coordinator()
    assert coordinator.call("append_log", launch_id=launch, offset=100, text="later")["next_offset"] == 0
    assert coordinator.call("append_log", launch_id=launch, offset=0, text="now")["next_offset"] == 3


def test_offsets_are_characters_in_any_language(crew: World):
    crew.task("w1")
    launch = crew.start("w1").launch_id
    coordinator = crew.coordinator()
    for offset, text in ((0, "棟梁"), (2, "は家を"), (5, "建てる🏠")):
        coordinator.call("append_log", launch_id=launch, offset=offset, text=text)
    assert crew.owner.call("read_launch_log", launch_id=launch, offset=1)["text"] == "梁は家を建てる🏠"


def test_a_log_has_an_end_and_the_coordinator_may_go_on_sending(crew: World):
    crew.task("w1")
    launch = crew.start("w1").launch_id
    coordinator = crew.coordinator()
    offset = 0
    for _ in range(12):
        offset = coordinator.call("append_log", launch_id=launch, offset=offset, text="x" * 400_000)["next_offset"]
    assert offset == 4_800_000
    read, kept = 0, 0
    while (answer := crew.owner.call("read_launch_log", launch_id=launch, offset=read))["text"]:
        read, kept = answer["next_offset"], kept + len(answer["text"])
    assert read == offset
    assert 2_000_000 <= kept <= 2_800_000, "the middle is left out, in whole pieces"


def test_who_waits_for_output_is_woken_by_it(crew: World):
    crew.task("w1")
    launch = crew.start("w1").launch_id
    asked = {"launch_id": launch, "wait_seconds": 10}
    outcome = crew.perform("read_launch_log", asked, crew.owner.credentials, may_wait=True)
    assert outcome.later is not None
    crew.hints.clear()
    crew.coordinator().call("append_log", launch_id=launch, offset=0, text="hello")
    assert any(outcome.later.topics & hint for hint in crew.hints)


def test_the_server_knows_which_coordinators_there_are(crew: World):
    crew.coordinator("here").claim(providers=["claude"])
    crew.advance(5)
    (known,) = crew.owner.call("server_status")["coordinators"]
    assert (known["coordinator_id"], known["providers"], known["seconds_ago"]) == ("here", ["claude"], 5)


def test_a_check_whose_answer_was_lost_is_handed_out_again_at_once(world: World):
    """Not after 90 s: its Coordinator says which checks it runs, and this is none of them."""
    world.crew(workers=1)
    world.task("w1", acceptance=[{"file": "a.txt"}])
    worker = world.start("w1")
    worker.ask("report_completed", result="success", summary="done")
    coordinator = world.coordinator()
    (first,) = coordinator.claim(checking=[])["checks"]
    assert coordinator.claim(checking=[first["check_id"]])["checks"] == []
    assert coordinator.claim()["checks"] == [], "a Coordinator that does not say is asked again after a while only"
    assert [check["check_id"] for check in coordinator.claim(checking=[])["checks"]] == [first["check_id"]]


def test_an_agent_that_asks_for_labels_is_only_handed_to_who_offers_them_however_it_is_asked_for(world: World):
    world.crew(workers=0)
    world.worker("w1", "boss", provider_options={"labels": ["gpu"]})
    world.task("w1")
    desk = world.coordinator()
    for labels in ([], ["cpu"]):
        assert desk.reason("w1", labels=labels) == "hold no_labels"
        assert desk.call("should_start", agent_id="w1", labels=labels)["should_start"] is False
        assert desk.claim(labels=labels)["start"] == []
    assert desk.call("should_start", agent_id="w1", labels=["cpu", "gpu"])["should_start"] is True
    assert desk.reason("w1", labels=["gpu"]) == "start has_in_progress_task"
