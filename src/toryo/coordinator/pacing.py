"""When to ask the server again: at once after news or a long wait, ever later while it is away or repeats itself."""

from __future__ import annotations

from toryo.coordinator.plan import Seconds

FIRST = 0.1
REPEATING = 1.0
"""Longest pause while answers come at once and bring nothing new (a stop is repeated until its process has left)."""


class Pace:
    def __init__(self, while_away: Seconds) -> None:
        self._while_away = while_away
        self._pause = FIRST
        self.ask_at: Seconds = 0.0

    def answered(self, now: Seconds, *, took: Seconds, news: bool) -> None:
        if news or took >= REPEATING:
            self._pause, self.ask_at = FIRST, now
        else:
            self._wait(now, REPEATING)

    def failed(self, now: Seconds) -> None:
        self._wait(now, self._while_away)

    def _wait(self, now: Seconds, most: Seconds) -> None:
        pause = min(self._pause, most)
        self._pause, self.ask_at = pause * 2, now + pause
