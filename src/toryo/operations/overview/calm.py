"""What may be said where nothing needs the person who looks: that all goes on by itself, or why it does not."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toryo.domain.agents import Kind
from toryo.operations.overview.home_state import Picture
from toryo.operations.overview.queue_status import QueueStatus

CalmState = Literal[
    "no_project",
    "archived",
    "paused",
    "no_team",
    "nothing_open",
    "held",
    "waits",
    "runs_in_part",
    "not_started",
    "runs",
]


class Calm(TypedDict):
    """`state`: the first that applies. `tasks`: how many are held (`held`), are left to a person to start
    (`not_started`; also beside `runs`), or wait (`waits` and, beside work that goes on, `runs_in_part`: until `until`;
    `paused`)."""

    state: CalmState
    tasks: int
    until: str | None


def of(picture: Picture, queue: QueueStatus, only: str | None) -> Calm:
    active = {project.id for project in picture.projects.values() if project.active}
    held, to_start = queue["held_in_all"], queue["to_start"]
    at_work = queue["running"] + queue["waiting"] + queue["ready"] - to_start
    if not picture.projects:
        return _calm("archived" if only is not None else "no_project")
    if not active:
        return _calm("paused", held)
    if not at_work and not _team(picture, active):
        return _calm("no_team", held + to_start)
    if not at_work and not held and not to_start:
        return _calm("nothing_open")
    if queue["stopped"]:
        return _calm("held", queue["stopped"])
    if not at_work and held and queue["next_at"] is not None:
        return _calm("waits", held, queue["next_at"])
    if at_work and queue["timed"]:
        return _calm("runs_in_part", queue["timed"], queue["next_at"])
    return _calm("runs" if at_work else "not_started", to_start)


def _calm(state: CalmState, tasks: int = 0, until: str | None = None) -> Calm:
    return {"state": state, "tasks": tasks, "until": until}


def _team(picture: Picture, active: set[str]) -> bool:
    """Whether any agent could work in one of the projects that go on."""
    agents = (picture.agents[agent_id] for agent_id, project_id in picture.places if project_id in active)
    polls = any(presence.project_id in active for presence in picture.online.values())
    return polls or any(agent.active and agent.kind is Kind.AI for agent in agents)
