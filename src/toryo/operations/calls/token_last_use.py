"""The days on which people's access tokens were used, kept in memory until a chore stores them.

Storing with each request would turn every read into a write. A killed server loses one day of use at most.
"""

from __future__ import annotations

from dataclasses import field

from toryo.domain.fast_dataclasses import dataclass
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
