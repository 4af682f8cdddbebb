"""The graph of a plan's tasks."""

from __future__ import annotations

from graphlib import CycleError

import pytest

from toryo.cli import task_graph

CHAINS = {f"{chain}{step}": [f"{chain}{step - 1}"] if step > 1 else [] for chain in "abcd" for step in (1, 2, 3)}


def test_four_chains_of_three_are_three_steps_of_four() -> None:
    graph = task_graph.of(CHAINS)
    assert graph.steps == [[f"{chain}{step}" for chain in "abcd"] for step in (1, 2, 3)]
    assert (graph.width, graph.chain, graph.length) == (4, ["a1", "a2", "a3"], 3.0)


def test_the_longest_chain_is_the_one_that_takes_longest_not_the_one_with_the_most_tasks() -> None:
    graph = task_graph.of({"quick": [], "quicker": ["quick"], "slow": []}, lambda name: 9.0 if name == "slow" else 1.0)
    assert (graph.chain, graph.length) == (["slow"], 9.0)


def test_where_several_come_before_a_task_the_one_that_ends_last_is_in_the_chain() -> None:
    takes = {"short": 1.0, "long": 5.0, "join": 2.0}
    graph = task_graph.of({"short": [], "long": [], "join": ["short", "long"]}, takes.__getitem__)
    assert (graph.chain, graph.length, graph.width) == (["long", "join"], 7.0, 2)


def test_what_is_not_in_the_plan_counts_as_done() -> None:
    assert task_graph.of({"a": ["of another file"]}).steps == [["a"]]


def test_no_tasks_are_no_steps() -> None:
    graph = task_graph.of({})
    assert (graph.steps, graph.width, graph.chain, graph.length) == ([], 0, [], 0.0)


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        task_graph.of({"a": ["b"], "b": ["a"]})
