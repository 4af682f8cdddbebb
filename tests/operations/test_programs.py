"""Failures of programs and what they hold up: accounts, programs that stand in, who may start whom, a person's word."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.stories import Answer, Coordinator, Process, World
from toryo.domain.times import parse

NAMED = 23 * 60
HELD = NAMED * 1.1
"""Seconds: what a message names, and a tenth more."""
HOUR = 3600


@pytest.fixture
def crew(world: World) -> World:
    """Three workers of claude with a task each."""
    world.crew(workers=3)
    for each in ("w1", "w2", "w3"):
        world.task(each)
    return world


def end(world: World, launch: Answer, error: str, seconds: int | None = None, **more: Any) -> int | None:
    """The process of a launch ends so; until when its agent is held, if it is."""
    told = {"exit_code": 1, "error": error, **more}
    if seconds is not None:
        told["quota_reset_seconds"] = seconds
    until = world.coordinator().exited(launch["launch_id"], **told)["cooling_down_until"]
    return None if until is None else parse(until)


def start_of(world: World, agent_id: str, **more: Any) -> Answer:
    (launch,) = world.coordinator().claim(agent_ids=[agent_id], **more)["start"]
    return dict(launch)


def told(world: World, agent_id: str, purpose: str = "task") -> Answer:
    """What `why` says about an agent."""
    decisions = world.owner.call("why", agent_id=agent_id)["decisions"]
    return next(dict(decision) for decision in decisions if decision["purpose"] == purpose)


def stands_in(world: World, agent_id: str, provider: str = "gemini", **more: str) -> None:
    options = {"fallback": {"provider": provider, **more}}
    world.owner.call("edit_agent", agent_id=agent_id, provider_options=options)


# --- accounts --------------------------------------------------------------------------------------------------------


def test_a_used_up_quota_holds_everybody_on_that_account_for_its_time_and_a_tenth(crew: World):
    until = end(crew, start_of(crew, "w1"), "quota: resets after 23m", NAMED) or 0
    assert until == crew.now + HELD * 1000
    for each in ("w1", "w2", "w3"):
        said = told(crew, each)
        assert (said["action"], said["reason"]) == ("hold", "cooling_down")
        assert parse(said["until"]) == until
        assert said["seconds_left"] == (until - crew.now) // 1000
        assert (said["facts"]["cooldown"], said["facts"]["account"]) == ("quota", "claude")
        assert "account claude" in said["explanation"]


def test_who_works_on_another_account_or_on_none_is_not_held(crew: World):
    crew.owner.call("edit_agent", agent_id="w2", provider_options={"account": "second"})
    for each in ("command", "script", "playbook"):
        crew.worker(each, "boss", provider=each)
        crew.task(each)
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    assert sorted(crew.coordinator().starts()) == ["command", "playbook", "script", "w2"]


def test_agents_of_two_providers_on_one_named_account_are_held_together(crew: World):
    for agent, provider in (("w1", "claude"), ("w2", "gemini")):
        crew.owner.call("edit_agent", agent_id=agent, provider=provider, provider_options={"account": "shared"})
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    assert crew.why("w2") == "hold cooling_down"
    assert crew.coordinator().starts() == ["w3"]


def test_a_claim_wakes_at_the_moment_the_account_may_be_used_again(crew: World):
    until = end(crew, start_of(crew, "w1"), "quota", NAMED) or 0
    coordinator = crew.coordinator()
    asked = {"coordinator_id": "c1", "free_slots": 3, "running": [], "timeout_seconds": 45}
    waits = crew.perform("claim_starts", asked, coordinator.credentials, may_wait=True)
    assert waits.later is not None
    assert waits.later.at == until
    crew.now = until - 2
    assert coordinator.starts() == []
    crew.now = until
    assert sorted(coordinator.starts()) == ["w1", "w2", "w3"]


def test_nobody_is_started_in_between_whoever_asks_and_however(crew: World):
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    launches = len(crew.launches())
    for minute in range(25):
        for name in ("c1", "c2"):
            asks = crew.coordinator(name)
            assert asks.starts() == [], minute
            assert asks.reason("w2") == "hold cooling_down"
            assert asks.call("should_start", agent_id="w3")["should_start"] is False
        crew.housekeep()
        crew.advance(60)
    assert len(crew.launches()) == launches


def test_a_hold_survives_the_restart_of_the_server_and_of_coordinators(crew: World):
    until = end(crew, start_of(crew, "w1"), "quota", NAMED)
    again = World(crew.database, now=crew.now, seed=1)
    again.project_id = crew.project_id
    assert again.coordinator("new").starts() == []
    assert parse(told(again, "w2")["until"]) == until
    again.now = until or 0
    assert sorted(again.coordinator("new").starts()) == ["w1", "w2", "w3"]


def test_an_order_that_was_not_taken_before_its_account_was_used_up_is_not_handed_out_again(crew: World):
    coordinator = crew.coordinator()
    first, second = coordinator.claim(agent_ids=["w1", "w2"])["start"]
    end(crew, first, "quota", NAMED)
    assert coordinator.claim(running=[])["start"] == []
    assert second["agent_id"] == "w2"


def test_of_several_messages_the_one_that_says_longest_counts(crew: World):
    """One may speak of the limit of a minute, another of that of the week, or name no time at all."""
    launches = crew.coordinator().claim()["start"]
    week = end(crew, launches[0], "quota", 5 * HOUR)
    end(crew, launches[1], "quota", 60)
    end(crew, launches[2], "quota")
    assert parse(told(crew, "w1")["until"]) == week


def test_a_quota_without_a_time_holds_for_half_an_hour_and_a_tenth(crew: World):
    assert end(crew, start_of(crew, "w1"), "quota") == crew.now + 1980 * 1000


def test_a_rate_limit_concerns_its_agent_alone(crew: World):
    until = end(crew, start_of(crew, "w1"), "rate_limited: 429", 120)
    assert until == crew.now + 132 * 1000
    assert crew.why("w1") == "hold cooling_down"
    assert sorted(crew.coordinator().starts()) == ["w2", "w3"]


def test_chats_wait_for_an_account_too_and_not_for_the_crash_of_a_task(crew: World):
    crew.say("w2", "Hello?")
    end(crew, start_of(crew, "w2"), "crashed")
    assert crew.why_chat("w2") == "start has_pending_purpose"
    end(crew, start_of(crew, "w1", free_chat_slots=0), "quota", NAMED)
    assert crew.why_chat("w2") == "hold cooling_down"


# --- pitfalls --------------------------------------------------------------------------------------------------------


@pytest.mark.pitfall("F24")
def test_f24_twenty_five_minutes_after_a_quota_of_twenty_three_nothing_was_started(crew: World):
    launch = start_of(crew, "w1")
    end(crew, launch, "quota: quota will reset after 23m0s", NAMED)
    before = len(crew.launches())
    for _ in range(25 * 6):
        assert crew.coordinator().starts() == []
        crew.advance(10)
    assert len(crew.launches()) == before


@pytest.mark.pitfall("F24")
def test_f24_three_plain_failures_have_growing_gaps_up_to_an_hour_and_a_success_clears_them(crew: World):
    gaps = []
    for _ in range(9):
        until = end(crew, start_of(crew, "w1"), "crashed") or 0
        gaps.append((until - crew.now) // 1000)
        crew.now = until
    assert gaps == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    crew.start("w1").report()
    crew.task("w1")
    assert end(crew, start_of(crew, "w1"), "crashed") == crew.now + 60_000


@pytest.mark.pitfall("F25")
def test_f25_who_cools_down_has_no_order_that_nobody_carries_out(crew: World):
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    crew.advance(60)
    assert crew.coordinator().reason("w2") == "hold cooling_down"
    assert crew.launches(agent_id="w2") == []
    said = told(crew, "w2")
    assert said["reason"] == "cooling_down"
    assert HELD - 62 <= said["seconds_left"] <= HELD - 60


# --- a program that stands in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure", ["quota", "rate_limited", "not_logged_in", "model_not_available", "command_not_found"]
)
def test_another_program_stands_in_at_once_where_that_helps(crew: World, failure: str):
    stands_in(crew, "w1", model="flash")
    end(crew, start_of(crew, "w1"), failure, 600 if failure in ("quota", "rate_limited") else None)
    assert crew.why("w1") == "start has_in_progress_task"
    assert told(crew, "w1")["facts"]["stands_in"] == "gemini flash"
    assert crew.coordinator().call("should_start", agent_id="w1")["ai_type"] == "gemini"
    launch = start_of(crew, "w1")
    assert (launch["ai_type"], launch["model"]) == ("gemini", "flash")


@pytest.mark.parametrize("failure", ["crashed", "killed", "timed_out", "could_not_connect", "turn_limit"])
def test_nobody_stands_in_for_a_crash(crew: World, failure: str):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), failure)
    assert crew.why("w1") == "hold cooling_down"


def test_after_the_quota_its_own_program_is_used_again(crew: World):
    stands_in(crew, "w1")
    until = end(crew, start_of(crew, "w1"), "quota", NAMED)
    other = start_of(crew, "w1")
    crew.now = until or 0
    end(crew, other, "stopped", signal=15)
    assert start_of(crew, "w1")["ai_type"] == "claude"


def test_a_success_of_the_one_that_stands_in_does_not_end_the_rate_limit_of_the_own_one(crew: World):
    stands_in(crew, "w1")
    until = end(crew, start_of(crew, "w1"), "rate_limited", 600)
    process = crew.start("w1")
    assert process.launch["ai_type"] == "gemini"
    process.report()
    crew.task("w1")
    assert start_of(crew, "w1")["ai_type"] == "gemini"
    assert until is not None and crew.now < until


@pytest.mark.parametrize(
    ("own", "other", "most"),
    [
        (("quota", 1800), ("quota", 1800), 4),
        (("quota", None), ("crashed", None), 8),
        (("rate_limited", 300), ("crashed", None), 24),
        (("rate_limited", 300), ("rate_limited", 300), 24),
        (("not_logged_in", None), ("command_not_found", None), 12),
    ],
)
@pytest.mark.parametrize("fallback", [{"provider": "gemini"}, {"provider": "claude", "model": "small"}])
def test_a_hostile_hour_in_which_both_fail_has_few_starts(
    crew: World, own: tuple[str, int | None], other: tuple[str, int | None], most: int, fallback: dict[str, str]
):
    """No back and forth: where both have failed, the agent waits."""
    stands_in(crew, "w1", **fallback)
    started, over = [], crew.now + HOUR * 1000
    while crew.now < over:
        for launch in crew.coordinator().claim(agent_ids=["w1"])["start"]:
            started.append(launch["ai_type"])
            first = (launch["ai_type"], launch["model"]) == ("claude", None)
            end(crew, launch, *(own if first else other))
        crew.advance(30)
    assert 2 <= len(started) <= most, started


def test_when_both_fail_people_see_until_when(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    until = end(crew, start_of(crew, "w1"), "crashed")
    said = told(crew, "w1")
    assert (said["reason"], parse(said["until"])) == ("cooling_down", until)


@pytest.mark.parametrize(("own", "other", "first"), [(600, 60, " with gemini."), (60, 600, ".")])
def test_people_are_told_which_program_is_started_at_the_end_of_the_wait(crew: World, own: int, other: int, first: str):
    stands_in(crew, "w1")
    for seconds in (own, other):
        end(crew, start_of(crew, "w1"), "rate_limited", seconds)
    assert f"it restarts automatically{first}" in told(crew, "w1")["explanation"]


def test_where_all_accounts_are_used_up_people_are_told_all_of_them(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": [SECOND, {"provider": "gemini"}]})
    for accounts in ("account claude", "accounts claude, second", "accounts claude, second, gemini"):
        end(crew, start_of(crew, "w1", **offering("claude", "second")), "quota", NAMED)
        found = told(crew, "w1")
        named = "account claude" if found["action"] == "start" else accounts
        assert f"{named} " in found["explanation"]
    assert found["action"] == "hold"
    assert found["facts"]["accounts"] == ["claude", "second", "gemini"]
    events = crew.owner.call("read_events", kind="launch.ordered", agent_id="w1")["events"]
    assert [event["data"].get("fallback") for event in events] == [None, "claude (second)", "gemini"]


def test_a_fallback_that_is_not_logged_in_is_named_where_people_look(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": SECOND})
    having = offering("claude", "second")
    end(crew, start_of(crew, "w1", **having), "quota", NAMED)
    end(crew, start_of(crew, "w1", **having), "not_logged_in")
    titles = [need["title"] for need in crew.owner.call("needs_you")["items"]]
    assert any(title.startswith("claude (second), a fallback of w1, cannot be started") for title in titles), titles


def test_an_account_that_looks_misspelt_is_told_the_nearest_one(crew: World):
    seen(crew, "c2", **offering("claude", "second"))
    options = {"fallback": {"provider": "claude", "account": "secnd"}}
    [warning] = crew.owner.call("edit_agent", agent_id="w1", provider_options=options)["warnings"]
    assert "Did you mean second?" in warning
    options = {"fallback": {"provider": "claude", "account": "other"}}
    [warning] = crew.owner.call("edit_agent", agent_id="w1", provider_options=options)["warnings"]
    assert "Did you mean" not in warning


@pytest.mark.parametrize(
    "fallback",
    [
        {"provider": "claude"},
        {"provider": "claude", "account": "claude"},
        [{"provider": "gemini"}, {"provider": "gemini"}],
    ],
)
def test_a_fallback_that_comes_twice_or_is_the_own_program_is_told_to_have_no_effect(crew: World, fallback: Any):
    [warning] = crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})["warnings"]
    assert "has no effect" in warning


def test_a_launch_of_the_one_that_stands_in_goes_only_to_who_has_it(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    assert crew.coordinator("plain").starts(providers=["claude"]) == []
    assert crew.coordinator("other").starts(providers=["gemini"]) == ["w1"]


def test_a_quota_of_the_one_that_stands_in_holds_that_account_and_its_agents(crew: World):
    crew.owner.call("edit_agent", agent_id="w3", provider="gemini")
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    end(crew, start_of(crew, "w1"), "quota", 2 * HOUR)
    assert told(crew, "w3")["facts"]["account"] == "gemini"
    assert crew.why("w1") == "hold cooling_down"


@pytest.mark.parametrize(
    "options",
    [
        {"fallback": "gemini"},
        {"fallback": {"model": "x"}},
        {"fallback": {"account": "second"}},
        {"fallback": {"provider": "gemini", "modell": "x"}},
        {"labels": "gpu"},
        {"labels": [1]},
        {"account": ""},
        {"account": 7},
    ],
)
def test_options_that_the_server_cannot_read_are_refused_with_what_is_possible(crew: World, options: Answer):
    refusal = crew.owner.refused("edit_agent", "validationError", agent_id="w1", provider_options=options)
    assert refusal["instruction"].startswith("Use ") or "Did you mean model?" in refusal["instruction"]


def test_what_a_failed_start_said_is_told_only_while_it_is_why_the_agent_waits(crew: World):
    end(crew, start_of(crew, "w1"), "model_not_available: no such model")
    assert "The last launch said: " in told(crew, "w1")["explanation"]
    crew.owner.call("pause_project", project_id=crew.project_id)
    said = told(crew, "w1")
    assert said["facts"]["cooldown"] == "model_not_available"
    assert "The last launch said: " not in said["explanation"]


@pytest.mark.pitfall("F47")
def test_f47_after_an_edit_the_next_start_is_of_the_new_program_at_once(crew: World):
    for _ in range(3):
        until = end(crew, start_of(crew, "w1"), "model_not_available")
        crew.now = until or 0
    end(crew, start_of(crew, "w1"), "model_not_available")
    crew.owner.call("edit_agent", agent_id="w1", provider="gemini", model="pro")
    launch = start_of(crew, "w1")
    assert (launch["ai_type"], launch["model"]) == ("gemini", "pro")


# --- a person's word -------------------------------------------------------------------------------------------------


def test_a_person_ends_a_cooldown_and_the_launch_follows(crew: World):
    end(crew, start_of(crew, "w1"), "crashed")
    assert crew.owner.call("resume_agent", agent_id="w1")["ended"] == ["task"]
    assert any("work" in hint for hint in crew.hints[-3:])
    assert crew.why("w1") == "start has_in_progress_task"
    assert start_of(crew, "w1")["ai_type"] == "claude"


def test_a_person_ends_a_used_up_account_for_everybody_on_it(crew: World):
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    assert crew.owner.call("resume_agent", agent_id="w2")["ended"] == ["account claude"]
    assert sorted(crew.coordinator().starts()) == ["w1", "w2", "w3"]
    assert crew.events("agent.resumed")[-1]["data"] == {"ended": ["account claude"]}


def test_who_does_not_cool_down_is_told_so_and_nothing_happens(crew: World):
    before = crew.owner.call("server_status")["last_event"]
    assert crew.owner.call("resume_agent", agent_id="w1")["ended"] == []
    assert crew.owner.call("server_status")["last_event"] == before


def test_a_cooldown_that_is_over_is_none_that_a_person_ends(crew: World):
    crew.now = end(crew, start_of(crew, "w1"), "crashed") or 0
    assert crew.owner.call("resume_agent", agent_id="w1")["ended"] == []


def test_agents_do_not_end_cooldowns(crew: World):
    process = crew.start("w2")
    process.refused("resume_agent", agent_id="w1")
    crew.coordinator().refused("resume_agent", agent_id="w1")


# --- who can start whom ----------------------------------------------------------------------------------------------


def test_labels_that_an_agent_asks_for_must_be_offered(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"labels": ["gpu", "linux"]})
    only = {"agent_ids": ["w1"]}
    assert crew.coordinator("a").starts(**only) == []
    assert crew.coordinator("b").starts(labels=["gpu"], **only) == []
    assert crew.coordinator("c").starts(labels=["linux", "gpu", "big"], **only) == ["w1"]


def test_a_coordinator_for_some_capabilities_gets_agents_that_have_one_of_them(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", capabilities=["rust"])
    crew.owner.call("edit_agent", agent_id="w2", capabilities=["python", "sql"])
    assert crew.coordinator("a").starts(capabilities=["sql", "go"]) == ["w2"]
    assert crew.coordinator("b").starts(capabilities=[]) == []
    assert sorted(crew.coordinator("c").starts()) == ["w1", "w3"]


def test_two_coordinators_with_different_programs_share_one_project(crew: World):
    crew.owner.call("edit_agent", agent_id="w2", provider="gemini")
    crew.owner.call("edit_agent", agent_id="w3", provider="codex")
    here, there = crew.coordinator("here"), crew.coordinator("there")
    assert here.starts(providers=["claude"]) == ["w1"]
    assert sorted(there.starts(providers=["codex", "gemini"])) == ["w2", "w3"]
    running = {launch["agent_id"]: launch["coordinator_id"] for launch in crew.launches()}
    assert running == {"w1": "here", "w2": "there", "w3": "there"}


def seen(world: World, coordinator_id: str = "c1", **says: Any) -> Coordinator:
    """A Coordinator without a free slot has called, and said this of itself."""
    coordinator = world.coordinator(coordinator_id)
    coordinator.claim(free_slots=0, **says)
    return coordinator


@pytest.mark.parametrize(
    ("says", "code", "words"),
    [
        ({"providers": ["gemini"]}, "no_provider", ["claude", "c1", "gemini", "toryo agent edit w1"]),
        ({"providers": ["claude"]}, "no_labels", ["gpu", "c1", "labels"]),
        ({"providers": ["claude"], "labels": ["gpu"], "agent_ids": ["w2"]}, "not_listed", ["agents", "w1", "c1"]),
        ({"labels": ["gpu"], "capabilities": ["go"]}, "no_capability", ["capabilities", "go", "c1"]),
    ],
)
def test_why_says_what_is_missing_where_no_coordinator_can_start_an_agent(
    crew: World, says: Answer, code: str, words: list[str]
):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"labels": ["gpu"]})
    seen(crew, **says)
    said = told(crew, "w1")
    assert said["facts"]["no_coordinator"] == code
    assert "as soon as" not in said["explanation"]
    assert all(word in said["explanation"] for word in words), said["explanation"]


SECOND = {"provider": "claude", "account": "second"}


def offering(*accounts: str) -> dict[str, Any]:
    """What a Coordinator says whose file names these accounts of claude."""
    return {"accounts": [{"provider": "claude", "account": account} for account in accounts]}


def test_another_account_of_its_provider_is_used_only_where_a_coordinator_has_it(crew: World):
    edit = {"provider_options": {"fallback": SECOND}}
    assert "warnings" not in crew.owner.call("edit_agent", agent_id="w1", **edit), "nobody has called yet"
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    [warning] = crew.owner.call("show_agent", agent_id="w1")["warnings"]
    assert "account second of claude" in warning
    assert crew.coordinator().claim(agent_ids=["w1"])["start"] == []
    assert crew.coordinator().call("should_start", agent_id="w1")["should_start"] is False
    assert crew.coordinator().call("get_agent_action", agent_id="w1")["reason"] == "no_account"
    said = told(crew, "w1")
    assert said["facts"]["no_coordinator"] == "no_account"
    assert "ai_providers.claude.accounts" in said["explanation"]
    assert "available: only its own login" in said["explanation"]
    seen(crew, "c2", **offering("claude", "third"))
    assert "available: claude, third" in told(crew, "w1")["explanation"]
    launch = start_of(crew, "w1", **offering("claude", "second"))
    assert (launch["ai_type"], launch["account"]) == ("claude", "second")
    assert "warnings" not in crew.owner.call("show_agent", agent_id="w1")
    status = crew.owner.call("server_status")["coordinators"]
    assert {each["coordinator_id"]: each["accounts"] for each in status}["c2"] == {"claude": ["claude", "third"]}


def test_an_order_for_an_account_is_given_again_only_to_a_coordinator_that_still_has_it(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"account": "second"})
    launch = start_of(crew, "w1", **offering("second"))
    assert crew.coordinator().claim(agent_ids=["w1"], **offering("claude"))["start"] == []
    [again] = crew.coordinator().claim(agent_ids=["w1"], **offering("second"))["start"]
    assert again["launch_id"] == launch["launch_id"]


def test_a_coordinator_that_names_no_accounts_starts_each_agent_on_the_account_that_it_uses_first(crew: World):
    """As before there were accounts in its file: its one login is whatever account an agent says that it has."""
    options = {"account": "second", "fallback": {"provider": "claude", "account": "claude"}}
    crew.owner.call("edit_agent", agent_id="w1", provider_options=options)
    launch = start_of(crew, "w1")
    assert launch["account"] == "second"
    end(crew, launch, "quota", NAMED)
    assert crew.coordinator().claim(agent_ids=["w1"])["start"] == []


def test_a_fallback_that_no_coordinator_has_is_passed_over_for_the_next_one(crew: World):
    fallback = [SECOND, {"provider": "gemini", "model": "flash"}]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    [own] = crew.coordinator("own").claim(agent_ids=["w1"], providers=["claude"])["start"]
    end(crew, own, "quota", NAMED)
    said = told(crew, "w1")
    assert said["facts"]["no_coordinator"] == "no_account", "none of them has any: the first is told"
    seen(crew, "c1", providers=["claude", "gemini"])
    said = told(crew, "w1")
    assert "no_coordinator" not in said["facts"]
    assert said["facts"]["stands_in"] == "gemini flash"
    assert "gemini flash is used instead" in said["explanation"]
    assert crew.owner.call("show_overview")["needs"] == []
    assert crew.coordinator("own").claim(providers=["claude"])["start"] == []
    launch = start_of(crew, "w1", providers=["claude", "gemini"])
    assert (launch["ai_type"], launch["model"]) == ("gemini", "flash")
    [*_, event] = crew.events("launch.ordered")
    assert event["data"]["fallback"] == "gemini flash"


def test_a_fallback_is_not_passed_over_while_another_coordinator_has_it(crew: World):
    fallback = [SECOND, {"provider": "gemini"}]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    seen(crew, "laptop", **offering("claude", "second"))
    here: dict[str, Any] = {"agent_ids": ["w1"], "providers": ["claude", "gemini"]}
    assert crew.coordinator("c1").claim(**here)["start"] == [], "it is the other one's to start"
    crew.advance(91)
    [launch] = crew.coordinator("c1").claim(**here)["start"]
    assert launch["ai_type"] == "gemini", "the other one has not called for 90 s"


def test_its_own_program_is_never_passed_over_since_people_are_told_that_it_is_missing(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": [{"provider": "gemini"}, SECOND]})
    seen(crew, "c1", providers=["gemini"])
    assert told(crew, "w1")["facts"]["no_coordinator"] == "no_provider"
    assert crew.coordinator("c1").claim(agent_ids=["w1"], providers=["gemini"])["start"] == []


def test_each_failure_of_a_stand_in_leaves_the_next_one_and_a_success_of_the_own_one_ends_all(crew: World):
    fallback = [SECOND, {"provider": "gemini"}, {"provider": "codex"}]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    having = offering("claude", "second")
    for program in ("claude", "claude (second)", "gemini", "codex"):
        launch = start_of(crew, "w1", **having)
        assert launch["ai_type"] == program.split()[0]
        end(crew, launch, "rate_limited", 600)
    cooldowns = crew.owner.call("show_agent", agent_id="w1")["cooldowns"]
    assert [each["program"] for each in cooldowns] == ["claude", "claude (second)", "codex", "gemini"]
    assert crew.coordinator().claim(agent_ids=["w1"], **having)["start"] == []
    crew.now = parse(cooldowns[0]["until"])
    process = crew.start("w1")
    assert process.launch["account"] == "claude"
    process.report()
    assert crew.owner.call("show_agent", agent_id="w1")["cooldowns"] == []


def test_a_program_that_says_late_why_it_never_signed_in_has_its_fallbacks_like_any_other(crew: World):
    """Its launch has run out before: it was refused again and again."""
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": [{"provider": "gemini"}]})
    for error, seconds in (("quota", 5 * HOUR), ("rate_limited", HOUR), ("not_logged_in", None)):
        launch = start_of(crew, "w1")
        crew.advance(121)
        assert crew.coordinator().claim(agent_ids=["w1"], running=[launch["launch_id"]])["start"] == []
        end(crew, launch, error, seconds)
        other = start_of(crew, "w1")
        assert other["ai_type"] == "gemini", error
        crew.coordinator().exited(other["launch_id"], error="stopped", signal=15)
        crew.owner.call("resume_agent", agent_id="w1")


def test_a_used_up_quota_that_is_told_late_ends_with_that_of_its_account(crew: World):
    launch = start_of(crew, "w1")
    crew.advance(121)
    crew.coordinator().claim(agent_ids=["w1"], running=[launch["launch_id"]])
    end(crew, launch, "quota", 5 * HOUR)
    assert crew.owner.call("resume_agent", agent_id="w2")["ended"] == ["account claude"]
    crew.advance(61)
    assert start_of(crew, "w1")["account"] == "claude"


def test_what_a_person_can_correct_is_told_also_after_a_fallback_has_failed(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "model_not_available")
    end(crew, start_of(crew, "w1"), "rate_limited")
    cooldowns = crew.owner.call("show_agent", agent_id="w1")["cooldowns"]
    reasons = {each["program"]: each["reason"] for each in cooldowns}
    assert reasons == {"claude": "model_not_available", "gemini": "rate_limited"}
    crew.owner.call("edit_agent", agent_id="w1", model="opus")
    assert start_of(crew, "w1")["model"] == "opus", "it is corrected"


@pytest.mark.parametrize(("own", "other", "first"), [(600, 60, "gemini"), (60, 600, "claude")])
def test_each_program_waits_for_its_own_end_and_the_first_that_may_is_started(
    crew: World, own: int, other: int, first: str
):
    stands_in(crew, "w1")
    ends = [end(crew, start_of(crew, "w1"), "rate_limited", seconds) or 0 for seconds in (own, other)]
    assert parse(told(crew, "w1")["until"]) == min(ends)
    waits = crew.owner.call("show_overview")["fuel"]["cooldowns"]
    assert [(each["name"], parse(each["until"])) for each in waits] == [("w1", min(ends))]
    crew.now = min(ends) - 2
    assert crew.coordinator().claim(agent_ids=["w1"])["start"] == []
    crew.now = min(ends)
    assert crew.owner.call("show_overview")["fuel"]["cooldowns"] == [], "one of them can be started"
    assert start_of(crew, "w1")["ai_type"] == first


def test_a_program_that_keeps_failing_does_not_lengthen_the_pause_of_another(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "rate_limited", 5 * HOUR)
    for seconds in (60, 120, 240):
        until = end(crew, start_of(crew, "w1"), "crashed") or 0
        assert until == crew.now + seconds * 1000
        crew.now = until
    crew.advance(6 * HOUR)
    launch = start_of(crew, "w1")
    assert launch["ai_type"] == "claude"
    assert end(crew, launch, "crashed") == crew.now + 120_000, "the second failure of this program"


def test_a_guard_holds_all_programs_of_its_agent(crew: World):
    stands_in(crew, "w1")
    process = crew.start("w1")
    crew.advance(2 * HOUR)
    crew.coordinator().claim(running=[process.launch_id])
    said = told(crew, "w1")
    assert (said["reason"], said["facts"]["cooldown"]) == ("cooling_down", "silent")


def not_started(world: World) -> list[str]:
    """What people are told of w1 that cannot be started: the program of a fallback, or the agent."""
    found = world.owner.call("needs_you")["items"]
    titles = [need["title"] for need in found if (need["kind"], need["agent_id"]) == ("agent_cannot_start", "w1")]
    titles = [each for each in titles if "keeps failing" not in each]
    return sorted(title.partition(" cannot")[0].partition(", ")[0] for title in titles)


def at_work(world: World, launch: Answer) -> Process:
    """Its process has signed in, reported its model and fetched its task."""
    process = world.process(launch)
    process.sign_in()
    process.call("report_model", provider=launch["ai_type"], model_id="model-1")
    process.call("get_my_task")
    return process


def test_people_are_told_of_each_program_that_is_not_logged_in_until_that_one_works(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": [SECOND, {"provider": "gemini"}]})
    having = offering("claude", "second")
    end(crew, start_of(crew, "w1", **having), "not_logged_in")
    end(crew, start_of(crew, "w1", **having), "not_logged_in")
    both = ["claude (second)", "w1"]
    assert not_started(crew) == both
    third = at_work(crew, start_of(crew, "w1", **having))
    assert third.launch["ai_type"] == "gemini"
    assert not_started(crew) == both, "a third one works"
    third.report()
    assert not_started(crew) == both
    crew.advance(70)
    crew.task("w1")
    own = at_work(crew, start_of(crew, "w1", **having))
    assert own.launch["account"] == "claude"
    assert not_started(crew) == both[:1]
    own.report()
    assert not_started(crew) == both[:1], "who relies on a fallback is told that it is missing"
    crew.owner.call("resume_agent", agent_id="w1")
    assert not_started(crew) == []


@pytest.mark.parametrize(("failure", "left"), [("bad_directory", []), ("command_not_found", ["gemini"])])
def test_a_success_of_the_own_program_proves_only_what_concerns_every_program(
    crew: World, failure: str, left: list[str]
):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", 60)
    end(crew, start_of(crew, "w1"), failure)
    assert not_started(crew) == ["gemini"]
    crew.advance(70)
    crew.start("w1").report()
    assert not_started(crew) == left


def test_people_are_not_told_of_a_program_that_the_agent_no_longer_has(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    end(crew, start_of(crew, "w1"), "not_logged_in")
    assert not_started(crew) == ["gemini"]
    stands_in(crew, "w1", "codex")
    assert not_started(crew) == []
    late = start_of(crew, "w1")
    assert late["ai_type"] == "codex"
    stands_in(crew, "w1", "qwen")
    assert end(crew, late, "not_logged_in") is None, "nothing waits for it"
    assert not_started(crew) == []
    assert start_of(crew, "w1")["ai_type"] == "qwen"


def test_a_login_that_is_there_again_ends_the_cooldowns_for_it_and_no_others(crew: World):
    for agent_id, account in (("w1", "second"), ("w2", "second"), ("w3", "third")):
        crew.owner.call("edit_agent", agent_id=agent_id, provider_options={"account": account})
        end(crew, start_of(crew, agent_id, **offering("second", "third")), "not_logged_in")
    crew.owner.call("edit_agent", agent_id="w2", model="opus")
    end(crew, start_of(crew, "w2", **offering("second")), "crashed")
    machine, last = crew.coordinator(), len(crew.hints)
    for other in ({"provider": "claude"}, {"provider": "gemini", "account": "second"}):
        assert machine.call("report_login", **other)["ended"] == []
    assert len(crew.hints) == last
    assert not_started(crew) == ["w1"]
    assert machine.call("report_login", provider="claude", account="second")["ended"] == ["w1"]
    assert any("work" in hint for hint in crew.hints[last:])
    assert crew.events("agent.resumed")[-1]["data"] == {"ended": ["task"]}
    assert "w1" not in not_started(crew)
    assert (crew.why("w2"), crew.why("w3")) == ("hold cooling_down", "hold cooling_down")
    assert machine.starts(**offering("second", "third")) == ["w1"]
    assert machine.call("report_login", provider="claude", account="second")["ended"] == []
    crew.owner.refused("report_login", provider="claude")


def test_a_coordinator_that_makes_no_claims_is_given_the_program_that_one_which_does_would_be(crew: World):
    fallback = [SECOND, {"provider": "gemini"}]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    asks = crew.coordinator("simple")
    seen(crew, "laptop", **offering("claude", "second"))
    assert asks.call("should_start", agent_id="w1")["should_start"] is False
    assert asks.call("get_agent_action", agent_id="w1")["reason"] == "no_account", "it is the other one's to start"
    crew.advance(91)
    assert asks.call("should_start", agent_id="w1")["ai_type"] == "gemini", "the other one has not called for 90 s"
    assert asks.call("get_agent_action", agent_id="w1")["launch"]["ai_type"] == "gemini"


def test_an_outage_that_takes_all_programs_counts_once_however_many_there_are(crew: World):
    fallback = [{"provider": each} for each in ("gemini", "codex", "qwen", "copilot")]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    waits = []
    for _ in range(3):
        for _ in range(5):
            until = end(crew, start_of(crew, "w1"), "service_failed") or 0
        waits.append((until - crew.now) // 1000)
        assert crew.coordinator().claim(agent_ids=["w1"])["start"] == []
        crew.now = until
    assert waits == [60, 120, 240]


def test_a_fallback_that_cannot_run_is_tried_less_and_less_often_while_the_next_one_does_the_work(crew: World):
    fallback = [{"provider": "gemini"}, {"provider": "codex"}]
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": fallback})
    end(crew, start_of(crew, "w1"), "quota", 100 * HOUR)
    tried = 0
    for _ in range(20):
        process = crew.start("w1")
        if process.launch["ai_type"] == "gemini":
            tried += 1
            end(crew, process.launch, "not_logged_in")
            process = crew.start("w1")
        crew.advance(200)
        process.report()
        crew.task("w1")
    assert 2 <= tried <= 6


def test_a_success_of_the_own_program_begins_the_count_of_a_fallback_again(crew: World):
    stands_in(crew, "w1")
    for _ in range(2):
        end(crew, start_of(crew, "w1"), "quota", 60)
        assert end(crew, start_of(crew, "w1"), "crashed") == crew.now + 60_000
        crew.advance(70)
        crew.start("w1").report()
        crew.task("w1")


def expired(world: World, agent_id: str = "w1") -> Answer:
    """Its launch, for which nobody has signed in in time; its process has not ended yet."""
    launch = start_of(world, agent_id)
    world.advance(121)
    world.coordinator().claim(agent_ids=[agent_id], running=[launch["launch_id"]])
    return launch


def test_a_rate_limit_without_a_time_that_is_told_late_waits_as_long_as_any(crew: World):
    assert end(crew, expired(crew), "rate_limited") == crew.now + 330_000


def test_a_launch_that_nobody_signed_in_for_is_told_as_one_failure(crew: World):
    end(crew, expired(crew), "could_not_connect: no call")
    assert [event["data"]["failures"] for event in crew.events("agent.cooling_down")] == [1]


@pytest.mark.parametrize("failure", ["rate_limited", "service_failed", "not_logged_in"])
def test_who_makes_no_claims_starts_a_chat_also_while_the_task_is_another_ones_to_start(crew: World, failure: str):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": SECOND})
    end(crew, start_of(crew, "w1"), failure)
    crew.say("w1", "Hello?")
    asks = crew.coordinator("simple")
    assert asks.call("should_start", agent_id="w1")["ai_type"] == "claude"
    done = asks.call("get_agent_action", agent_id="w1")
    assert (done["action"], done["purpose"], done["launch"]["account"]) == ("start", "chat", "claude")
    assert asks.call("get_agent_action", agent_id="w1")["reason"] == "no_account", "of its task"


def test_people_are_told_that_nobody_has_its_own_program_also_while_a_fallback_is_not_logged_in(crew: World):
    for other in ("w2", "w3"):
        crew.owner.call("deactivate_agent", agent_id=other)
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", 60)
    end(crew, start_of(crew, "w1"), "not_logged_in")
    crew.advance(70)
    seen(crew, "c1", providers=["gemini"])
    assert not_started(crew) == ["No Coordinator has claude: w1", "gemini"]


def test_the_home_page_says_until_when_the_first_program_waits_and_not_until_when_another_one_does(crew: World):
    stands_in(crew, "w1")
    crew.owner.call("edit_agent", agent_id="w2", provider="gemini")
    end(crew, start_of(crew, "w1"), "rate_limited", 2 * HOUR)
    until = end(crew, start_of(crew, "w2"), "quota", HOUR)
    assert parse(told(crew, "w1")["until"]) == until
    waits = crew.owner.call("show_overview")["fuel"]["cooldowns"]
    assert [(each["name"], parse(each["until"])) for each in waits] == [("gemini", until)]
    until = end(crew, start_of(crew, "w3"), "rate_limited", 3 * HOUR)
    waits = crew.owner.call("show_overview")["fuel"]["cooldowns"]
    assert [each["name"] for each in waits] == ["gemini", "w3"]


@pytest.mark.parametrize("ending", ["quota", "stopped", "lost"])
def test_who_has_logged_in_a_program_is_not_told_again_however_it_ends_its_work(crew: World, ending: str):
    end(crew, start_of(crew, "w1"), "not_logged_in")
    crew.advance(70)
    assert not_started(crew) == ["w1"]
    process = at_work(crew, start_of(crew, "w1"))
    if ending == "lost":
        crew.advance(2 * HOUR)
        seen(crew)
    else:
        end(crew, process.launch, ending, 5 * HOUR if ending == "quota" else None)
    assert not_started(crew) == []


def test_a_program_that_loses_its_login_at_work_is_told_again(crew: World):
    for _ in range(2):
        end(crew, at_work(crew, start_of(crew, "w1")).launch, "not_logged_in")
        assert not_started(crew) == ["w1"]
        crew.advance(150)
    end(crew, start_of(crew, "w1"), "stopped", signal=15)
    assert not_started(crew) == ["w1"], "it was stopped before it could show anything"


def test_a_login_that_a_task_has_shown_is_not_missed_for_the_chat(crew: World):
    crew.say("w1", "Hello?")
    launches = crew.coordinator().claim(agent_ids=["w1"], free_chat_slots=1)["start"]
    assert [each["purpose"] for each in launches] == ["task", "chat"]
    for launch in launches:
        end(crew, launch, "not_logged_in")
    crew.advance(70)
    assert not_started(crew) == ["w1"]
    at_work(crew, start_of(crew, "w1")).report()
    assert not_started(crew) == []
    chat = start_of(crew, "w1", free_chat_slots=1)
    end(crew, chat, "not_logged_in")
    assert not_started(crew) == ["w1"]


def test_a_chat_that_works_does_not_show_that_a_task_has_its_directory_again(crew: World):
    crew.say("w1", "Hello?")
    task, chat = crew.coordinator().claim(agent_ids=["w1"], free_chat_slots=1)["start"]
    end(crew, task, "bad_directory")
    end(crew, at_work(crew, chat).launch, "stopped", signal=15)
    assert not_started(crew) == ["w1"]


def test_a_directory_that_cannot_be_used_is_told_until_there_is_work_in_that_one(crew: World):
    end(crew, start_of(crew, "w1"), "bad_directory")
    other = crew.project(name="Other")
    crew.owner.call("add_member", project_id=other, agent_id="w1")
    crew.owner.call("pause_project", project_id=crew.project_id)
    crew.task("w1", project_id=other)
    crew.advance(70)
    launch = start_of(crew, "w1")
    assert launch["project_id"] == other
    end(crew, at_work(crew, launch).launch, "stopped", signal=15)
    assert not_started(crew) == ["w1"]
    crew.owner.call("pause_project", project_id=other)
    crew.owner.call("resume_project", project_id=crew.project_id)
    end(crew, at_work(crew, start_of(crew, "w1")).launch, "stopped", signal=15)
    assert not_started(crew) == []


def test_a_person_who_resumes_an_agent_that_is_told_as_a_need_is_heard_where_others_look(crew: World):
    """Its cooldown is over, so nothing is ended but the need: who looks at the dashboard must see that."""
    end(crew, start_of(crew, "w1"), "not_logged_in")
    crew.advance(70)
    assert not_started(crew) == ["w1"]
    assert crew.owner.call("resume_agent", agent_id="w1")["ended"] == []
    assert not_started(crew) == []
    assert [event["agent_id"] for event in crew.events("agent.resumed")] == ["w1"]


def test_a_success_of_a_program_that_was_taken_away_says_nothing_about_the_others(crew: World):
    stands_in(crew, "w1")
    for _ in range(3):
        crew.now = end(crew, start_of(crew, "w1"), "crashed") or 0
    end(crew, start_of(crew, "w2"), "quota", 60)
    process = at_work(crew, start_of(crew, "w1"))
    assert process.launch["ai_type"] == "gemini"
    stands_in(crew, "w1", "codex")
    process.report()
    crew.task("w1")
    crew.advance(70)
    launch = start_of(crew, "w1")
    assert launch["ai_type"] == "claude"
    assert end(crew, launch, "crashed") == crew.now + 480_000, "its fourth failure in a row"


def test_an_order_for_a_program_that_the_agent_no_longer_has_is_not_handed_out_again(crew: World):
    coordinator = crew.coordinator()
    launch = start_of(crew, "w1")
    crew.owner.call("edit_agent", agent_id="w1", provider="gemini")
    assert coordinator.claim(agent_ids=["w1"])["start"] == []
    crew.advance(121)
    again = start_of(crew, "w1")
    assert (launch["ai_type"], again["ai_type"]) == ("claude", "gemini")


@pytest.mark.parametrize("key", ["provider", "model", "account"])
def test_a_name_that_no_coordinator_could_tell_is_refused(crew: World, key: str):
    options = {"fallback": {"provider": "claude", "account": "second", key: "x" * 201}}
    crew.owner.refused("edit_agent", "validationError", agent_id="w1", provider_options=options)
    crew.owner.refused("edit_agent", "validationError", agent_id="w1", provider_options={"account": "x" * 201})


def test_the_longest_names_in_any_letters_have_cooldowns_like_others(crew: World):
    letters = random.Random(1)
    model, account = ("".join(chr(0x20000 + letters.randrange(40_000)) for _ in range(200)) for _ in range(2))
    fallback = {"provider": "claude", "model": model, "account": account}
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": [fallback, {"provider": "gemini"}]})
    end(crew, start_of(crew, "w1"), "rate_limited", 600)
    having = offering("claude", account)
    end(crew, start_of(crew, "w1", **having), "rate_limited", 600)
    assert start_of(crew, "w1", **having)["ai_type"] == "gemini"
    crew.owner.call("resume_agent", agent_id="w1")


def test_the_words_of_another_programs_end_are_not_quoted(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "not_logged_in: Run claude login")
    end(crew, start_of(crew, "w1"), "not_logged_in: Run gemini login")
    assert "Run claude login" in told(crew, "w1")["explanation"]


def test_a_session_of_a_program_goes_on_only_with_the_account_that_it_began_with(crew: World):
    """Its files are where the login is."""
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"fallback": SECOND})
    having = offering("claude", "second")
    session = {"id": "s-1", "totals": {}}
    first = start_of(crew, "w1", **having)
    crew.coordinator().exited(first["launch_id"], error="quota", quota_reset_seconds=600, program_session=session)
    other = start_of(crew, "w1", **having)
    assert (other["account"], other["program_session"]) == ("second", None)
    crew.coordinator().exited(other["launch_id"], error="stopped", signal=15, program_session={"id": "s-2"})
    assert start_of(crew, "w1", **having)["program_session"]["id"] == "s-2"


def test_why_says_so_when_no_coordinator_has_called_for_ninety_seconds(crew: World):
    assert told(crew, "w1")["facts"]["no_coordinator"] == "none"
    seen(crew)
    assert "no_coordinator" not in told(crew, "w1")["facts"]
    assert "as soon as a Coordinator has a free slot" in told(crew, "w1")["explanation"]
    crew.advance(91)
    said = told(crew, "w1")
    assert said["facts"]["no_coordinator"] == "none"
    assert "toryo coordinator" in said["explanation"]


def test_one_coordinator_that_can_is_enough_and_the_nearest_miss_is_named(crew: World):
    crew.owner.call("edit_agent", agent_id="w1", provider_options={"labels": ["gpu"]})
    seen(crew, "far", providers=["gemini"])
    seen(crew, "near", providers=["claude"])
    assert told(crew, "w1")["facts"]["no_coordinator"] == "no_labels"
    seen(crew, "right", providers=["claude"], labels=["gpu"])
    assert "no_coordinator" not in told(crew, "w1")["facts"]


def test_why_asks_for_the_program_that_stands_in(crew: World):
    stands_in(crew, "w1")
    end(crew, start_of(crew, "w1"), "quota", NAMED)
    seen(crew, "c1", providers=["claude"])
    said = told(crew, "w1")
    assert said["facts"]["no_coordinator"] == "no_provider"
    assert "gemini" in said["explanation"]


def test_the_status_shows_what_each_coordinator_says_of_itself(crew: World):
    seen(crew, "a", providers=["claude"], labels=["gpu"], capabilities=["go"], agent_ids=["w1"])
    seen(crew, "b")
    first, second = crew.owner.call("server_status")["coordinators"]
    assert (first["providers"], first["labels"]) == (["claude"], ["gpu"])
    assert (first["capabilities"], first["agents"]) == (["go"], ["w1"])
    assert (second["labels"], second["capabilities"], second["agents"]) == ([], None, None)


# --- what is said of failures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    ["turn_limit", "output_flood", "rate_limited", "quota", "not_logged_in", "command_not_found", "crashed", "silent"],
)
def test_every_failure_is_named_where_people_ask_why(crew: World, failure: str):
    process: Process = crew.start("w1")
    end(crew, process.launch, failure)
    said = told(crew, "w1")
    assert said["facts"]["cooldown"] == failure
    assert said["seconds_left"] > 0
    assert "In cooldown because" in said["explanation"]
    assert "toryo agent resume w1" in said["explanation"]


@pytest.mark.parametrize("now", [{"providers": ["gemini"]}, {"agent_ids": ["w2"]}])
def test_an_order_that_its_coordinator_cannot_perform_any_more_is_not_handed_out_again(crew: World, now: Answer):
    """It was started anew with another file before it had started anybody."""
    coordinator = crew.coordinator()
    assert len(coordinator.claim(agent_ids=["w1"])["start"]) == 1
    assert "w1" not in [each["agent_id"] for each in coordinator.claim(**now)["start"]]
    crew.advance(121)
    assert crew.coordinator("able").starts(agent_ids=["w1"]) == ["w1"]
