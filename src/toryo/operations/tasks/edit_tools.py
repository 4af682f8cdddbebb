"""Tools with which agents change tasks below their main task: a manager all of them, a worker those it created."""

from __future__ import annotations

from typing import NotRequired

from pydantic import Field

from toryo.domain.errors import Code, Refusal
from toryo.domain.sessions import Choice
from toryo.domain.tasks import Task
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Audience, Parameters, operation
from toryo.operations.calls.fields import GivenPriority, Id, Text, Title
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, listed_for
from toryo.operations.calls.results import Result, Said
from toryo.operations.tasks import below_main_task, given, mutations
from toryo.operations.translations import words
from toryo.task_forms import TaskForm, Time, Touches


class _Subtask(Parameters):
    task_id: Id = Field(description="A task below your main task.", json_schema_extra=PLAIN)
    title: Title | None = Field(None, description="New title.", json_schema_extra=PLAIN)
    description: Text | None = Field(None, description="New description.", json_schema_extra=PLAIN)
    priority: GivenPriority | None = Field(None, description="New priority.", json_schema_extra=PLAIN)


class UpdateTask(TaskForm, _Subtask):
    touches: Touches | None = Field(None, description="New patterns of paths that it changes.", json_schema_extra=PLAIN)
    not_before: Time | None = Field(
        None,
        description="New: it does not start before this time; null: at any.",
        json_schema_extra=listed_for(Audience.NONE),
    )


class Updated(Said):
    task_id: str
    updated_fields: list[str]


@operation("update_task", shown_to=Audience.MANAGER, grant=Grant.LEADING, parameters=UpdateTask, leads=True)
def update_task(call: Call, wanted: UpdateTask) -> Updated:
    """Change a subtask."""
    task = below_main_task.own(call, wanted.task_id)[1]
    if "not_before" in wanted.model_fields_set:
        _refuse_time_of_people(call, task)
    updated = mutations.edit(call, task, **given.edit(wanted))
    below_main_task.use_up_choice(call, Choice.ADJUST)
    language = call.project(task.project_id).settings.language
    told = words("updated" if updated else "unchanged", language)
    return {"success": True, "task_id": task.id, "updated_fields": updated, "message": told}


def _refuse_time_of_people(call: Call, task: Task) -> None:
    creator = call.tx.agents.find(task.created_by)
    if creator is None or creator.human:
        raise Refusal(
            Code.PERMISSION_DENIED,
            say("Only people change when task {task_id} starts: an agent did not create it.", task_id=task.id),
            "Leave out not_before.",
            task_id=task.id,
        )


class UpdateDependencies(Parameters):
    task_id: Id = Field(description="A task below your main task.", json_schema_extra=PLAIN)
    add_dependencies: list[Id] = Field(
        default_factory=list, max_length=60, description="Dependencies to add.", json_schema_extra=PLAIN
    )
    remove_dependencies: list[Id] = Field(
        default_factory=list, max_length=60, description="Dependencies to remove.", json_schema_extra=PLAIN
    )


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
    """Change what a subtask waits for."""
    task = below_main_task.own(call, wanted.task_id)[1]
    changed = mutations.depend(call, task, wanted.add_dependencies, wanted.remove_dependencies)
    below_main_task.use_up_choice(call, Choice.ADJUST)
    return {
        "success": True,
        "task_id": task.id,
        "dependencies": changed["dependencies"],
        "added": changed["added"],
        "removed": changed["removed"],
    }
