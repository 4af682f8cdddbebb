"""Tools with which agents read tasks: a summary of their project's tasks, and one in detail."""

from __future__ import annotations

from pydantic import Field

from toryo.domain.agents import Role
from toryo.domain.launches import Purpose
from toryo.domain.tasks import Task, status_named
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Caller
from toryo.operations.calls.catalogue import Audience, Available, Parameters, operation
from toryo.operations.calls.fields import GivenStatus, Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN, Form, listed_for
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import DetailedResult
from toryo.operations.tasks import below_main_task
from toryo.storage.task_lists import Place, Wanted

_USUAL = 50
"""Tasks in one answer where no limit was given: an agent pays for each of them."""
_MANY_TASKS = Audience.MANAGER | Audience.CHAT | Audience.BY_HAND
"""A worker's own subtasks come with get_task."""


class ListTasks(Paged):
    status: GivenStatus | None = Field(None, description="Only tasks of this status.", json_schema_extra=PLAIN)
    assignee_id: Id | None = Field(
        None, description="Only tasks of this agent.", json_schema_extra=listed_for(_MANY_TASKS, plain=True)
    )
    parent_task_id: Id | None = Field(
        None, description="Only its direct subtasks.", json_schema_extra=listed_for(_MANY_TASKS, plain=True)
    )


MOST_COUNTED = 1_000
"""Where there are more tasks, `total` is this: the pages have them all."""


class Listed(Page):
    tasks: list[schemas.ListedTask]
    total: int


_BELOW_MAIN_TASK = Form(summary="Returns the tasks below your main task, by priority and age.")
_OF_PROJECT = Form(summary="Returns the tasks of your project, by priority and age.")


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
    status = status_named(wanted.status) if wanted.status else None
    asked = Wanted(session.project_id, status, wanted.assignee_id, wanted.parent_task_id)
    limit, key = wanted.limit or _USUAL, key_of(wanted.cursor, int, int, int, str)
    after = Place(*key) if key is not None else None
    if call.agent.role is Role.MANAGER and session.task_id is not None and wanted.parent_task_id is None:
        below = _below_main_task(call, asked)
        found, total = [each for each in below if after is None or each.order > after], len(below)
    else:
        found = call.tx.task_lists.page(asked, limit + 1, after)
        total = call.tx.task_lists.count(asked, MOST_COUNTED)
    more = cursor_of(*found[limit - 1].order) if len(found) > limit else None
    answer: Listed = {"success": True, "tasks": below_main_task.show_briefly(call, found[:limit]), "total": total}
    return paged(answer, more)


def _below_main_task(call: Call, asked: Wanted) -> list[Task]:
    tree = call.tx.tasks.tree(call.session.root_id or "")
    main = tree.tasks.get(call.session.task_id or "")
    below = tree.descendants(main) if main is not None else ()
    wanted = (
        each for each in below if asked.status in (None, each.status) and asked.assignee_id in (None, each.assignee_id)
    )
    return sorted(wanted, key=lambda each: each.order)


class GetTask(Parameters):
    task_id: Id = Field(description="The task.", json_schema_extra=PLAIN)


@operation(
    "get_task",
    shown_to=Audience.WORKER | Audience.MANAGER,
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=GetTask,
    whole=True,
)
def get_task(call: Call, wanted: GetTask) -> DetailedResult:
    """Returns one task in detail, with its subtasks, result and summary."""
    task = call.task(wanted.task_id)
    return {"success": True, "task_id": task.id, "task": below_main_task.show(call, task)}
