"""Lockout after wrong passkeys and passwords, counted per name and address, so that nobody can lock others out.

Counted in memory, by each server separately: unknown names count like known ones and leave no row. The operations for
signing in word the refusals.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field
from threading import Lock

from toryo.domain.fast_dataclasses import dataclass
from toryo.domain.network_addresses import household
from toryo.domain.times import HOUR, MINUTE, Millis

PASSKEY, PASSWORD = "passkey", "password"
REMEMBERED = 10_000
"""Maximum number of counters; the one with the oldest failure is dropped first."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`most` failures within `within` lock for `locked_for`."""

    most: int
    within: Millis
    locked_for: Millis


OF_NAME = {PASSKEY: Rule(5, MINUTE, MINUTE), PASSWORD: Rule(10, HOUR, 15 * MINUTE)}
"""Failures for one agent or person from one address, in which time, and how long that pair is then locked."""
OF_ADDRESS = {PASSKEY: Rule(50, MINUTE, MINUTE), PASSWORD: Rule(50, HOUR, 15 * MINUTE)}
"""The same for all failures from one address, whatever agent or person they were for."""


@dataclass(frozen=True, slots=True)
class Counter:
    """The key of a counter: kind of secret, address, and a name or (None) all names."""

    kind: str
    name: str | None
    address: str


@dataclass
class Tries:
    _counted: OrderedDict[Counter, tuple[Millis, int, Millis]] = field(default_factory=OrderedDict)
    """Since when, how many, locked until."""
    _turn: Lock = field(default_factory=Lock)

    def locked_until(self, counters: dict[Counter, Rule], now: Millis) -> Millis | None:
        """Until when these tries are refused; None if they are not."""
        with self._turn:
            until = max((self._counted[counter][2] for counter in counters if counter in self._counted), default=0)
        return until if now < until else None

    def wrong(self, counters: dict[Counter, Rule], now: Millis) -> tuple[int, bool]:
        """One more wrong try: how many there were at the first counter, and whether any of them is locked now."""
        with self._turn:
            counted = [self._count(each, rule, now) for each, rule in counters.items()]
        return counted[0][0], any(locked for _, locked in counted)

    def _count(self, counter: Counter, rule: Rule, now: Millis) -> tuple[int, bool]:
        since, before, _ = self._counted.pop(counter, (now, 0, 0))
        if now - since > rule.within:
            since, before = now, 0
        locked = before + 1 >= rule.most
        self._counted[counter] = (now, 0, now + rule.locked_for) if locked else (since, before + 1, 0)
        if len(self._counted) > REMEMBERED:
            self._counted.popitem(last=False)
        return before + 1, locked

    def locked(self, kind: str, names: Iterable[str], now: Millis) -> list[tuple[str, Millis, Millis]]:
        """Which of these names are locked for somebody: since when, until when."""
        wanted, found = set(names), {}
        with self._turn:
            for counter, (since, _, until) in self._counted.items():
                if counter.kind == kind and counter.name in wanted and now < until:
                    found[counter.name] = (counter.name, since, until)
        return sorted(found.values())

    def forgive(self, kind: str, name: str, address: str | None = None) -> None:
        """Forgets the wrong tries for a name: from one address, or from all."""
        wanted = household(address) if address is not None else None
        with self._turn:
            for each in [each for each in self._counted if (each.kind, each.name) == (kind, name)]:
                if wanted in (None, each.address):
                    del self._counted[each]

    def __len__(self) -> int:
        return len(self._counted)


def counters(kind: str, name: str, remote: str | None) -> dict[Counter, Rule]:
    """Where a wrong try is counted: for the name from this address, and (a caller of this machine has none) for it."""
    address = household(remote or "")
    found = {Counter(kind, name, address): OF_NAME[kind]}
    return {**found, Counter(kind, None, address): OF_ADDRESS[kind]} if remote else found
