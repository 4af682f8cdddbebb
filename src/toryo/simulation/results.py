"""What came of a run: starts, calls, tokens, money, waiting by cause, guards. Read from its events and its counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from toryo.simulation.run import Run

Event = dict[str, Any]
OPEN = frozenset({"backlog", "todo", "in_progress", "blocked"})
_CHANGES_NOTHING = frozenset({"task.fetched", "task.waiting", "manager.chose"})
_GUARDS = {
    "agent.cooling_down": "cooldown",
    "session.runaway": "runaway: {guard}",
    "guard.blocked": "blocked: {reason}",
    "launch.reminded": "reminded",
    "project.budget_used_up": "budget used up",
    "check.failed": "acceptance check failed",
}
"""Events of guards, and how they are counted."""
WAITS = {
    "dependencies": "other tasks first",
    "not_started": "nobody has started it",
    "assignee_busy": "its agent works on another task",
    "no_slot": "no free slot at the Coordinator",
    "cooldown": "its agent is in cooldown after a failure",
    "starting": "its agent is being started",
    "blocked": "blocked",
}
"""Why a task waits, with words for people."""


@dataclass(frozen=True)
class Bar:
    """One launch: seconds since the beginning; `ended_badly`: with a failure, or stopped."""

    agent_id: str
    begins: float
    ends: float
    title: str
    purpose: str
    ended_badly: bool


@dataclass
class Results:
    """`document` is what `--json` prints; `bars` are the launches, for the picture."""

    document: dict[str, Any]
    bars: list[Bar] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)


def of(run: Run, name: str) -> Results:
    events = list(every_event(run))
    tasks = {task["task_id"]: task for task in every_task(run)}
    sweep = _Sweep(run, tasks)
    for event in events:
        sweep.take(event)
    sweep.end(run.seconds)
    roles = {agent_id: str(agent.get("role")) for agent_id, agent in run.agents.items()}
    agents = {agent_id: _of_agent(run, sweep, agent_id, role) for agent_id, role in roles.items()}
    statuses = Counter(task["status"] for task in tasks.values())
    document = {
        "name": name,
        "seed": run.seed,
        "ended": run.ended,
        "hours": round(run.seconds / 3600, 3),
        "took_seconds": round(run.took_seconds, 2),
        "tasks": {
            "completed": statuses["completed"],
            "failed": statuses["failed"],
            "cancelled": statuses["cancelled"],
            "open": sum(number for status, number in statuses.items() if status in OPEN) + len(run.waiting),
        },
        "starts": {
            "total": len(sweep.launches),
            "idle": sum(each.idle for each in sweep.launches.values()),
            "by_role": _by_role(agents, "starts"),
        },
        "calls": {
            "total": sum(run.world.calls.values()),
            "refused": sum(run.world.refusals.values()),
            "by_role": _by_role(agents, "calls"),
            "by_tool": dict(_by_tool(run.world.calls).most_common()),
        },
        "claims": {"made": run.world.claims, "left_out": run.world.unmade_claims},
        "tokens": {"total": sum(each["tokens"] for each in agents.values()), "by_role": _by_role(agents, "tokens")},
        "dollars": round(sum(each["dollars"] for each in agents.values()), 2),
        "waiting_minutes": {cause: round(sweep.waits[cause] / 60, 1) for cause in WAITS if sweep.waits[cause] > 0},
        "guards": dict(sorted(sweep.guards.items())),
        "ends": dict(sorted(sweep.ends.items())),
        "agents": agents,
    }
    bars = [each.bar(tasks) for each in sweep.launches.values()]
    return Results(document, bars, list(run.agents))


def every_event(run: Run) -> Iterator[Event]:
    after = 0
    while True:
        page = run.world.owner("read_events", after=after, limit=1000)
        yield from page["events"]
        if page["last"] == after:
            return
        after = page["last"]


def every_task(run: Run) -> Iterator[Event]:
    for project in run.world.owner("list_projects", limit=200)["projects"]:
        cursor: str | None = ""
        while cursor is not None:
            asked = {"cursor": cursor} if cursor else {}
            page = run.world.owner("list_project_tasks", project_id=project["project_id"], limit=200, **asked)
            yield from page["tasks"]
            cursor = page.get("next_cursor")


def seconds_of(at: str) -> float:
    """Seconds since the epoch."""
    return datetime.fromisoformat(at).timestamp()


def _of_agent(run: Run, sweep: _Sweep, agent_id: str, role: str) -> dict[str, Any]:
    launches = [each for each in sweep.launches.values() if each.agent_id == agent_id]
    usages = run.usages.get(agent_id, [])
    return {
        "role": role,
        "behaviour": run.simulation.of(agent_id).behaviour,
        "starts": len(launches),
        "idle_starts": sum(each.idle for each in launches),
        "calls": sum(number for (caller, _), number in run.world.calls.items() if caller == agent_id),
        "tokens": sum(each["input_tokens"] + each["output_tokens"] for each in usages),
        "dollars": round(sum(each["cost_usd"] for each in usages), 4),
        "running_minutes": round(sum((each.ended or run.seconds) - each.ordered for each in launches) / 60, 1),
    }


def _by_role(agents: Mapping[str, Mapping[str, Any]], what: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in agents.values():
        found[each["role"]] += each[what]
    return dict(sorted(found.items()))


def _by_tool(calls: Mapping[tuple[str, str], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, tool), number in calls.items():
        found[tool] += number
    return found


@dataclass
class _Launch:
    agent_id: str
    task_id: str | None
    purpose: str
    ordered: float
    signed_in: bool = False
    ended: float | None = None
    ended_badly: bool = False
    idle: bool = True

    def bar(self, tasks: Mapping[str, Mapping[str, Any]]) -> Bar:
        title = str(tasks.get(self.task_id or "", {}).get("title") or "chat")
        ended = self.ordered if self.ended is None else self.ended
        return Bar(self.agent_id, self.ordered, ended, title, self.purpose, self.ended_badly)


class _Sweep:
    """Goes through the events once; between two of them every open task waits for one cause, or is worked on."""

    def __init__(self, run: Run, tasks: Mapping[str, Mapping[str, Any]]) -> None:
        self._begins = run.world.time.begins_at / 1000
        self._slots = run.simulation.coordinator.max_concurrent
        self._tasks = tasks
        self._status: dict[str, str] = {}
        self._assignee: dict[str, str | None] = {}
        self._supervised: set[str] = set()
        """Tasks whose manager has left to wait for others."""
        self._cooldown: dict[str, float] = {}
        self._running: dict[str, _Launch] = {}
        self._now = 0.0
        self.launches: dict[str, _Launch] = {}
        self.waits: dict[str, float] = defaultdict(float)
        self.guards: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        self._pass(max(0.0, seconds_of(event["at"]) - self._begins))
        kind, data, launch_id = event["kind"], event["data"], event["launch_id"]
        if launch_id in self.launches and not kind.startswith(("launch.", "session.", "decision.")):
            self.launches[launch_id].idle &= kind in _CHANGES_NOTHING
        if kind.startswith("task."):
            self._take_task(event)
        elif kind.startswith(("launch.", "session.")):
            self._take_launch(event)
        elif kind == "agent.cooling_down":
            until = data.get("until")
            self._cooldown[event["agent_id"]] = seconds_of(until) - self._begins if until else self._now
        if kind in _GUARDS:
            self.guards[_GUARDS[kind].format(**{"guard": "", "reason": "", **data})] += 1

    def _take_launch(self, event: Event) -> None:
        kind, data, launch_id = event["kind"], event["data"], event["launch_id"]
        launch = self.launches.get(launch_id)
        if kind == "launch.ordered":
            launch = _Launch(event["agent_id"], data.get("task_id"), data["purpose"], self._now)
            self.launches[launch_id] = self._running[launch_id] = launch
            self._supervised.discard(launch.task_id or "")
        elif kind == "launch.exited":
            self.ends[str(data.get("reason"))] += 1
        elif kind == "session.started" and launch is not None:
            launch.signed_in = True
        elif kind == "launch.process_ended" and launch is not None:
            launch.ended = self._now
            launch.ended_badly = bool(data.get("exit_code") or data.get("signal") or data.get("error"))
            self._running.pop(launch_id, None)

    def end(self, seconds: float) -> None:
        self._pass(seconds)
        for launch in self._running.values():
            launch.ended = seconds

    def _take_task(self, event: Event) -> None:
        task_id, data = event["task_id"], event["data"]
        if event["kind"] == "task.created":
            self._assignee[task_id] = self._tasks.get(task_id, {}).get("assignee_id") and event["agent_id"]
        elif event["kind"] == "task.assigned":
            self._assignee[task_id] = data.get("to")
        elif event["kind"] == "task.waiting":
            self._supervised.add(task_id)
        status = data.get("to") if event["kind"] != "task.assigned" else None
        status = status or data.get("status")
        if isinstance(status, str) and event["kind"] != "task.waiting":
            self._status[task_id] = status

    def _pass(self, now: float) -> None:
        length, self._now = now - self._now, now
        if length <= 0:
            return
        agents = {each.agent_id: each for each in self._running.values() if each.purpose == "task"}
        full = len(agents) >= self._slots
        for task_id, status in self._status.items():
            if status in OPEN:
                cause = self._cause(task_id, status, agents, full=full)
                if cause is not None:
                    self.waits[cause] += length

    def _cause(self, task_id: str, status: str, agents: Mapping[str, _Launch], *, full: bool) -> str | None:
        """Why a task is not worked on now; None if it is, or if its subtasks are."""
        if status == "blocked":
            return "blocked"
        assignee = self._assignee.get(task_id)
        launch = agents.get(assignee or "")
        if status != "in_progress":
            before: Sequence[str] = self._tasks.get(task_id, {}).get("dependencies") or ()
            if any(self._status.get(each, "completed") != "completed" for each in before):
                return "dependencies"
            return "assignee_busy" if launch is not None else "not_started"
        if launch is not None:
            if not launch.signed_in:
                return "starting"
            return None if launch.task_id == task_id or task_id in self._supervised else "assignee_busy"
        if task_id in self._supervised:
            return None
        if self._cooldown.get(assignee or "", 0.0) > self._now:
            return "cooldown"
        return "no_slot" if full else "starting"
