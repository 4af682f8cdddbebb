"""What is off in projects, and when to look again. REST and CLI. `conditions.py` finds it."""

from __future__ import annotations

from pydantic import Field

from toryo.domain.projects import Status
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.overview import conditions
from toryo.operations.overview.conditions import ProjectCondition
from toryo.operations.overview.home_state import Picture


class ShowConditions(Parameters):
    project_id: Id | None = Field(None, description="Only of this project, also if it is archived.")


class Conditions(Result):
    """Ask again after `look_again_after` seconds: Coordinators come and go without an event."""

    conditions: list[ProjectCondition]
    look_again_after: int


@operation(
    "show_conditions",
    grant=Grant.PERSON,
    parameters=ShowConditions,
    route=Route("GET", "/conditions"),
    tool=False,
    reads=True,
)
def show_conditions(call: Call, wanted: ShowConditions) -> Conditions:
    """What keeps projects from going on: paused, archived, nobody works there, a program or a Coordinator is missing, a
    budget or a quota is used up, or a quota is kept for other tasks."""
    picture = Picture(call, wanted.project_id, idle=False)
    projects = list(picture.projects.values())
    if wanted.project_id is not None and (project := call.project(wanted.project_id)).status is Status.ARCHIVED:
        projects = [project]
    found = [each for project in projects for each in conditions.of(call, picture, project)]
    waits = any(each["kind"] in ("coordinator_gone", "program_missing") for each in found)
    return {
        "success": True,
        "conditions": found,
        "look_again_after": conditions.look_again_after(picture, waits=waits),
    }
