"""What came of a run: starts, calls, tokens, money, waiting by cause, guards. Read from its events and its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toryo.simulation import unfinished
from toryo.simulation.run import Run
from toryo.simulation.waiting import OPEN, WAITS, Waiting, seconds_of

Event = dict[str, Any]
_CHANGES_NOTHING = frozenset({"task.fetched", "task.waiting", "manager.chose"})
_GUARDS = {
    "agent.cooling_down": "cooldown",
    "session.runaway": "runaway: {guard}",
    "guard.blocked": "blocked: {reason}",
    "launch.reminded": "reminded",
    "project.budget_used_up": "budget used up",
    "agent.budget_used_up": "budget of an agent used up",
    "task.budget_used_up": "budget of a task used up",
    "check.failed": "acceptance check failed",
}
"""Events of guards, and how they are counted."""


@dataclass(frozen=True)
class Bar:
    """One launch: seconds since the beginning; `ended_badly`: with a failure, or stopped."""

    agent_id: str
    begins: float
    ends: float
    ended_badly: bool


@dataclass
class Results:
    """`document` is what `--json` prints; `bars` are the launches."""

    document: dict[str, Any]
    bars: list[Bar] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)


def results_of(run: Run, name: str) -> Results:
    tasks = {task["task_id"]: task for task in every_task(run)}
    sweep = _Sweep(run)
    started = frozenset(agent_id for agent_id, agent in run.agents.items() if agent.get("provider"))
    slots = run.simulation.coordinator.max_concurrent
    waiting = Waiting(run.world.time.begins_at / 1000, slots, tasks, started)
    for event in every_event(run):
        sweep.take(event)
        waiting.take(event)
    sweep.end(run.seconds)
    waiting.until(run.seconds)
    waits = {**waiting.seconds, "no_room": run.seconds_without_room}
    usage = _usage(run)
    launches = _by_agent(sweep)
    agents = {
        agent_id: _of_agent(run, launches.get(agent_id, []), agent_id, usage.get(agent_id, {}))
        for agent_id in run.agents
    }
    statuses = Counter(task["status"] for task in tasks.values())
    document = {
        "name": name,
        "seed": run.seed,
        "ended": run.ended if tasks or run.ended != "done" else "no_tasks",
        "hours": round(run.seconds / 3600, 3),
        "tasks": {
            "completed": statuses["completed"],
            "failed": statuses["failed"],
            "cancelled": statuses["cancelled"],
            "open": sum(number for status, number in statuses.items() if status in OPEN) + run.without_room,
            "not_due": run.not_due,
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
        "waiting_minutes": {cause: round(waits[cause] / 60, 1) for cause in WAITS if waits.get(cause, 0) > 0},
        "unfinished": unfinished.unfinished_tasks(run, tasks.values()),
        "guards": dict(sorted(sweep.guards.items())),
        "ends": dict(sorted(sweep.ends.items())),
        "agents": agents,
    }
    bars = [each.bar() for each in sweep.launches.values()]
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


def _usage(run: Run) -> dict[str, Event]:
    """What the server has booked, by agent."""
    return {row["agent_id"]: row for row in run.world.owner("show_usage", by=["agent"])["rows"]}


def _by_agent(sweep: _Sweep) -> dict[str, list[_Launch]]:
    found: dict[str, list[_Launch]] = {}
    for launch in sweep.launches.values():
        found.setdefault(launch.agent_id, []).append(launch)
    return found


def _of_agent(run: Run, launches: list[_Launch], agent_id: str, usage: Event) -> dict[str, Any]:
    return {
        "role": str(run.agents[agent_id].get("role")),
        "behaviour": run.simulation.of(agent_id).behaviour,
        "starts": len(launches),
        "idle_starts": sum(each.idle for each in launches),
        "calls": sum(number for (caller, _), number in run.world.calls.items() if caller == agent_id),
        "tokens": (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0),
        "dollars": round(usage.get("cost_usd") or 0.0, 4),
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
    ordered: float
    ended: float | None = None
    ended_badly: bool = False
    idle: bool = True

    def bar(self) -> Bar:
        ended = self.ordered if self.ended is None else self.ended
        return Bar(self.agent_id, self.ordered, ended, self.ended_badly)


class _Sweep:
    """Goes through the events once: launches, and what guards did."""

    def __init__(self, run: Run) -> None:
        self._begins = run.world.time.begins_at / 1000
        self._now = 0.0
        self.launches: dict[str, _Launch] = {}
        self.guards: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        self._now = max(0.0, seconds_of(event["at"]) - self._begins)
        kind, data, launch_id = event["kind"], event["data"], event["launch_id"]
        if launch_id in self.launches and not kind.startswith(("launch.", "session.", "decision.")):
            self.launches[launch_id].idle &= kind in _CHANGES_NOTHING
        if kind.startswith("launch."):
            self._take_launch(event)
        if kind in _GUARDS:
            self.guards[_GUARDS[kind].format(**{"guard": "", "reason": "", **data})] += 1

    def _take_launch(self, event: Event) -> None:
        kind, data, launch_id = event["kind"], event["data"], event["launch_id"]
        launch = self.launches.get(launch_id)
        if kind == "launch.ordered":
            self.launches[launch_id] = _Launch(event["agent_id"], self._now)
        elif kind == "launch.exited":
            self.ends[str(data.get("reason"))] += 1
        elif kind == "launch.process_ended" and launch is not None:
            launch.ended = self._now
            launch.ended_badly = bool(data.get("exit_code") or data.get("signal") or data.get("error"))

    def end(self, seconds: float) -> None:
        for launch in self.launches.values():
            if launch.ended is None:
                launch.ended = seconds
