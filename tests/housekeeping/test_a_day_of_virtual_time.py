"""A day of housekeeping and claims in one process, on a clock that is set forward: memory and open files stay flat."""

from __future__ import annotations

import gc
import os
import tracemalloc

import pytest

from tests.databases import empty
from tests.stories import World, quiet
from toryo.domain.times import DAY, MINUTE, SECOND
from toryo.storage.engine.database import Database

__all__ = ["quiet"]

EVERY_SECONDS = 60
WARM = DAY // MINUTE // 4
SAMPLES = 12
"""Over the day. Caches are filled and emptied, so no single one is compared with another."""


@pytest.mark.process
@pytest.mark.usefixtures("quiet")
def test_a_day_of_housekeeping_and_claims_leaves_memory_and_open_files_flat(kept_sqlite: Database) -> None:
    empty(kept_sqlite)
    world = World(kept_sqlite)
    world.crew()
    world.project(name="Idle")
    coordinator = world.coordinator()

    def rounds(many: int) -> None:
        for _ in range(many):
            world.advance(EVERY_SECONDS)
            world.housekeep()
            assert coordinator.claim(free_slots=2)["start"] == []
            world.hints.clear()

    rounds(WARM)  # what is made once, and caches of a fixed size
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are not needed
    tracemalloc.start()
    try:
        bytes_and_objects = []
        for _ in range(SAMPLES):
            rounds((DAY // (EVERY_SECONDS * SECOND) - WARM) // SAMPLES)
            objects = _kept()
            bytes_and_objects.append((tracemalloc.get_traced_memory()[0], objects))
    finally:
        tracemalloc.stop()
    for samples in zip(*bytes_and_objects, strict=True):
        early, late = samples[: SAMPLES // 2], samples[SAMPLES // 2 :]
        assert min(late) < max(early), f"it grows: {samples}"
    assert len(os.listdir("/proc/self/fd")) == files  # noqa: PTH208


def _kept() -> int:
    """Objects that are alive."""
    gc.collect()
    return len(gc.get_objects())
