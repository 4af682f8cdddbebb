"""Main tasks in a picture: whether a process works on them, and which tasks they wait for."""

from __future__ import annotations

from toryo.domain.agents import Role
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Task
from toryo.operations.overview.home_state import Picture, Place
from toryo.workflow import facts, launch_rules
from toryo.workflow.snapshot import RuleInput, Snapshot


def runs(picture: Picture, place: Place) -> bool:
    """Whether a process of the agent works in the project, or is being started for it."""
    return any(Purpose.TASK in each.get(place, {}) for each in (picture.sessions, picture.launches))


def awaited_tasks(picture: Picture, place: Place, task: Task) -> frozenset[str] | None:
    """Of which tasks one must move on before this one does; None: it does by itself, once its agent runs."""
    agent = picture.agents[place[0]]
    if agent.human or task.id in picture.claims or runs(picture, place):
        return None
    case = _case(picture, place, task)
    if agent.role is Role.MANAGER:
        return (facts.awaited_tasks(case) or None) if task.wait is not None else None
    return facts.awaited_from_others(case) if launch_rules.worker_waits_for_others(case) else None


def _case(picture: Picture, place: Place, task: Task) -> RuleInput:
    agent, project = picture.agents[place[0]], picture.projects[place[1]]
    snapshot = Snapshot(picture.now, agent.id, project.id, agent, project, member=True)
    return RuleInput(snapshot, picture.tree_states[task.project_id], task, fetched=True)
