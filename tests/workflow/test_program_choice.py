"""Which program would be started now: the own one, the one that stands in, or none for a while. No database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import NOW, tree_state
from tests.workflow.scenes import MAIN, snapshot
from toryo.domain.agents import Agent
from toryo.domain.launches import Purpose
from toryo.domain.quota_windows import Kept
from toryo.domain.tasks import Priority
from toryo.workflow import program_choice
from toryo.workflow.snapshot import Cooldown, Snapshot

OWN, OTHER = "claude opus", "gemini"
SOON, LATER, PAST = NOW + 60_000, NOW + 600_000, NOW


def agent(**options: Any) -> Agent:
    boss = tree_state(MAIN).agents["boss"]
    return replace(boss, provider="claude", model="opus", provider_options=options)


def scene(
    *cooldowns: Cooldown, accounts: dict[str, int] | None = None, options: dict[str, Any] | None = None
) -> Snapshot:
    """An agent of claude for which gemini stands in, unless its options say otherwise."""
    who = agent(**({"fallback": {"provider": "gemini"}} if options is None else options))
    used_up = {name: Cooldown(until, "quota") for name, until in (accounts or {}).items()}
    return snapshot(agent=who, cooldowns={Purpose.TASK: cooldowns}, accounts=used_up)


def asked(s: Snapshot) -> tuple[str | None, int | None]:
    """The program that would be started, and if none, when one would."""
    found = program_choice.choose(s, Purpose.TASK)
    return (found.name, None) if found else (None, program_choice.until(s, Purpose.TASK))


def test_without_any_failure_its_own_program_is_started() -> None:
    assert asked(scene()) == (OWN, None)


@pytest.mark.parametrize(
    "reason", ["quota", "rate_limited", "not_logged_in", "model_not_available", "command_not_found"]
)
def test_another_program_stands_in_where_that_helps(reason: str) -> None:
    assert asked(scene(Cooldown(SOON, reason, 1, OWN))) == (OTHER, None)


@pytest.mark.parametrize(
    "reason", ["crashed", "killed", "timed_out", "bad_config", "turn_limit", "output_flood", "could_not_connect"]
)
def test_nobody_stands_in_after_what_another_program_would_not_mend(reason: str) -> None:
    assert asked(scene(Cooldown(SOON, reason, 1, OWN))) == (None, SOON)


def test_nobody_stands_in_after_a_failure_of_an_unknown_kind() -> None:
    assert asked(scene(Cooldown(SOON, "of a later version", 1, OWN))) == (None, SOON)


@pytest.mark.parametrize("reason", ["quota", "crashed"])
def test_a_failure_of_no_certain_program_holds_them_all(reason: str) -> None:
    assert asked(scene(Cooldown(SOON, reason, 1))) == (None, SOON)


def test_a_used_up_account_hands_over_to_a_program_of_another_one() -> None:
    assert asked(scene(accounts={"claude": SOON})) == (OTHER, None)


def test_a_crash_during_anothers_quota_is_waited_for_and_then_the_other_one_stands_in() -> None:
    """The account was used up by somebody else, for longer than this agent's own crash holds it."""
    crashed = Cooldown(SOON, "crashed", 1, OWN)
    assert asked(scene(crashed, accounts={"claude": LATER})) == (None, SOON)
    assert asked(scene(replace(crashed, until=PAST), accounts={"claude": LATER})) == (OTHER, None)


@pytest.mark.parametrize("reason", ["crashed", "rate_limited"])
def test_when_the_one_that_stands_in_fails_too_nobody_is_started_until_one_of_them_may(reason: str) -> None:
    failed = Cooldown(SOON, reason, 1, OTHER)
    assert asked(scene(failed, accounts={"claude": LATER})) == (None, SOON)
    assert asked(scene(replace(failed, until=LATER), accounts={"claude": SOON})) == (None, SOON)


def test_a_failure_of_the_one_that_stands_in_does_not_speak_against_its_own() -> None:
    assert asked(scene(Cooldown(LATER, "crashed", 3, OTHER))) == (OWN, None)


def test_two_used_up_accounts_hold_until_the_first_of_them_may_be_used() -> None:
    assert asked(scene(accounts={"claude": LATER, "gemini": SOON})) == (None, SOON)


def test_what_ends_now_holds_nobody() -> None:
    assert asked(scene(Cooldown(NOW, "quota", 1, OWN), accounts={"claude": NOW})) == (OWN, None)
    assert asked(scene(Cooldown(NOW + 1, "crashed", 1, OWN), accounts={"claude": NOW})) == (None, NOW + 1)


def test_another_model_of_the_same_provider_stands_in_for_a_model_that_is_not_there() -> None:
    options = {"fallback": {"provider": "claude", "model": "sonnet"}}
    assert asked(scene(Cooldown(SOON, "model_not_available", 1, OWN), options=options)) == ("claude sonnet", None)
    assert asked(scene(Cooldown(SOON, "model_not_available", 1, "claude sonnet"), options=options)) == (OWN, None)


def test_another_model_on_the_same_account_does_not_help_where_the_account_is_used_up() -> None:
    same = {"fallback": {"provider": "claude", "model": "sonnet"}}
    assert asked(scene(accounts={"claude": SOON}, options=same)) == (None, SOON)
    other = {"fallback": {"provider": "claude", "model": "sonnet", "account": "second"}}
    assert asked(scene(accounts={"claude": SOON}, options=other)) == ("claude sonnet (second)", None)


SECOND = "claude opus (second)"
SEVERAL = {
    "fallback": [
        {"provider": "claude", "model": "opus", "account": "second"},
        {"provider": "gemini", "account": "ours"},
    ]
}


def several(*cooldowns: Cooldown, accounts: dict[str, int] | None = None) -> tuple[str | None, int | None]:
    return asked(scene(*cooldowns, accounts=accounts, options=SEVERAL))


def test_of_several_fallbacks_the_first_that_can_run_is_used() -> None:
    assert several() == (OWN, None)
    assert several(accounts={"claude": SOON}) == (SECOND, None)
    assert several(accounts={"claude": SOON, "second": LATER}) == ("gemini (ours)", None)
    assert several(accounts={"claude": LATER, "second": SOON, "ours": LATER}) == (None, SOON)
    assert several(Cooldown(SOON, "rate_limited", 1, OWN)) == (SECOND, None)
    limited = [Cooldown(LATER, "rate_limited", 1, each) for each in (OWN, SECOND, "gemini (ours)")]
    assert several(*limited[:2]) == ("gemini (ours)", None)
    assert several(*limited) == (None, LATER)
    for each in limited:
        others = [other for other in limited if other is not each]
        assert several(*others, replace(each, until=SOON)) == (None, SOON)
        assert several(*others, replace(each, until=PAST)) == (each.program, None)


def test_after_a_crash_of_one_that_stands_in_no_other_one_is_tried() -> None:
    assert several(Cooldown(SOON, "crashed", 1, SECOND), accounts={"claude": LATER}) == (None, SOON)
    assert several(Cooldown(SOON, "crashed", 1, "gemini (ours)"), accounts={"claude": LATER}) == (SECOND, None)


def test_a_stand_in_that_is_the_very_same_program_stands_in_for_nothing() -> None:
    options = {"fallback": {"provider": "claude", "model": "opus"}}
    assert asked(scene(Cooldown(SOON, "rate_limited", 1, OWN), options=options)) == (None, SOON)


def test_what_another_program_did_before_the_agent_was_changed_holds_the_new_one_up_not_at_all() -> None:
    """F47: provider and model are read when they are used."""
    assert asked(scene(Cooldown(LATER, "crashed", 5, "codex"))) == (OWN, None)
    assert asked(scene(Cooldown(LATER, "model_not_available", 5, "claude opsu"))) == (OWN, None)


@pytest.mark.parametrize("provider", ["command", "script", "playbook"])
def test_behind_some_programs_there_is_no_account(provider: str) -> None:
    who = replace(agent(), provider=provider, model=None)
    used_up = {provider: Cooldown(LATER, "quota")}
    assert asked(snapshot(agent=who, accounts=used_up)) == (provider, None)


def test_task_and_chat_cool_down_each_for_itself_and_an_account_for_both() -> None:
    s = scene(Cooldown(SOON, "crashed", 1, OWN), options={})
    assert program_choice.choose(s, Purpose.CHAT) is not None
    s = scene(accounts={"claude": SOON}, options={})
    assert program_choice.choose(s, Purpose.CHAT) is None
    assert program_choice.cooling_down(s, Purpose.CHAT)


KEPT = {"claude": Kept(SOON, LATER)}


@pytest.mark.parametrize(
    ("priority", "ours", "gemini"),
    [
        (None, OWN, OWN),
        (Priority.HIGH, OWN, OWN),
        (Priority.MEDIUM, SOON, OTHER),
        (Priority.LOW, LATER, OTHER),
    ],
)
def test_what_is_kept_of_an_account_is_for_more_urgent_tasks(
    priority: Priority | None, ours: str | int, gemini: str
) -> None:
    for options, expected in (({}, ours), (None, gemini)):
        s = replace(scene(options=options), kept=KEPT)
        found = program_choice.choose(s, Purpose.TASK, priority)
        until = program_choice.until(s, Purpose.TASK, priority)
        assert (found.name if found else until) == expected
        assert (until == NOW) is (found is not None)
        if priority is not None:
            assert program_choice.kept_from(s, priority) is (found is None)


def test_nothing_is_kept_from_who_cannot_be_started_or_has_no_account() -> None:
    used_up = replace(scene(accounts={"claude": SOON}, options={}), kept=KEPT)
    assert not program_choice.kept_from(used_up, Priority.LOW)
    assert program_choice.until(used_up, Purpose.TASK, Priority.LOW) == LATER
    script = snapshot(agent=replace(agent(), provider="script", model=None), kept=KEPT)
    assert not program_choice.kept_from(script, Priority.LOW)


def test_the_longest_cooldown_of_its_own_program_is_the_hindrance_and_names_the_account_if_that_is_it() -> None:
    crashed, used_up = Cooldown(SOON, "crashed", 1, OWN), Cooldown(LATER, "quota")
    for failure, account, hindrance in (
        (crashed, used_up, used_up),
        (replace(crashed, until=LATER), replace(used_up, until=SOON), replace(crashed, until=LATER)),
    ):
        s = snapshot(agent=agent(), cooldowns={Purpose.TASK: [failure]}, accounts={"claude": account})
        assert program_choice.hindrance(s, Purpose.TASK) == hindrance
        assert program_choice.own_used_up(s, Purpose.TASK) == ("claude" if hindrance == account else None)
        assert program_choice.own_cooldown(s, Purpose.TASK) == failure
    assert program_choice.hindrance(scene(), Purpose.TASK) is None
    assert program_choice.own_used_up(scene(), Purpose.TASK) is None
    assert program_choice.own_cooldown(scene(crashed), Purpose.TASK) == crashed
    assert program_choice.own_cooldown(scene(accounts={"claude": SOON}), Purpose.TASK) is None
    assert program_choice.own_cooldown(scene(accounts={"claude": SOON}, options={}), Purpose.TASK) is None


def test_used_up_accounts_are_named_once_in_the_order_of_the_programs() -> None:
    used = {"ours": LATER, "claude": SOON, "second": NOW, "others": LATER}
    s = scene(accounts=used, options=SEVERAL)
    assert program_choice.used_up(s) == ["claude", "ours"]
    twice = {"fallback": {"provider": "claude", "model": "sonnet"}}
    assert program_choice.used_up(scene(accounts={"claude": SOON}, options=twice)) == ["claude"]


def test_who_is_gone_has_no_program() -> None:
    s = replace(scene(Cooldown(SOON, "crashed", 1, OWN)), agent=None)
    assert asked(s) == (None, None)
    assert program_choice.own_cooldown(s, Purpose.TASK) is None
    assert program_choice.hindrance(s, Purpose.TASK) is None
    assert program_choice.own_used_up(s, Purpose.TASK) is None
    assert program_choice.first_again(s, Purpose.TASK) is None


def test_who_is_started_by_nobody_does_not_cool_down() -> None:
    s = snapshot(agent=replace(agent(), provider=None), cooldowns={Purpose.TASK: [Cooldown(SOON, "crashed")]})
    assert not program_choice.cooling_down(s, Purpose.TASK)
    assert asked(s) == (None, None)
