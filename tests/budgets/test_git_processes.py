"""How many git processes the Coordinator starts for one task in a worktree, by what it does with it.

The task is the second of a chain, and work of others is merged before it starts and while it is at work: its base
branch has moved each time it is looked at.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.budgets.ceilings import hold
from tests.coordinator.test_queue_merges import batch, first, nobody, place, repository, walled
from tests.coordinator.test_task_worktrees import PROJECT, launch
from tests.repositories import Repository
from toryo.coordinator import queue_merges, task_worktrees
from toryo.coordinator.orders import CheckOrder
from toryo.coordinator.task_worktrees import Place
from toryo.coordinator.worktrees import Worktree, combining
from toryo.coordinator.worktrees.git import Git
from toryo.output_redaction import Mask

__all__ = ["first", "nobody", "place", "repository"]

ACTS = ("make its worktree", "keep its work", "check it out", "look whether it can be merged", "merge it", "clear up")
ROWS = {"a task": [f"git processes of a task: {act}" for act in ACTS]}
MAKE, KEEP, CHECK_OUT, LOOK, MERGE, CLEAR_UP = ACTS


class Count:
    def __init__(self) -> None:
        self.act = ""
        self.started: Counter[str] = Counter()
        self.told: list[str] = []

    def during(self, act: str, do: Callable[..., Any]) -> Callable[..., Any]:
        """The same function; what it starts is counted for this act."""

        def counted(*given: Any, **named: Any) -> Any:
            before, self.act = self.act, act
            try:
                return do(*given, **named)
            finally:
                self.act = before

        return counted

    def starting(self) -> Callable[..., Any]:
        do = Git._start

        def start(git: Git, arguments: tuple[str, ...], *more: Any) -> Any:
            self.started[self.act] += 1
            self.told.append(f"{self.act}: git {' '.join(arguments)}")
            return do(git, arguments, *more)

        return start


@pytest.mark.parametrize("name", ROWS)
def test_a_task_starts_no_more_git_processes_than_it_may(name: str, repository: Repository, place: Path) -> None:
    count = Count()

    def made(task: str, *bases: str) -> Worktree:
        found: Worktree = count.during(MAKE, task_worktrees.make)(Place(task, bases), PROJECT, repository.path, place)
        return found

    def worked(worktree: Worktree) -> None:
        (worktree.path / worktree.name).write_text("x\n")
        assert count.during(KEEP, task_worktrees.keep)(worktree, launch())["trouble"] is None

    def merged(task: str) -> None:
        job = batch(repository, place, task, checks=[{"command": f"test -f {task}"}])
        do = count.during(MERGE, asyncio.run)
        assert do(queue_merges.run(job, place, asyncio.Event(), walled, Mask([])))["done"]

    before, other = made("before"), made("other")
    worked(before)
    worked(other)
    with (
        patch.object(Git, "_start", count.starting()),
        patch.object(queue_merges, "_combined", count.during(LOOK, queue_merges._combined)),
        patch.object(combining, "refuse_target", count.during(LOOK, combining.refuse_target)),
        patch.object(queue_merges, "_clear_up", count.during(CLEAR_UP, queue_merges._clear_up)),
    ):
        merged("other")
        count.started.clear()
        task = made("task", "before")
        so_far = +count.started
        merged("before")
        count.started, count.told = so_far, []
        worked(task)
        order = CheckOrder(
            "chk_1",
            str(repository.path),
            ({"command": "true"},),
            project_id=PROJECT,
            worktree=str(task.path),
            worktree_task_id="task",
            worktree_path=str(task.path),
        )
        assert count.during(CHECK_OUT, task_worktrees.checked_out)(order, place) is not None
        merged("task")
    try:
        hold(ROWS[name], *(count.started[act] for act in ACTS))
    except AssertionError as wrong:
        raise AssertionError("\n".join([str(wrong), *count.told])) from None
