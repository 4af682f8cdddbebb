"""Agents stand in one tree: who is above whom, and that nobody comes to report to itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import ANN, BOSS, HANA, OLGA, agent, outcome, refused
from toryo.domain.agents import (
    Program,
    Role,
    active_owners,
    approvers,
    mistakes_of,
    people_above,
    refuse_cycle,
    refuse_mistakes,
    superiors,
)
from toryo.domain.errors import Code
from toryo.domain.fast_dataclasses import replace

TREE = {"olga": None, "hana": "olga", "boss": "hana", "ann": "boss", "bob": "boss", "zoe": None}


def test_superiors_are_named_nearest_first() -> None:
    assert superiors("ann", TREE) == ["boss", "hana", "olga"]
    assert superiors("olga", TREE) == []
    assert superiors("nobody", TREE) == []


def test_superiors_end_where_somebody_is_unknown_and_even_in_a_circle() -> None:
    assert superiors("ann", {"ann": "gone"}) == ["gone"]
    assert superiors("a", {"a": "b", "b": "c", "c": "b"}) == ["b", "c"]


@pytest.mark.parametrize(("who", "to"), [("boss", "boss"), ("boss", "ann"), ("olga", "bob")])
def test_nobody_reports_to_itself_or_to_somebody_below(who: str, to: str) -> None:
    assert who in refused(Code.VALIDATION_ERROR, refuse_cycle, who, to, TREE).message


@pytest.mark.parametrize(("who", "to"), [("ann", "bob"), ("boss", None), ("zoe", "ann"), ("new", "ann")])
def test_anybody_else_may_be_reported_to(who: str, to: str | None) -> None:
    refuse_cycle(who, to, TREE)


def test_of_several_mistakes_the_first_is_told_and_all_are_named() -> None:
    wrong = replace(agent("ann", provider="claude"), provider_options={"colour": "red"}, model="no model")
    assert len(wrong.mistakes) > 1
    refusal = refused(Code.VALIDATION_ERROR, refuse_mistakes, wrong)
    assert refusal.details["mistakes"] == [str(each) for each in wrong.mistakes]
    assert f"{refusal.message} {refusal.instruction}" == str(mistakes_of(wrong)[0])
    also = agent("bob").mistakes
    refuse_mistakes(agent("bob"), also)
    assert refused(Code.VALIDATION_ERROR, refuse_mistakes, agent("bob"), wrong.mistakes[1:]).details["mistakes"] == [
        str(each) for each in wrong.mistakes[1:]
    ]


@given(st.lists(st.tuples(st.integers(0, 7), st.one_of(st.none(), st.integers(0, 7))), max_size=30))
def test_after_any_accepted_changes_nobody_is_above_itself(changes: list[tuple[int, int | None]]) -> None:
    tree: dict[str, str | None] = {str(each): None for each in range(8)}
    for who, to in changes:
        above = None if to is None else str(to)
        if outcome(refuse_cycle, str(who), above, tree) is None:
            tree[str(who)] = above
    assert not any(name in superiors(name, tree) for name in tree)


def test_managed_is_who_has_a_program_and_is_no_person() -> None:
    assert BOSS.managed
    assert ANN.managed
    assert not HANA.managed
    assert not agent("free", provider=None).managed
    assert OLGA.human
    assert not ANN.human


def test_an_agent_is_active_until_it_is_not() -> None:
    assert ANN.active
    assert not agent("off", active=False).active


# --- what runs it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "provider", "said", "same"),
    [
        (Program("claude", "Opus"), "Claude", "opus-2026-01-31", True),
        (Program("claude", "opus"), "gemini", "opus", False),
        (Program("claude", "opus"), "claude", "sonnet", False),
        (Program("claude", "opus-2"), "claude", "opus", False),
        (Program("claude", "opus"), "claude", "vendor/opus-2", True),
        (Program("claude", "vendor/opus"), "claude", "opus", True),
        (Program("claude", "vendor/opus"), "claude", "vendor/opus-2", True),
        (Program("claude", "a/b/opus"), "claude", "c/opus", True),
        (Program("claude"), "claude", "anything", True),
    ],
)
def test_a_model_is_known_by_how_its_name_begins_with_or_without_its_vendor(
    program: Program, provider: str, said: str, *, same: bool
) -> None:
    assert program.is_model(provider, said) is same


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (Program("claude"), "claude"),
        (Program("claude", "opus"), "claude opus"),
        (Program("claude", "opus", "claude"), "claude opus"),
        (Program("claude", "opus", "second"), "claude opus (second)"),
        (Program("claude", None, "second"), "claude (second)"),
    ],
)
def test_a_program_is_named_by_its_model_and_by_another_account(program: Program, name: str) -> None:
    assert program.name == name


@pytest.mark.parametrize(
    ("options", "programs"),
    [
        ({}, [Program("claude", None, "claude")]),
        ({"account": "second"}, [Program("claude", None, "second")]),
        ({"account": ""}, [Program("claude", None, "claude")]),
        ({"account": 7}, [Program("claude", None, "claude")]),
        (
            {"fallback": [{"provider": "gemini", "model": "pro"}, {"provider": "claude"}, {"provider": 7}]},
            [Program("claude", None, "claude"), Program("gemini", "pro", "gemini")],
        ),
        (
            {"fallback": {"provider": "script", "model": 7, "account": "x"}},
            [Program("claude", None, "claude"), Program("script", None, "x")],
        ),
    ],
)
def test_its_programs_are_its_own_and_the_fallbacks_that_are_others(
    options: dict[str, Any], programs: list[Program]
) -> None:
    who = replace(agent("ann", provider="claude"), provider_options=options)
    assert list(who.programs) == programs
    assert who.program == programs[0]
    nobody = replace(who, provider=None)
    assert (nobody.program, nobody.programs) == (None, ())


@pytest.mark.parametrize("provider", ["command", "script", "playbook", "claude", None])
def test_fixed_programs_have_no_model_and_no_account(provider: str | None) -> None:
    who = agent("ann", provider=provider)
    assert who.without_model is (provider in ("command", "script", "playbook"))
    if who.program is not None:
        assert who.program.account == (None if who.without_model else provider)


def test_a_person_is_managed_by_no_provider_and_a_directory_is_a_text_that_says_something() -> None:
    assert not replace(HANA, provider="claude").managed
    for set_, directory in (({}, None), ({"working_directory": ""}, None), ({"working_directory": "/w"}, "/w")):
        assert replace(ANN, provider_options=set_).directory == directory


def test_a_fallback_gets_the_options_that_it_knows_but_for_arguments() -> None:
    options = {"args": ["-x"], "account": "second", "colour": "red"}
    who = replace(agent("ann", provider="claude"), provider_options=options)
    assert who.options_for("claude") == options
    assert who.options_for("gemini") == {"account": "second"}
    assert who.started_with("claude").items() >= who.effective_options.items()
    assert who.started_with("gemini")["account"] == "second"
    assert (who.rights.provider, who.rights.role) == ("claude", "worker")


def test_labels_are_the_texts_of_a_list() -> None:
    for listed, labels in ((["gpu", 7, "big"], {"gpu", "big"}), ("gpu", set()), (None, set())):
        assert replace(ANN, provider_options={"labels": listed}).labels == labels


# --- who is asked about a project ------------------------------------------------------------------------------------

EVERYBODY = {each.id: each for each in (OLGA, HANA, BOSS, ANN)}


def test_owners_are_the_active_people_of_that_role() -> None:
    others = [
        HANA,
        BOSS,
        agent("gone", Role.OWNER, human=True, active=False),
        agent("program", Role.OWNER, human=False),
        agent("member", Role.WORKER, human=True),
    ]
    assert active_owners([*others, OLGA]) == [OLGA]


def test_the_people_above_an_agent_are_asked_nearest_first() -> None:
    assert people_above("ann", EVERYBODY, TREE, lambda _: True) == [HANA, OLGA]
    assert people_above("ann", EVERYBODY, TREE, lambda person: person is not HANA) == [OLGA]
    assert people_above(None, EVERYBODY, TREE, lambda _: True) == []
    away = {**EVERYBODY, "hana": agent("hana", Role.MANAGER, human=True, active=False)}
    assert people_above("ann", away, TREE, lambda _: True) == [OLGA]


def test_owners_approve_where_nobody_above_is_asked() -> None:
    assert approvers("ann", EVERYBODY, TREE, lambda _: True) == [HANA, OLGA]
    assert approvers("ann", EVERYBODY, TREE, lambda _: False) == [OLGA]
    assert approvers("zoe", EVERYBODY, TREE, lambda _: True) == [OLGA]
    assert approvers("zoe", EVERYBODY, TREE, lambda _: True, owners=[]) == []
