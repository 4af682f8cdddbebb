"""Cached hold decisions, so that the cost of finding starts depends on changes, not on the number of waiting agents.

A hint only: a cached hold is used while the facts it was decided from are the newest of their trees, and for a minute
at most. Starts are never cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from toryo.domain.events import SETUP
from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Task
from toryo.domain.times import SECOND, Millis
from toryo.storage.transaction import Transaction
from toryo.workflow.launch_rules import Action, Decision, would_only_wait
from toryo.workflow.snapshot import RuleInput, Snapshot

LOOK_AGAIN_AFTER: Millis = 60 * SECOND
_MOST = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """An agent with tasks in progress in a project: since when, the newest facts of its trees and of who is who, and
    the roots of these trees."""

    since: Millis
    agent_id: str
    project_id: str
    facts: tuple[int, ...]
    roots: tuple[str, ...] = ()


@dataclass
class HoldCache:
    _kept: dict[tuple[str, str], tuple[tuple[int, ...], Millis]] = field(default_factory=dict)

    def remember(self, standing: Candidate, decision: Decision, now: Millis) -> None:
        """Keeps a hold that lasts; forgets whatever else was said before."""
        pair = (standing.agent_id, standing.project_id)
        if decision.action is Action.HOLD and decision.lasting:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[pair] = (standing.facts, now + LOOK_AGAIN_AFTER)
        else:
            self._kept.pop(pair, None)

    def still(self, standing: Candidate, now: Millis) -> bool:
        """Whether nothing has changed that could change the answer."""
        kept = self._kept.get((standing.agent_id, standing.project_id))
        return kept is not None and kept[0] == standing.facts and now < kept[1]


@dataclass
class Waits:
    """On which ready queue tasks an agent could only be told to wait: remembered of those that stand behind the first
    ones of a queue, so that each look reads a few of them, and all are looked at. A hint, as the holds are."""

    _kept: dict[tuple[str, str], tuple[tuple[int, ...], Millis]] = field(default_factory=dict)

    def look(self) -> Look:
        return Look(self._kept)


@dataclass
class Look:
    """One look: which tasks it need not read, and what it has learnt of the others."""

    _kept: dict[tuple[str, str], tuple[tuple[int, ...], Millis]]
    _facts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The newest facts of their trees, by task."""

    def unknown(self, tx: Transaction, agent_id: str, tasks: Sequence[Task], now: Millis) -> list[Task]:
        newest = tx.events.last_facts({SETUP, *(task.root_id for task in tasks)}) if tasks else {}
        self._facts = {task.id: (newest.get(SETUP, 0), newest.get(task.root_id, 0)) for task in tasks}
        until = {task.id: self._until(agent_id, task.id) for task in tasks}
        return sorted((task for task in tasks if until[task.id] <= now), key=lambda each: until[each.id])

    def _until(self, agent_id: str, task_id: str) -> Millis:
        """What has changed, or was never read, comes before what is only to be looked at again."""
        facts, until = self._kept.get((agent_id, task_id), ((), 0))
        return until if facts == self._facts[task_id] else 0

    def remember(self, snapshot: Snapshot) -> None:
        """Those of which it is known now that they give the agent nothing to do."""
        for task, tree_state in snapshot.offers:
            if task.id in self._facts and would_only_wait(RuleInput(snapshot, tree_state, task)):
                if len(self._kept) >= _MOST:
                    self._kept.clear()
                self._kept[snapshot.agent_id, task.id] = (self._facts[task.id], snapshot.now + LOOK_AGAIN_AFTER)
