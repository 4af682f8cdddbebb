"""Every launch this Coordinator has in hand, by launch id: what was ordered, the process, how far its end has come.

Only facts; `plan.py` decides about them and `loop.py` acts. Two processes of one agent are two entries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toryo.coordinator.orders import Launch
from toryo.coordinator.plan import Seconds, Seen, Stage, State, Stop
from toryo.coordinator.processes import Process
from toryo.coordinator.provider import Provider
from toryo.coordinator.secrets import Mask

REMEMBERED = 10_000
"""Launches of the past, so that an order for one of them (a lost answer) is recognised."""


@dataclass
class Entry:
    launch: Launch
    since: Seconds
    process: Process | None = None
    provider: Provider | None = None
    log: Path | None = None
    mask: Mask | None = None
    stop: Stop | None = None
    stage: Stage = Stage.NONE
    signalled_at: Seconds = 0.0
    leaderless_since: Seconds | None = None

    def seen(self, now: Seconds) -> Seen:
        state = self._state(now)
        since = self.since if self.leaderless_since is None else self.leaderless_since
        return Seen(self.launch, state, since, self.stop, self.stage, self.signalled_at)

    def _state(self, now: Seconds) -> State:
        if self.process is None:
            return State.WAITING
        if not self.process.over:
            return State.RUNNING
        if not self.process.group_alive:
            return State.GONE
        if self.leaderless_since is None:
            self.leaderless_since = now
        return State.LEADERLESS


class Table:
    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    def __getitem__(self, launch_id: str) -> Entry:
        return self._entries[launch_id]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, launch_id: object) -> bool:
        return launch_id in self._entries

    @property
    def ended(self) -> OrderedDict[str, None]:
        return self._ended

    def add(self, entry: Entry) -> Entry:
        return self._entries.setdefault(entry.launch.launch_id, entry)

    def remove(self, launch_id: str) -> Entry | None:
        """Out of hand: from now on only its id is remembered."""
        self._ended[launch_id] = None
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        return self._entries.pop(launch_id, None)

    def forget(self, launch_id: str) -> None:
        """As if it had never been ordered: an order for it may come again."""
        self._entries.pop(launch_id, None)
        self._ended.pop(launch_id, None)
