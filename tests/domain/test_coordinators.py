"""Coordinators: when one is gone, and which agents it can start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.things import NOW, agent
from toryo.domain.agents import Agent
from toryo.domain.coordinators import GONE_AFTER, LACKS, Offer, is_gone


@pytest.mark.parametrize(("silent", "gone"), [(0, False), (GONE_AFTER - 1, False), (GONE_AFTER, True)])
def test_a_coordinator_that_has_not_called_for_long_is_gone(silent: int, *, gone: bool) -> None:
    assert is_gone(NOW - silent, NOW) is gone


def offer(**facts: Any) -> Offer:
    return Offer(**{"providers": None, "agents": None, "capabilities": None, "labels": (), **facts})


def claude(*labels: str, capabilities: tuple[str, ...] = (), **options: Any) -> Agent:
    given = {**options, **({"labels": list(labels)} if labels else {})}
    return replace(agent("ann", provider="claude"), provider_options=given, capabilities=capabilities)


SECOND = claude(account="second")


@pytest.mark.parametrize(
    ("who", "facts", "lacks"),
    [
        (claude(), {}, None),
        (claude(), {"providers": ["claude"]}, None),
        (claude(), {"providers": ["gemini"]}, "no_provider"),
        (claude(), {"providers": []}, "no_provider"),
        (claude(), {"accounts": {"claude": ["claude", "second"]}}, None),
        (claude(), {"accounts": {"claude": ["second"]}}, "no_account"),
        (claude(), {"accounts": {"gemini": ["second"]}}, None),
        (SECOND, {}, None),
        (SECOND, {"accounts": {"claude": ["second"]}}, None),
        (SECOND, {"accounts": {"claude": []}}, "no_account"),
        (agent("ann", provider="script"), {"accounts": {"script": []}}, None),
        (claude(), {"agents": ["ann"]}, None),
        (claude(), {"agents": ["bob"]}, "not_listed"),
        (claude(), {"agents": []}, "not_listed"),
        (claude(), {"capabilities": ["python"]}, "no_capability"),
        (claude(capabilities=("python", "sql")), {"capabilities": ["sql", "go"]}, None),
        (claude(capabilities=("python",)), {"capabilities": []}, "no_capability"),
        (claude("gpu"), {}, "no_labels"),
        (claude("gpu"), {"labels": ["gpu", "big"]}, None),
        (claude("gpu", "big"), {"labels": ["gpu"]}, "no_labels"),
        (claude(), {"labels": ["gpu"]}, None),
    ],
)
def test_an_agent_is_started_where_nothing_that_it_needs_is_missing(
    who: Agent, facts: dict[str, Any], lacks: str | None
) -> None:
    found = offer(**facts)
    assert who.program is not None
    assert found.lacks(who, who.program) == lacks
    assert found.can_start(who) is (lacks is None)


def test_of_several_things_that_are_missing_the_first_of_the_order_is_named() -> None:
    nothing: dict[str, Any] = {
        "providers": [],
        "accounts": {"claude": []},
        "agents": [],
        "capabilities": [],
    }
    who = claude("gpu")
    assert who.program is not None
    for lacks, name in zip(LACKS, [*nothing, ""], strict=True):
        assert offer(**nothing).lacks(who, who.program) == lacks
        nothing.pop(name, None)


def test_a_fallback_is_enough_and_one_login_is_the_account_that_is_used_first() -> None:
    who = claude(fallback=[{"provider": "claude", "account": "second"}, {"provider": "gemini"}])
    own, second, gemini = who.programs
    assert [offer().lacks(who, each) for each in (own, second, gemini)] == [None, "no_account", None]
    named = offer(accounts={"claude": ["second"]}, providers=["claude"])
    assert [named.lacks(who, each) for each in (own, second, gemini)] == ["no_account", None, "no_provider"]
    assert named.can_start(who)
    assert not offer(providers=["codex"]).can_start(who)
