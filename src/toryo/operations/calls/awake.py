"""Since when a server has been there without a gap: what others have not said before that, they could not say.

A gap is a suspended machine, a stopped process, a jump of the clock, or the time before the start. Who was silent
through one is not gone. `Dispatcher.watch_for_gaps` begins the watch, and says what is done after a gap, before
anything is decided by what has run out meanwhile.
"""

from __future__ import annotations

from toryo.domain.times import SECOND, Millis

LOOKS_EVERY = 1.0
"""Seconds between the looks of a server that nobody calls."""
_SHORTEST, _LONGEST = 2 * SECOND, 10 * SECOND


class Awake:
    """Without a watch there are no gaps: who moves the clock decides what that means."""

    def __init__(self, since: Millis = 0) -> None:
        self.since = since
        self._looked_at: Millis | None = None
        self._bearable: Millis = _LONGEST

    def watch(self, now: Millis, lease: Millis) -> None:
        """From now on every look finds out whether there was a gap that could cost somebody a lease of this length."""
        self._bearable = max(_SHORTEST, min(_LONGEST, lease // 3))
        self.resume(now)

    def gap(self, now: Millis) -> Millis | None:
        """How long nobody has looked, or how far the clock went back (then below zero); None: nothing that matters."""
        if self._looked_at is None:
            return None
        passed = now - self._looked_at
        if abs(passed) > self._bearable:
            return passed
        self._looked_at = now
        return None

    def just_back(self, now: Millis, within: Millis) -> bool:
        """Whether a gap ended so short a time ago that silence means nothing yet."""
        return self._looked_at is not None and now < self.since + within

    def resume(self, now: Millis) -> None:
        """What had to be done after the gap is stored."""
        self.since = self._looked_at = now
