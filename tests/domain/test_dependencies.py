"""Guard 5: no task comes to wait for itself, over dependencies and parent-waits-for-child taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import outcome, refused
from toryo.domain.dependencies import path_to, refuse_cycle
from toryo.domain.errors import Code

Graph = Mapping[str, Sequence[str]]


def over(graph: Graph):
    """The question a database answers: for some tasks, which others each waits for."""
    return lambda ids: {each: list(graph.get(each, ())) for each in ids}


HOUSE = {"house": ["walls", "roof"], "roof": ["walls"], "walls": ["base"], "base": []}
"""The house waits for its parts (children), the roof for the walls (a dependency)."""


def test_what_may_wait_is_let_through() -> None:
    refuse_cycle("roof", ["base"], over(HOUSE))
    refuse_cycle("house", ["base"], over(HOUSE))
    refuse_cycle("base", [], over(HOUSE))


@pytest.mark.parametrize(
    ("who", "wants", "cycle"),
    [
        ("roof", ["roof"], ["roof", "roof"]),
        ("walls", ["roof"], ["walls", "roof", "walls"]),
        ("base", ["roof"], ["base", "roof", "walls", "base"]),
        ("roof", ["house"], ["roof", "house", "roof"]),
        ("base", ["house"], ["base", "house", "walls", "base"]),
    ],
    ids=["on itself", "on what waits for it", "on what waits for that", "on its parent", "on an ancestor of that"],
)
def test_waiting_in_a_circle_is_refused_and_the_shortest_circle_is_named(who: str, wants: list, cycle: list) -> None:
    refusal = refused(Code.DEPENDENCY_CYCLE, refuse_cycle, who, wants, over(HOUSE))
    assert refusal.details["cycle"] == cycle
    assert " -> ".join(cycle) in refusal.message


def test_one_bad_dependency_among_good_ones_is_enough() -> None:
    refused(Code.DEPENDENCY_CYCLE, refuse_cycle, "walls", ["base", "roof"], over(HOUSE))


def test_no_path_leads_where_nothing_waits() -> None:
    assert path_to(frozenset({"roof"}), ["base"], over(HOUSE)) is None
    assert path_to(frozenset({"base"}), ["base"], over(HOUSE)) == ["base"]


names = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(names, st.lists(names, max_size=3)), max_size=25))
def test_after_any_accepted_dependencies_every_task_can_be_reached_in_some_order(wanted: list) -> None:
    graph: dict[str, list[str]] = {}
    for who, others in wanted:
        refusal = outcome(refuse_cycle, who, others, over(graph))
        if refusal is None:
            graph.setdefault(who, []).extend(others)
            continue
        cycle = refusal.details["cycle"]
        steps = {**graph, who: [*graph.get(who, []), *others]}
        assert cycle[0] == cycle[-1] == who
        assert all(second in steps[first] for first, second in pairwise(cycle))
    assert _can_all_be_done(graph)


def _can_all_be_done(graph: Graph) -> bool:
    left = {name: set(others) for name, others in graph.items()}
    while left:
        ready = [name for name, others in left.items() if not others & set(left)]
        if not ready:
            return False
        for name in ready:
            del left[name]
    return True
