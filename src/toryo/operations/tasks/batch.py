"""Several changes in one transaction: all or none. Used by `toryo apply`.

Each change is an operation for people, with its usual rules and rights.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, catalogue, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.permissions import refuse
from toryo.operations.calls.results import Result

MOST = 2_000
LONGEST_SECONDS = 5.0
"""Nobody else writes meanwhile: what takes longer is undone. What is prepared before may take as long."""
_MADE = re.compile(r"@([0-9]{1,5})")
_IDS = ("project_id", "parent_task_id", "dependencies")


class Change(Parameters):
    operation: Literal[
        "create_project", "edit_project", "create_agent", "edit_agent", "add_member", "file_task", "edit_task"
    ] = Field(description="What is done.")
    arguments: dict[str, Any] = Field(
        description="Its parameters. In project_id, parent_task_id and dependencies, @N is the id of what change N made"
        " (from 0)."
    )


class ApplyChanges(Parameters):
    changes: list[Change] = Field(max_length=MOST, description="One after the other.")


class Made(TypedDict):
    """What a change made or changed: what its operation answers, but for `success` and the whole of a task."""

    project_id: NotRequired[str]
    project: NotRequired[schemas.Project]
    agent_id: NotRequired[str]
    agent: NotRequired[schemas.Agent]
    task_id: NotRequired[str]
    passkey: NotRequired[str]
    warnings: NotRequired[list[str]]
    widened: NotRequired[list[str]]
    changes: NotRequired[list[str]]
    member: NotRequired[bool]
    changed: NotRequired[bool]


class Applied(Result):
    results: list[Made]


Todo = Callable[[], Any]


def _prepare(call: Call, wanted: ApplyChanges) -> Callable[[], dict[int, Any] | Refusal] | None:
    """What takes long, for each change that has it prepared where it comes alone."""
    todo = {number: each for number, change in enumerate(wanted.changes) if (each := _todo(call, change)) is not None}
    return (lambda: _prepared(todo)) if todo else None


def _todo(call: Call, change: Change) -> Todo | None:
    asked = catalogue()[change.operation]
    if asked.beforehand is None:
        return None
    parameters = _parameters(change, change.arguments)
    try:
        refuse(asked, call.caller)
        return None if isinstance(parameters, Refusal) else asked.beforehand(call, parameters)
    except Refusal:  # the change itself is refused for it, in its turn
        return None


def _prepared(todo: Mapping[int, Todo]) -> dict[int, Any] | Refusal:
    """By change; or what is refused because it takes too long."""
    found, until = {}, time.monotonic() + LONGEST_SECONDS
    for number, each in todo.items():
        if time.monotonic() > until:
            return _too_long(number)
        found[number] = each()
    return found


def _too_long(number: int) -> Refusal:
    return Refusal(
        Code.TOO_LARGE,
        say("These changes take longer than {seconds} seconds. Nothing was changed.", seconds=LONGEST_SECONDS),
        say("Send fewer at a time: the first {number} took that long.", number=number),
    )


@operation(
    "apply_changes",
    grant=Grant.WRITER,
    parameters=ApplyChanges,
    route=Route("POST", "/changes"),
    tool=False,
    beforehand=_prepare,
)
def apply_changes(call: Call, wanted: ApplyChanges) -> Applied:
    """Make several changes, or none: a refusal says by `change` which one is refused. Tasks are answered by id only."""
    prepared: dict[int, Any] | Refusal = call.prepared or {}
    if isinstance(prepared, Refusal):
        raise prepared
    call.tx.lock_everything()
    results: list[Made] = []
    until = time.monotonic() + LONGEST_SECONDS
    for number, change in enumerate(wanted.changes):
        if time.monotonic() > until:
            raise _too_long(number)
        call.place, call.prepared = number, prepared.get(number)
        try:
            results.append(_made(call, change, results))
        except Refusal as refusal:
            refusal.details["change"] = number
            raise
    return {"success": True, "results": results}


def _made(call: Call, change: Change, before: list[Made]) -> Made:
    asked = catalogue()[change.operation]
    refuse(asked, call.caller)
    arguments = {name: _ids(value, before) if name in _IDS else value for name, value in change.arguments.items()}
    parameters = _parameters(change, arguments)
    if isinstance(parameters, Refusal):
        raise parameters
    answer = asked.handler(call, parameters)
    assert not isinstance(answer, Later)
    made: Any = {name: value for name, value in answer.items() if name not in ("success", "task")}
    shown: Made = made
    return shown


def _parameters(change: Change, arguments: dict[str, Any]) -> BaseModel | Refusal:
    from toryo.operations.calls.validation import parameters_of  # it knows the catalogue, which knows this operation

    return parameters_of(catalogue()[change.operation], arguments)


def _ids(value: Any, before: list[Made]) -> Any:
    """With the ids of what was made before, where that is what is meant."""
    if isinstance(value, list):
        return [_ids(each, before) for each in value]
    found = _MADE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    number = int(found[1])
    made: Made = before[number] if number < len(before) else {}
    if (found_id := made.get("task_id") or made.get("project_id")) is not None:
        return found_id
    raise Refusal(
        Code.VALIDATION_ERROR,
        say("{value} does not refer to the project or task of an earlier change.", value=value),
        "Number the changes from 0, and refer only to earlier ones.",
    )
