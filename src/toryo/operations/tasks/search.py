"""Tasks by what is written in them: for people who look for one, in all projects that they see."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.projects import Status as ProjectStatus
from toryo.domain.tasks import Status
from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result


class SearchTasks(Parameters):
    text: str = Field(min_length=1, max_length=200, description="The words, in any order; all must be there.")
    project_id: Id | None = Field(None, description="Only in this project.")
    limit: int = Field(20, ge=1, le=100, description="How many at most.")


class TaskWithWords(TypedDict):
    task_id: str
    project_id: str
    title: str
    status: schemas.StatusName


class TasksWithWords(Result):
    tasks: list[TaskWithWords]


@operation(
    "search_tasks",
    grant=Grant.PERSON,
    parameters=SearchTasks,
    route=Route("GET", "/task-search"),
    tool=False,
    reads=True,
)
def search_tasks(call: Call, wanted: SearchTasks) -> TasksWithWords:
    """Tasks whose title or description has all the words, by priority and age. Without a project: in all projects that
    you see and that are not archived."""
    if wanted.project_id is not None:
        projects = [call.project(wanted.project_id).id]
    else:
        active = (each for each in call.tx.projects.all() if each.status is not ProjectStatus.ARCHIVED)
        projects = [each.id for each in active if visibility.sees(call, each.id)]
    found = call.tx.task_lists.with_words(wanted.text.split(), projects, wanted.limit)
    shown: list[TaskWithWords] = [
        {"task_id": each.id, "project_id": each.project_id, "title": each.title, "status": Status(each.status).value}
        for each in found
    ]
    return {"success": True, "tasks": shown}
