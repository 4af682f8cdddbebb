"""Deletes what is older than its period, every hour, in short steps between which everybody goes on.

What is old, and how it is deleted, is in `storage/retention.py`; the periods are settings. A round does a bounded
number of steps, so that the other chores are not delayed; the next one continues. Several servers of one database may
do this at once: each step is done by one of them, and looks at what is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import structlog

from toryo.domain.retention import Kind
from toryo.domain.times import HOUR, Millis
from toryo.operations.admin import retention
from toryo.operations.calls.call import Call
from toryo.operations.calls.dispatch import Dispatcher

_log = structlog.get_logger("toryo.housekeeping")

EVERY: Millis = HOUR
STEPS = 200
"""Of one round."""
PAUSE_SECONDS = 0.02
"""Between two steps: who waits comes first."""


class Retention:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._next: Millis = 0

    def round(self, wait: Callable[[float], bool]) -> Counter[Kind]:
        """How many rows of which kind were deleted; at most `STEPS` parts. `wait` says when the server stops."""
        deleted: Counter[Kind] = Counter()
        now = self._dispatcher.clock()
        if now < self._next or not self._dispatcher.settings.retention.automatic:
            return deleted
        for _ in range(STEPS):
            part = self._dispatcher.in_passing(_due, reads=True)
            if part is None:
                self._next = now + EVERY
                break
            deleted.update(self._dispatcher.in_passing(partial(retention.delete, part=part)))
            if wait(PAUSE_SECONDS):
                break
        told = {kind.value: many for kind, many in deleted.items() if many}
        if told:
            _log.info("pruned", **told)
        return deleted


def _due(call: Call) -> retention.Part | None:
    return retention.find(call) if call.now >= call.tx.retention.state().begins_at else None
