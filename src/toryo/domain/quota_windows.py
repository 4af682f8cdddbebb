"""Quota windows: what an account may use in five hours, a day and a week, and what it has used.

A window begins with the first use after the last one has ended, as the providers' windows do. Its limit is what a
person has set; without that, what had been used when the provider refused (learnt). What was learnt can be too low,
because the account is also used elsewhere: it is raised when more is used, a refusal after less use does not lower it,
and it is forgotten after two weeks. One that was reached says nothing: the provider has refused, or it can be more.

A reserve keeps the last part of every limit for tasks of high priority: the server starts no others on the account
until the window ends. Tasks of low priority can be limited to quota that would expire: they are started only while the
windows are used no faster than they pass. A used-up window stops nothing: the provider refuses by itself
(`operations/launches/cooldowns.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.tasks import Priority
from toryo.domain.times import DAY, HOUR, Millis

MOST_TOKENS = 10**12
MOST_RESERVE = 90
"""Percent. With more, ordinary work would not start at all."""
_ENOUGH: Millis = HOUR // 12
"""How long a window must have been used before its pace says anything."""
LEARNT_FOR: Millis = 14 * DAY
"""How long a learnt limit is believed."""
CLOCK_SKEW: Millis = HOUR // 12
"""By how much the clocks of servers may differ. A window that begins later than that was begun by a wrong clock."""


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

    `reserve` is the percentage of the limit that is kept, and `low_spare` says whether tasks of low priority get only
    what would expire; both are the same in all windows of an account.
    """

    account: str
    length: Length
    began_at: Millis | None = None
    used: int = 0
    set_limit: int | None = None
    learnt_limit: int | None = None
    learnt_at: Millis | None = None
    reserve: int = 0
    low_spare: bool = False

    def learnt(self, now: Millis) -> int | None:
        """Tokens that were used when the provider refused; None: it has not, or too long ago."""
        return self.learnt_limit if self.learnt_at is not None and now < self.learnt_at + LEARNT_FOR else None

    def limit(self, now: Millis) -> int | None:
        """Tokens; None: unknown."""
        return self.set_limit if self.set_limit is not None else self.learnt(now)

    def open_limit(self, now: Millis) -> int | None:
        """The limit, where it says how much of it is left; None: unknown. A learnt limit that was reached does not."""
        limit = self.limit(now)
        return None if limit is not None and self.set_limit is None and self.used >= limit else limit

    def ends_at(self, now: Millis) -> Millis | None:
        """None: none is open."""
        if self.began_at is None or self.began_at > now + CLOCK_SKEW:
            return None
        end = self.began_at + self.length.millis
        return end if end > now else None

    def used_now(self, now: Millis) -> int:
        return self.used if self.ends_at(now) is not None else 0

    def kept_until(self, now: Millis) -> Millis | None:
        """Until when only tasks of high priority are started; None: all are."""
        end, limit = self.ends_at(now), self.open_limit(now)
        if limit is None or self.reserve == 0:
            return None
        return end if self.used * 100 >= limit * (100 - self.reserve) else None

    def spare_from(self, now: Millis) -> Millis | None:
        """From when tasks of low priority are started: when as much of the window has passed as is used of what is not
        reserved. None: they are now."""
        end, limit = self.ends_at(now), self.open_limit(now)
        if end is None or limit is None or not self.low_spare:
            return None
        part = self.length.millis * self.used * 100 // (limit * (100 - self.reserve))
        at = min(end, end - self.length.millis + part)
        return at if at > now else None

    def runs_dry_at(self, now: Millis) -> Millis | None:
        """When its limit is reached at the pace of this window so far; None: not in this window, or not known."""
        end, limit = self.ends_at(now), self.open_limit(now)
        if end is None or limit is None:
            return None
        if self.used >= limit:
            return now
        elapsed = now - (end - self.length.millis)
        if elapsed < _ENOUGH or self.used == 0:
            return None
        dry = now + (limit - self.used) * elapsed // self.used
        return dry if dry < end else None


def used_up(windows: Iterable[Window], left: Millis, named: Length | None, now: Millis) -> Length | None:
    """Which of an account's windows is used up, where its provider refuses for `left`; None: that cannot be told.

    It is the one that the message names, or the only one that is long enough, or the one that was known to end at about
    that time. Nothing follows from a refusal of a few minutes: services also refuse because of too many requests.
    """
    able = [each for each in Length if left <= each.millis]
    if named is not None:
        return named if named in able else None
    if left < _SHORTEST:
        return None
    if len(able) == 1:
        return able[0]
    ends = {each.length: end for each in windows if each.length in able and (end := each.ends_at(now)) is not None}
    off = {length: abs(end - now - left) * _NEAR // length.millis for length, end in ends.items()}
    return min((length for length in off if off[length] == 0), key=lambda each: each.millis, default=None)


_SHORTEST: Millis = HOUR // 6
_NEAR = 20
"""Two ends are about the same time if they differ by less than this part of the window."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Until when what is left of an account is kept from tasks of medium and low priority, and from those of low
    priority alone. None: it is not."""

    from_ordinary: Millis | None = None
    from_low: Millis | None = None

    def until(self, priority: Priority) -> Millis | None:
        if may_use_reserve(priority):
            return None
        ends = (self.from_ordinary, self.from_low if priority is Priority.LOW else None)
        return max((each for each in ends if each is not None), default=None)


def kept_by_account(windows: Iterable[Window], now: Millis) -> dict[str, Kept]:
    """The accounts of which something is kept."""
    found: dict[str, Kept] = {}
    for each in windows:
        reserve, spare, known = each.kept_until(now), each.spare_from(now), found.get(each.account, Kept())
        if reserve is not None or spare is not None:
            found[each.account] = Kept(_later(known.from_ordinary, reserve), _later(known.from_low, spare))
    return found


def _later(one: Millis | None, other: Millis | None) -> Millis | None:
    return max(one or 0, other or 0) or None


def may_use_reserve(priority: Priority) -> bool:
    return priority in (Priority.HIGH, Priority.CRITICAL)
