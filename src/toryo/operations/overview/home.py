"""The home page: needs, recent results, running work, what waits, usage, and the state of servers.

In the order in which a person decides. `home_state.py` reads the data; the team is in `team_status.py`, the queue in
`queue_status.py`, needs in `needs/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from pydantic import AwareDatetime, Field
from typing_extensions import TypedDict

import toryo
from toryo.domain import coordinators, usages
from toryo.domain import needs as domain
from toryo.domain.times import DAY, MINUTE, Millis, iso, of_datetime
from toryo.operations.calls import rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import NoParameters, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.schemas import Disk, Need
from toryo.operations.launches import reason_texts
from toryo.operations.overview import calm, conditions, queue_status, team_status
from toryo.operations.overview import unplaced as unplaced_agents
from toryo.operations.overview.calm import Calm
from toryo.operations.overview.home_state import Picture
from toryo.operations.overview.needs import answers, finding
from toryo.operations.overview.queue_status import QueueStatus
from toryo.operations.overview.team_status import Member
from toryo.storage.overview import Ended
from toryo.workflow import program_choice
from toryo.workflow.snapshot import Cooldown, Snapshot

MOST = 50


class ShowOverview(Parameters):
    project_id: Id | None = Field(None, description="Only this project.")
    since: AwareDatetime | None = Field(None, description="Since when you have been away; default: your last visit.")


class RankedNeed(Need):
    """`blocks`: how many other open tasks cannot go on before."""

    blocks: int


class EndedTask(TypedDict):
    task_id: str
    title: str
    at: str


class Since(TypedDict):
    """`at` is null where nobody was away: nothing is told then. `decided` counts approvals, rejections, and blocks and
    failures that were lifted; `spent_usd` is the price of the launches that have used something since."""

    at: str | None
    completed_in_all: int
    failed_in_all: int
    completed: list[EndedTask]
    failed: list[EndedTask]
    decided: int
    spent_usd: float | None


class CoolingDown(TypedDict):
    """`providers`: those that agents use an account with."""

    name: str
    kind: Literal["agent", "account"]
    providers: list[str]
    reason: str
    explanation: str
    until: str


class SpentToday(TypedDict):
    project_id: str
    name: str
    tokens: int
    cost_usd: float | None
    budget_usd: float | None
    budget_tokens: int | None


class Fuel(TypedDict):
    cooldowns: list[CoolingDown]
    today: list[SpentToday]


class SeenCoordinator(TypedDict):
    coordinator_id: str
    providers: list[str]
    seen_at: str
    running: int
    away: bool
    disk: Disk | None


class Plant(TypedDict):
    version: str
    database: str
    database_bytes: int
    coordinators: list[SeenCoordinator]


class Overview(Result):
    """Ask again after `look_again_after` seconds: Coordinators come and go without an event."""

    needs: list[RankedNeed]
    calm: Calm
    since: Since
    team: list[Member]
    queue: QueueStatus
    fuel: Fuel
    plant: Plant
    last_event: int
    look_again_after: int


@operation(
    "show_overview",
    grant=Grant.PERSON,
    parameters=ShowOverview,
    route=Route("GET", "/overview"),
    tool=False,
    reads=True,
)
def show_overview(call: Call, wanted: ShowOverview) -> Overview:
    """The first glance: what needs you, the heaviest first (work that waits for it, times its age); what happened since
    your last visit; the team; what is ready and what is held by what; what is used up; and what runs all this."""
    last = call.tx.events.last()
    picture = Picture(call, wanted.project_id)
    team = team_status.members(picture)
    unplaced = unplaced_agents.unplaced_agents(picture)
    queue = queue_status.truth(picture, team, unplaced)
    return {
        "success": True,
        "needs": _needs(picture, wanted.project_id),
        "calm": calm.of(picture, queue, wanted.project_id),
        "since": _since(picture, _left_at(call, wanted)),
        "team": team,
        "queue": queue,
        "fuel": _fuel(picture),
        "plant": _plant(picture),
        "last_event": last,
        "look_again_after": conditions.look_again_after(picture, waits=bool(unplaced or picture.unchecked)),
    }


# --- what needs you --------------------------------------------------------------------------------------------------


def _needs(picture: Picture, only: str | None) -> list[RankedNeed]:
    found = finding.needs_of(picture.call, picture.call.agent, picture)
    seen = [
        each
        for each in found
        if (finding.concerns(picture.call, each, only) if only else each.project_id in {None, *picture.projects})
    ]
    count = queue_status.behind(picture)
    weighed = [(_blocks(picture, each, count), each) for each in seen]
    weighed.sort(key=lambda pair: (-(1 + pair[0]) * max(MINUTE, picture.now - pair[1].since), pair[1].order))
    return [{**answers.need(need, picture.now), "blocks": blocks} for blocks, need in weighed]


def _blocks(picture: Picture, need: domain.Need, count: Callable[[Iterable[str]], int]) -> int:
    """Behind tasks: all that waits for them. Behind an agent or a budget: the main tasks that cannot be worked on."""
    if need.task_id is not None:
        return count((need.task_id, *need.also))
    if need.also:
        return len(need.also) + count(need.also)
    main = picture.main_tasks.items()
    if need.kind.value == "budget_used_up":
        return sum(len(tasks) for (_, project_id), tasks in main if project_id == need.project_id)
    return sum(len(tasks) for (agent_id, _), tasks in main if agent_id == need.agent_id)


# --- since you left --------------------------------------------------------------------------------------------------


def _left_at(call: Call, wanted: ShowOverview) -> Millis | None:
    if wanted.since is None:
        return call.tx.glances.last_visit(call.agent.id)
    return of_datetime(wanted.since)


def _since(picture: Picture, at: Millis | None) -> Since:
    glances, projects = picture.call.tx.glances, list(picture.projects)
    if at is None:
        return {
            "at": None,
            "completed_in_all": 0,
            "failed_in_all": 0,
            "completed": [],
            "failed": [],
            "decided": 0,
            "spent_usd": None,
        }
    completed, failed = (glances.ended_since(status, projects, at, MOST) for status in ("completed", "failed"))
    return {
        "at": iso(at),
        "completed_in_all": completed.many,
        "failed_in_all": failed.many,
        "completed": _ended(completed),
        "failed": _ended(failed),
        "decided": glances.decided_since(projects, at),
        "spent_usd": glances.spent_since(projects, at, usages.day_of(at - DAY)),
    }


def _ended(tasks: Ended) -> list[EndedTask]:
    return [{"task_id": task_id, "title": title, "at": iso(when)} for task_id, title, when in tasks.newest]


class Visited(Result):
    at: str


@operation(
    "dismiss_news",
    grant=Grant.PERSON,
    route=Route("POST", "/visits"),
    tool=False,
)
def dismiss_news(call: Call, _: NoParameters) -> Visited:
    """You have seen what happened while you were away: from now on the overview tells what happens after this."""
    call.tx.glances.visited(call.agent.id, call.now)
    return {"success": True, "at": iso(call.now)}


# --- budget and server
# -------------------------------------------------------------------------------------------------


def _fuel(picture: Picture) -> Fuel:
    here = {agent_id for agent_id, _ in picture.places}
    agents: list[tuple[str, Literal["agent", "account"], str, Millis]] = [
        (picture.agents[agent_id].name, "agent", cooldown.reason, cooldown.until)
        for agent_id in picture.cooldowns
        if agent_id in here and (cooldown := _cooldown(picture, agent_id)) is not None
    ]
    accounts: list[tuple[str, Literal["agent", "account"], str, Millis]] = [
        (name, "account", account.reason, account.until) for name, account in picture.accounts.items()
    ]
    cooling = sorted((*accounts, *agents), key=lambda each: each[3])
    return {
        "cooldowns": [
            {
                "name": name,
                "kind": kind,
                "providers": _providers(picture, name) if kind == "account" else [],
                "reason": why,
                "explanation": reason_texts.failure_clause(why),
                "until": iso(until),
            }
            for name, kind, why, until in cooling
        ],
        "today": [_today(picture, project_id) for project_id in picture.projects],
    }


def _cooldown(picture: Picture, agent_id: str) -> Cooldown | None:
    """What an agent is in cooldown for, unless a program of it can be started; of task and chat, what lasts longer."""
    agent, by_purpose = picture.agents[agent_id], picture.cooldowns[agent_id]
    s = Snapshot(picture.now, agent_id, "", agent, None, True, cooldowns=by_purpose, accounts=picture.accounts)
    found = [each for purpose in by_purpose if (each := program_choice.own_cooldown(s, purpose)) is not None]
    return max(found, key=lambda each: each.until, default=None)


def _providers(picture: Picture, account: str) -> list[str]:
    programs = (program for agent in picture.agents.values() if agent.active for program in agent.programs)
    return sorted({program.provider for program in programs if program.account == account})


def _today(picture: Picture, project_id: str) -> SpentToday:
    project, (tokens, cost) = picture.projects[project_id], picture.spent_today.get(project_id, (0, None))
    return {
        "project_id": project_id,
        "name": project.name,
        "tokens": tokens,
        "cost_usd": cost,
        "budget_usd": project.settings.budget_per_day,
        "budget_tokens": project.settings.tokens_per_day,
    }


def _plant(picture: Picture) -> Plant:
    return {
        "version": toryo.__version__,
        "database": picture.call.tx.connection.dialect,
        "database_bytes": picture.call.tx.database_bytes(),
        "coordinators": [
            {
                "coordinator_id": coordinator.id,
                "providers": coordinator.providers or [],
                "seen_at": iso(coordinator.seen_at),
                "running": coordinator.running,
                "away": coordinators.is_gone(coordinator.seen_at, picture.now),
                "disk": rendering.disk(coordinator.disk),
            }
            for coordinator in picture.coordinators
        ],
    }
