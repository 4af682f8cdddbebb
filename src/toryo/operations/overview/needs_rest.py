"""The list of needs, most urgent first. REST and CLI. `needs/` finds them."""

from __future__ import annotations

from pydantic import Field

from toryo.operations.calls import schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.chat import on_behalf
from toryo.operations.overview.needs import answers, finding


class NeedsYou(Parameters):
    project_id: Id | None = Field(None, description="Only in this project.")
    as_person: Id | None = Field(None, description="Whose list, if not yours; owners only.")


class NeededFor(Result):
    person_id: str
    items: list[schemas.Need]


@operation(
    "needs_you",
    grant=Grant.PERSON,
    parameters=NeedsYou,
    route=Route("GET", "/needs-you"),
    tool=False,
    reads=True,
)
def needs_you(call: Call, wanted: NeedsYou) -> NeededFor:
    """What needs you: approvals, blocks, messages, failures, your own tasks; the most urgent first."""
    if wanted.project_id is not None:
        call.project(wanted.project_id)
    person = on_behalf.person(call, wanted.as_person)
    found = [
        each
        for each in finding.needs_of(call, person)
        if (wanted.project_id is None or finding.concerns(call, each, wanted.project_id))
        and (each.project_id is None or visibility.sees(call, each.project_id))
    ]
    return {
        "success": True,
        "person_id": person.id,
        "items": [answers.need(each, call.now) for each in found],
    }
