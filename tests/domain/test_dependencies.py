"""Guard 5: no task comes to wait for itself, over dependencies and parenthood taken together, in either direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.things import outcome, refused
from toryo.domain.dependencies import Links, Moment, path_to, refuse_cycle, refuse_cycle_below
from toryo.domain.errors import Code

Graph = Mapping[str, Sequence[str]]


def over(depends_on: Graph, parts_of: Mapping[str, str] | None = None):
    """The question a database answers: for some tasks, what each hangs on. `parts_of` names parents."""
    parents = parts_of or {}
    return lambda ids: {
        each: Links(
            list(depends_on.get(each, ())),
            [one for one, parent in parents.items() if parent == each],
            parents.get(each),
        )
        for each in ids
    }


WAITS, PARTS = {"roof": ["walls"], "walls": ["base"], "party": ["house"]}, {"walls": "house", "roof": "house"}
"""The roof and the walls are parts of the house; the roof comes after the walls, they after a base of its own."""
HOUSE = over(WAITS, PARTS)


def test_what_may_wait_is_let_through() -> None:
    refuse_cycle("roof", ["base"], HOUSE)
    refuse_cycle("house", ["base"], HOUSE)
    refuse_cycle("party", ["roof"], HOUSE)
    refuse_cycle("base", [], HOUSE)
    refuse_cycle_below("house", ["walls", "base"], HOUSE)


@pytest.mark.pitfall("F86")
@pytest.mark.parametrize(
    ("who", "wants", "cycle"),
    [
        ("roof", ["roof"], ["roof", "roof"]),
        ("walls", ["roof"], ["walls", "roof", "walls"]),
        ("base", ["roof"], ["base", "roof", "walls", "base"]),
        ("roof", ["house"], ["roof", "house", "roof"]),
        ("base", ["house"], ["base", "house", "walls", "base"]),
        ("house", ["roof"], ["house", "roof", "house"]),
        ("house", ["party"], ["house", "party", "house"]),
        ("base", ["party"], ["base", "party", "house", "walls", "base"]),
    ],
    ids=[
        "on itself",
        "on what waits for it",
        "on what waits for that",
        "on its parent",
        "on what waits for its end",
        "on its own part",
        "on what waits for it from outside",
        "on what waits for what it holds up",
    ],
)
def test_waiting_in_a_circle_is_refused_and_the_shortest_circle_is_named(who: str, wants: list, cycle: list) -> None:
    refusal = refused(Code.DEPENDENCY_CYCLE, refuse_cycle, who, wants, HOUSE)
    assert refusal.details["cycle"] == cycle
    assert " -> ".join(cycle) in refusal.message


def test_nobody_waits_for_what_starts_only_with_it() -> None:
    """A part starts with the whole: the whole may not wait for something that waits for the part."""
    where = over({"paint": ["roof"]}, PARTS)
    refusal = refused(Code.DEPENDENCY_CYCLE, refuse_cycle, "house", ["paint"], where)
    assert refusal.details["cycle"] == ["house", "paint", "roof", "house"]


@pytest.mark.parametrize("other", ["house", "party", "street"])
def test_a_new_part_waits_neither_for_what_is_above_it_nor_for_what_waits_for_that(other: str) -> None:
    where = over(WAITS, {**PARTS, "house": "street"})
    refusal = refused(Code.DEPENDENCY_CYCLE, refuse_cycle_below, "house", [other], where)
    assert refusal.details["cycle"][0] == refusal.details["cycle"][-1] == "house"


def test_one_bad_dependency_among_good_ones_is_enough() -> None:
    refused(Code.DEPENDENCY_CYCLE, refuse_cycle, "walls", ["base", "roof"], HOUSE)


def test_no_path_leads_where_nothing_waits() -> None:
    assert path_to(("roof", False), [("base", True)], HOUSE) is None
    assert path_to(("base", True), [("base", True)], HOUSE) == [("base", True)]


NAMES = "abcdefgh"
names = st.sampled_from(NAMES)


@given(
    st.lists(st.sampled_from(["", *NAMES]), min_size=8, max_size=8),
    st.lists(st.tuples(names, st.lists(names, max_size=3)), max_size=25),
)
def test_after_any_accepted_dependencies_everything_can_be_started_and_ended_in_some_order(
    above: list, wanted: list
) -> None:
    parents = {name: one for name, one in zip(NAMES, above, strict=True) if one and one < name}
    graph: dict[str, list[str]] = {}
    for who, others in wanted:
        refusal = outcome(refuse_cycle, who, others, over(graph, parents))
        if refusal is None:
            graph.setdefault(who, []).extend(others)
        else:
            assert refusal.details["cycle"][0] == refusal.details["cycle"][-1] == who
    assert _can_all_be_done(graph, parents)


def _can_all_be_done(graph: Graph, parents: Mapping[str, str]) -> bool:
    """As people and agents do it: who works on the whole starts its parts, and ends it after them."""
    moments = {(name, is_end) for name in NAMES for is_end in (False, True)}
    done: set[Moment] = set()
    while done != moments:
        ready = {moment for moment in moments - done if _may_happen(moment, done, graph, parents)}
        if not ready:
            return False
        done |= ready
    return True


def _may_happen(moment: Moment, done: set[Moment], graph: Graph, parents: Mapping[str, str]) -> bool:
    name, is_end = moment
    if is_end:
        return (name, False) in done and all((one, True) in done for one, parent in parents.items() if parent == name)
    above = parents.get(name)
    return all((each, True) in done for each in graph.get(name, ())) and (above is None or (above, False) in done)
