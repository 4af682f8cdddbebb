"""When the open work of a project will be done, and what it will cost: many runs of what is left.

A range says what chance makes of the same work, in nine of ten runs (`SHARE`). Each run draws how long the agents'
tasks take, how often they fail and what a start costs from what was recorded (`Likely`): the less was recorded, the
further the runs are apart. A forecast knows nothing of work that is added later, or of how long people take.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toryo.formats.simulation_format import LONGEST_MINUTES, MOST_TOKENS_OF_A_START, USUAL_MINUTES, Times, Tokens
from toryo.simulation import results
from toryo.simulation.programs import WITHOUT_MODEL
from toryo.simulation.recording import Recorded
from toryo.simulation.run import Run
from toryo.simulation.waiting import OPEN, seconds_of

SHARE = 0.9
"""Of the runs lies within a range."""


@dataclass(frozen=True)
class Ended:
    """One run: hours until its last task ended, dollars, tokens, and what was not completed, by reason."""

    hours: float
    dollars: float
    tokens: int
    completed: int
    unfinished: tuple[tuple[str, str, str], ...] = ()
    """Title, status and reason of each."""
    busy_hours: dict[str, float] = field(default_factory=dict)
    """Of each agent: how long its programs ran."""
    waits: dict[str, float] = field(default_factory=dict)
    """Hours in which tasks waited, by cause."""


@dataclass(frozen=True)
class Range:
    """`low` to `high` has `SHARE` of the runs; `middle` is the median."""

    low: float
    middle: float
    high: float


USUAL_SPREAD = 0.6
"""Of the logarithm of the minutes of a task, where nothing was recorded."""
PRIOR = 3
"""How many tasks these count as, beside those that were recorded."""
OWN = 2
"""How many tasks of an agent's own count as much as what all agents of its role have in common."""
SHORTEST_MINUTES = 0.05


class Likely:
    """What is likely of a team's agents, from what was recorded: durations are log-normal, with a mean and a spread
    that are known the better, the more tasks have ended (a normal model with unknown mean and variance)."""

    def __init__(self, recorded: Mapping[str, Recorded], roles: Mapping[str, str]) -> None:
        """`roles` of the team's agents, by id."""
        self._recorded, self._roles = recorded, roles

    def drawn(self, dice: random.Random) -> dict[str, dict[str, Any]]:
        """For one run, the keys of `simulation.agents` by agent."""
        found: dict[str, dict[str, Any]] = {}
        for role in sorted(set(self._roles.values())):
            agents = sorted(name for name, each in self._roles.items() if each == role)
            known = {name: self._recorded.get(name) or Recorded() for name in agents}
            together = Recorded()
            for name, each in self._recorded.items():
                if self._roles.get(name, "worker") == role:
                    together.add(each)
            common, spread = _common(_logarithms(together), dice)
            for name, each in known.items():
                found[name] = _of_agent(each, together, common, spread, dice)
        return found


def _logarithms(of: Recorded) -> list[float]:
    return [math.log(min(max(each, SHORTEST_MINUTES), LONGEST_MINUTES)) for each in of.minutes]


def _common(values: Sequence[float], dice: random.Random) -> tuple[float, float]:
    """The mean and the spread of the logarithms, drawn from what is likely after these values."""
    many = len(values)
    prior = math.log(USUAL_MINUTES)
    mean = (sum(values) + prior) / (many + 1)
    around = sum((each - mean) ** 2 for each in values) + (prior - mean) ** 2 * min(1, 1 / (many + 1))
    variance = (around + PRIOR * USUAL_SPREAD**2) / dice.gammavariate((many + PRIOR) / 2, 2)
    return dice.gauss(mean, math.sqrt(variance / (many + 1))), min(2.0, math.sqrt(variance))


def _of_agent(own: Recorded, together: Recorded, common: float, spread: float, dice: random.Random) -> dict[str, Any]:
    values = _logarithms(own)
    many = len(values)
    likely = (sum(values) + OWN * common) / (many + OWN)
    mean = dice.gauss(likely, spread / math.sqrt(many + OWN))
    minutes = min(LONGEST_MINUTES, max(SHORTEST_MINUTES, math.exp(mean + spread**2 / 2)))
    found: dict[str, Any] = {
        "minutes": Times(mean=minutes, spread=spread),
        "failures": round(dice.betavariate(together.failed + 0.2, len(together.minutes) - together.failed + 3), 4),
    }
    costs = own if own.tokens and own.ended else together
    if costs.tokens and costs.launches:
        settings = costs.settings()
        noise = dice.lognormvariate(0, 0.6 / math.sqrt(costs.ended + 1))
        start = min(MOST_TOKENS_OF_A_START, round(settings["tokens"].start * noise))
        found |= {
            "tokens": Tokens(start=start, call=0, minute=0),
            "dollars_per_million": settings["dollars_per_million"],
        }
    if own.launches and own.crashed:
        found |= {"behaviour": "crashing", "share": round(own.crashed / own.launches, 4)}
    return found


def ended(run: Run, under_way: Iterable[str] = ()) -> Ended:
    """What came of a run that is over. `under_way`: who was at work when it began. A run repeats that work; the part
    that is drawn as done before is not counted."""
    before = [_done_before(run, agent_id) for agent_id in sorted(under_way)]
    document = results.results_of(run, "forecast").document
    tasks = list(results.every_task(run))
    begins = run.world.time.begins_at / 1000
    last = max((seconds_of(each["completed_at"]) - begins for each in tasks if each["completed_at"]), default=0.0)
    left = tuple((each["example"], each["status"], _first_sentence(each["reason"])) for each in document["unfinished"])
    still_open = any(each["status"] in OPEN for each in tasks)
    return Ended(
        hours=(run.seconds if still_open and run.ended == "hours" else max(last, 0.0)) / 3600,
        dollars=max(0.0, document["dollars"] - sum(dollars for _, dollars in before)),
        tokens=max(0, document["tokens"]["total"] - round(sum(tokens for tokens, _ in before))),
        completed=document["tasks"]["completed"],
        unfinished=left,
        busy_hours={name: each["running_minutes"] / 60 for name, each in document["agents"].items()},
        waits={cause: minutes / 60 for cause, minutes in document["waiting_minutes"].items()},
    )


def _first_sentence(text: str) -> str:
    """Without the commands that follow: the ids in them exist in the run only."""
    return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0].rstrip(":")


def _done_before(run: Run, agent_id: str) -> tuple[float, float]:
    """Tokens and dollars of the part of a start that an agent had behind it: any part is as likely as another."""
    agent = run.simulation.of(agent_id)
    dice = random.Random(f"before {run.seed} {agent_id}")  # noqa: S311 - chance, no secret
    has_model = run.agents.get(agent_id, {}).get("provider") not in WITHOUT_MODEL
    tokens = dice.random() * agent.tokens.start if has_model else 0.0
    return tokens, tokens * agent.dollars_per_million / 1e6


def range_of(values: Sequence[float]) -> Range:
    """Of at least one value. With few values it is their whole range."""
    ordered = sorted(values)
    outside = math.floor(len(ordered) * (1 - SHARE) / 2)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return Range(ordered[outside], median, ordered[-1 - outside])


def document(runs: Sequence[Ended], open_tasks: int, learnt: Mapping[str, int]) -> dict[str, Any]:
    """What `--json` prints. Hours are from now; `learnt`: from how many ends of tasks the times of each agent are."""
    if not runs:
        return {"success": True, "open_tasks": open_tasks, "runs": 0}
    whole = [each for each in runs if not each.unfinished]
    reasons = Counter(reason for each in runs for reason in set(each.unfinished))
    return {
        "success": True,
        "open_tasks": open_tasks,
        "runs": len(runs),
        "runs_completed": len(whole),
        "share": SHARE,
        "assumed_minutes": USUAL_MINUTES,
        "hours": _as_answer(range_of([each.hours for each in runs])),
        "dollars": _as_answer(range_of([each.dollars for each in runs])),
        "tokens": _as_answer(range_of([float(each.tokens) for each in runs])),
        "agents": {
            name: {
                "hours": _as_answer(range_of([each.busy_hours.get(name, 0.0) for each in runs])),
                "learnt_from": learnt.get(name, 0),
            }
            for name in sorted({name for each in runs for name in each.busy_hours})
        },
        "waiting_hours": {
            cause: round(sum(each.waits.get(cause, 0.0) for each in runs) / len(runs), 2)
            for cause in sorted({cause for each in runs for cause in each.waits})
        },
        "unfinished": [
            {"title": title, "status": status, "reason": reason, "runs": number}
            for (title, status, reason), number in reasons.most_common()
        ],
    }


def _as_answer(each: Range) -> dict[str, float]:
    return {"low": round(each.low, 2), "middle": round(each.middle, 2), "high": round(each.high, 2)}
