"""Which paths running agents change, looked at in their worktrees: whose is told, and whose is not."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any

from tests.client.fake_server import BOUND
from tests.coordinator.test_task_worktrees import launch
from tests.coordinator.test_worktrees import first, make, nobody, place, repository
from toryo.coordinator import touched_paths
from toryo.coordinator.launches_in_hand import Entry
from toryo.coordinator.worktrees import Worktree

__all__ = ["first", "nobody", "place", "repository"]


def entry(worktree: Worktree, *, over: bool) -> Entry:
    process: Any = SimpleNamespace(over=over)
    return Entry(launch({"isolation": "worktree", "name": "t1", "watched": True}), 0.0, process, worktree=worktree)


def test_what_a_running_agent_changes_is_told_and_not_what_one_that_has_ended_left(
    repository, place, monkeypatch
) -> None:
    monkeypatch.setattr(touched_paths, "EVERY", 0.0)
    worktree = make(repository, place)
    (worktree.path / "new").write_text("x")
    ended, running = (entry(worktree, over=each) for each in (True, False))

    async def story() -> tuple[Entry, list[str]]:
        told: asyncio.Future[tuple[Entry, list[str]]] = asyncio.get_running_loop().create_future()

        async def tell(whose: Entry, found: list[str]) -> None:
            told.set_result((whose, found))

        watching = asyncio.create_task(touched_paths.watch(lambda: (ended, running), tell))
        try:
            return await asyncio.wait_for(told, BOUND)
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    whose, found = asyncio.run(story())
    assert whose is running
    assert found == ["new"]
