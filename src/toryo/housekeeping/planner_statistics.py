"""Collects the planner's statistics again when much has been added. For SQLite: PostgreSQL does it by itself."""

from __future__ import annotations

from toryo.operations.calls.call import Call

_FEW = 1_000
"""Events up to which no plan is slow."""


class PlannerStatistics:
    """A chore: collects once after a start, then whenever the number of events has doubled."""

    def __init__(self) -> None:
        self._at = _FEW // 2

    def __call__(self, call: Call) -> bool:
        """Whether it collected them."""
        last = call.tx.events.last()
        if call.tx.connection.dialect != "sqlite" or last < 2 * self._at:
            return False
        call.tx.collect_statistics()
        self._at = last
        return True
