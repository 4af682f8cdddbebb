"""Tools with which agents read tasks: a summary of their project's tasks, and one in detail."""

from __future__ import annotations

from pydantic import Field

from toryo.domain.agents import Role
from toryo.domain.launches import Purpose
from toryo.domain.tasks import status_named
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.fields import GivenStatus, Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, Form
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import DetailedResult
from toryo.operations.tasks import below_main_task

_USUAL = 50
"""Tasks in one answer where no limit was given: an agent pays for each of them."""


class ListTasks(Paged):
    status: GivenStatus | None = Field(None, description="Only tasks of this status.", json_schema_extra=PLAIN)
    assignee_id: Id | None = Field(None, description="Only tasks of this agent.", json_schema_extra=PLAIN)
    parent_task_id: Id | None = Field(None, description="Only direct subtasks of this task.")


class Listed(Page):
    tasks: list[schemas.ListedTask]
    total: int


_BELOW_MAIN_TASK = Form(summary="Returns the tasks below your main task in brief, by priority and age.")
_OF_PROJECT = Form(summary="Returns the tasks of your project in brief, by priority and age.")


def _form(caller: Caller, _for_queue: bool) -> Form | None:
    if caller.launch is None or caller.agent is None:
        return None
    manages = caller.agent.role is Role.MANAGER and caller.launch.purpose is Purpose.TASK
    return _BELOW_MAIN_TASK if manages else _OF_PROJECT


@operation(
    "list_tasks",
    shown_to=Audience.WORKER | Audience.MANAGER | Audience.CHAT,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=ListTasks,
    form_for=_form,
)
def list_tasks(call: Call, wanted: ListTasks) -> Listed:
    """Returns the tasks of your project in brief, by priority and age; to a manager, those below its main task."""
    session = call.session
    if wanted.parent_task_id is not None:
        call.task(wanted.parent_task_id)
    found = call.tx.tasks.listed(
        session.project_id,
        status=status_named(wanted.status).value if wanted.status else None,
        assignee_id=wanted.assignee_id,
        parent_id=wanted.parent_task_id,
    )
    if call.agent.role is Role.MANAGER and session.task_id is not None and wanted.parent_task_id is None:
        tree = call.tx.tasks.tree(call.session.root_id or "")
        main = tree.tasks.get(call.session.task_id or "")
        below = {descendant.id for descendant in tree.descendants(main)} if main is not None else set()
        found = [task for task in found if task.id in below]
    shown, more = cut(found, wanted.at_most(_USUAL), lambda each: each.id)
    answer: Listed = {"success": True, "tasks": below_main_task.show_briefly(call, shown), "total": len(found)}
    return paged(answer, more)


class GetTask(Parameters):
    task_id: Id = Field(description="The task.", json_schema_extra=PLAIN)


@operation(
    "get_task",
    shown_to=Audience.WORKER | Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=GetTask,
)
def get_task(call: Call, wanted: GetTask) -> DetailedResult:
    """Returns one task of your project in detail, with its subtasks, result and summary."""
    task = call.task(wanted.task_id)
    return {"success": True, "task_id": task.id, "task": below_main_task.show(call, task)}
