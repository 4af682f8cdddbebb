"""The operation `why`: why an agent runs or not. `agent_diagnosis.py` makes the answer."""

from __future__ import annotations

from functools import partial

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.launches import Purpose
from toryo.domain.projects import Isolation
from toryo.operations.calls import fault_isolation, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.overview import agent_diagnosis
from toryo.operations.tasks import conflict_forecast, subtask_work
from toryo.operations.worktrees import merge_queue_texts


class Why(Parameters):
    agent_id: Id = Field(description="The agent.")
    project_id: Id | None = Field(None, description="Only in this project.")


class Merging(TypedDict):
    task_id: str
    title: str
    message: str


class Conflicting(TypedDict):
    task_id: str
    title: str
    message: str


class Incomplete(TypedDict):
    task_id: str
    title: str
    message: str


class WhyResult(Result):
    """`merging`: work of the agent that waits in the merge queue, or is being checked there. `may_conflict`: its tasks
    that may change the same files as others. `unmerged`: the work of subtasks that is not in the worktree of its
    task."""

    agent_id: str
    decisions: list[schemas.Decision]
    merging: list[Merging]
    may_conflict: list[Conflicting]
    unmerged: list[Incomplete]


@operation(
    "why",
    grant=Grant.PERSON,
    parameters=Why,
    route=Route("GET", "/agents/{agent_id}/why"),
    tool=False,
    reads=True,
)
def why(call: Call, wanted: Why) -> WhyResult:
    """Why an agent is running or not: the row of the launch table that wins, and the facts it read."""
    agent = call.known_agent(wanted.agent_id)
    projects = [wanted.project_id] if wanted.project_id else call.tx.agents.projects_of(agent.id)
    visible = [call.project(each).id for each in projects if visibility.sees(call, each) or wanted.project_id]
    return {
        "success": True,
        "agent_id": agent.id,
        "decisions": [_diagnosis(call, agent.id, project, purpose) for project in visible for purpose in Purpose],
        "merging": [each for project_id in visible for each in _merging(call, agent.id, project_id)],
        "may_conflict": [each for project_id in visible for each in _conflicting(call, agent.id, project_id)],
        "unmerged": [each for project_id in visible for each in _incomplete(call, agent.id, project_id)],
    }


def _incomplete(call: Call, agent_id: str, project_id: str) -> list[Incomplete]:
    """Of its main tasks in progress that have a worktree."""
    if call.project(project_id).settings.isolation is not Isolation.WORKTREE:
        return []
    mains = {task.id: task for task, _ in call.snapshot(agent_id, project_id).main_tasks[:_MOST]}
    return [
        {"task_id": own.task_id, "title": mains[own.task_id].title, "message": subtask_work.in_words(call, each)}
        for own in call.tx.worktrees.of(sorted(mains))
        for each in subtask_work.unmerged(own)
    ]


def _conflicting(call: Call, agent_id: str, project_id: str) -> list[Conflicting]:
    """Of its main tasks in progress; what is held back, the decision tells."""
    if not call.project(project_id).settings.forecasts_conflicts:
        return []
    mains = call.snapshot(agent_id, project_id).main_tasks[:_MOST]
    return [
        {"task_id": task.id, "title": task.title, "message": each["message"]}
        for task, _ in mains
        for each in conflict_forecast.of(call, task)
        if not each["holds"]
    ]


_MOST = 10
"""Tasks of an agent that are compared with others."""


def _merging(call: Call, agent_id: str, project_id: str) -> list[Merging]:
    """The agent's tasks are completed, but not merged yet."""
    waiting = call.tx.merge_queue.waiting_in(project_id)
    if not waiting:
        return []
    tasks = {task.id: task for task in call.tx.tasks.find_all(sorted(entry.task_id for entry in waiting))}
    paused = call.tx.merge_queue.queue(project_id).paused_at is not None
    return [
        {
            "task_id": entry.task_id,
            "title": tasks[entry.task_id].title,
            "message": merge_queue_texts.where(call, entry, place, len(waiting), paused=paused),
        }
        for place, entry in enumerate(waiting, 1)
        if tasks[entry.task_id].assignee_id == agent_id
    ]


def _diagnosis(call: Call, agent_id: str, project_id: str, purpose: Purpose) -> schemas.Decision:
    tell = partial(agent_diagnosis.diagnosis, call, agent_id, project_id, purpose, advise=True)
    unknown = agent_diagnosis.not_decided(project_id, purpose)
    return fault_isolation.fenced(call, "why", tell, unknown, agent_id=agent_id, project_id=project_id)
