"""A day of housekeeping and claims in one process, on a clock that is set forward: memory and open files stay flat."""

from __future__ import annotations

import gc
import os
import tracemalloc
from array import array

import pytest

from tests.databases import empty
from tests.stories import World, quiet
from toryo.domain.times import DAY, MINUTE, SECOND
from toryo.storage.engine import unit_of_work
from toryo.storage.engine.database import Database

__all__ = ["quiet"]

EVERY_SECONDS = 60
WARM = DAY // MINUTE // 4
SAMPLES = 12
"""Over the day. Caches are filled and emptied, so no single one is compared with another."""
MADE_ONCE_BYTES, MADE_ONCE_OBJECTS = 1024, 10
"""What may still be made late in the day: far less than a byte for each round."""


@pytest.mark.usefixtures("quiet")
@pytest.mark.deep
def test_a_day_of_housekeeping_and_claims_leaves_memory_and_open_files_flat(
    kept_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_of_work, "MOST_ANSWERS", 20)  # a cache that is full late in the day would hide a leak
    empty(kept_database)
    world = World(kept_database)
    world.crew()
    world.project(name="Idle")
    coordinator = world.coordinator()

    def rounds(many: int) -> None:
        for _ in range(many):
            world.advance(EVERY_SECONDS)
            world.housekeep()
            assert coordinator.claim(free_slots=2)["start"] == []
            world.hints.clear()

    memory, objects = (array("q", [0]) * SAMPLES for _ in range(2))  # a list of numbers would grow itself
    rounds(WARM)  # what is made once, and caches of a fixed size
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are not needed
    tracemalloc.start()
    try:
        for number in range(SAMPLES):
            rounds((DAY // (EVERY_SECONDS * SECOND) - WARM) // SAMPLES)
            objects[number] = _kept()
            memory[number] = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    for samples, once in ((memory, MADE_ONCE_BYTES), (objects, MADE_ONCE_OBJECTS)):
        early, late = samples[: SAMPLES // 2], samples[SAMPLES // 2 :]
        assert min(late) <= max(early) + once, f"it grows: {samples}"
    assert len(os.listdir("/proc/self/fd")) <= files  # noqa: PTH208


def _kept() -> int:
    """Objects that are alive."""
    gc.collect()
    return len(gc.get_objects())
