"""Holds that a server remembers, so that looking for starts costs what has changed, not how many wait.

A hint, never a truth: a remembered hold is only ever left alone while the facts it was decided from are the newest of
their trees; it is forgotten after a minute in any case. A start is never remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toryo.domain.times import SECOND, Millis
from toryo.workflow.launch import Action, Decision

LOOK_AGAIN_AFTER: Millis = 60 * SECOND
_MOST = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Standing:
    """An agent with tasks in progress in a project: since when, and the newest facts of its trees and of who is who."""

    since: Millis
    agent_id: str
    project_id: str
    facts: tuple[int, ...]


@dataclass
class Holds:
    _kept: dict[tuple[str, str], tuple[tuple[int, ...], Millis]] = field(default_factory=dict)

    def remember(self, standing: Standing, decision: Decision, now: Millis) -> None:
        """Keeps a hold that lasts; forgets whatever else was said before."""
        pair = (standing.agent_id, standing.project_id)
        if decision.action is Action.HOLD and decision.lasting:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[pair] = (standing.facts, now + LOOK_AGAIN_AFTER)
        else:
            self._kept.pop(pair, None)

    def still(self, standing: Standing, now: Millis) -> bool:
        """Whether nothing has changed that could change the answer."""
        kept = self._kept.get((standing.agent_id, standing.project_id))
        return kept is not None and kept[0] == standing.facts and now < kept[1]
