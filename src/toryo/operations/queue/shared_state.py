"""Values that the agents of a project share, with a time to live and a version."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, field_validator
from typing_extensions import TypedDict

from toryo.domain.queue import Entry
from toryo.domain.times import SECOND, iso
from toryo.operations.calls import fields
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.pagination import Page, Paged, cut, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire

Key = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]

LONGEST = 256 * 1024
"""Bytes of a value as JSON."""
USUAL_TTL, LONGEST_TTL = 7_200, 2_592_000


class SetState(Parameters):
    key: Key = Field(description="For example project:database_schema.")
    value: Any = Field(description="Any JSON, at most 256 KiB.")
    ttl: int = Field(USUAL_TTL, ge=1, le=LONGEST_TTL, description="Seconds to keep it.")
    expected_version: int | None = Field(
        None, ge=0, description="Only if this is its version now; 0: only if there is no value."
    )

    @field_validator("value", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return fields.short_json(value, LONGEST)


class StateSet(Result):
    key: str
    version: int
    expires_at: str


@operation("set_shared_state", grant=Grant.SHARER, parameters=SetState)
def set_shared_state(call: Call, wanted: SetState) -> StateSet:
    """Store a value for the agents of your project. Returns its version."""
    project_id = call.caller.project_id or ""
    entry = call.context.shared(call.tx).put(
        project_id, wanted.key, wanted.value, call.actor.id, call.now, wanted.ttl * SECOND, wanted.expected_version,
        once=call.once,
    )  # fmt: skip
    call.event(
        "state.set", project_id=project_id, data={"key": wanted.key, "version": entry.version, "ttl": wanted.ttl}
    )
    call.tx.hint(f"state:{project_id}:{wanted.key}")
    return {"success": True, "key": entry.key, "version": entry.version, "expires_at": iso(entry.expires_at)}


class GetState(Parameters):
    key: Key = Field(description="Its name in the project.", json_schema_extra=PLAIN)


class State(Result):
    key: str
    found: bool
    value: NotRequired[Any]
    version: NotRequired[int]
    expires_at: NotRequired[str]
    expired: NotRequired[bool]


@operation("get_shared_state", available=Available.AFTER_THE_END, grant=Grant.SHARER, parameters=GetState)
def get_shared_state(call: Call, wanted: GetState) -> State:
    """Returns a stored value of your project, with its version."""
    return _answer(call, call.caller.project_id or "", wanted.key)


def _answer(call: Call, project_id: str, key: str) -> State:
    entry = call.context.shared(call.tx).get(project_id, key)
    if entry is None:
        return {"success": True, "key": key, "found": False, "expired": False}
    if entry.expired(call.now):
        return {"success": True, "key": key, "found": False, "expired": True, "version": entry.version}
    return {
        "success": True,
        "found": True,
        "key": entry.key,
        "value": entry.value,
        "version": entry.version,
        "expires_at": iso(entry.expires_at),
    }


AT_ONCE = 1_000
"""Values of one page, where nobody says how many."""


class ListState(Paged):
    project_id: Id = Field(description="The project.")


class SharedValue(TypedDict):
    key: str
    value: Any
    version: int
    expires_at: str
    updated_by: str
    updated_at: str


class States(Page):
    entries: list[SharedValue]


_shown = wire(Entry, SharedValue)


@operation(
    "list_shared_state",
    grant=Grant.PERSON,
    parameters=ListState,
    route=Route("GET", "/projects/{project_id}/state"),
    tool=False,
    reads=True,
)
def list_shared_state(call: Call, wanted: ListState) -> States:
    """What the agents of a project share now."""
    project = call.project(wanted.project_id)
    live = [each for each in call.context.shared(call.tx).all(project.id) if not each.expired(call.now)]
    found, more = cut(live, wanted.at_most(AT_ONCE), lambda each: each.key)
    answer: States = {
        "success": True,
        "entries": [_shown(each) for each in found],
    }
    return paged(answer, more)
