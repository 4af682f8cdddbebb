"""The tools of a task session: next action, task, profile, project, notifications. `completion_report.py` ends it."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.handover import Handoff
from toryo.domain.launches import Purpose
from toryo.domain.questions import Question
from toryo.domain.tasks import AcceptanceCheck, Task
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import rendering, schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, Later, NoParameters, Parameters, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import listed_for
from toryo.operations.calls.results import Next, Result, Said
from toryo.operations.memory import finding
from toryo.operations.memory.finding import ToldMemory
from toryo.operations.sessions import next_action_answer
from toryo.operations.sessions.notes import shown_note
from toryo.operations.tasks import conflict_forecast, due_checks, subtask_work
from toryo.operations.translations import words
from toryo.operations.worktrees import worktree_locks


class NextAction(Parameters):
    timeout_seconds: int = Field(
        LONGEST_WAIT_SECONDS,
        ge=0,
        le=LONGEST_WAIT_SECONDS,
        description="Seconds to wait.",
        json_schema_extra=listed_for(Audience.NONE),
    )


@operation(
    "get_next_action",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.ALWAYS,
    grant=Grant.ANY_SESSION,
    parameters=NextAction,
    waits=True,
)
def get_next_action(call: Call, wanted: NextAction) -> Next | Later:
    """Returns your next action. Call it after each step whose answer has no `next`, until it says exit."""
    told = next_action_answer.tell(call, patient=wanted.timeout_seconds > 0)
    if isinstance(told, Later):
        return told
    answer: Result = {"success": True}
    return {**answer, **told}


class OwnTask(TypedDict):
    task_id: str
    title: str
    description: str
    status: schemas.StatusName
    priority: schemas.PriorityName
    working_directory: str | None
    context: dict[str, Any]
    handoff: schemas.Handoff | None
    handoffs: list[schemas.Handoff]
    acceptance: list[AcceptanceCheck]
    review_of: str | None
    resumed: bool
    attempt: int
    parent_task_id: str | None
    delegations: list[schemas.Delegation]
    questions: list[schemas.ToldQuestion]
    memories: NotRequired[list[ToldMemory]]
    unmerged: NotRequired[list[schemas.UnmergedSubtask]]


class MyTask(Said):
    has_task: bool
    task: NotRequired[OwnTask]


@operation(
    "get_my_task",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    leads=True,
    whole=True,
)
def get_my_task(call: Call, _: NoParameters) -> MyTask:
    """Returns your main task: what to do, where, and its context."""
    session = call.session
    task = call.tx.tasks.find(session.task_id) if session.task_id else _in_progress(call)
    if task is None:
        return {"success": True, "has_task": False, "instruction": words("no_task", call.language)}
    if session.purpose is Purpose.TASK and session.fetched_at is None:
        call.change_session(fetched_at=call.now, fetched_event=call.tx.events.last())
        call.event("task.fetched", task=task)
    shown = _my_task(call, task)
    if missing := subtask_work.unmerged_by_subtask(call, task):
        shown["unmerged"] = list(missing.values())
    told = [words("my_task" if session.purpose is Purpose.TASK else "my_task.chat", call.language)]
    if offered := finding.memories_for(call, task, shown["description"]):
        shown["memories"] = offered
        told.append(words("memories", call.language))
    if session.purpose is Purpose.TASK and (warning := conflict_forecast.instruction(call, task)):
        told.append(warning)
    return {"success": True, "has_task": True, "task": shown, "instruction": " ".join(told)}


def _in_progress(call: Call) -> Task | None:
    """For a chat session: the agent's task in progress, to read."""
    mains = call.snapshot(call.session.agent_id, call.session.project_id).main_tasks
    return mains[0][0] if mains else None


def _my_task(call: Call, task: Task) -> OwnTask:
    project = call.tx.projects.find(task.project_id)
    details = call.tx.tasks.details(task.id)
    handoffs = rendering.handoffs(_for_me(call, call.tx.handovers.handoffs(task.id)))
    return {
        "task_id": task.id,
        "title": task.title,
        "description": details.description,
        "status": task.status.value,
        "priority": task.priority.value,
        "working_directory": worktree_locks.workplace(call) or (project.working_directory if project else None),
        "context": _context(call, task, details.context),
        "handoff": handoffs[0] if handoffs else None,
        "handoffs": handoffs,
        "acceptance": [{**each} for each in due_checks.all_of(call, call.tree_state(task), task)],
        "review_of": task.review_of,
        "resumed": task.left_at is not None,
        "attempt": task.attempt,
        "parent_task_id": task.parent_id,
        "delegations": [rendering.delegation(each) for each in call.tx.chat.delegations_of_task(task.id)],
        "questions": [rendering.told_question(each) for each in _asked(call, task)],
    }


def _asked(call: Call, task: Task) -> list[Question]:
    asked = call.tx.questions.of_task(task.id) if task.questions_ever else []
    return [each for each in asked if not each.review]


def _for_me(call: Call, handoffs: list[Handoff]) -> list[Handoff]:
    """Those that this agent may accept; what is not accepted yet comes first, then the newest."""
    mine = [handoff for handoff in handoffs if handoff.to_agent_id in (None, call.agent.id)]
    return sorted(mine, key=lambda each: each.accepted_at is not None)


def _context(call: Call, task: Task, given: Any) -> dict[str, Any]:
    """The creator's JSON, and the last progress note under `previous`."""
    context = dict(given) if isinstance(given, dict) else {} if given is None else {"value": given}
    notes = call.tx.handovers.notes(task.id)
    if notes:
        context["previous"] = shown_note(notes[0])
    return context


class Profile(Result):
    agent: schemas.Agent


@operation("get_my_profile", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION)
def get_my_profile(call: Call, _: NoParameters) -> Profile:
    """Returns who you are: name, role, superior, capabilities, system prompt."""
    return {"success": True, "agent": rendering.agent(call.agent)}


class OneProject(Result):
    project: schemas.Project


@operation("get_project", available=Available.AFTER_THE_END, grant=Grant.ANY_SESSION)
def get_project(call: Call, _: NoParameters) -> OneProject:
    """Returns the project you work in: name, description, working directory, settings."""
    return {"success": True, "project": rendering.project(call.project(call.session.project_id))}


class GetNotifications(Parameters):
    mark_as_read: bool = Field(
        True,
        description="Has no effect: notifications that are returned count as read.",
        json_schema_extra=listed_for(Audience.NONE),
    )


class Notifications(Said):
    notifications: list[schemas.Notification]


@operation(
    "get_notifications",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=GetNotifications,
)
def get_notifications(call: Call, _: GetNotifications) -> Notifications:
    """Returns what is new in your work since your last call."""
    waiting = call.tx.handovers.waiting(call.session.id)
    if waiting:
        call.tx.handovers.deliver(call.session.id, call.now)
        kinds = sorted({each.kind for each in waiting})
        call.event("notification.delivered", agent_id=call.agent.id, data={"count": len(waiting), "kinds": kinds})
    return {
        "success": True,
        "notifications": [rendering.notification(each) for each in waiting],
        "instruction": words("get_next_action", call.language),
    }
