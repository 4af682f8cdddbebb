"""Others step in at every step of an obedient crew: nobody is led in a circle, punished, started for nothing, or stuck
without a need.

A sample is told here; TORYO_TEST_EXPLORE=1 tells 10,000 histories of each crew (an hour or more).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.exploring.__main__ import main
from tests.exploring.disturbances import all_of
from tests.exploring.explorer import Explorer, cheaply
from tests.exploring.memory import InMemory
from tests.exploring.mutants import MUTANTS, found
from tests.exploring.scenes import SCENES, crew_of
from toryo.storage.open_database import upgrade

pytestmark = pytest.mark.slow

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
}
"""Of all that can happen once, in the sample: about ten histories of each crew."""
FOUND_SOON = (
    "a manager is not woken for what is blocked (row 8)",
    "a manager is not woken for what can be started (row 9)",
    "a used-up budget hinders nobody",
    "a worktree job of a Coordinator that has died is never given up",
    "a manager is not woken when nothing is outstanding any more (row 10)",
    "a worker that can only wait is started (row 12a)",
    "who may do one task at a time may do any number",
    "a block is not told in the log",
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


@pytest.mark.timeout(7200 if LONG else 600)
@pytest.mark.parametrize("scene", SCENES)
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


def test_the_command_says_what_was_explored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["small", "--share", "0.002", "--only", "steers"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 0 faults")


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
