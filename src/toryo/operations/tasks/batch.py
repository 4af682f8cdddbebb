"""Several changes in one transaction: all of them are made, or none. `toryo apply` sends a file so.

Each change is an operation that people have anyway, under the same rules and rights; nothing is decided here.
"""

from __future__ import annotations

import re
import time
from typing import Any, Literal

from pydantic import Field

from toryo.domain.errors import Code, Refusal
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, catalogue, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.permissions import refuse
from toryo.operations.calls.results import Result

MOST = 2_000
LONGEST_SECONDS = 5.0
"""Nobody else writes meanwhile: what takes longer is undone."""
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


class Applied(Result):
    results: list[dict[str, Any]]


@operation(
    "apply_changes",
    grant=Grant.WRITER,
    parameters=ApplyChanges,
    result=Applied,
    route=Route("POST", "/changes"),
    tool=False,
)
def apply_changes(call: Call, wanted: ApplyChanges) -> dict[str, Any]:
    """Make several changes, or none: a refusal says by `change` which one is refused. Tasks are answered by id only."""
    call.tx.lock_everything()
    call.tx.remember_tasks()
    results: list[dict[str, Any]] = []
    until = time.monotonic() + LONGEST_SECONDS
    for number, change in enumerate(wanted.changes):
        if time.monotonic() > until:
            raise Refusal(
                Code.TOO_LARGE,
                say("These changes take longer than {seconds} seconds; none was made.", seconds=LONGEST_SECONDS),
                say("Send them in parts: the first {number} took that long.", number=number),
            )
        call.place = number
        try:
            results.append(_made(call, change, results))
        except Refusal as refusal:
            refusal.details["change"] = number
            raise
    return {"success": True, "results": results}


def _made(call: Call, change: Change, before: list[dict[str, Any]]) -> dict[str, Any]:
    from toryo.operations.calls.validation import parameters_of  # it knows the catalogue, which knows this operation

    asked = catalogue()[change.operation]
    refuse(asked, call.caller)
    arguments = {name: _ids(value, before) if name in _IDS else value for name, value in change.arguments.items()}
    parameters = parameters_of(asked, arguments)
    if isinstance(parameters, Refusal):
        raise parameters
    answer = asked.handler(call, parameters)
    assert isinstance(answer, dict)
    return {name: value for name, value in answer.items() if name not in ("success", "task")}


def _ids(value: Any, before: list[dict[str, Any]]) -> Any:
    """With the ids of what was made before, where that is what is meant."""
    if isinstance(value, list):
        return [_ids(each, before) for each in value]
    found = _MADE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    number = int(found[1])
    made = before[number] if number < len(before) else {}
    for name in ("task_id", "project_id"):
        if name in made:
            return made[name]
    raise Refusal(
        Code.VALIDATION_ERROR,
        say("{value} is not the project or task of an earlier change.", value=value),
        "Number the changes from 0, and refer only to earlier ones.",
    )
