"""Agents stand in one tree: who is above whom, and that nobody comes to report to itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import ANN, BOSS, HANA, OLGA, agent, outcome, refused
from toryo.domain.agents import (
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
