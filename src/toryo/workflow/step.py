"""A next action: what an agent is told, and the row that decided it."""

from __future__ import annotations

from toryo.domain.fast_dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Step:
    """`action` and `state` are wire values; `reason` is the row's, or the cause of an exit."""

    action: str
    state: str
    reason: str = ""
    row: str = ""
    words: str = ""

    def by(self, row: str, words: str) -> Step:
        return replace(self, row=row, words=words, reason=self.reason or self.state)
