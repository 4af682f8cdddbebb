"""One run: a team that is set up on a world, its work, and the end. `results.py` says what came of it."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toryo.client import RefusalError
from toryo.coordinator.limits import Limits
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.domain.errors import Code
from toryo.domain.times import HOUR, Millis
from toryo.formats.simulation_format import Arrival, Simulation
from toryo.simulation.coordinator import Coordinator
from toryo.simulation.programs import Program
from toryo.simulation.virtual_time import Timer
from toryo.simulation.world import World

BEGINS_AT: Millis = 1_800_000_000_000 - 1_800_000_000_000 % (24 * HOUR) + 8 * HOUR
"""08:00 UTC of a day: the same for every run, so that a seed always gives the same one."""
STANDSTILL_SECONDS = 7_200
"""After this long without a process nothing more will start: longer than any cooldown."""
RETRY_SECONDS = 60
"""When it is tried again to hand out a task for which its agent had no room."""
SETTLE_SHARE, SETTLE_AT_MOST = 0.005, 6.0
"""How long hints are collected before the server is asked, as a share of the shortest usual work."""


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
    took_seconds: float = 0.0
    """How long the simulation took, in real time."""
    ended: str = "done"
    """Why it ended: done, hours (its time was over), or standstill."""
    waiting: list[tuple[Arrival, str]] = field(default_factory=list)
    """Tasks that have come, and for which their agent has no room yet."""
    usages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What each program with a model has used, by agent."""
    _retry: Timer | None = None
    _dice: dict[str, random.Random] = field(default_factory=dict)
    _arriving: int = 0
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
        began = time.perf_counter()
        time_ = self.world.time
        for arrival in self.simulation.arrivals:
            for number in range(arrival.count):
                self._arriving += 1
                moment = 60 * (arrival.at_minutes + number * arrival.every_minutes)
                time_.after(moment, partial(self._arrive, arrival, number + 1))
        self.coordinator.start()
        until = time_.begins_at + round(self.simulation.hours * HOUR)
        with _without_collecting():
            time_.run(until, self._over)
        if self.ended == "hours":
            time_.now = until
        self.seconds = time_.seconds
        self.took_seconds = time.perf_counter() - began

    # --- the end ---------------------------------------------------------------------------------------------------

    def _over(self) -> bool:
        entries, now = self.coordinator.entries, self.world.time.seconds
        if entries or self._arriving or self.waiting:
            self._quiet_since = now
            self.ended = "hours"
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

    _looked: int = -1

    def _open_tasks(self) -> bool:
        for project in self.world.owner("list_projects")["projects"]:
            for status in ("in_progress", "todo", "blocked", "backlog"):
                asked = {"project_id": project["project_id"], "status": status, "limit": 1}
                if self.world.owner("list_project_tasks", **asked)["tasks"]:
                    return True
        return False

    # --- work ------------------------------------------------------------------------------------------------------

    def _arrive(self, arrival: Arrival, number: int) -> None:
        self._arriving -= 1
        title = arrival.title.replace("{n}", str(number))
        if title == arrival.title and arrival.count > 1:
            title = f"{title} {number}"
        self.waiting.append((arrival, title))
        self._hand_out()

    def _hand_out(self) -> None:
        """Files what has come, oldest first; what its agent has no room for waits until something has changed."""
        full: set[str] = set()
        still: list[tuple[Arrival, str]] = []
        for arrival, title in self.waiting:
            if arrival.assignee in full or not self._file(arrival, title):
                full.add(arrival.assignee)
                still.append((arrival, title))
        self.waiting = still
        if still and self._retry is None:
            self._retry = self.world.time.after(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self._hand_out()

    def _file(self, arrival: Arrival, title: str) -> bool:
        """Whether it was filed. Raises RefusalError if that will never be possible."""
        asked = {"title": title, "assignee_id": arrival.assignee, "priority": arrival.priority, "status": "in_progress"}
        said = {name: value for name, value in asked.items() if value is not None}
        try:
            self.world.owner("file_task", project_id=self._project_id(arrival.project), **said)
        except RefusalError as refusal:
            if refusal.code != Code.LIMIT_REACHED:
                raise
            return False
        return True

    def _project_id(self, name: str) -> str:
        projects = self.world.owner("list_projects", limit=200)["projects"]
        return next((str(each["project_id"]) for each in projects if name in (each["project_id"], each["name"])), name)

    # --- agents ----------------------------------------------------------------------------------------------------

    def _begin(self, launch: Launch) -> Program:
        role = str(self.agents.get(launch.agent_id, {}).get("role") or "worker")
        agent = self.simulation.of(launch.agent_id)
        return Program(
            self.world, launch, agent, role, self._dice_of(launch.agent_id), self._ended_, self.coordinator.print
        )

    def _ended_(self, program: Program) -> None:
        usage = program.usage()
        if usage is not None:
            self.usages.setdefault(program.launch.agent_id, []).append(usage)
        self.coordinator.news()

    def _fails_check(self, check: CheckOrder) -> bool:
        agent, dice = self.simulation.of(check.agent_id), self._dice_of(check.agent_id)
        entry = self.coordinator.entries.get(check.launch_id)
        behaves = entry.program.behaviour if entry is not None and entry.program is not None else None
        share = behaves.failed_checks if behaves is not None and behaves.failed_checks is not None else None
        return dice.random() < (agent.failed_checks if share is None else share)

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


def _usual(times: Any) -> float:
    if times.samples:
        return float(sum(times.samples) / len(times.samples))
    return float(times.mean if times.mean is not None else (times.min + times.max) / 2)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """The objects of a run live long: looking through them again and again takes a tenth of its time."""
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
