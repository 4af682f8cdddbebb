"""One run: a team that is set up on a world, its work, and the end. `results.py` says what came of it."""

from __future__ import annotations

import gc
import random
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toryo.client import RefusalError
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.domain.errors import Code
from toryo.domain.times import HOUR, Millis
from toryo.formats.simulation_format import Arrival, Simulation
from toryo.simulation.coordinator import Coordinator
from toryo.simulation.programs import Program
from toryo.simulation.virtual_time import SECOND, Timer
from toryo.simulation.world import World

BEGINS_AT: Millis = 1_800_000_000_000 - 1_800_000_000_000 % (24 * HOUR) + 8 * HOUR
"""08:00 UTC of a day: the same for every run, so that a seed always gives the same one."""
STANDSTILL_SECONDS = 7_200
"""After this long without a process nothing more will start: longer than any cooldown."""
RETRY_SECONDS = 60
"""When it is tried again to hand out a task for which its agent had no room."""
SETTLE_SHARE, SETTLE_AT_MOST = 0.005, 6.0
"""How long hints are collected before the server is asked, as a share of the shortest usual work."""


class _Arriving(NamedTuple):
    """One task that comes: in how many seconds, for which entry of `arrivals`, and where that stands in the list."""

    moment: float
    arrival: Arrival
    place: int
    title: str


class Unfit(Exception):
    """A task of `arrivals` that the server refuses; `place` of its entry in the list."""

    def __init__(self, place: int, refusal: RefusalError) -> None:
        super().__init__(refusal.message)
        self.place = place


@dataclass
class Run:
    """`agents` as the file has them, by id."""

    world: World
    simulation: Simulation
    agents: dict[str, dict[str, Any]]
    seed: int
    coordinator: Coordinator = field(init=False)
    seconds: float = 0.0
    """How long the simulated time was."""
    ended: str = "hours"
    """Why it ended: done, hours (its time was over), or standstill."""
    seconds_without_room: float = 0.0
    """How long tasks that had come waited until their agent had room, summed over all."""
    _due: Iterator[_Arriving] = field(default_factory=lambda: iter(()))
    _next: _Arriving | None = None
    not_due: int = 0
    """How many tasks have not come yet."""
    _without_room: dict[tuple[str, str], deque[_Arriving]] = field(default_factory=dict)
    """Tasks that have come, and for which their agent has no room yet, by agent and project."""
    _retry: Timer | None = None
    _tried_at: int = -1
    _dice: dict[str, random.Random] = field(default_factory=dict)
    _projects: dict[str, str] = field(default_factory=dict)
    _looked: int = -1
    _quiet_since: float = 0.0

    def __post_init__(self) -> None:
        asked = self.simulation.coordinator
        chats = asked.max_concurrent if asked.max_chat is None else asked.max_chat
        limits = Limits(asked.max_concurrent, chats)
        self.coordinator = Coordinator(
            self.world, limits, self._begin, self._fails_check, self._check_seconds, self._settles()
        )

    def run(self) -> None:
        """From the beginning to the end."""
        time_ = self.world.time
        due = sorted(_arriving(self.simulation.arrivals), key=lambda each: each.moment)
        self.not_due, self._due = len(due), iter(due)
        self._next = next(self._due, None)
        self._await_next()
        self.coordinator.start()
        until = time_.begins_at + round(self.simulation.hours * HOUR)
        with without_collecting():
            time_.run(until, self._over)
        if self.ended == "hours":
            time_.now = until
        self.seconds = time_.seconds
        self.seconds_without_room += sum(
            self.seconds - each.moment for waiting in self._without_room.values() for each in waiting
        )
        for entry in self.coordinator.entries.values():
            if entry.program is not None:
                self.coordinator.print(entry.program)

    # --- the end ---------------------------------------------------------------------------------------------------

    def _over(self) -> bool:
        entries, now = self.coordinator.entries, self.world.time.seconds
        if entries or self.not_due or self._without_room:
            self._quiet_since = now
            return False
        if self._quiet_since == now or self.world.changes == self._looked:
            over = False
        else:
            self._looked = self.world.changes
            over = not self._open_tasks()
        if over:
            self.ended = "done"
            return True
        if now - self._quiet_since > STANDSTILL_SECONDS:
            self.ended = "standstill"
            return True
        return False

    def _open_tasks(self) -> bool:
        for project in self.world.owner("list_projects", limit=200)["projects"]:
            for status in ("in_progress", "todo", "blocked", "backlog"):
                asked = {"project_id": project["project_id"], "status": status, "limit": 1}
                if self.world.owner("list_project_tasks", **asked)["tasks"]:
                    return True
        return False

    # --- work ------------------------------------------------------------------------------------------------------

    @property
    def without_room(self) -> int:
        """How many tasks have come for which their agent has no room yet."""
        return sum(len(each) for each in self._without_room.values())

    def _moment_of(self, arriving: _Arriving) -> Millis:
        return self.world.time.begins_at + round(arriving.moment * SECOND)

    def _arrive(self) -> None:
        """All that come at this moment."""
        while self._next is not None and self._moment_of(self._next) <= self.world.time.now:
            self.not_due -= 1
            key = self._next.arrival.assignee, self._next.arrival.project
            waiting = self._without_room.setdefault(key, deque())
            waiting.append(self._next)
            if len(waiting) == 1:
                self._hand_out(key)
            self._next = next(self._due, None)
        self._await_next()

    def _await_next(self) -> None:
        if self._next is not None:
            self.world.time.at(self._moment_of(self._next), self._arrive)

    def _hand_out(self, key: tuple[str, str]) -> None:
        """Files what has come for an agent, oldest first; what it has no room for is tried again later."""
        waiting = self._without_room[key]
        while waiting and self._file(waiting[0]):
            self.seconds_without_room += self.world.time.seconds - waiting.popleft().moment
        if not waiting:
            del self._without_room[key]
        elif self._retry is None:
            self._retry = self.world.time.after(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        """Room comes from a change only."""
        self._retry = None
        if self.world.changes == self._tried_at:
            self._retry = self.world.time.after(RETRY_SECONDS, self._try_again)
            return
        self._tried_at = self.world.changes
        for key in list(self._without_room):
            self._hand_out(key)

    def _file(self, arriving: _Arriving) -> bool:
        """Whether it was filed. Raises Unfit if that will never be possible."""
        arrival = arriving.arrival
        asked = {
            "title": arriving.title,
            "assignee_id": arrival.assignee,
            "priority": arrival.priority,
            "status": "in_progress",
        }
        said = {name: value for name, value in asked.items() if value is not None}
        try:
            self.world.owner("file_task", project_id=self._project_id(arrival.project), **said)
        except RefusalError as refusal:
            if refusal.code != Code.LIMIT_REACHED:
                raise Unfit(arriving.place, refusal) from refusal
            return False
        return True

    def _project_id(self, name: str) -> str:
        if not self._projects:
            for each in self.world.owner("list_projects", limit=200)["projects"]:
                self._projects.setdefault(each["name"], each["project_id"])
                self._projects[each["project_id"]] = each["project_id"]
        return self._projects.get(name, name)

    # --- agents ----------------------------------------------------------------------------------------------------

    def _begin(self, launch: Launch) -> Program:
        role = str(self.agents.get(launch.agent_id, {}).get("role") or "worker")
        agent = self.simulation.of(launch.agent_id)
        return Program(
            self.world, launch, agent, role, self._dice_of(launch.agent_id), self._ended_, self.coordinator.print
        )

    def _ended_(self, _: Program) -> None:
        self.coordinator.news()

    def _fails_check(self, check: CheckOrder) -> bool:
        return self._dice_of(check.agent_id).random() < self.simulation.of(check.agent_id).failed_checks

    def _check_seconds(self, check: CheckOrder) -> float:
        return self.simulation.of(check.agent_id).check_seconds

    def _dice_of(self, agent_id: str) -> random.Random:
        if agent_id not in self._dice:
            self._dice[agent_id] = random.Random(f"{self.seed} {agent_id}")  # noqa: S311 - chance, no secret
        return self._dice[agent_id]

    def _settles(self) -> float:
        times = [self.simulation.of(each).minutes for each in self.agents] or [self.simulation.defaults.minutes]
        usual = min(_usual(each) for each in times)
        return min(SETTLE_AT_MOST, SETTLE_SHARE * 60 * usual)


def _arriving(arrivals: Sequence[Arrival]) -> Iterator[_Arriving]:
    for place, arrival in enumerate(arrivals):
        for number in range(arrival.count):
            title = arrival.title.replace("{n}", str(number + 1))
            if title == arrival.title and arrival.count > 1:
                title = f"{title} {number + 1}"
            moment = round(60 * (arrival.at_minutes + number * arrival.every_minutes), 3)
            yield _Arriving(moment, arrival, place, title)


def _usual(times: Any) -> float:
    if times.samples:
        return float(sum(times.samples) / len(times.samples))
    return float(times.mean if times.mean is not None else (times.min + times.max) / 2)


_RARELY = (50_000, 50, 100)


@contextmanager
def without_collecting() -> Iterator[None]:
    """The objects of a run live long: looking through them again and again takes a tenth of its time. Once around many
    short runs, it is done once."""
    if gc.get_threshold() == _RARELY:
        yield
        return
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
