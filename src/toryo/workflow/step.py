"""A next action: what an agent is told, and the row that said so."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Step:
    """`action` and `state` are wire values; `reason` says why (the row's, unless an exit names a cause)."""

    action: str
    state: str
    reason: str = ""
    row: str = ""
    words: str = ""

    def by(self, row: str, words: str) -> Step:
        return replace(self, row=row, words=words, reason=self.reason or self.state)
