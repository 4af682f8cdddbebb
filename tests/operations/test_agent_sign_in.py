"""Signing in: a launch is consumed and never guessed again; one session per launch; a refusal ends the process."""

from __future__ import annotations

import logging

import pytest

from tests.pitfalls.kit import log_lines
from tests.stories import Answer, Caller, World
from toryo.domain.launches import SIGN_IN_WITHIN
from toryo.domain.times import SECOND
from toryo.operations.calls.callers import Credentials


def by_hand(world: World, agent_id: str = "w1", **more: str) -> Answer:
    return world.nobody.call("authenticate", agent_id=agent_id, passkey=world.passkeys[agent_id], **more)


@pytest.mark.pitfall("F18")
def test_the_launch_says_what_the_session_is_for(crew: World):
    """F18: another, more urgent task that starts before the login changes nothing."""
    first = crew.task("w1")
    process = crew.started("w1")
    crew.owner.call("edit_agent", agent_id="w1", max_parallel_tasks=3)
    crew.task("w1", title="Urgent", priority="critical")
    said = process.sign_in()
    assert (said["purpose"], said["project_id"]) == ("task", crew.project_id)
    process.call("report_model", provider="claude", model_id="m")
    assert process.call("get_my_task")["task"]["task_id"] == first


def test_a_launch_is_consumed_by_the_sign_in(crew: World):
    crew.task("w1")
    process = crew.started("w1")
    process.sign_in()
    (launch,) = crew.launches()
    assert launch["state"] == "signed_in"
    assert len(crew.sessions()) == 1


def test_authenticating_again_answers_as_the_first_time_with_a_fresh_token(crew: World):
    crew.task("w1")
    process = crew.started("w1")
    first, second = process.sign_in(), process.sign_in()
    assert first["session_token"] != second["session_token"]
    same = ("agent_id", "agent_name", "project_id", "purpose", "system_prompt", "instruction")
    assert {key: first[key] for key in same} == {key: second[key] for key in same}
    assert len(crew.sessions()) == 1
    fresh = Caller(crew, None, second["session_token"])
    fresh.call("report_model", provider="claude", model_id="m")
    Caller(crew, None, first["session_token"]).refused("get_my_task", "sessionTokenInvalid")


def test_a_second_sign_in_by_passkey_is_refused_and_names_how_to_end_the_first(crew: World):
    crew.task("w1")
    crew.start("w1")
    heard, by_hand = crew.iso()[: -len("000Z")], {"agent_id": "w1", "passkey": crew.passkeys["w1"]}
    (session,) = crew.sessions()
    crew.advance(20)
    refusal = crew.nobody.refused("authenticate", "alreadyRunning", **by_hand)
    assert refusal["error"] == "Agent already running"
    assert f"{session['session_id']}, last heard of at {heard}" in refusal["message"]
    command, _, named = refusal["hint"].partition("toryo sessions --end ")
    assert command and named == refusal["session_id"] == session["session_id"]
    crew.owner.call("end_session", session_id=named)
    assert crew.nobody.call("authenticate", **by_hand)["success"]


def test_the_credential_of_a_dead_launch_opens_nothing(crew: World):
    crew.task("w1")
    process = crew.start("w1")
    process.report("failed", summary="x")
    crew.advance(61)
    assert process.refused("authenticate", "sessionExpired")["action"] == "exit"
    process.refused("list_tasks", "sessionExpired")
    process.refused("create_task", "sessionExpired", title="x", description="x")


def test_a_credential_nobody_knows_is_told_to_exit(crew: World):
    stranger = Caller(crew, "tlc_unknown")
    assert stranger.refused("authenticate", "invalidCredentials")["action"] == "exit"
    stranger.refused("get_next_action", "invalidCredentials")


def test_a_passkey_signs_in_for_the_order_that_waits(crew: World):
    crew.task("w1")
    launch = crew.coordinator().action("w1")["launch"]
    by_hand(crew)
    (known,) = crew.launches()
    assert (known["launch_id"], known["state"]) == (launch["launch_id"], "signed_in")


def test_a_passkey_gets_a_launch_on_the_spot_if_there_is_work(crew: World):
    task = crew.task("w1")
    token = by_hand(crew)["session_token"]
    agent = Caller(crew, None, token)
    assert agent.call("get_my_task")["task"]["task_id"] == task
    assert [launch["reason"] for launch in crew.launches()] == ["has_in_progress_task"]


def test_without_work_the_passkey_is_refused_with_the_reason(crew: World):
    refusal = crew.nobody.refused("authenticate", "notNow", agent_id="w1", passkey=crew.passkeys["w1"])
    assert (refusal["reason"], refusal["action"]) == ("no_in_progress_task", "exit")
    crew.task("w1")
    crew.owner.call("pause_project", project_id=crew.project_id)
    refusal = crew.nobody.refused("authenticate", "notNow", agent_id="w1", passkey=crew.passkeys["w1"])
    assert refusal["reason"] == "project_paused"


def test_a_person_may_start_an_agent_that_cools_down_or_that_nobody_manages(crew: World):
    crew.task("w1")
    launch = crew.coordinator().action("w1")["launch"]
    crew.coordinator().exited(launch["launch_id"], exit_code=1)
    assert crew.coordinator().reason("w1") == "hold cooling_down"
    by_hand(crew)
    crew.agent("self", "worker", provider=None)
    crew.task("self")
    assert crew.coordinator().reason("self") == "hold not_managed"
    by_hand(crew, "self")


@pytest.mark.pitfall("F7")
@pytest.mark.parametrize(
    "cause", ["inactive", "not a member", "foreign project", "wrong passkey", "unknown", "no work"]
)
def test_every_refusal_says_exit(crew: World, cause: str):
    """F7."""
    if cause != "no work":
        crew.task("w1")
    more = {}
    agent_id, passkey = "w1", crew.passkeys["w1"]
    if cause == "inactive":
        crew.owner.call("deactivate_agent", agent_id="w1")
    if cause == "not a member":
        crew.owner.call("remove_member", project_id=crew.project_id, agent_id="w1")
    if cause == "foreign project":
        more = {"project_id": crew.project(name="Other")}
    if cause == "wrong passkey":
        passkey = "pk_wrong"
    if cause == "unknown":
        agent_id = "nobody"
    refusal = crew.nobody.refused("authenticate", None, agent_id=agent_id, passkey=passkey, **more)
    assert (refusal["action"], refusal["success"]) == ("exit", False)
    assert crew.sessions() == []


def test_a_credential_is_refused_once_its_agent_is_not_employed_any_more(crew: World):
    crew.task("w1")
    process = crew.started("w1")
    crew.owner.call("deactivate_agent", agent_id="w1")
    assert process.refused("authenticate", None)["reason"] == "agent_inactive"
    assert [launch["state"] for launch in crew.launches()] == ["exited"]


@pytest.mark.pitfall("F121")
def test_five_failures_lock_sign_in_by_passkey_only(crew: World):
    """F121: a launch credential is never locked, and a person sees it."""
    crew.task("w1")
    process = crew.started("w1")
    for _ in range(5):
        crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    refusal = crew.nobody.refused("authenticate", "locked", agent_id="w1", passkey=crew.passkeys["w1"])
    assert refusal["action"] == "exit"
    assert 0 < refusal["retry_after"] <= 60
    assert [event["agent_id"] for event in crew.events("session.locked")] == ["w1"]
    process.sign_in()
    crew.task("w2")
    by_hand(crew, "w2")


def test_a_lock_ends_after_a_minute_and_four_failures_lock_nothing(crew: World):
    crew.task("w1")
    for _ in range(4):
        crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    crew.advance(61)
    for _ in range(4):
        crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    crew.nobody.refused("authenticate", "invalidCredentials", agent_id="w1", passkey="pk_wrong")
    crew.nobody.refused("authenticate", "locked", agent_id="w1", passkey=crew.passkeys["w1"])
    crew.advance(61)
    by_hand(crew)


def test_failures_for_an_id_that_does_not_exist_are_answered_alike(crew: World):
    answers = [
        crew.nobody.refused("authenticate", None, agent_id=each, passkey="pk_wrong")
        for each in ["w1", "nobody"]
        for _ in range(6)
    ]
    assert [answer["error"] for answer in answers[:6]] == [answer["error"] for answer in answers[6:]]


def try_passkey(world: World, agent_id: str, passkey: str, remote: str | None) -> Answer:
    asked = {"agent_id": agent_id, "passkey": passkey}
    return world.perform("authenticate", asked, Credentials(remote=remote)).result or {}


def test_wrong_passkeys_from_one_address_lock_nobody_out_elsewhere(crew: World):
    crew.task("w1")
    for _ in range(6):
        last = try_passkey(crew, "w1", "pk_wrong", "192.0.2.1")
    assert last["code"] == "locked"
    assert try_passkey(crew, "w1", crew.passkeys["w1"], "192.0.2.2")["success"]


def test_an_address_that_tries_many_ids_is_locked_out_whatever_it_tries(crew: World):
    crew.task("w1")
    for number in range(50):
        try_passkey(crew, f"guess-{number}", "pk_wrong", "2001:db8::1")
    assert try_passkey(crew, "w1", crew.passkeys["w1"], "2001:db8::2")["code"] == "locked", "its whole network"
    assert try_passkey(crew, "w1", crew.passkeys["w1"], "192.0.2.2")["success"]


def test_tries_with_ids_that_nobody_has_leave_nothing_behind(crew: World):
    before = crew.rows()
    for number in range(60):
        try_passkey(crew, f"guess-{number}", "pk_wrong", "192.0.2.1")
    assert crew.rows() == before


def test_tries_that_are_refused_because_there_are_too_many_write_no_log_line(
    crew: World, monkeypatch: pytest.MonkeyPatch
):
    lines = log_lines(monkeypatch, logging.INFO)
    for _ in range(20):
        try_passkey(crew, "w1", "pk_wrong", "192.0.2.1")
    assert len(lines) == 5


def test_a_process_whose_order_somebody_else_took_by_passkey_harms_nobody_when_it_ends(crew: World):
    """concepts 5: it was refused at sign-in, so its late exit report releases nothing."""
    crew.task("w1")
    coordinator = crew.coordinator()
    launch = coordinator.claim()["start"][0]
    token = by_hand(crew)["session_token"]
    process = crew.process(launch)
    assert process.refused("authenticate", "alreadyRunning")["action"] == "exit"
    answer = coordinator.exited(launch["launch_id"], exit_code=1)
    assert (answer["released"], answer["cooling_down_until"]) == ([], None)
    assert len(crew.sessions()) == 1
    Caller(crew, None, token).call("get_my_task")
    assert crew.why("w1") == "hold already_running"


def test_two_credentials_of_different_sessions_in_one_call_are_refused(crew: World):
    crew.task("w1")
    crew.task("w2")
    one, two = crew.start("w1"), crew.start("w2")
    both = Caller(crew, one.bearer, two.signed_in["session_token"])
    both.refused("get_my_task", "sessionTokenInvalid")
    Caller(crew, one.bearer, one.signed_in["session_token"]).call("get_my_task")


def test_the_session_token_may_be_an_argument_of_every_session_tool(crew: World):
    crew.task("w1")
    token = crew.start("w1").signed_in["session_token"]
    for name in ("get_next_action", "get_my_task", "list_tasks", "get_my_profile", "get_project"):
        crew.nobody.call(name, session_token=token)


def test_before_signing_in_a_process_is_told_to_sign_in(crew: World):
    crew.task("w1")
    refusal = crew.started("w1").refused("get_next_action", "authenticationRequired")
    assert "authenticate" in refusal["instruction"]


@pytest.mark.pitfall("F48")
@pytest.mark.parametrize(
    ("expected", "reported", "verified"),
    [
        ("sonnet-4", "sonnet-4-20250929", True),
        ("sonnet-4", "Sonnet-4", True),
        ("somebody/sonnet-4", "sonnet-4-20250929", True),
        ("sonnet-4", "somebody/sonnet-4", True),
        ("somebody/sonnet-4", "somebody/opus-4", False),
        ("sonnet-4", "opus-4", False),
        (None, "anything", True),
    ],
)
def test_the_model_is_verified_by_its_beginning_and_a_mismatch_is_seen_while_work_goes_on(
    crew: World, expected: str | None, reported: str, verified: bool
):
    """F48."""
    if expected is not None:
        crew.owner.call("edit_agent", agent_id="w1", model=expected)
    crew.task("w1")
    process = crew.started("w1")
    process.sign_in()
    assert process.call("report_model", provider="Claude", model_id=reported)["verified"] is verified
    assert bool(crew.events("session.model_mismatch")) is not verified
    assert process.action() == "get_task"


def test_a_system_prompt_and_the_language_of_the_project_are_delivered(world: World):
    world.project(language="ja")
    world.worker("w1", system_prompt="あなたは大工です")
    world.task("w1")
    said = world.started("w1").sign_in()
    assert said["system_prompt"] == "あなたは大工です"
    assert said["instruction"].startswith("認証されました")


@pytest.mark.pitfall("F120")
def test_no_secret_is_stored_or_told_in_an_event(crew: World):
    """F120."""
    crew.task("w1")
    process = crew.start("w1")
    secrets = [process.bearer or "", process.signed_in["session_token"], crew.passkeys["w1"]]
    everything = repr(crew.rows())
    assert [secret for secret in secrets if secret in everything] == []


def test_an_order_whose_time_is_over_is_not_taken_by_a_passkey(crew: World):
    crew.task("w1")
    late = crew.coordinator().claim()["start"][0]["launch_id"]
    crew.advance(SIGN_IN_WITHIN / SECOND + 1)
    by_hand(crew)
    states = {each["launch_id"]: each["state"] for each in crew.launches()}
    assert (states.pop(late), list(states.values())) == ("expired", ["signed_in"])
