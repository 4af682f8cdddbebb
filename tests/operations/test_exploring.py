"""Others step in at every step of an obedient crew: nobody is led in a circle, punished, started for nothing, or stuck
without a need.

A sample is told here; TORYO_TEST_EXPLORE=1 tells 10,000 histories of each crew (an hour or more).
"""

from __future__ import annotations

import ast
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.exploring.__main__ import main
from tests.exploring.disturbances import all_of
from tests.exploring.explorer import Explorer, cheaply, faults_of
from tests.exploring.memory import InMemory
from tests.exploring.mutants import MUTANTS, found
from tests.exploring.scenes import ELSEWHERE, SCENES, SUBJECTS, crew_of
from tests.exploring.shrinking import Story, as_test, ddmin, shrunk, without
from toryo.storage.open_database import upgrade

LONG = bool(os.environ.get("TORYO_TEST_EXPLORE"))
HISTORIES = 10_000
"""Of each crew, where time does not matter."""
SHARES = {
    "small": 0.004,
    "deep": 0.001,
    "talk": 0.002,
    "queue": 0.003,
    "asked": 0.008,
    "desks": 0.0015,
    "trees": 0.002,
    "scarce": 0.0003,
    "merges": 0.0005,
    "timed": 0.002,
    "talkative": 0.002,
    "machines": 0.002,
    "reviewed": 0.001,
    "lines": 0.003,
    "planned": 0.004,
    "returned": 0.0005,
}
"""Of all that can happen once, in the sample: about ten histories of each crew."""
SOON = ("asked", "trees", "timed", "merges")
"""Crews whose sample takes less than a second: told in `make test`."""
FOUND_SOON = (
    "a manager is not woken for what is blocked (row 8)",
    "a manager is not woken for what can be started (row 9)",
    "a used-up budget hinders nobody",
    "a worktree job of a Coordinator that has died is never given up",
    "a manager is not woken when nothing is outstanding any more (row 10)",
    "a worker that can only wait is started (row 12a)",
    "who may do one task at a time may do any number",
    "what the merge queue cannot merge is told to nobody",
)


@pytest.fixture(scope="module")
def database() -> Iterator[InMemory]:
    made = InMemory()
    upgrade(made)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def cheap() -> Iterator[None]:
    with cheaply():
        yield


@pytest.mark.first(2)
@pytest.mark.pitfall("F14")
@pytest.mark.timeout(7200 if LONG else 600)
@pytest.mark.parametrize(
    "scene", [scene if scene in SOON else pytest.param(scene, marks=pytest.mark.deep) for scene in SCENES]
)
def test_whatever_others_do_at_any_step_everybody_comes_to_an_end(scene: str, database: InMemory) -> None:
    explorer = Explorer(scene, database, random.Random(4_100), most=HISTORIES)
    if LONG:
        explorer.explore(share=1.0, second=0.02)
    else:
        explorer.explore(share=SHARES[scene])
    assert explorer.faults == [], "\n".join(map(str, explorer.faults))
    assert explorer.counts["histories"] >= 3


@pytest.mark.parametrize("scene", SCENES)
def test_a_crew_that_nobody_disturbs_does_what_it_has_to_do(scene: str, database: InMemory) -> None:
    explorer = Explorer(scene, database)
    explorer.explore(share=0.0)
    assert explorer.faults == []
    assert explorer.counts["ends"] == 1


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_subject_is_in_the_scenes_that_are_named_and_in_no_other(subject: str, database: InMemory) -> None:
    has, named = SUBJECTS[subject]
    found = []
    for scene in SCENES:
        with database.moment():
            if has(crew_of(scene, database)):
                found.append(scene)
    assert tuple(found) == named


@pytest.mark.parametrize("subject", ELSEWHERE)
def test_what_no_scene_has_is_in_a_test_of_another_kind(subject: str) -> None:
    assert "def test_" in (Path(__file__).parents[2] / ELSEWHERE[subject]).read_text(encoding="utf-8")


def test_notes_are_left_and_taken_and_another_program_goes_on_where_quota_is_used_up(database: InMemory) -> None:
    with database.moment():
        crew = crew_of("machines", database)
        for _ in range(2):
            list(crew.round())
        for what in ("hands over", "takes over", "uses up its quota"):
            assert dict(all_of(crew))[f"w2's task process {what}"](crew)
        list(crew.round())
        (note,) = crew.reader.rows()["handoffs"]
        programs = {each.agent.process.agent_id: each.agent.process.launch["ai_type"] for each in crew.working.values()}
        assert (note["accepted_by"], programs["w2"]) == ("w2", "gemini")


def test_the_command_says_what_was_explored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["small", "--share", "0.002", "--only", "steers"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 0 faults")


def test_the_command_keeps_its_counts_for_the_page_about_reliability(tmp_path: Path) -> None:
    kept = tmp_path / "made" / "histories.json"
    asked = ["small", "--exhaustive", "1", "--only", "steers", "--share", "0", "--record", str(kept)]
    assert main(asked) == 0
    told = json.loads(kept.read_text(encoding="utf-8"))
    assert told["command"] == " ".join(["python -m tests.exploring", *asked])
    assert told["broken_invariants"] == 0
    assert min(told[count] for count in ("histories", "states", "steps", "claims", "disturbances")) > 0


# --- every sequence up to a depth ------------------------------------------------------------------------------------


@pytest.mark.deep
def test_every_order_of_the_first_steps_of_two_coordinators_and_their_processes_ends_well(database: InMemory) -> None:
    explorer = Explorer("machines", database)
    assert explorer.exhaust(4, steps_only=True) == 4
    assert explorer.faults == []
    assert explorer.counts["histories"] > 8


def test_a_depth_for_which_there_was_no_time_is_not_claimed(database: InMemory) -> None:
    explorer = Explorer("small", database, most=10)
    assert explorer.exhaust(3) == 0


def test_beyond_the_depth_choices_are_left_to_chance_and_told_like_all_others(database: InMemory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        MUTANTS["a block is not told in the log"].breaks(patch)
        explorer = Explorer("small", database, random.Random(2), stops=True, most=60)
        explorer.exhaust(1, start=14, beyond=3)
        assert explorer.faults != []
        (_, *story), what = explorer.faults[0].story, explorer.faults[0].what
        assert what.split(":")[0] in {each.split(":")[0] for each in Explorer("small", database).told(*story)[1]}


# --- the shortest story ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("story", "needed"),
    [
        (("0: a", "2: b", "3: c", "1: d", "0: e"), {"b", "d"}),
        (("4: a",), {"a"}),
        (("1: a", "1: b", "1: c"), {"a", "b", "c"}),
        (("1: a", "1: b"), set()),
    ],
)
def test_of_a_story_only_what_it_needs_is_left_each_at_its_step(story: Story, needed: set[str]) -> None:
    shorter = ddmin(story, lambda each: needed <= {told.partition(": ")[2] for told in each})
    assert {told.partition(": ")[2] for told in shorter} == needed
    assert shorter == without(story, [n for n, each in enumerate(story) if each.partition(": ")[2] not in needed])


def test_steps_before_what_is_left_out_still_pass() -> None:
    assert without(("3: a", "2: b", "4: c"), [0, 1]) == ("9: c",)
    assert without(("3: a", "2: b", "4: c"), [1]) == ("3: a", "6: c")


@pytest.mark.deep
def test_a_fault_is_told_as_its_shortest_story_in_a_test_that_fails_until_it_is_fixed(database: InMemory) -> None:
    story = ("0: steers House (0)", "2: writes to w1", "8: 61 s pass", "9: moves First half (1) to blocked")
    written: dict[str, Any] = {"faults_of": faults_of}
    with pytest.MonkeyPatch.context() as patch:
        MUTANTS["a block is not told in the log"].breaks(patch)
        what = next(each for each in Explorer("small", database).told(*story)[1] if "its events say" in each)
        shorter = shrunk("small", story, what, database)
        assert [each.partition(": ")[2] for each in shorter] == ["moves First half (1) to blocked"]
        exec(as_test("small", shorter, what), written)
        (name,) = [each for each in written if each.startswith("test_")]
        assert name == "test_small_ends_well_although_moves_first_half_1_to_blocked"
        with pytest.raises(AssertionError):
            written[name]()
    written[name]()


def test_names_with_apostrophes_and_long_stories_are_still_a_test() -> None:
    story = ("0: pause_project House", *(f'{step}: w2\'s chat says "no"' for step in range(9)))
    text = as_test("talk", story, 'LedNowhere("w2 after tsk_0123456789: \\")')
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert len(function.name) <= 100
    (call,) = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    assert [ast.literal_eval(each) for each in call.args] == ["talk", *story]


def test_what_is_explored_is_gone_afterwards(database: InMemory) -> None:
    with database.moment():
        crew = crew_of("small", database)
        before, now = crew.state(), crew.world.now
        for _, act in list(all_of(crew)):
            with crew.moment():
                act(crew)
            assert (crew.state(), crew.world.now) == (before, now)


@pytest.mark.parametrize("name", FOUND_SOON)
def test_a_broken_product_is_found(name: str, database: InMemory) -> None:
    assert found(MUTANTS[name], database, seconds=200.0, most=400).faults
