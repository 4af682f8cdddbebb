"""A manager's tools (seed 3): choosing, assigning, changing the plan, looking at results and people.

Each acts on descendants of the manager's main task and on no other. A worker may use the four of `update_task` …
`update_task_dependencies` on its own self-made subtasks.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from toryo.domain import creating
from toryo.domain.agents import Agent
from toryo.domain.errors import Code, Refusal
from toryo.domain.ground import Ground
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Status, Task, priority_named
from toryo.domain.times import iso, parse
from toryo.operations.calls import rendering
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Available, NoParameters, Parameters, operation
from toryo.operations.calls.fields import Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import MoveResult, Result, Said, TaskResult
from toryo.operations.tasks import commands as task_commands
from toryo.operations.tasks import descendants
from toryo.workflow import facts, manager, next_action
from toryo.workflow.instructions import words
from toryo.workflow.snapshot import Case

Reason = Annotated[Lines, Field(min_length=1, max_length=10_000, pattern=r"\S")]


# --- choosing --------------------------------------------------------------------------------------------------------


class SelectAction(Parameters):
    action: Literal["start", "adjust", "wait"] = Field(
        description="start: assign and start tasks; adjust: change the plan; wait: leave until workers are done."
    )
    reason: Lines | None = Field(None, max_length=10_000, description="Why, for those who look later.")


class Selected(Said):
    selected_action: str


@operation(
    "select_action",
    shown_to=Audience.MANAGER,
    grant=Grant.MANAGER,
    parameters=SelectAction,
    result=Selected,
    leads=True,
)
def select_action(call: Call, wanted: SelectAction) -> dict[str, Any]:
    """Choose what to do next after looking at the situation; then call get_next_action."""
    snapshot = call.own_snapshot()
    step = next_action.decide(snapshot, call.session)
    if step.action not in manager.MAY_CHOOSE:
        raise Refusal(
            Code.NOT_NOW,
            f"There is nothing to choose now: the next action is {step.action}.",
            "Call get_next_action and do what it says.",
        )
    case = next_action.case_of(snapshot, call.session)
    assert case is not None
    if wanted.action == "wait" and not facts.outstanding(case):
        raise _nothing_to_wait_for(case)
    if wanted.action == "start" and not case.dispatchable:
        raise _nothing_to_start(case)
    call.change_session(choice=Choice(wanted.action), choice_event=call.tx.events.last())
    call.event("manager.chose", task=case.main, data={"action": wanted.action, "reason": wanted.reason})
    language = case.ground.project.settings.language
    return {
        "success": True,
        "selected_action": wanted.action,
        "message": words("chosen", language, action=wanted.action),
    }


def _nothing_to_start(case: Case) -> Refusal:
    """`start` is refused unless something can be started; what can be chosen is named."""
    waits = bool(facts.outstanding(case))
    other = 'select_action("wait"): others are at work for you' if waits else _ADJUST
    return Refusal(
        Code.NOT_NOW,
        "No task can be started now.",
        f"Choose another: {other}.",
        alternatives=["wait", "adjust"] if waits else ["adjust"],
    )


_ADJUST = (
    'select_action("adjust"), to assign, unblock, cancel or add tasks, or change what they wait for. If nothing can be '
    'done: report_completed(result="blocked")'
)


def _nothing_to_wait_for(case: Case) -> Refusal:
    """`wait` is refused unless something is outstanding; the alternatives are named."""
    ready = [each.id for each in case.dispatchable]
    other = f'select_action("start"): {", ".join(ready)} can be started' if ready else _ADJUST
    return Refusal(
        Code.NOT_NOW,
        "Nobody is at work for you: nothing would wake you.",
        f"Choose another: {other}.",
        dispatchable=ready,
        alternatives=["start", "adjust"] if ready else ["adjust"],
    )


# --- looking ---------------------------------------------------------------------------------------------------------


class RecentCompletions(Parameters):
    parent_task_id: Id | None = Field(None, description="Default: your main task.")
    since: str | None = Field(None, max_length=40, description="ISO 8601; default: the end of your last session.")
    limit: int = Field(10, ge=1, le=100, description="At most so many, the newest.")


class Completions(Result):
    completions: list[dict[str, Any]]
    total: int
    since: str


@operation(
    "get_recent_completions",
    shown_to=Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
    parameters=RecentCompletions,
    result=Completions,
)
def get_recent_completions(call: Call, wanted: RecentCompletions) -> dict[str, Any]:
    """Which direct subtasks have completed or failed since the end of your last session, with their summaries."""
    ground, main = _main(call)
    parent = main if wanted.parent_task_id is None else _below(call, ground, main, wanted.parent_task_id, itself=True)
    since = _since(wanted.since) if wanted.since is not None else main.left_at or main.created_at
    ended = [
        each
        for each in ground.tree.children(parent)
        if each.status in (Status.COMPLETED, Status.FAILED) and (each.completed_at or 0) >= since
    ]
    ended.sort(key=lambda each: (each.completed_at or 0, each.id), reverse=True)
    details = call.tx.tasks.details_of(each.id for each in ended[: wanted.limit])
    return {
        "success": True,
        "completions": [
            {
                "task_id": each.id,
                "title": each.title,
                "assignee_id": each.assignee_id,
                "completed_at": iso(each.completed_at or 0),
                "result": "success" if each.status is Status.COMPLETED else "failed",
                "summary": details[each.id].summary or details[each.id].error,
            }
            for each in ended[: wanted.limit]
        ],
        "total": len(ended),
        "since": iso(since),
    }


def _since(text: str) -> int:
    try:
        instant = parse(text)
        iso(instant)  # what is outside the years that can be shown is no time either
        return instant
    except (ValueError, OverflowError):
        raise Refusal(
            Code.VALIDATION_ERROR,
            f"since is no ISO 8601 time: {text!r}.",
            "Write it like 2026-02-03T14:00:00Z, or leave it out.",
        ) from None


class Subordinates(Result):
    subordinates: list[dict[str, Any]]


@operation(
    "list_subordinates",
    shown_to=Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
    result=Subordinates,
)
def list_subordinates(call: Call, _: NoParameters) -> dict[str, Any]:
    """Who stands below you: role, capabilities, and what each is doing now."""
    everybody = call.tx.agents.below(call.agent.id)
    members = call.tx.agents.members_among(call.session.project_id, [each.id for each in everybody])
    return {
        "success": True,
        "subordinates": [_subordinate(call, each) for each in everybody if each.id in members],
    }


def _subordinate(call: Call, agent: Agent) -> dict[str, Any]:
    project_id = call.session.project_id
    tasks = call.tx.tasks.listed(project_id, assignee_id=agent.id)
    return {
        "agent_id": agent.id,
        "id": agent.id,
        "name": agent.name,
        "role": agent.role.value,
        "kind": agent.kind.value,
        "capabilities": list(agent.capabilities),
        "max_parallel_tasks": agent.max_parallel_tasks,
        "status": agent.status.value,
        "reports_to": agent.reports_to,
        "running": bool(call.tx.sessions.live_of(project_id, agent.id)),
        "doing": [rendering.brief_task(each) for each in tasks if each.in_progress],
        "open_tasks": sum(1 for each in tasks if each.open),
    }


class SubordinateProfile(Parameters):
    agent_id: Id = Field(description="One of your subordinates, at any depth.")


class ProfileResult(Result):
    agent: dict[str, Any]


@operation(
    "get_subordinate_profile",
    available=Available.AFTER_THE_END,
    grant=Grant.MANAGER,
    parameters=SubordinateProfile,
    result=ProfileResult,
)
def get_subordinate_profile(call: Call, wanted: SubordinateProfile) -> dict[str, Any]:
    """One subordinate in detail, with system prompt and capabilities."""
    found = next((each for each in call.tx.agents.below(call.agent.id) if each.id == wanted.agent_id), None)
    if found is None or not call.tx.agents.members_among(call.session.project_id, [found.id]):
        raise Refusal(
            Code.AGENT_NOT_FOUND,
            f"{wanted.agent_id} is not below you in this project.",
            "list_subordinates has the ids.",
            agent_id=wanted.agent_id,
        )
    return {"success": True, "agent": {**rendering.agent(found), **_subordinate(call, found)}}


# --- changing the plan -----------------------------------------------------------------------------------------------


class AssignTask(Parameters):
    task_id: Id = Field(description="A task below your main task, not in progress.")
    assignee_id: Id | None = Field(description="One of your subordinates; null unassigns.")


@operation(
    "assign_task", shown_to=Audience.MANAGER, grant=Grant.MANAGER, parameters=AssignTask, result=TaskResult, leads=True
)
def assign_task(call: Call, wanted: AssignTask) -> dict[str, Any]:
    """Give a task to a subordinate (or to nobody). Not while it is in progress."""
    ground, main = _main(call)
    task = _below(call, ground, main, wanted.task_id)
    if wanted.assignee_id is not None:
        creating.refuse_assignee(ground, call.agent, wanted.assignee_id)
    task_commands.assign(call, ground, task, wanted.assignee_id)
    descendants.acted(call, Choice.ADJUST)
    stored = call.task(task.id)
    return {
        "success": True,
        "task_id": task.id,
        "task": descendants.show(call, stored),
        "assignee_id": wanted.assignee_id,
    }


class UpdateTask(Parameters):
    task_id: Id = Field(description="A task below your main task.")
    title: str | None = Field(None, min_length=1, max_length=300, pattern=r"\S", description="New title.")
    description: Lines | None = Field(None, max_length=100_000, description="New description.")
    priority: Literal["low", "medium", "high", "critical", "urgent"] | None = Field(None, description="New priority.")


class Updated(Said):
    task_id: str
    updated_fields: list[str]


@operation(
    "update_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=UpdateTask, result=Updated, leads=True
)
def update_task(call: Call, wanted: UpdateTask) -> dict[str, Any]:
    """Change title, description or priority of a task."""
    task = _own(call, wanted.task_id)[1]
    updated = task_commands.edit(
        call,
        task,
        title=wanted.title,
        description=wanted.description,
        priority=priority_named(wanted.priority) if wanted.priority else None,
    )
    descendants.acted(call, Choice.ADJUST)
    language = call.project(task.project_id).settings.language
    told = words("updated" if updated else "unchanged", language)
    return {"success": True, "task_id": task.id, "updated_fields": updated, "message": told}


class CancelTask(Parameters):
    task_id: Id = Field(description="A task below your main task.")
    reason: Reason = Field(description="Why.")


@operation(
    "cancel_task",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.LEADING,
    parameters=CancelTask,
    result=MoveResult,
    leads=True,
)
def cancel_task(call: Call, wanted: CancelTask) -> dict[str, Any]:
    """Cancel a task that is not needed any more, with everything open below it."""
    return _move(call, wanted.task_id, Status.CANCELLED, wanted.reason)


@operation(
    "block_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=CancelTask, result=MoveResult, leads=True
)
def block_task(call: Call, wanted: CancelTask) -> dict[str, Any]:
    """Block a task until something is resolved, with everything open below it."""
    return _move(call, wanted.task_id, Status.BLOCKED, wanted.reason)


def _move(call: Call, task_id: str, to: Status, reason: str) -> dict[str, Any]:
    ground, task = _own(call, task_id)
    if task.status is to and task.moved_session == call.session.id and task.moved_from is not None:
        before = task.moved_from
    else:
        before = task.status
        task_commands.refuse_restless(call, task)
        task_commands.move(call, ground, task, to, reason)
        descendants.acted(call, Choice.ADJUST)
    return {
        "success": True,
        "task_id": task.id,
        "previous_status": before.value,
        "new_status": to.value,
        "reason": reason,
    }


class UpdateDependencies(Parameters):
    task_id: Id = Field(description="A task below your main task.")
    add_dependencies: list[Id] = Field(default_factory=list, max_length=60, description="Tasks it shall wait for.")
    remove_dependencies: list[Id] = Field(default_factory=list, max_length=60, description="It waits for no more.")


class Dependencies(Result):
    task_id: str
    dependencies: list[str]
    added: list[str]
    removed: list[str]
    message: NotRequired[str]


@operation(
    "update_task_dependencies",
    shown_to=Audience.WORKER | Audience.MANAGER,
    grant=Grant.LEADING,
    parameters=UpdateDependencies,
    result=Dependencies,
    leads=True,
)
def update_task_dependencies(call: Call, wanted: UpdateDependencies) -> dict[str, Any]:
    """Change what a task waits for. Circles are refused."""
    task = _own(call, wanted.task_id)[1]
    answer = task_commands.depend(call, task, wanted.add_dependencies, wanted.remove_dependencies)
    descendants.acted(call, Choice.ADJUST)
    return {"success": True, "task_id": task.id, **answer}


# --- what is below ---------------------------------------------------------------------------------------------------


def _main(call: Call) -> tuple[Ground, Task]:
    main = call.task(call.session.task_id or "")
    ground = call.ground(main)
    return ground, ground.tree.tasks[main.id]


def _below(call: Call, ground: Ground, main: Task, task_id: str, *, itself: bool = False) -> Task:
    """A descendant of the main task (or the main task itself, to read). Raises Refusal."""
    call.task(task_id)  # what another project has is not found, here as everywhere
    task = ground.tree.tasks.get(task_id)
    if task is not None and ((itself and task.id == main.id) or ground.tree.is_below(task, main)):
        return task
    if task_id == main.id:
        raise descendants.itself(task_id)
    raise Refusal(
        Code.PERMISSION_DENIED,
        f"Task {task_id} is not below your main task.",
        "list_tasks shows the tasks that are yours to manage.",
        task_id=task_id,
    )


def _own(call: Call, task_id: str) -> tuple[Ground, Task]:
    """A manager's descendant, or a worker's own self-made subtask. Raises Refusal."""
    ground, main = _main(call)
    task = _below(call, ground, main, task_id)
    if not descendants.may_change(call, task):
        raise Refusal(
            Code.MANAGER_REQUIRED,
            f"Task {task_id} is not one of your own subtasks.",
            "A worker changes its self-made subtasks only; call get_next_action.",
            task_id=task_id,
        )
    return ground, task
