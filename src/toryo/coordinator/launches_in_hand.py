"""All current launches of this Coordinator, by launch id: the order, the process, and the progress of its end.

Facts only; `reconcile.py` decides and `starting.py` and `ending.py` act. Two processes of one agent are two entries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from toryo.coordinator.launch_state import Seconds, Seen, Stage, State, Stop
from toryo.coordinator.logs import Log
from toryo.coordinator.network_limits import Refused
from toryo.coordinator.orders import Launch
from toryo.coordinator.processes import Process
from toryo.coordinator.program_output import Event, Reading, Troubled
from toryo.coordinator.provider import Provider
from toryo.coordinator.worktrees import Worktree
from toryo.output_redaction import Mask

REMEMBERED = 10_000
"""How many past launches are remembered, to recognise a repeated order after a lost answer."""


@dataclass
class Entry:
    launch: Launch
    since: Seconds
    process: Process | None = None
    provider: Provider | None = None
    log: Log | None = None
    mask: Mask | None = None
    stop: Stop | None = None
    trouble: Troubled | None = None
    """The error of the model's service at the order to stop: later failures may result from it."""
    stage: Stage = Stage.NONE
    signalled_at: Seconds = 0.0
    made_to_leave: bool = False
    """Whether its process itself was signalled, not only processes that it left behind."""
    leaderless_since: Seconds | None = None
    troubled_since: Seconds | None = None
    """Since when the model's service has returned only errors."""
    life_seen: int = 0
    starting: bool = False
    """Its worktree is being created."""
    worktree: Worktree | None = None
    touched: list[str] = field(default_factory=list)
    """The paths that are changed in it, as the server knows them."""
    work_kept: bool = False
    """The changes in its worktree are committed and reported."""
    adopted: bool = False
    """Started by a predecessor: its order is partly known, and its exit code is unknown."""
    elsewhere: list[Event] = field(default_factory=list)
    """What the program reported outside its output, including the run before a reminder."""
    beside_at: int | None = 0
    """How far its second output file was read; None: to its present end."""
    beside: Path | None = None
    """That file, once it was found."""
    looked_for: int = -1
    """How many signs of life there were when it was looked for last."""
    refused: Refused = field(default_factory=Refused)
    """The hosts that its sandbox refused, known at its end."""
    reminded: bool = False
    """Whether it left without a report and was resumed; this happens once."""

    def seen(self, now: Seconds) -> Seen:
        state = self._state(now)
        since = self.since if self.leaderless_since is None else self.leaderless_since
        return Seen(self.launch, state, since, self.stop, self.stage, self.signalled_at)

    def tell_to_leave(self, stop: Stop) -> None:
        self.stop = stop
        if self.log is not None and self.log.reading is not None:
            self.log.read()  # its output so far, without what follows from this stop
            self.trouble = self.log.reading.trouble

    def heed(self, reading: Reading | None, now: Seconds) -> None:
        """Notes since when the model's service returns errors."""
        if reading is None or reading.trouble is None or reading.signs_of_life > self.life_seen:
            self.troubled_since = None
        elif self.troubled_since is None:
            self.troubled_since = now
        self.life_seen = reading.signs_of_life if reading is not None else 0

    def _state(self, now: Seconds) -> State:
        if self.process is None:
            return State.STARTING if self.starting else State.WAITING
        if not self.process.over:
            return State.RUNNING
        if not self.process.group_alive:
            return State.GONE
        if self.leaderless_since is None:
            self.leaderless_since = now
        return State.LEADERLESS


class LaunchesInHand:
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

    def find(self, launch_id: str) -> Entry | None:
        return self._entries.get(launch_id)

    def add(self, entry: Entry) -> Entry:
        return self._entries.setdefault(entry.launch.launch_id, entry)

    def remove(self, launch_id: str) -> Entry | None:
        """Removes it from the table; only its id is remembered."""
        self._ended[launch_id] = None
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        return self._entries.pop(launch_id, None)

    def forget(self, launch_id: str) -> None:
        """Removes every trace of it: it may be ordered again."""
        self._entries.pop(launch_id, None)
        self._ended.pop(launch_id, None)
