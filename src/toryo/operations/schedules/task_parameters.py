"""The tasks that schedules and webhooks create, as people describe them: parameters of `file_task`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import AcceptanceCheck, priority_named
from toryo.operations.calls import schemas
from toryo.operations.calls.call import Call
from toryo.operations.tasks import acceptance_checks, assignees
from toryo.operations.tasks.acceptance_checks import Acceptance

FirstStatus = Literal["backlog", "todo", "in_progress"]
_FIELDS = ("title", "description", "assignee_id", "agent_type", "priority", "context", "acceptance")


class ScheduledTask(TypedDict):
    """The tasks that it creates."""

    title: str
    description: str
    assignee_id: str | None
    agent_type: str | None
    priority: schemas.PriorityName
    status: FirstStatus
    context: Any
    acceptance: list[AcceptanceCheck]


class Describes(Protocol):
    """Parameters that describe a task, or a change of it."""

    @property
    def priority(self) -> str | None: ...

    @property
    def acceptance(self) -> Acceptance | None: ...

    def model_dump(self, *, exclude_unset: bool = ...) -> dict[str, Any]: ...


def given(wanted: Describes, before: Mapping[str, Any], cleared: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The parameters after the change. `cleared`: the fields that null clears."""
    said = wanted.model_dump(exclude_unset=bool(before))
    task = dict(before or dict.fromkeys(_FIELDS))
    for name in _FIELDS:
        if name in said and (said[name] is not None or name in cleared):
            task[name] = said[name]
    for one, other in (("assignee_id", "agent_type"), ("agent_type", "assignee_id")):
        if said.get(one) is not None and said.get(other) is None:
            task[other] = None
    if wanted.acceptance is not None and "acceptance" in said:
        task["acceptance"] = [dict(each) for each in acceptance_checks.kept(wanted.acceptance)]
    if wanted.priority is not None and "priority" in said:
        task["priority"] = priority_named(wanted.priority).value
    if said.get("status") or {"assignee_id", "agent_type"} & set(said):
        task["status"] = said.get("status") or ("in_progress" if task["assignee_id"] else "todo")
    return task


def refuse(call: Call, project_id: str, task: Mapping[str, Any]) -> None:
    """What would be refused every time, as far as it can be seen now."""
    assignees.refuse(call, call.project(project_id), task["assignee_id"], task["agent_type"])
    if task["status"] == "in_progress" and task["assignee_id"] is None:
        raise Refusal(
            Code.INVALID_TRANSITION,
            "A task cannot start in progress without an assignee.",
            "Choose one (`assignee_id`, on the command line --assignee), or let its tasks begin in todo.",
        )
