"""Quota windows: what an account may use in five hours, a day and a week, and what it has used.

A window begins with the first use after the last one has ended, as the providers' windows do. Its limit is what a
person has set; without that, what had been used when the provider refused (learnt). A reserve keeps the last part of
every limit for tasks of high priority: the server starts no others on the account until the window ends. A used-up
window stops nothing: the provider refuses by itself (`operations/launches/cooldowns.py`), and a learnt limit is only an
estimate.
"""

from __future__ import annotations

from enum import StrEnum

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Priority
from toryo.domain.times import DAY, HOUR, Millis

MOST_TOKENS = 10**12
MOST_RESERVE = 90
"""Percent. With more, ordinary work would not start at all."""
_ENOUGH: Millis = HOUR // 12
"""How long a window must have been used before its pace says anything."""


class Length(StrEnum):
    """The lengths of windows, as they are named everywhere."""

    FIVE_HOURS = "5h"
    DAY = "day"
    WEEK = "week"

    @property
    def millis(self) -> Millis:
        return _MILLIS[self]


_MILLIS: dict[Length, Millis] = {Length.FIVE_HOURS: 5 * HOUR, Length.DAY: DAY, Length.WEEK: 7 * DAY}


@dataclass(frozen=True, slots=True)
class Window:
    """One window of an account. `used` counts tokens as budgets do: all input, cached too, and output.

    `reserve` is the percentage of the limit that is kept, the same in all windows of an account.
    """

    account: str
    length: Length
    began_at: Millis | None = None
    used: int = 0
    set_limit: int | None = None
    learnt_limit: int | None = None
    learnt_at: Millis | None = None
    reserve: int = 0

    @property
    def limit(self) -> int | None:
        """Tokens; None: unknown."""
        return self.set_limit if self.set_limit is not None else self.learnt_limit

    def ends_at(self, now: Millis) -> Millis | None:
        """None: none is open."""
        end = self.began_at + self.length.millis if self.began_at is not None else None
        return end if end is not None and end > now else None

    def used_now(self, now: Millis) -> int:
        return self.used if self.ends_at(now) is not None else 0

    def kept_until(self, now: Millis) -> Millis | None:
        """Until when only tasks of high priority are started; None: all are."""
        end = self.ends_at(now)
        if end is None or self.limit is None or self.reserve == 0:
            return None
        return end if self.used * 100 >= self.limit * (100 - self.reserve) else None

    def runs_dry_at(self, now: Millis) -> Millis | None:
        """When its limit is reached at the pace of this window so far; None: not in this window, or not known."""
        end = self.ends_at(now)
        if end is None or self.limit is None or self.began_at is None:
            return None
        if self.used >= self.limit:
            return now
        elapsed = now - self.began_at
        if elapsed < _ENOUGH or self.used == 0:
            return None
        dry = now + (self.limit - self.used) * elapsed // self.used
        return dry if dry < end else None


def refused(seconds: int) -> Length:
    """Which window is used up, where a provider refuses and names how many seconds are left: the shortest that fits."""
    fits = (each for each in Length if seconds * 1000 <= each.millis)
    return min(fits, key=lambda each: each.millis, default=Length.WEEK)


def may_use_reserve(priority: Priority) -> bool:
    return priority in (Priority.HIGH, Priority.CRITICAL)
