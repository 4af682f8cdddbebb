"""What open tasks wait for, and for how long: read from the events of a run, in their order.

Between two moments at which something changes, every open task waits for one cause, or is worked on. Tasks that wait
for the same are counted together, so that a run with many tasks takes no longer for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Event = Mapping[str, Any]
Task = Mapping[str, Any]
OPEN = frozenset({"backlog", "todo", "in_progress", "blocked"})
WAITS = {
    "dependencies": "other tasks first",
    "not_started": "nobody has started it",
    "no_room": "its agent has no room for another task",
    "assignee_busy": "its agent works on another task",
    "no_slot": "no free slot at the Coordinator",
    "cooldown": "its agent is in cooldown after a failure",
    "budget": "the day's budget is used up",
    "starting": "its agent is being started",
    "no_program": "its agent is a person, or has no program",
    "blocked": "blocked",
}
"""Why a task waits, with words for people."""


def seconds_of(at: str) -> float:
    """Seconds since the epoch."""
    return datetime.fromisoformat(at).timestamp()


@dataclass
class _Launch:
    launch_id: str
    task_id: str | None
    signed_in: bool = False


class Waiting:
    """`tasks` as they are at the end, by id; `started`: the agents that have a program. `seconds` are by cause."""

    def __init__(self, begins: float, slots: int, tasks: Mapping[str, Task], started: frozenset[str]) -> None:
        self._begins, self._slots, self._tasks, self._started = begins, slots, tasks, started
        self.seconds: dict[str, float] = defaultdict(float)
        self._now = 0.0
        self._status: dict[str, str] = {}
        self._assignee: dict[str, str | None] = {}
        self._supervised: set[str] = set()
        """Tasks whose manager has left to wait for others."""
        self._cooldown: dict[str, float] = {}
        """Until when, by agent."""
        self._used_up: dict[str, float] = {}
        """Until when the budget of a project is used up."""
        self._running: dict[str, _Launch] = {}
        """Launches for tasks, by agent."""
        self._after: dict[str, list[str]] = defaultdict(list)
        """Which tasks have a task among their dependencies."""
        for task_id, task in tasks.items():
            for each in task.get("dependencies") or ():
                self._after[each].append(task_id)
        self._missing: Counter[str] = Counter()
        """How many dependencies of a task are not completed."""
        self._place: dict[str, tuple[str, str | None]] = {}
        """Where an open task is counted: its cause, or `active` or `ready`, which depend on its agent."""
        self._counted: Counter[str] = Counter()
        self._ready: Counter[str | None] = Counter()
        self._active: dict[str | None, dict[str, None]] = defaultdict(dict)

    # --- events ------------------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        self.until(max(0.0, seconds_of(event["at"]) - self._begins))
        kind, data = event["kind"], event["data"]
        if kind.startswith("task."):
            self._take_task(event)
        elif kind == "launch.ordered" and data["purpose"] == "task":
            self._running[event["agent_id"]] = _Launch(event["launch_id"], data.get("task_id"))
            self._supervised.discard(data.get("task_id") or "")
        elif kind == "session.started":
            launch = self._running.get(event["agent_id"])
            if launch is not None and launch.launch_id == event["launch_id"]:
                launch.signed_in = True
        elif kind == "launch.process_ended":
            launch = self._running.get(event["agent_id"])
            if launch is not None and launch.launch_id == event["launch_id"]:
                del self._running[event["agent_id"]]
        elif kind == "agent.cooling_down":
            until = data.get("until")
            self._cooldown[event["agent_id"]] = seconds_of(until) - self._begins if until else self._now
        elif kind == "project.budget_used_up":
            at = self._begins + self._now
            self._used_up[event["project_id"]] = at - at % 86_400 + 86_400 - self._begins

    def _take_task(self, event: Event) -> None:
        task_id, kind, data = event["task_id"], event["kind"], event["data"]
        if kind == "task.created":
            self._assignee[task_id] = self._tasks.get(task_id, {}).get("assignee_id") and event["agent_id"]
        elif kind == "task.assigned":
            self._assignee[task_id] = data.get("to")
        elif kind == "task.waiting":
            self._supervised.add(task_id)
        status = data.get("status") if kind == "task.assigned" else data.get("to") or data.get("status")
        if isinstance(status, str) and kind != "task.waiting":
            self._become(task_id, status)
        self._put(task_id)

    def _become(self, task_id: str, status: str) -> None:
        before = self._status.get(task_id, "completed")  # what is not there yet is not waited for
        self._status[task_id] = status
        missing = (status != "completed") - (before != "completed")
        if missing:
            for each in self._after.get(task_id, ()):
                self._missing[each] += missing
                self._put(each)

    def _put(self, task_id: str) -> None:
        """Counts a task where it belongs now."""
        status, assignee = self._status.get(task_id), self._assignee.get(task_id)
        if status not in OPEN:
            place = None
        elif status == "in_progress":
            place = ("active", assignee)
        elif status == "blocked":
            place = ("blocked", None)
        else:
            place = ("dependencies", None) if self._missing[task_id] else ("ready", assignee)
        before = self._place.pop(task_id, None)
        if before is not None:
            self._count(task_id, before, -1)
        if place is not None:
            self._place[task_id] = place
            self._count(task_id, place, 1)

    def _count(self, task_id: str, place: tuple[str, str | None], many: int) -> None:
        cause, assignee = place
        if cause == "ready":
            self._ready[assignee] += many
        elif cause != "active":
            self._counted[cause] += many
        elif many > 0:
            self._active[assignee][task_id] = None
        else:
            self._active[assignee].pop(task_id, None)

    # --- time --------------------------------------------------------------------------------------------------------

    def until(self, moment: float) -> None:
        """Lets time pass: piece by piece, where a cause ends by itself."""
        ends = {each for each in (*self._cooldown.values(), *self._used_up.values()) if self._now < each < moment}
        for each in (*sorted(ends), moment):
            if each > self._now:
                self._pass(each - self._now)
                self._now = each

    def _pass(self, length: float) -> None:
        """Nothing changes within it."""
        for cause, many in self._counted.items():
            self.seconds[cause] += many * length
        for agent_id, many in self._ready.items():
            self.seconds["assignee_busy" if agent_id in self._running else "not_started"] += many * length
        for cause in self._of_active():
            self.seconds[cause] += length

    def _of_active(self) -> Iterator[str]:
        """Why tasks in progress are not worked on; those that are, or whose subtasks are, have no cause."""
        full = len(self._running) >= self._slots
        for agent_id, tasks in self._active.items():
            launch = self._running.get(agent_id or "")
            for task_id in tasks:
                if launch is not None and not launch.signed_in:
                    yield "starting"
                elif launch is not None and launch.task_id != task_id and task_id not in self._supervised:
                    yield "assignee_busy"
                elif launch is None and task_id not in self._supervised:
                    yield self._why_not_running(agent_id or "", task_id, full=full)

    def _why_not_running(self, agent_id: str, task_id: str, *, full: bool) -> str:
        if agent_id not in self._started:
            return "no_program"
        if self._cooldown.get(agent_id, 0.0) > self._now:
            return "cooldown"
        if self._used_up.get(str(self._tasks.get(task_id, {}).get("project_id")), 0.0) > self._now:
            return "budget"
        return "no_slot" if full else "starting"
