"""What a Coordinator's files take: counted beside its work, told when it can be, and never for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from toryo.client import Unreachable
from toryo.coordinator.disk_usage import DiskUsage, Taken

BOUND = 60


def laid_out(directory: Path, files: int, size: int = 10_000) -> Path:
    directory.mkdir()
    for number in range(files):
        (directory / f"{number}.log").write_bytes(b"x" * size)
    return directory


def ticking(step: float) -> Callable[[], float]:
    now = [0.0]

    def clock() -> float:
        now[0] += step
        return now[0]

    return clock


def test_logs_and_worktrees_are_counted_each_by_itself(tmp_path: Path) -> None:
    logs, worktrees = laid_out(tmp_path / "logs", 2), laid_out(tmp_path / "worktrees", 5)

    taken = DiskUsage(logs, worktrees).take()

    assert taken.complete
    assert 20_000 <= taken.logs < taken.worktrees
    assert taken.worktrees >= 50_000


def test_directories_that_are_not_there_take_nothing(tmp_path: Path) -> None:
    assert DiskUsage(tmp_path / "logs", tmp_path / "worktrees").take() == Taken(0, 0, complete=True)


def test_a_count_that_takes_too_long_is_given_up_and_says_so(tmp_path: Path) -> None:
    logs = laid_out(tmp_path / "logs", 50)

    taken = DiskUsage(logs, tmp_path / "none", longest=10, clock=ticking(1)).take()

    assert not taken.complete
    assert 0 < taken.logs < 50 * 10_000


def test_who_could_not_be_told_is_told_the_next_time_and_who_leaves_counts_no_more(tmp_path: Path) -> None:
    measuring = DiskUsage(laid_out(tmp_path / "logs", 3), tmp_path / "none", first_after=0, every=0)
    told: list[Taken] = []
    twice = asyncio.Event()

    async def tell(taken: Taken) -> None:
        told.append(taken)
        if len(told) == 1:
            raise Unreachable("away")
        twice.set()

    async def go() -> None:
        running = asyncio.create_task(measuring.run(tell))
        await asyncio.wait_for(twice.wait(), BOUND)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(go())

    assert told[0] == told[1]
    assert told[0].complete
    assert not measuring.take().complete
