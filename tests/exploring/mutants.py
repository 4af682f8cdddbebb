"""Ways to break the product, in this process only: what exploring must find. Each is the name of a fault and its cure.

`python -m tests.exploring.mutants SECONDS [NAME …]` says which are found after how many histories.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.exploring.explorer import Explorer, cheaply
from tests.exploring.memory import InMemory
from toryo.domain import parallel_limit
from toryo.domain.task_tree import Tree
from toryo.domain.tasks import Task
from toryo.housekeeping import old_worktrees
from toryo.operations.calls.call import Call
from toryo.operations.launches import end_of_session
from toryo.operations.overview.needs import budgets, finding, merge_queues, stuck_tasks
from toryo.operations.queue.claims import Fate
from toryo.operations.tasks import review_rounds
from toryo.operations.worktrees import coordinator_reports, worktree_locks
from toryo.storage import snapshots
from toryo.storage.open_database import upgrade
from toryo.workflow import facts, launch_rules

Break = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    scene: str
    breaks: Break
    only: str = ""
    """Of the disturbances: what brings it out soon."""


def _without(*rows: str) -> Break:
    kept = [rule for rule in launch_rules.MAIN_TASK_ROWS if rule.row not in rows]
    return lambda patch: patch.setattr(launch_rules, "MAIN_TASK_ROWS", kept)


def _answers(owner: object, name: str, answer: Callable[..., Any]) -> Break:
    return lambda patch: patch.setattr(owner, name, answer)


def _no_event(kind: str) -> Break:
    def breaks(patch: pytest.MonkeyPatch) -> None:
        event = Call.event

        def without(self: Call, name: str, *args: Any, **more: Any) -> None:
            if name != kind:
                event(self, name, *args, **more)

        patch.setattr(Call, "event", without)

    return breaks


def _no_source(source: Callable[..., Any]) -> Break:
    kept = tuple(each for each in finding.SOURCES if each is not source)
    return lambda patch: patch.setattr(finding, "SOURCES", kept)


def _obedience_counts(patch: pytest.MonkeyPatch) -> None:
    """Whoever leaves because it was told to is said to have lost its claim."""
    patch.setattr(end_of_session, "_fate", lambda *_: Fate.LOST)


def _everything_is_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(facts, "newly_dispatchable", lambda case: bool(case.children))


def _settles_nothing(_call: Call, task: Task, *_: object) -> Task:
    return task


MUTANTS: dict[str, Mutant] = {
    "a manager is not woken when nothing is outstanding any more (row 10)": Mutant("small", _without("10")),
    "a manager is not woken for what can be started (row 9)": Mutant("scarce", _without("9")),
    "a manager is not woken for what is blocked (row 8)": Mutant("scarce", _without("8")),
    "a worker that can only wait is started (row 12a)": Mutant("asked", _without("12a")),
    "two work on a task that was just given away (row 7a)": Mutant("small", _without("7a"), "gives"),
    "what is stuck is no need": Mutant("small", _answers(stuck_tasks, "stuck_tasks", lambda *_, **__: [])),
    "a block is not told in the log": Mutant("small", _no_event("task.blocked")),
    "who may do one task at a time may do any number": Mutant(
        "small", _answers(parallel_limit, "has_room", lambda *_: True)
    ),
    "dependencies do not matter": Mutant("trees", _answers(Tree, "open_dependencies", lambda *_: []), "in_progress"),
    "who leaves as told loses its claim": Mutant("asked", _obedience_counts),
    "something is always outstanding": Mutant("small", _answers(facts, "outstanding", lambda _: True)),
    "leases never run out": Mutant("small", _answers(end_of_session, "lapse", lambda *_: False), "vanishes"),
    "a manager that waits is woken by anything": Mutant("small", _everything_is_new),
    "a used-up budget hinders nobody": Mutant("scarce", _answers(snapshots, "_budget_used_up", lambda *_: False)),
    "nobody is told of a used-up budget": Mutant("scarce", _no_source(budgets.of_projects)),
    "who starts does not look whose files are being moved": Mutant(
        "trees", _answers(worktree_locks, "_worktree_job", lambda *_: None), "slow"
    ),
    "a worktree job of a Coordinator that has died is never given up": Mutant(
        "trees", _answers(old_worktrees, "_give_up", lambda *_: False), "killed about"
    ),
    "what the merge queue cannot merge is told to nobody": Mutant(
        "merges", _no_source(merge_queues.entries), "is killed about|cannot move"
    ),
    "nobody is asked about a check that cannot run": Mutant(
        "trees", _answers(review_rounds, "_ask_about", lambda *_: None), "cannot run"
    ),
    "what a check has found is forgotten": Mutant(
        "trees", _answers(review_rounds, "settle", _settles_nothing), "fails"
    ),
    "what was kept is forgotten at the next start": Mutant(
        "scarce", _answers(coordinator_reports, "_goes_on", lambda *_: False), "killed before"
    ),
}


def found(mutant: Mutant, database: InMemory, seconds: float, most: int, seed: int = 1) -> Explorer:
    """What an exploration of the broken product finds; it ends with the first fault."""
    with pytest.MonkeyPatch.context() as patch:
        mutant.breaks(patch)
        explorer = Explorer(mutant.scene, database, random.Random(seed), most=most, only=mutant.only)
        explorer.until = time.monotonic() + seconds
        explorer.stops = True
        explorer.explore(share=1.0 if mutant.only else 0.2)
        return explorer


def main(seconds: str, *names: str) -> None:
    with cheaply():
        database = InMemory()
        upgrade(database)
        for name in names or MUTANTS:
            explorer = found(MUTANTS[name], database, float(seconds), 4000)
            after = f"after {explorer.counts['histories']} histories"
            sys.stdout.write(f"{'found' if explorer.faults else 'NOT FOUND'} {after}: {name}\n")
            for fault in explorer.faults[:1]:
                sys.stdout.write(f"    {fault}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
