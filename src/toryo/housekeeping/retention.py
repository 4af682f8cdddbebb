"""Deletes what is older than its period, every hour, in short steps between which everybody goes on.

What is old, and how it is deleted, is in `storage/retention.py`; the periods are settings. A round does a bounded
number of steps and ends soon, so that the other chores are not delayed; the next one continues. Several servers of one
database may do this at once: each step is done by one of them, and looks at what is there.

A clock that is wrong makes everything old. When there was no round for two weeks, because the clock was set forward or
because no server ran, nothing is deleted for two weeks, as after an upgrade: time to notice it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import structlog

from toryo.domain.fast_dataclasses import replace
from toryo.domain.retention import WAITS, Kind
from toryo.domain.times import HOUR, SECOND, Millis, iso
from toryo.operations.admin import retention
from toryo.operations.calls.call import Call
from toryo.operations.calls.dispatch import Dispatcher

_log = structlog.get_logger("toryo.housekeeping")

EVERY: Millis = HOUR
STEPS = 200
"""Of one round."""
LONGEST: Millis = 10 * SECOND
"""After this time, a round begins no further step."""
PAUSE_SECONDS = 0.02
"""Between two steps: who waits comes first."""


class Retention:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._next: Millis = 0
        self._kinds: list[Kind] = []
        """In which something may be left since the last round."""

    def round(self, wait: Callable[[float], bool]) -> Counter[Kind]:
        """How many rows of which kind were deleted; at most `STEPS` parts. `wait` says when the server stops."""
        deleted: Counter[Kind] = Counter()
        now = self._dispatcher.clock()
        if now < self._next or not self._dispatcher.settings.retention.automatic:
            return deleted
        if not self._dispatcher.in_passing(_begin):
            self._next = now + EVERY
            return deleted
        self._kinds = self._kinds or list(Kind)
        for _ in range(STEPS):
            part = self._find()
            if part is None:
                self._next = now + EVERY
                break
            deleted.update(self._delete(part))
            if wait(PAUSE_SECONDS) or self._dispatcher.clock() - now >= LONGEST:
                break
        told = {kind.value: many for kind, many in deleted.items() if many}
        if told:
            _log.info("pruned", **told)
        return deleted

    def _find(self) -> retention.Part | None:
        """The next part. Kinds of which nothing was left are not looked at again: that reads all that is kept."""
        while self._kinds:
            part = self._dispatcher.in_passing(partial(retention.find, kinds=self._kinds[:1]), reads=True)
            if part is not None:
                return part
            del self._kinds[0]
        return None

    def _delete(self, part: retention.Part) -> dict[Kind, int]:
        """A kind of which a part cannot be deleted is left for the next hour, so that the others still are."""
        try:
            return self._dispatcher.in_passing(partial(retention.delete, part=part))
        except Exception as error:  # noqa: BLE001 - as of a chore that fails
            _log.warning("chore_failed", chore="retention", kind=part.kind.value, error=str(error))
            self._kinds.remove(part.kind)
            return {}


def _begin(call: Call) -> bool:
    """Whether something may be deleted now; notes that there was a round."""
    state = call.tx.retention.state()
    away = state.begins_at > 0 and call.now - state.begins_at >= WAITS
    if away or state.begins_at - call.now > WAITS:  # or the clock was ahead when that was set
        call.tx.retention.save(replace(state, begins_at=call.now + WAITS))
        _log.warning("retention_waits", last_round=iso(state.begins_at), until=iso(call.now + WAITS))
        return False
    if call.now < state.begins_at:
        return False
    # An hour back, because the clocks of several servers differ a little.
    call.tx.retention.save(replace(state, begins_at=max(state.begins_at, call.now - EVERY)))
    return True
