"""The days on which people's access tokens were used, remembered until a chore writes them down.

Writing with each request would turn every read into a write. What a server forgets by being killed is one day of a
token that nobody else saw.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from toryo.domain.people import AccessToken
from toryo.domain.times import DAY, Millis


@dataclass
class Uses:
    _noted: dict[str, int] = field(default_factory=dict)

    def note(self, token: AccessToken, now: Millis) -> None:
        day = now // DAY
        if token.used_on != day:
            self._noted[token.id] = day

    def taken(self) -> dict[str, int]:
        """The day for each token that was noted since the last time."""
        noted, self._noted = self._noted, {}
        return noted
