"""What a recorded project says about its agents: how long they work, how often they fail or crash, what they cost.

Read from its events and its usage, as the server answers them. Times are those between fetching a task, or the end of
the work before, and its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toryo.formats.simulation_format import (
    LONGEST_MINUTES,
    MOST_DOLLARS,
    MOST_TOKENS_OF_A_START,
    Agent,
    Simulation,
    Times,
    Tokens,
)
from toryo.simulation.waiting import seconds_of

Event = Mapping[str, Any]
_ENDS = {"task.completed": False, "task.failed": True}
"""Ends of work, and whether they are failures."""
MOST_SAMPLES = 2_000


@dataclass
class Recorded:
    """Of one agent, or of several together."""

    minutes: list[float] = field(default_factory=list)
    failed: int = 0
    launches: int = 0
    ended: int = 0
    """Launches that are over. The others have used a part of their tokens."""
    crashed: int = 0
    tokens: int = 0
    dollars: float = 0.0

    @property
    def launches_worth(self) -> float:
        """How many whole launches the tokens are of: one that still runs counts as half of one."""
        return min(self.ended, self.launches) + max(0, self.launches - self.ended) / 2

    def add(self, other: Recorded) -> None:
        self.minutes += other.minutes
        self.failed += other.failed
        self.launches += other.launches
        self.ended += other.ended
        self.crashed += other.crashed
        self.tokens += other.tokens
        self.dollars += other.dollars

    def settings(self) -> dict[str, Any]:
        """The keys of `simulation.agents` that follow from it; without work nothing does."""
        found: dict[str, Any] = {}
        if self.minutes:
            found["minutes"] = Times(
                samples=[min(max(0.0, each), LONGEST_MINUTES) for each in self.minutes[-MOST_SAMPLES:]]
            )
            found["failures"] = round(self.failed / len(self.minutes), 4)
        if self.launches and self.crashed:
            found |= {"behaviour": "crashing", "share": round(self.crashed / self.launches, 4)}
        if self.launches and self.tokens:
            found["tokens"] = Tokens(
                start=min(MOST_TOKENS_OF_A_START, round(self.tokens / self.launches_worth)), call=0, minute=0
            )
            found["dollars_per_million"] = min(MOST_DOLLARS, round(self.dollars * 1e6 / self.tokens, 4))
        return found


def read(events: Iterable[Event], usage: Sequence[Mapping[str, Any]] = ()) -> dict[str, Recorded]:
    """By agent. `usage`: lines of `GET /usage?by=agent`."""
    found: dict[str, Recorded] = defaultdict(Recorded)
    since: dict[str, float] = {}
    ended: set[str] = set()
    agents: dict[str, str] = {}
    for event in (each for each in events if each.get("launch_id") and each.get("agent_id")):
        kind, launch_id, data = event["kind"], event["launch_id"], event["data"]
        if kind == "launch.ordered" and data.get("purpose") == "task":
            agents[launch_id] = event["agent_id"]
            found[event["agent_id"]].launches += 1
        if launch_id not in agents:
            continue
        agent = found[agents[launch_id]]
        at = seconds_of(event["at"])
        if kind == "task.fetched":
            since.setdefault(launch_id, at)
        elif kind in _ENDS and launch_id in since and event.get("actor_id") == agents[launch_id]:
            whole = launch_id in ended and event["agent_id"] == agents[launch_id] and at - since[launch_id] < 1
            if not whole:  # else it only reports the task whose steps it has done one by one
                agent.minutes.append((at - since[launch_id]) / 60)
                agent.failed += _ENDS[kind]
            since[launch_id] = at
            ended.add(launch_id)
        elif kind == "launch.process_ended":
            agent.ended += 1
            agent.crashed += bool(data.get("signal") or data.get("exit_code")) and launch_id not in ended
    _count(usage, found)
    return dict(found)


def _count(usage: Iterable[Event], found: Mapping[str, Recorded]) -> None:
    for line in usage:
        if line.get("agent_id") in found:
            agent = found[line["agent_id"]]
            agent.tokens += int(line.get("input_tokens") or 0) + int(line.get("output_tokens") or 0)
            agent.dollars += float(line.get("cost_usd") or 0)


def apply(simulation: Simulation, recorded: Mapping[str, Recorded], roles: Mapping[str, str]) -> Simulation:
    """The simulation with what was recorded; what the file says of an agent itself comes first.

    `roles` of the agents of the file. One that was not recorded gets what those of its role have in common.
    """
    together: dict[str, Recorded] = defaultdict(Recorded)
    for agent_id, each in recorded.items():
        together[roles.get(agent_id, "worker")].add(each)
    agents = {}
    for agent_id, role in roles.items():
        own = simulation.agents.get(agent_id)
        known = recorded.get(agent_id) or together.get(role) or Recorded()
        found = {**known.settings(), **(own.said() if own is not None else {})}
        if found:
            agents[agent_id] = Agent.model_validate(found)
    return simulation.model_copy(update={"agents": {**simulation.agents, **agents}})
