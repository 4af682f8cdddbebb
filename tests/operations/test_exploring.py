"""One or two disturbances at every step of an obedient run of each crew: see `tests/exploring`.

A sample is told here. TORYO_TEST_EXPLORE=1 tells many more (minutes); `python -m tests.exploring --help` as many as you
like.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.exploring.explorer import Explorer, cheaply
from tests.exploring.memory import InMemory
from tests.exploring.scenes import SCENES

LONG = bool(os.environ.get("TORYO_TEST_EXPLORE"))
HISTORIES = 10_000 if LONG else 60
"""Of each crew."""


@pytest.fixture(scope="module")
def database() -> Iterator[InMemory]:
    found = InMemory()
    found.upgrade()
    yield found
    found.close()


@pytest.fixture(autouse=True)
def cheap() -> Iterator[None]:
    with cheaply():
        yield


def explored(scene: str, database: InMemory, most: int, **how: float) -> Explorer:
    explorer = Explorer(scene, database, random.Random(4_100), most=most)
    explorer.explore(**how)
    return explorer


@pytest.mark.timeout(7200 if LONG else 600)
@pytest.mark.parametrize("scene", SCENES)
def test_whatever_others_do_at_any_step_everybody_comes_to_an_end(scene: str, database: InMemory) -> None:
    found = explored(scene, database, HISTORIES, share=1.0 if LONG else 0.004, second=0.02 if LONG else 0.0)
    assert found.faults == [], "\n".join(map(str, found.faults))
    assert found.counts["histories"] > HISTORIES // 3
