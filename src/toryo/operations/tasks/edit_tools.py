"""How agents change tasks below their own main task: a manager all of them, a worker its self-made subtasks."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field

from toryo.domain.errors import Code, Refusal
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Status, Task, priority_named
from toryo.domain.tree_state import TreeState
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Parameters, operation
from toryo.operations.calls.fields import GivenPriority, Id, Lines
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import MoveResult, Result, Said
from toryo.operations.tasks import below_main_task, mutations
from toryo.operations.translations import words

Reason = Annotated[Lines, Field(min_length=1, max_length=10_000, pattern=r"\S")]


class UpdateTask(Parameters):
    task_id: Id = Field(description="A task below your main task.")
    title: str | None = Field(None, min_length=1, max_length=300, pattern=r"\S", description="New title.")
    description: Lines | None = Field(None, max_length=100_000, description="New description.")
    priority: GivenPriority | None = Field(None, description="New priority.")


class Updated(Said):
    task_id: str
    updated_fields: list[str]


@operation("update_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=UpdateTask, leads=True)
def update_task(call: Call, wanted: UpdateTask) -> Updated:
    """Change title, description or priority of a task."""
    task = _own(call, wanted.task_id)[1]
    updated = mutations.edit(
        call,
        task,
        title=wanted.title,
        description=wanted.description,
        priority=priority_named(wanted.priority) if wanted.priority else None,
    )
    below_main_task.acted(call, Choice.ADJUST)
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
    leads=True,
)
def cancel_task(call: Call, wanted: CancelTask) -> MoveResult:
    """Cancel a task that is not needed any more, with everything open below it."""
    return _move(call, wanted.task_id, Status.CANCELLED, wanted.reason)


@operation("block_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=CancelTask, leads=True)
def block_task(call: Call, wanted: CancelTask) -> MoveResult:
    """Block a task until something is resolved, with everything open below it."""
    return _move(call, wanted.task_id, Status.BLOCKED, wanted.reason)


def _move(call: Call, task_id: str, to: Status, reason: str) -> MoveResult:
    tree_state, task = _own(call, task_id)
    if task.status is to and task.moved_session == call.session.id and task.moved_from is not None:
        before = task.moved_from
    else:
        before = task.status
        mutations.refuse_restless(call, task)
        mutations.move(call, tree_state, task, to, reason)
        below_main_task.acted(call, Choice.ADJUST)
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
    leads=True,
)
def update_task_dependencies(call: Call, wanted: UpdateDependencies) -> Dependencies:
    """Change what a task waits for. Circles are refused."""
    task = _own(call, wanted.task_id)[1]
    changed = mutations.depend(call, task, wanted.add_dependencies, wanted.remove_dependencies)
    below_main_task.acted(call, Choice.ADJUST)
    return {
        "success": True,
        "task_id": task.id,
        "dependencies": changed["dependencies"],
        "added": changed["added"],
        "removed": changed["removed"],
    }


def _own(call: Call, task_id: str) -> tuple[TreeState, Task]:
    """A manager's descendant, or a worker's own self-made subtask. Raises Refusal."""
    tree_state, main = below_main_task.main_task(call)
    task = below_main_task.below(call, tree_state, main, task_id)
    if not below_main_task.may_change(call, task):
        raise Refusal(
            Code.MANAGER_REQUIRED,
            f"Task {task_id} is not one of your own subtasks.",
            "A worker changes its self-made subtasks only; call get_next_action.",
            task_id=task_id,
        )
    return tree_state, task
