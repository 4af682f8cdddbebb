"""When to call `claim_starts` again: immediately after news or a long wait, with back-off while the server is down."""

from __future__ import annotations

from toryo import backoff
from toryo.coordinator.launch_state import Seconds

FIRST = 0.1
REPEATING = 1.0
"""Longest pause while answers come immediately without news (a stop is repeated until its process has ended)."""


class Pace:
    def __init__(self, while_away: Seconds) -> None:
        self._while_away = while_away
        self._waits = 0
        self.ask_at: Seconds = 0.0

    def answered(self, now: Seconds, *, took: Seconds, news: bool) -> None:
        if news or took >= REPEATING:
            self._waits, self.ask_at = 0, now
        else:
            self._wait(now, REPEATING)

    def failed(self, now: Seconds) -> None:
        self._wait(now, self._while_away)

    def _wait(self, now: Seconds, most: Seconds) -> None:
        self._waits += 1
        self.ask_at = now + backoff.pause(self._waits, FIRST, most)
